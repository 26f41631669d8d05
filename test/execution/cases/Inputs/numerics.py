# numerics.py ATTNC SCRATCH [OPTIONS OF ATTNC]: what stands behind a mask changes no bit, and scores of 10,000 are scores.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Five masks by five weighers. Each attends to cached rows, so that one query can come after all others. First keys and
# values become NaN, infinite or huge, and every row that sees none of them must keep its bits. Then all keys are so large
# that scores reach +-10,000, and the results are held against sums in double.
import math
import os
import random
import subprocess
import sys
from array import array

import attnlib
import judge

attnc, scratch, *options = sys.argv[1:]
T, H, D, N = 137, 2, 16, 8
WINDOW, PREFIX = 9, 20
DOC = [0] * 40 + [1] * 50 + [2] * 47
HIDDEN = {3, *range(64, 81), 136}  # of the mask that is given
MASKS = {
    "plain": ("keep[j] > 0", lambda i, j: j not in HIDDEN),
    "causal": ("causal(i, j)", lambda i, j: j <= i),
    "window": ("causal(i, j) and window(i, j, 9)", lambda i, j: i - WINDOW < j <= i),
    "prefix": ("prefix(i, j, 20)", lambda i, j: j <= i or j < PREFIX),
    "documents": ("causal(i, j) and same(i, j, doc)", lambda i, j: j <= i and DOC[i] == DOC[j]),
}
# what of the keys is spoiled; rows that see none of it are compared
SPOILED = {"plain": [HIDDEN], "causal": [range(70, T)], "window": [[50], range(120)], "prefix": [range(70, T)],
           "documents": [range(40, 90)]}
WEIGHERS = {"softmax": "", "softmax1": ", weigh: softmax1", "sink": ", sink(h): 0.5 + h", "sigmoid": ", weigh: sigmoid",
            "ratio": ", weigh: ratio, score(s): abs(s) + 1"}
PARAMETER = {"plain": ("keep", "f"), "documents": ("doc", "i")}
GIVEN = {"plain": [0 if t in HIDDEN else 1 for t in range(T)], "documents": DOC}


def source(mask):
    name, _ = PARAMETER.get(mask, ("", ""))
    lines = [f"let H = {H}", f"let D = {D}", f"let N = {N}", "fn so_far(x) = cache(x)"]
    for weigher, clause in WEIGHERS.items():
        more = f", {name}[T]" if name else ""
        lines += [f"export fn {weigher}(q[T,H,D], k[T,H,D], v[T,H,N]{more}) -> [T,H,N] {{",
                  f'  {name} = so_far({name}) at "{name}"' if name else "",
                  f'  attend(q, so_far(k) at "k", so_far(v) at "v", mask(i, j): {MASKS[mask][0]}{clause})', "}"]
    return "\n".join(lines) + "\n"


def run(model, weigher, inputs, cuts):
    """The results of all rows, in pieces that end at `cuts`."""
    session, at, result = attnlib.Session(model, T), 0, array("f")
    for end in cuts:
        piece = [values[at * size : end * size] for values, size in zip(inputs, (H * D, H * D, H * N, 1))]
        result.extend(session.run(weigher, *piece)[0])
        at = end
    return result


def rows(result, chosen):
    return b"".join(result[t * H * N : (t + 1) * H * N].tobytes() for t in chosen)


def spoil(inputs, places, key, value):
    q, k, v, *more = inputs
    k, v = array("f", k), array("f", v)
    for t in places:
        k[t * H * D : (t + 1) * H * D] = array("f", [key] * H * D)
        v[t * H * N : (t + 1) * H * N] = array("f", [value] * H * N)
    return [q, k, v, *more]


def weights(weigher, scores, h):
    """Of the visible scores, in double."""
    if weigher == "ratio":
        positive = [abs(s) + 1 for s in scores]
        return [s / sum(positive) for s in positive]
    if weigher == "sigmoid":
        return [1 / (1 + math.exp(-s)) if s > -700 else 0.0 for s in scores]
    extra = {"softmax": [], "softmax1": [0.0], "sink": [0.5 + h]}[weigher]
    most = max(scores + extra)
    total = sum(math.exp(s - most) for s in scores + extra)
    return [math.exp(s - most) / total for s in scores]


draw = random.Random(17)
q, k = (array("f", [draw.gauss(0, 1) for _ in range(T * H * D)]) for _ in range(2))
v = array("f", [draw.gauss(0, 1) for _ in range(T * H * N)])


def score(keys, i, j, h):
    a, b = (i * H + h) * D, (j * H + h) * D
    return math.fsum(x * y for x, y in zip(q[a : a + D], keys[b : b + D])) / math.sqrt(D)


scores = [[[score(k, i, j, h) for j in range(T)] for i in range(T)] for h in range(H)]
largest = max(abs(s) for head in scores for row in head for s in row)
factor = 2.0 ** math.floor(math.log2(10000 / largest))  # a power of two: the large keys' scores are these, times it
steep = array("f", [x * factor for x in k])
largest *= factor

os.makedirs(scratch, exist_ok=True)
for mask, (_, sees) in MASKS.items():
    path = os.path.join(scratch, mask)
    with open(path + ".attn", "w") as file:
        file.write(source(mask))
    subprocess.run([attnc, path + ".attn", "-o", path + ".so", *options], check=True, stderr=subprocess.DEVNULL)
    model = attnlib.Model(path + ".so", threads=1)
    more = [array(PARAMETER[mask][1], GIVEN[mask])] if mask in PARAMETER else []
    for weigher in WEIGHERS:
        what = f"{mask} {weigher}"
        inputs = [q, k, v, *more]
        # a given mask looks ahead: all rows in one call
        one_query = [T] if mask in ("plain", "prefix") else [T - 1, T]
        before = [run(model, weigher, inputs, cuts) for cuts in ([T], one_query)]
        for places in SPOILED[mask]:
            blind = [t for t in range(T) if not any(sees(t, j) for j in places)]
            judge.note(len(blind) > 0, f"{what}: nobody is blind")
            for key, value in ((math.nan, math.nan), (math.inf, 1), (-math.inf, math.inf), (3e38, 3e38), (4e4, 1), (-4e4, -math.inf)):
                spoiled = spoil(inputs, places, key, value)
                for cuts, right in zip(([T], one_query), before):
                    got = run(model, weigher, spoiled, cuts)
                    judge.note(rows(got, blind) == rows(right, blind), f"{what}: {key} at hidden keys, pieces to {cuts}")
        got = run(model, weigher, [q, steep, v, *more], one_query)
        wanted = []
        for i in range(T):
            for h in range(H):
                seen = [j for j in range(T) if sees(i, j)]
                w = weights(weigher, [scores[h][i][j] * factor for j in seen], h)
                for n in range(N):
                    wanted.append(math.fsum(a * v[(j * H + h) * N + n] for a, j in zip(w, seen)))
        worst = max(abs(a - b) if math.isfinite(a) else math.inf for a, b in zip(got, wanted)) / max(map(abs, wanted))
        judge.note(worst <= max(1e-5, 4 * 2**-24 * largest), f"{what}: off by {worst} with scores up to {largest}")
judge.finish()
