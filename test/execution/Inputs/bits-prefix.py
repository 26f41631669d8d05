# bits-prefix.py LIBRARY: the first rows of a call are the rows of a shorter one, bit for bit, on one thread and on two.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random
import sys
from array import array

import attnlib

model = attnlib.Model(sys.argv[1], threads=2)
draw = random.Random(3)
longest, width, out = 300, 20, 12


def numbers(count, spread):
    return array("f", [draw.gauss(0, spread) for _ in range(count)])


def values(heads):
    """A third so small that their products with weights are lost: the sign of what is left must not depend on hidden keys."""
    v = numbers(longest * heads * out, 1)
    for n in range(0, len(v), 3):
        v[n] = draw.choice([1e-45, -1e-45, -0.0, 0.0])
    return v


lengths = [1, 2, 3, 7, 15, 16, 17, 33, 64, 65, 127, 200, 299]
for name, query, key in [("causal", 3, 3), ("windowed", 3, 3), ("sparse", 3, 3), ("shared", 6, 2)]:
    inputs = [(numbers(longest * query * width, 2), query * width), (numbers(longest * key * width, 2), key * width), (values(key), key * out)]
    whole = {}
    for threads in (1, 2):
        model.threads(threads)
        whole[threads] = model.run(name, [rows for rows, _ in inputs], [[0, longest]])[0]
    if whole[1].tobytes() != whole[2].tobytes():
        sys.exit(f"{name}: one thread differs from two")
    for n in lengths:
        short = model.run(name, [rows[: n * row] for rows, row in inputs], [[0, n]])[0]
        if short.tobytes() != whole[2][: n * query * out].tobytes():
            sys.exit(f"{name}: {n} rows differ from the first {n} of {longest}")
    print(f"{name}: {len(lengths)} lengths, the same bits")
