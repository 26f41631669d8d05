# bits-model.py IN OUT: the tiny BERT with a table of 64 positions instead of 40, so that the lengths of the test fit.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys

import tensors

source, target = sys.argv[1:]
os.makedirs(target, exist_ok=True)
with open(os.path.join(source, "config.json")) as file:
    config = json.load(file)
weights = tensors.read(os.path.join(source, "model.safetensors"))
table = weights["embeddings.position_embeddings.weight"]
rows, width = table.shape
table.values.extend(table.values[: (64 - rows) * width])
table.shape[0] = config["max_position_embeddings"] = 64
tensors.write(os.path.join(target, "model.safetensors"), weights)
with open(os.path.join(target, "config.json"), "w") as file:
    json.dump(config, file)
