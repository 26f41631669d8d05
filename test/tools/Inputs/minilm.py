# minilm.py embeddings|ids FILE: what attn-run printed for sentences.txt, compared with what PyTorch and tokenizers have.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys

import tensors

data = os.path.join(os.path.dirname(tensors.__file__), "data", "minilm")
with open(sys.argv[2], encoding="utf-8") as file:
    lines = file.read().splitlines()

if sys.argv[1] == "ids":
    with open(os.path.join(data, "ids.json"), encoding="utf-8") as file:
        expected = json.load(file)
    got = [[int(word) for word in line.split()] for line in lines]
    if len(got) != len(expected):
        sys.exit(f"{len(expected)} lines were expected, there are {len(got)}")
    for number, (mine, theirs) in enumerate(zip(got, expected), 1):
        if mine != theirs:
            sys.exit(f"line {number}: {mine} instead of {theirs}")
    print(f"{len(got)} of {len(expected)} lines of ids agree")
else:
    wanted = tensors.read(os.path.join(data, "embeddings.safetensors"))["embeddings"]
    rows, width = wanted.shape
    got = [[float(word) for word in line.split()] for line in lines]
    if [len(row) for row in got] != [width] * rows:
        sys.exit(f"{rows} rows of {width} numbers were expected")
    worst = max(abs(x - y) for row, line in enumerate(got) for x, y in zip(line, wanted.values[row * width :]))
    print(f"{rows} sentences, largest difference {worst:.1e}")
    if not worst <= 1e-5:
        sys.exit("more than 1e-5")
