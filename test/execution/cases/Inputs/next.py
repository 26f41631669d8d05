# next.py FOLDER POSITIONS: a checkpoint for next.attn: 1 2 3, 4 5 6 8 9 7, and 0 for ever; 3 and 7 end a text.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys

import tensors

folder, positions = sys.argv[1], int(sys.argv[2])
FOLLOWS = {0: 0, 1: 2, 2: 3, 3: 0, 4: 5, 5: 6, 6: 8, 8: 9, 9: 7, 7: 0}
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "config.json"), "w") as file:
    json.dump({"n_positions": positions, "eos_token_id": [3, 7]}, file)
tensors.write(os.path.join(folder, "model.safetensors"), {
    "next.weight": tensors.Tensor("F32", [10, 10], [FOLLOWS[a] == b for a in range(10) for b in range(10)]),
    "places.weight": tensors.Tensor("F32", [positions, 10], [0] * positions * 10)})
