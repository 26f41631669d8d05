# attention.py LIBRARY: what small attentions give, as numbers that can be done by hand. docs/cases.md says which cases.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where all scores are equal (queries of 0) and the values are 0, 1, 2, …, a row is the mean number of the keys it sees.
import math
import random
import sys
from array import array

import attnlib
import judge

model = attnlib.Model(sys.argv[1])
width = 4


def floats(*values):
    return array("f", values)


def zeros(rows):
    return array("f", [0] * rows * width)


def count(rows):
    return array("f", range(rows))


def run(name, lengths, *inputs):
    return model.run(name, [array("f", values) for values in inputs], [[0, length] for length in lengths])


# A01: a row that sees nothing is 0, whatever way it was hidden; what is hidden does not matter, numbers or not
values, keep = floats(1, 2, 3), floats(1, 1, 0, 0, 0, 0)
for name in ("given", "scored", "hand", "weights"):
    judge.near(f"A01 {name}", run(name, [2, 3], zeros(2), zeros(3), values, keep)[0], [1.5, 0])
judge.near("A01 weights", run("weights", [2, 3], zeros(2), zeros(3), values, keep)[1], [0.5, 0.5, 0, 0, 0, 0])
bad = zeros(2) + floats(*[float("nan")] * width)
for name in ("given", "scored", "hand", "weights"):
    judge.near(f"A02 {name}", run(name, [2, 3], zeros(2), bad, floats(1, 2, float("inf")), keep)[0], [1.5, 0])
judge.near("A16", run("padded", [4], zeros(4), count(4))[0], [0, 0, 2, 2.5])

# A06
for T, S, first, last in ((2, 5, [0, 0.5], [1.5, 2]), (5, 2, [0] + 4 * [0.5], [0, 0, 0, 0, 0.5])):
    judge.near(f"A06 first {T} {S}", run("first", [T, S], zeros(T), zeros(S), count(S))[0], first)
    judge.near(f"A06 last {T} {S}", run("last", [T, S], zeros(T), zeros(S), count(S))[0], last)
session = attnlib.Session(model, 5)
session.run("cached", zeros(3), zeros(3), count(3))
judge.near("A06 cached", session.run("cached", zeros(2), zeros(2), floats(3, 4))[0], [1.5, 2])

# A10
judge.near("A10", run("grouped", [1, 1], [0] * 4 * width, [0] * 2 * width, floats(1, 2))[0], [1, 1, 2, 2])

# A13: no keys, no queries, and both beside sequences that have some
judge.near("A13 no keys", run("all", [3, 0], zeros(3), [], [])[0], [0, 0, 0])
judge.near("A13 no queries", run("all", [0, 3], [], zeros(3), count(3))[0], [])
for name, batch in (("all", [0, 0, 0, 1, 1]), ("first", [0, 0, 0, 0, 0.5]), ("last", [0, 0, 0, 0.5, 1])):
    judge.near(f"A13 {name}", run(name, [3, 0], zeros(3), [], [])[0], [0, 0, 0])
    judge.near(f"A13 {name}", run(name, [0, 3], [], zeros(3), count(3))[0], [])
    judge.near(f"A13 {name}", run(name, [0, 0], [], [], [])[0], [])
    together = model.run(name, [zeros(5), zeros(3), count(3)], [[0, 3, 5], [0, 0, 3]])[0]
    judge.near(f"A13 {name}, a batch", together, batch)
    together = model.run(name, [zeros(2), zeros(6), count(6)], [[0, 2, 2], [0, 3, 6]])[0]
    judge.near(f"A13 {name}, a batch", together, batch[3:])
judge.near("A13 given", run("given", [3, 0], zeros(3), [], [], [])[0], [0, 0, 0])
judge.near("A13 hand", run("hand", [3, 0], zeros(3), [], [], [])[0], [0, 0, 0])
judge.near("A13 cached", attnlib.Session(model, 5).run("cached", [], [], [])[0], [])

# A17: the weight of the first key, 1 / (1 + e^-2) and 1 / (1 + e^-1)
q, k, v = floats(2, 0, 0, 0), floats(1, 0, 0, 0, 0, 0, 0, 0), floats(1, 0)
bare, scaled = [0.8807971, 0.1192029], [0.7310586, 0.2689414]
judge.near("A17 bare", run("bare", [1, 2], q, k, v)[0], bare[:1])
judge.near("A17 bare, by hand", run("bare_hand", [1, 2], q, k, v)[0], bare[:1])
judge.near("A17 bare, weights", run("bare_weights", [1, 2], q, k, v)[1], bare)
judge.near("A17 scaled", run("all", [1, 2], q, k, v)[0], scaled[:1])
judge.near("A17 scaled, by hand", run("scaled_hand", [1, 2], q, k, v)[0], scaled[:1])
judge.near("A17 scaled, weights", run("scaled_weights", [1, 2], q, k, v)[1], scaled)
heads = run("scaled_heads", [1, 2], q + q, k[:4] + k[:4] + k[4:] + k[4:], floats(1, 1, 0, 0))[0]
judge.near("A17 scaled, two heads of a model of 8", heads, scaled[:1] * 2)
for name, wanted in (("bare_cached", bare), ("cached", scaled)):
    session = attnlib.Session(model, 2)
    session.run(name, q, k[:4], v[:1])
    judge.near(f"A17 {name}", session.run(name, q, k[4:], v[1:])[0], wanted[:1])
