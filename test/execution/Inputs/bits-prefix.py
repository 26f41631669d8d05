# bits-prefix.py LIBRARY: the first rows of a call are the rows of a shorter one, bit for bit, on one thread and on two.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random
import sys
from array import array

import attnlib

model = attnlib.Model(sys.argv[1], threads=2)
draw = random.Random(3)
longest, heads, width, out = 300, 3, 20, 12
q, k = (array("f", [draw.gauss(0, 2) for _ in range(longest * heads * width)]) for _ in range(2))
v = array("f", [draw.gauss(0, 1) for _ in range(longest * heads * out)])
# values so small that their products with weights are lost: the sign of what is left must not depend on hidden keys
for row in range(0, longest, 5):
    for n in range(heads * out):
        v[row * heads * out + n] = draw.choice([1e-45, -1e-45, -0.0, 0.0])
lengths = [1, 2, 3, 7, 15, 16, 17, 64, 65, 127, 200, 299]
for name in ("causal", "windowed", "sparse"):
    whole = {}
    for threads in (1, 2):
        model.threads(threads)
        whole[threads] = model.run(name, [q, k, v], [[0, longest]])[0]
    if whole[1].tobytes() != whole[2].tobytes():
        sys.exit(f"{name}: one thread differs from two")
    for n in lengths:
        short = model.run(name, [q[: n * heads * width], k[: n * heads * width], v[: n * heads * out]], [[0, n]])[0]
        if short.tobytes() != whole[2][: n * heads * out].tobytes():
            sys.exit(f"{name}: {n} rows differ from the first {n} of {longest}")
    print(f"{name}: {len(lengths)} lengths, the same bits")
