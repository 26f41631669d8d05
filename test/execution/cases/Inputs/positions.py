# positions.py LIBRARY SCRATCH: rotations and sinusoids at positions near and far. Cases B01, B03, B06, B09.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import os
import struct
import sys
from array import array

import attnlib
import judge
import tensors

library, scratch = sys.argv[1:]
W, F = 32, 16
ONE_BITS = {"F32": 1.0, "F16": 0x3C00, "BF16": 0x3F80}


def model(dtype):
    """The library with W x W weights of that type that change nothing."""
    os.makedirs(scratch, exist_ok=True)
    path = os.path.join(scratch, dtype + ".safetensors")
    unit = [ONE_BITS[dtype] if row == column else 0 for row in range(W) for column in range(W)]
    tensors.write(path, {"w.weight": tensors.Tensor(dtype, [W, W], unit)})
    return attnlib.Model(library, path)


plain = model("F32")


def run(name, *inputs, of=plain):
    return attnlib.Session(of, 64).run(name, *(array("f", values) for values in inputs))


def single(x):
    """x as float32 has it."""
    return struct.unpack("f", struct.pack("f", x))[0]


def exact(position, wave):
    return position * wave


def rounded(position, wave):
    return single(position * single(wave))


def turned(position, angle):
    """What (1, 0) becomes in each pair, cosines first."""
    angles = [angle(position, 10000 ** (-k / F)) for k in range(F)]
    return [math.cos(a) for a in angles] + [math.sin(a) for a in angles]


# B01
x = [1, 2, 3, 4] * 2
judge.near("B01 halves", run("halves", x, [0, 1])[0], [1, 2, 3, 4, -1.984111, 1.959901, 2.462378, 4.019799])
judge.near("B01 pairs", run("pairs", x, [0, 1])[0], [1, 2, 3, 4, -1.142640, 1.922076, 2.959851, 4.029800])

# B03: angles are products in float32, exact up to their last place, and cosines of large ones are as good as of small ones
rows = [0, 1, 255, 256, 257, 1023, 1857, 4095, 65535, 131071]
ones = [1] * F + [0] * F
given = run("turned", ones * len(rows), rows)[0]
wide = run("sinusoids", rows)[2]
for n, p in enumerate(rows):
    got = given[n * W : (n + 1) * W]
    judge.near(f"B03 row {p}", got, turned(p, exact), 1e-4 if p < 1024 else 2e-2 * p / 131071 + 1e-4)
    judge.near(f"B03 row {p}, angles in float32", got, turned(p, rounded))
    sines = turned(p, rounded)
    judge.near(f"B03 sinusoid, row {p}", wide[n * W : (n + 1) * W], [sines[k // 2 + F * (1 - k % 2)] for k in range(W)])
for p, got in zip([256, 257, 1857, 4095, 65535, 131071], run("known", ones)):
    judge.same(f"B03 row {p}, known when compiling", got, given[rows.index(p) * W : (rows.index(p) + 1) * W])
judge.near("B03 pair 1 at 1857", given[rows.index(1857) * W + 1 :][:1], [0.3066928], 2e-4)
judge.note(given[3 * W : 4 * W] != given[4 * W : 5 * W], "B03: rows 256 and 257 are one")
for dtype in ("F32", "F16", "BF16"):
    judge.same(f"B03 {dtype}", run("behind", ones * len(rows), rows, of=model(dtype))[0], given)

# B06: the base of a session that may hold 12 rows is 10000 * (2 * 12 / 8 - 1) ^ (4 / 2)
SLOW, FAST = (10000 * 2**2) ** -0.5, 10000**-0.5
draws = [[math.sin(3 * t + n) for n in range(4)] for t in range(12)]


def halves(row, p, wave):
    a, b = p, p * wave
    return [row[0] * math.cos(a) - row[2] * math.sin(a), row[1] * math.cos(b) - row[3] * math.sin(b),
            row[2] * math.cos(a) + row[0] * math.sin(a), row[3] * math.cos(b) + row[1] * math.sin(b)]


def flat(rows):
    return array("f", [value for row in rows for value in row])


def feed(session, rows, *sizes):
    """Both results of the rows, given in pieces."""
    parts, at = [array("f"), array("f")], 0
    for size in sizes:
        for part, more in zip(parts, session.run("grows", flat(rows[at : at + size]))):
            part.extend(more)
        at += size
    return parts


whole = feed(attnlib.Session(plain, 12), draws, 12)
judge.near("B06 beyond the old length", whole[0], flat(halves(row, p, SLOW) for p, row in enumerate(draws)))
for sizes in ([1] * 12, [4] + [1] * 8, [9, 3]):
    pieces = feed(attnlib.Session(plain, 12), draws, *sizes)
    judge.same(f"B06 in {len(sizes)} pieces", pieces[0] + pieces[1], whole[0] + whole[1])
session = attnlib.Session(plain, 12)
feed(session, draws, 12)
session.reset()
again = feed(session, draws[:4], 4)
judge.same("B06 a fresh prompt in a session that was full", again[0] + again[1], whole[0][:16] + whole[1][:16])
for capacity in (4, 8):
    short = feed(attnlib.Session(plain, capacity), draws[:4], 4)[0]
    judge.near(f"B06 capacity {capacity}", short, flat(halves(row, p, FAST) for p, row in enumerate(draws[:4])))

# B09
even, odd, _ = run("sinusoids", [0, 1])
judge.near("B09 width 4", even, [0, 1, 0, 1, 0.841471, 0.540302, 0.00999983, 0.99995])
judge.near("B09 width 5", odd, [0, 1, 0, 1, 0, 0.841471, 0.540302, 0.025116, 0.999685, 0.000631])
judge.finish()