# A04: sums of products far beyond 65504, before and after the scale: the first key wins
for large, less in ((30, 29), (256, 255), (1e6, 0.99e6)):
    q, k = floats(*[large] * width), floats(*[large] * width, *[less] * width)
    judge.near(f"A04 {large}", run("all", [1, 2], q, k, floats(1, 0))[0], [1], 1e-5)
    judge.near(f"A04 {large}, by hand", run("scaled_hand", [1, 2], q, k, floats(1, 0))[0], [1], 1e-5)
    judge.near(f"A04 {large}, weights", run("scaled_weights", [1, 2], q, k, floats(1, 0))[1], [1, 0], 1e-5)

# A07: how many rows a window of 0, 1, 3 and 99 has
for name in ("window3", "window3_hand"):
    judge.near(f"A07 {name}", run(name, [6], zeros(6), count(6))[0], [0, 0.5, 1, 2, 3, 4])
session = attnlib.Session(model, 6)
rows = [session.run("window3_cached", zeros(n), floats(*range(len(session), len(session) + n)))[0] for n in (2, 1, 3)]
judge.near("A07 cached", sum(rows, array("f")), [0, 0.5, 1, 2, 3, 4])
judge.near("A07 of none", run("window0", [6], zeros(6), count(6))[0], [0] * 6)
judge.near("A07 of one", run("window1", [70], zeros(70), count(70))[0], range(70))
draw = random.Random(7)
some = floats(*[draw.gauss(0, 1) for _ in range(70 * width)])
judge.same("A07 of all", run("window99", [70], some, count(70))[0], run("before", [70], some, count(70))[0])

# A08: scores of 100 and 50 held in (-50, 50); a key that is hidden after scores of 0 were capped
q, k = floats(200, 0, 0, 0), floats(1, 0, 0, 0, 0.5, 0, 0, 0)
judge.near("A08 weights", run("capped50", [1, 2], q, k, floats(1, 0))[1], [0.9999598, 4.0197e-5], 1e-6)
judge.near("A08", run("capped50_only", [1, 2], q, k, floats(0, 1))[0], [4.0197e-5], 1e-8)
for name, more in (("capped1", ()), ("capped1_hand", (floats(1, 1, 0),))):
    judge.near(f"A08 {name}", run(name, [1, 3], zeros(1), zeros(3), floats(1, 3, 99), *more)[0], [2])

# A16: numbers that stand for "not at all" are numbers; -inf is not
least, half = -3.4028234663852886e38, -1.7e38
for name in ("biased", "biased_hand", "biased_weights"):
    for number in (least, half, -1e9, 1e9, 2e38):
        got = run(name, [2, 4], zeros(2), zeros(4), count(4), floats(*[number] * 4, 0, number, 0, number))[0]
        judge.near(f"A16 {name}, rows of {number}", got, [1.5, 1 if number < 0 else 2])
    got = run(name, [2, 4], zeros(2), zeros(4), count(4), floats(*[float("-inf")] * 7, least))[0]
    judge.near(f"A16 {name}, hidden beside the least number", got, [0, 3])

# A14: heads in front of the rows are the same numbers, read elsewhere: the same bits
T, S, H = 19, 23, 2
given = [[draw.gauss(0, 1) for _ in range(n)] for n in (T * H * width, S * H * width, S * H)]


def heads_first(values, rows, row):
    return array("f", [values[(t * H + h) * row + d] for h in range(H) for t in range(rows) for d in range(row)])


turned = heads_first(given[0], T, width), heads_first(given[1], S, width), heads_first(given[2], S, 1)
judge.same("A14", run("heads_in_front", [T, S], *turned)[0], run("heads_behind", [T, S], *given)[0])

# A19: the weight that a sink leaves for values of 1
inf = float("inf")
for scores, logit, wanted in (((0, 0, 0), 0, 0.75), ((10, 10), 0, 0.9999773), ((10, 10), 100, 0), ((10, 10), -inf, 1),
                              ((-200, -200), 0, 0), ((200, 100), 190, 1 / (1 + math.exp(-10)))):
    n = len(scores)
    q, k, v, b = zeros(1), zeros(n), floats(*[1] * n), floats(*scores)
    judge.near(f"A19 {scores} {logit}", run("sunk", [1, n], q, k, v, b, floats(logit))[0], [wanted])
    y, w = run("sunk_weights", [1, n], q, k, v, b, floats(logit))
    judge.near(f"A19 {scores} {logit}, with weights", [y[0], sum(w)], [wanted] * 2)
    if logit == 0:
        judge.near(f"A19 {scores}, softmax1", run("one_more", [1, n], q, k, v, b)[0], [wanted])

# A20: documents in one text, alone, after a change in the first, and with a second mask that hides nothing
doc = array("i", [0, 0, 0, 1, 1])
judge.near("A20", model.run("documents", [zeros(5), count(5), doc], [[0, 5]])[0], [0, 0.5, 1, 3, 3.5])
x, y = (floats(*[draw.gauss(0, 1) for _ in range(5 * width)]) for _ in range(2))
y[3 * width :] = x[3 * width :]
v, u = floats(1, 2, 3, 4, 5), floats(-7, inf, 0, 4, 5)
before = model.run("documents", [x, v, doc], [[0, 5]])[0]
judge.same("A20, another first document", model.run("documents", [y, u, doc], [[0, 5]])[0][3:], before[3:])
kept = model.run("documents_kept", [x, v, doc, floats(*[1] * 5)], [[0, 5]])[0]
judge.same("A20, a mask more", kept, before)
judge.finish()
