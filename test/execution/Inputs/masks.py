# masks.py ATTNC FOLDER SCRATCH: every file of FOLDER (examples/masks) beside sets of keys written out here.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Queries of 0 make all scores equal and the values number the keys, so a row is the mean number of the keys it sees. A second
# run, with the values' squares, tells apart sets of one mean.
import json
import os
import random
import subprocess
import sys
from array import array

import attnlib

HEADS, WIDTH = 2, 3
W, C, P, S, N, R = 37, 19, 11, 5, 3, 2  # sizes of windows, blocks, prefixes, …
COLUMNS = 9
CONFIG = {"heads": HEADS, "head_dim": WIDTH, "window": W, "chunk": C, "block": C, "prefix": P, "stride": S, "sinks": N,
          "columns": COLUMNS, "radius": R}
LENGTHS = [0, 1, 2, 19, 64, 81, 130, 257]
DRAW = random.Random(3)


def documents(length):
    """Numbers of documents, in rising order: [0, 0, 0, 1, 1, …]."""
    number, result = 0, []
    for _ in range(length):
        result.append(number)
        number += DRAW.random() < 0.1
    return result


def tree(length):
    """For a tree in depth-first order: where the branch of each ends, and the set of those each has above it, itself included."""
    end, above, open_nodes = list(range(1, length + 1)), [], []
    for t in range(length):
        while open_nodes and DRAW.random() < 0.3:
            open_nodes.pop()
        open_nodes.append(t)
        above.append(set(open_nodes))
        for node in open_nodes:
            end[node] = t + 1
    return end, above


def grid(i):
    return [j for j in range(max(LENGTHS)) if abs(j // COLUMNS - i // COLUMNS) <= R and abs(j % COLUMNS - i % COLUMNS) <= R]


def back(i, keys):
    return {j for j in keys if 0 <= j <= i}


SEES = {  # the keys of query i, of `length`, as the picture of each mask has them
    "causal": lambda i, length: range(i + 1),
    "window": lambda i, length: back(i, range(i - W + 1, i + 1)),
    "chunked": lambda i, length: range(i - i % C, i + 1),
    "prefix": lambda i, length: back(max(i, P - 1), range(length)),
    "dilated": lambda i, length: range(i % S, i + 1, S),
    "sink_window": lambda i, length: back(i, range(i - W + 1, i + 1)) | back(i, range(N)),
    "block_causal": lambda i, length: range(i - i % C + C),
    "neighbourhood": lambda i, length: grid(i),
}


def sequence(name, length):
    """The last argument, if the mask has one, and the keys of each query."""
    if name == "documents":
        numbers = documents(length)
        return numbers, [[j for j in range(i + 1) if numbers[j] == numbers[i]] for i in range(length)]
    if name == "tree":
        return tree(length)
    return [], [[j for j in SEES[name](i, length) if j < length] for i in range(length)]


def check(name, library):
    model = attnlib.Model(library, scratch)
    size = HEADS * WIDTH
    last = model.function("attention")[1].param[3] if name in ("documents", "tree") else None
    offsets, given, sets = [0], array("i" if last and last.type == 3 else "f"), []
    for length in LENGTHS:
        extra, keys = sequence(name, length)
        given.extend(extra)
        sets += keys
        offsets.append(offsets[-1] + length)
    rows = [t for length in LENGTHS for t in range(length)]
    keys = array("f", [DRAW.gauss(0, 1) for _ in range(len(rows) * size)])
    more = [given] if last else []
    worst = 0.0
    for value in (lambda j: j, lambda j: j * j / 256):
        values = array("f", [value(j) for j in rows for _ in range(size)])
        result = model.run("attention", [array("f", bytes(4 * len(values))), keys, values] + more, [offsets])[0]
        for t, keys_seen in enumerate(sets):
            wanted = sum(value(j) for j in keys_seen) / len(keys_seen) if keys_seen else 0
            for got in result[t * size : (t + 1) * size]:
                worst = max(worst, abs(got - wanted) / max(1, abs(wanted))) if got == got else float("inf")
    return worst


attnc, folder, scratch = sys.argv[1:]
os.makedirs(scratch, exist_ok=True)
with open(os.path.join(scratch, "config.json"), "w") as file:
    json.dump(CONFIG, file)
names = sorted(name[: -len(".attn")] for name in os.listdir(folder))
wrong = 0
for name in names:
    source, library = os.path.join(folder, name + ".attn"), os.path.join(scratch, name + ".so")
    subprocess.run([attnc, source, "--config=" + scratch, "-o", library], check=True, stderr=subprocess.DEVNULL)
    worst = check(name, library)
    wrong += not worst <= 1e-6
    print(name, "is right" if worst <= 1e-6 else f"is off by {worst}")
sys.exit(wrong)
