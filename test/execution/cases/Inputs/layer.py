# layer.py make FILE: weights for layer.attn.
# layer.py shapes LIBRARY FILE: batches of many shapes, one after the other, beside sums in double. Case F01.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import random
import sys
from array import array

import attnlib
import judge
import tensors

SHAPES = [(1, 1), (2, 5), (3, 1), (1, 128), (4, 77)]
E, H, D = 12, 3, 4
draw = random.Random(1)
WEIGHTS = {name: array("f", [draw.gauss(0, 0.5) for _ in range(E * E)]) for name in "qkvo"}


def product(rows, name):
    matrix = [WEIGHTS[name][n * E : (n + 1) * E] for n in range(E)]
    return [[sum(a * b for a, b in zip(row, column)) for column in matrix] for row in rows]


def layer(rows):
    q, k, v = (product(rows, name) for name in "qkv")
    heads = [[] for _ in rows]
    for h in range(0, E, D):
        keys = [row[h : h + D] for row in k]
        values = list(zip(*(row[h : h + D] for row in v)))
        for query, to in zip(q, heads):
            a, b, c, d = (x / math.sqrt(D) for x in query[h : h + D])
            weights = [math.exp(a * e + b * f + c * g + d * i) for e, f, g, i in keys]
            total = sum(weights)
            to.extend(sum(w * x for w, x in zip(weights, column)) / total for column in values)
    return product(heads, "o")


def rows(count):
    return [[draw.gauss(0, 1) for _ in range(E)] for _ in range(count)]


def flat(rows):
    return array("f", [value for row in rows for value in row])


if sys.argv[1] == "make":
    tensors.write(sys.argv[2], {f"{name}.weight": tensors.Tensor("F32", [E, E], values) for name, values in WEIGHTS.items()})
    sys.exit()

model = attnlib.Model(*sys.argv[2:])
batches = {(B, L): [rows(L) for _ in range(B)] for B, L in SHAPES}
wanted = {shape: [value for text in texts for row in layer(text) for value in row] for shape, texts in batches.items()}
seen = {}
for B, L in SHAPES + SHAPES[::-1]:
    given = array("f", [value for text in batches[B, L] for value in flat(text)])
    got = model.run("whole", [given], [range(0, B * L + 1, L)])[0]
    judge.near(f"F01 {B} of {L}", got, wanted[B, L], 1e-5)
    judge.same(f"F01 {B} of {L}, the second time", got, seen.setdefault((B, L), got))
# all of them in one call: a batch of eleven texts of four lengths
texts = [text for shape in SHAPES for text in batches[shape]]
offsets = [0]
for text in texts:
    offsets.append(offsets[-1] + len(text))
together = model.run("whole", [array("f", [value for text in texts for value in flat(text)])], [offsets])[0]
judge.same("F01 all at once", together, array("f", [value for shape in SHAPES for value in seen[shape]]))
judge.finish()
