# attention.py LIBRARY: what small attentions give, as numbers that can be done by hand. Cases A01, A06, A10, A13, A17, A16.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where all scores are equal (queries of 0) and the values are 0, 1, 2, …, a row is the mean number of the keys it sees.
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
judge.finish()
