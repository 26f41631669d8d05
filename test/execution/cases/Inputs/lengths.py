# lengths.py LIBRARY: every pair of many lengths beside sums in double; then each with arrays that end where no memory follows.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# All keys are the first ones of one long row of keys, so the result of query i over S keys is a running sum over them.
import ctypes
import math
import mmap
import random
import sys
from array import array

import attnlib
import judge

LENGTHS = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 137, 1025]
PAIRS = [(T, S) for T in LENGTHS for S in LENGTHS] + [(64, 50), (100, 77)]
H, D, N = 2, 4, 3
model = attnlib.Model(sys.argv[1])
draw = random.Random(5)
longest = max(LENGTHS)
q, k = (array("f", [draw.gauss(0, 1.5) for _ in range(longest * H * D)]) for _ in range(2))
v = array("f", [draw.gauss(0, 1) for _ in range(longest * H * N)])


def row(values, t, h, width):
    at = (t * H + h) * width
    return values[at : at + width]


def running(i, h):
    """What query i of head h sees of the first 1, 2, … keys."""
    a0, a1, a2, a3 = (a / math.sqrt(D) for a in row(q, i, h, D))
    total = s0 = s1 = s2 = 0.0
    seen = []
    for (b0, b1, b2, b3), (v0, v1, v2) in HEADS[h]:
        w = math.exp(a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3)
        total, s0, s1, s2 = total + w, s0 + w * v0, s1 + w * v1, s2 + w * v2
        seen.append((s0 / total, s1 / total, s2 / total))
    return seen


HEADS = [[(row(k, j, h, D), row(v, j, h, N)) for j in range(longest)] for h in range(H)]
ROWS = sorted({t for T in LENGTHS + [64, 100] for t in (0, T // 2, T - 1)})  # the queries that are compared
SEEN = {(i, h): running(i, h) for i in ROWS for h in range(H)}


def offsets(lengths):
    result = [0]
    for length in lengths:
        result.append(result[-1] + length)
    return result


def judge_rows(name, got, begin, T, S, uniform):
    """The largest error of the rows i of ROWS of one sequence."""
    worst = 0
    for i in ROWS:
        if i < T:
            keys = min(i + 1, S) if name == "before" else S
            for h in range(H):
                wanted = [(keys - 1) / 2] * N if uniform else SEEN[i, h][keys - 1]
                at = ((begin + i) * H + h) * N
                for a, b in zip(got[at : at + N], wanted):
                    worst = max(worst, abs(a - b) / max(1, abs(b))) if math.isfinite(a) else math.inf
    return worst


# all pairs in one call
begins = offsets([T for T, _ in PAIRS]), offsets([S for _, S in PAIRS])
packed = [array("f"), array("f"), array("f")]
equal = array("f"), array("f")
counted = array("f", [j for j in range(longest) for _ in range(H * N)])
for T, S in PAIRS:
    for to, of, size in zip(packed, (q, k, v), (T * H * D, S * H * D, S * H * N)):
        to.extend(of[:size])
    equal[0].extend(array("f", bytes(4 * T * H * D)))
    equal[1].extend(counted[: S * H * N])
for name in ("all", "before"):
    results = model.run(name, packed, begins)[0]
    for (T, S), begin in zip(PAIRS, begins[0]):
        judge.note(judge_rows(name, results, begin, T, S, False) <= 1e-5, f"{name} {T} {S}")
    results = model.run(name, [equal[0], packed[1], equal[1]], begins)[0]
    for (T, S), begin in zip(PAIRS, begins[0]):
        judge.note(judge_rows(name, results, begin, T, S, True) <= 1e-6, f"{name} {T} {S}, equal scores")

# arrays with no memory behind them or in front of them
libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE


class Walled:
    """A copy of some numbers at one end of its pages, walled in by pages that may not be touched."""

    def __init__(self, size, at_end):
        inside = -(-size // PAGE) * PAGE
        self.memory = mmap.mmap(-1, inside + 2 * PAGE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for wall in (base, base + PAGE + inside):
            if libc.mprotect(ctypes.c_void_p(wall), ctypes.c_size_t(PAGE), 0):
                sys.exit("a page cannot be protected")
        self.size, self.address = size, base + PAGE + (inside - size if at_end else 0)

    def put(self, values):
        ctypes.memmove(self.address, values.buffer_info()[0], self.size)
        return self

    def numbers(self):
        return array("f", ctypes.string_at(self.address, self.size))


for T, S in ((1, 1), (1, 137), (3, 5), (17, 33), (63, 64), (64, 50), (65, 9), (100, 77), (129, 15)):
    for name in ("all", "before"):
        given = [q[: T * H * D], k[: S * H * D], v[: S * H * N]]
        free = model.run(name, given, [[0, T], [0, S]])[0]
        for at_end in (True, False):
            call = model.prepare(name, given, [[0, T], [0, S]])
            walled = [Walled(4 * len(values), at_end).put(values) for values in given]
            result = Walled(4 * T * H * N, at_end)
            call.inputs = (ctypes.c_void_p * 3)(*[each.address for each in walled])
            call.results = (ctypes.c_void_p * 1)(result.address)
            call()
            judge.same(f"{name} {T} {S}, walled in", result.numbers(), free)
judge.finish()
