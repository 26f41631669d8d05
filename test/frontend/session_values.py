# session_values.py ATTNC INTERPRETER SCRATCH: cache, once, past, capacity, rotate and repeat over rows, beside hand arithmetic.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A case is a text and the calls of one session: for each the export, its arguments and what it has to give. The text is
# compiled to the attn dialect and run by the interpreter, which knows nothing of the frontend.
import json
import math
import random
import re
import subprocess
import sys

attnc, interpreter, scratch = sys.argv[1:]
random.seed(7)


def rows(count, width):
    return [[round(random.uniform(-2, 2), 2) for _ in range(width)] for _ in range(count)]


def mean(vectors):
    return [sum(column) / len(vectors) for column in zip(*vectors)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def turn(row, position, frequencies, pairs=False, scale=1):
    """Pair k of the row turned by position * frequencies[k]; in halves, or neighbours."""
    result, n = list(row), len(frequencies)
    for k, f in enumerate(frequencies):
        a, b = (2 * k, 2 * k + 1) if pairs else (k, k + n)
        c, s = scale * math.cos(position * f), scale * math.sin(position * f)
        result[a], result[b] = row[a] * c - row[b] * s, row[b] * c + row[a] * s
    return result


F = [1, 0.1]  # inv_freq(100, 4)
X = rows(6, 2)
X4, X6, Y4 = rows(6, 4), rows(5, 6), rows(4, 4)
XH = [[rows(1, 4)[0] for _ in range(2)] for _ in range(5)]
DOC = [0, 0, 1, 1, 0, 1]
CAUSAL = "mask: causal, score(j): 0"


def chunks(values, *sizes):
    at = 0
    for size in sizes:
        yield values[at : at + size]
        at += size


def chunked(name, expected, *sizes, **arguments):
    """Calls that give the arguments piece by piece, each piece's results."""
    pieces = {key: list(chunks(value, *sizes)) for key, value in arguments.items()}
    return [(name, {key: pieces[key][i] for key in pieces}, [piece]) for i, piece in enumerate(chunks(expected, *sizes))]


def mix(given):
    """For each row the mean of all up to it."""
    return [mean(given[: i + 1]) for i in range(len(given))]


def layered(x, count):
    for _ in range(count):
        x = [[a + b for a, b in zip(row, seen)] for row, seen in zip(x, mix(x))]
    return x


# A tree in depth-first order: 0 leads to 1 and 2, 1 to nothing, 3 begins anew; two rows were there before.
END, LEADS = [3, 2, 3, 4], [[0], [0, 1], [0, 2], [3]]
TREE = [mean(X[:2] + [X[2 + j] for j in seen]) for seen in LEADS]
MEMORY = rows(3, 2)
SLOW = [1, 0.1 * (2 * 12 / 8 - 1) ** (-2 / 2)]  # theta (f L / L0 - (f - 1))^(d / (d - 2)), k = 1 of d = 4

CASES = [
    # positions, past and capacity
    ("export fn f(x[T]) -> (p[T], n[T], c[T]) { seen = cache(x); pos + 0 * x, past + 0 * x, capacity + 0 * x }",
     [("f", {"x": [5, 5]}, [[0, 1], [0, 0], [9, 9]]), ("f", {"x": [5]}, [[2], [2], [9]]),
      ("f", {"x": [5, 5, 5]}, [[3, 4, 5], [3, 3, 3], [9, 9, 9]])]),
    ("export fn f(x[T], y[S]) -> (p[T], n[T]) = (pos + 0 * x, past + 0 * x)",
     [("f", {"x": [5, 5], "y": [1]}, [[0, 1], [0, 0]]), ("f", {"x": [5, 5], "y": [1]}, [[0, 1], [0, 0]])]),
    # a mean of all rows so far, given in pieces
    (f"export fn f(x[T,2]) -> [T,2] = attend(x, cache(x), cache(x), {CAUSAL})", chunked("f", mix(X), 2, 1, 3, x=X)),
    # of the rows of the same document
    ("export fn f(x[T,2], doc[T]) -> [T,2] { d = cache(doc); attend(x, cache(x), cache(x), "
     "mask(i, j): j <= i and same(i, j, d), score(j): 0) }",
     chunked("f", [mean([X[j] for j in range(i + 1) if DOC[j] == DOC[i]]) for i in range(6)], 3, 3, x=X, doc=DOC)),
    # of those that lead to a guess
    ("export fn f(x[T,2], end[T]) -> [T,2] = attend(x, cache(x), cache(x), mask: tree(end: end), score(j): 0)",
     [("f", {"x": X[:2], "end": [2, 2]}, [mix(X)[:2]]), ("f", {"x": X[2:], "end": END}, [TREE])]),
    # what the first call gives and later ones keep
    (f"export fn f(x[T,2], m[S,2]) -> [T,2] = attend(x, cache(x), cache(x), {CAUSAL}) + attend(x, once(m), once(m), score(j): 0)",
     [("f", {"x": X[:2], "m": MEMORY}, [[[a + b for a, b in zip(row, mean(MEMORY))] for row in mix(X)[:2]]]),
      ("f", {"x": X[2:], "m": []}, [[[a + b for a, b in zip(row, mean(MEMORY))] for row in mix(X)[2:]]])]),
    # two exports of one place
    (f"fn all(x[T,2]) = attend(x, cache(x), cache(x), {CAUSAL})\n"
     'export fn f(x[T,2]) -> [T,2] = all(x) at "a"\nexport fn g(x[T,2]) -> [T,2] = -(all(x) at "a")',
     [("f", {"x": X[:4]}, [mix(X)[:4]]), ("g", {"x": X[4:]}, [[[-v for v in row] for row in mix(X)[4:]]])]),
    # a place for each layer, in one loop and written out
    ("export fn f(x[T,2]) -> [T,2] { repeat l in 0..3 { x += attend(x, cache(x), cache(x), " + CAUSAL + ") }; x }",
     chunked("f", layered(X, 3), 3, 2, 1, x=X)),
    ("export fn f(x[T,2]) -> [T,2] { repeat l in 0..3 { x += attend(x, cache(x), cache(x), " + CAUSAL + ") * (l - l + 1) }; x }",
     chunked("f", layered(X, 3), 3, 2, 1, x=X)),
    # heads that the call is walked along
    (f"fn one(x[T,D]) = attend(x, cache(x), cache(x), {CAUSAL})\nlet H = 2\n"
     "export fn f(x[T,H,4]) -> [T,H,4] = one(x as [H,T,4]) as [T,H,4]",
     chunked("f", [[mean([row[h] for row in XH[: i + 1]]) for h in range(2)] for i in range(5)], 2, 3, x=XH)),
    # whole numbers are kept as such: the mean of a table's rows by number
    ("export fn f(i[T]) -> [T] { v = range(9) [cache(i)]; attend(fill(0, T, 1), v, v, mask: causal, score(j): 0) }",
     chunked("f", [4, 5, 4, 5], 1, 3, i=[4, 6, 2, 8])),
    # turned by position, halves and neighbours, whole rows and parts
    ("let f = inv_freq(100, 4)\nexport fn f_(x[T,4]) -> [T,4] { seen = cache(x); rotate(x, f) }",
     chunked("f_", [turn(row, t, F) for t, row in enumerate(X4)], 1, 2, 3, x=X4)),
    ("export fn f(x[T,4]) -> [T,4] { seen = cache(x); rotate(x, inv_freq(100, 4), interleaved: true) }",
     chunked("f", [turn(row, t, F, pairs=True) for t, row in enumerate(X4)], 4, 2, x=X4)),
    ("export fn f(x[T,6]) -> [T,6] = rotate(x, inv_freq(100, 4), scale: 0.5)",
     [("f", {"x": X6}, [[turn(row[:4], t, F, scale=0.5) + row[4:] for t, row in enumerate(X6)]])]),
    ("export fn f(x[T,6]) -> [T,6] = rotate(x, inv_freq(100, 4), scale: 0.5, interleaved: true)",
     [("f", {"x": X6}, [[turn(row[:4], t, F, pairs=True, scale=0.5) + row[4:] for t, row in enumerate(X6)]])]),
    ("export fn f(x[T,4], s[]) -> [T,4] = rotate(x, inv_freq(100, 4), scale: s)",
     [("f", {"x": X4, "s": 3}, [[turn(row, t, F, scale=3) for t, row in enumerate(X4)]])]),
    ("export fn f(x[T,4], g[2]) -> [T,4] = rotate(x, g)",
     [("f", {"x": X4, "g": [0.3, -2]}, [[turn(row, t, [0.3, -2]) for t, row in enumerate(X4)]])]),
    # at positions that the text says
    ("export fn f(x[T,4], p[T]) -> [T,4] = rotate(x, inv_freq(100, 4), pos: p)",
     [("f", {"x": X4, "p": [9, 1, 0, 0.5, -2, 3]},
       [[turn(row, p, F) for row, p in zip(X4, [9, 1, 0, 0.5, -2, 3])]])]),
    ("export fn f(x[4]) -> [4] = rotate(x, inv_freq(100, 4), pos: 3)", [("f", {"x": X4[0]}, [turn(X4[0], 3, F)])]),
    ("export fn f(x[4,4]) -> [4,4] = rotate(x, inv_freq(100, 4), pos: 2 * range(4))",
     [("f", {"x": Y4}, [[turn(row, 2 * t, F) for t, row in enumerate(Y4)]])]),
    ("let H = 2\nfn r(x[T,N]) = rotate(x, inv_freq(100, 4))\nexport fn f(x[T,H,4]) -> [T,H,4] = r(x as [H,T,4]) as [T,H,4]",
     [("f", {"x": XH}, [[[turn(head, t, F) for head in row] for t, row in enumerate(XH)]])]),
    ("let H = 2\nfn r(x[4], p[]) = rotate(x, inv_freq(100, 4), pos: p)\nexport fn f(x[T,H,4]) -> [T,H,4] = r(x, pos)",
     [("f", {"x": XH}, [[[turn(head, t, F) for head in row] for t, row in enumerate(XH)]])]),
    # keys kept as they are and turned when all are there
    (f"export fn f(x[T,4]) -> [T] {{ k = rotate(cache(x), inv_freq(100, 4)); attend(fill(0, T, 4), k, sum(k), {CAUSAL}) }}",
     chunked("f", [sum(sum(turn(X4[j], j, F)) for j in range(i + 1)) / (i + 1) for i in range(6)], 2, 2, 2, x=X4)),
    # the two layouts are one, up to the order of the places
    ("let f = inv_freq(100, 4)\nlet C = 2\nlet K = 2\nfn pairs(x[T,N]) = ((x as [T,C,K]) as [T,K,C]) as [T,N]\n"
     "export fn g(x[T,4], y[T,4]) -> (a[T], b[T]) { dot(rotate(x, f), rotate(y, f, pos: pos + 3)), "
     "dot(rotate(pairs(x), f, interleaved: true), rotate(pairs(y), f, interleaved: true, pos: pos + 3)) }",
     [("g", {"x": X4[:4], "y": Y4}, [[dot(turn(x, t, F), turn(y, t + 3, F)) for t, (x, y) in enumerate(zip(X4, Y4))]] * 2)]),
    # a session that may grow beyond 8 rows turns slower from its first row on, one that may not does not
    ("export fn f(x[T,4]) -> [T,4] { seen = cache(x); rotate(x, dynamic(inv_freq(100, 4), 2, 4, 8)) }",
     chunked("f", [turn(row, t, SLOW) for t, row in enumerate(X4)], 4, 2, x=X4), 12),
    ("export fn f(x[T,4]) -> [T,4] { seen = cache(x); rotate(x, dynamic(inv_freq(100, 4), 2, 4, 8)) }",
     chunked("f", [turn(row, t, F) for t, row in enumerate(X4)], 4, 2, x=X4), 8),
    # case B01 of the collection of known mistakes: x = 1 2 3 4, position 1, base 10000
    ("export fn f(x[T,4]) -> (half[T,4], pairs[T,4]) = (rotate(x, inv_freq(10000, 4)), rotate(x, inv_freq(10000, 4), interleaved: true))",
     [("f", {"x": [[1, 2, 3, 4]] * 2}, [[[1, 2, 3, 4], [-1.984111, 1.959901, 2.462378, 4.019799]],
                                        [[1, 2, 3, 4], [-1.142640, 1.922076, 2.959851, 4.029800]]])]),
    # B03: angles in float32; pair 1 of 32 at position 1857
    ("export fn f(x[T,2]) -> [T,2] = rotate(x, inv_freq(10000, 32) [1] + fill(0, 1), pos: 1857)",
     [("f", {"x": [[1, 0]]}, [[[0.3066928, math.sin(1857 * 10000 ** (-1 / 16))]]])], 9, 2e-4),
    # rows of a sequence: what is carried, what is stacked
    ("export fn f(x[T,2]) -> (all[T,2], last[2]) { s = fill(0, 2); y = repeat e in x { s += e; yield s }; y, s }",
     [("f", {"x": X}, [[[sum(row[k] for row in X[: i + 1]) for k in range(2)] for i in range(6)],
                       [sum(row[k] for row in X) for k in range(2)]]), ("f", {"x": []}, [[], [0, 0]])]),
    ("export fn f(x[T]) -> (n[], m[], y[T], z[T]) { n = 0; m = 1; y, z = repeat e in x { n += 1; m = 0.5 * m; yield n + e, 7 }; n, m, y, z }",
     [("f", {"x": [10, 20, 30]}, [3, 0.125, [11, 22, 33], [7, 7, 7]])]),
    # what is carried changes places: sizes without a name match by place
    ("export fn f(x[T,2]) -> (s[2], t[2]) { s = fill(0, 2); t = fill(0, 2); repeat e in x { u = s; s = s + e; t = u }; s, t }",
     [("f", {"x": X[:3]}, [[sum(c) for c in zip(*X[:3])], [sum(c) for c in zip(*X[:2])]])]),
    ("export fn f(x[T,2]) -> (s[2], t[2]) { s = fill(0, 2); t = fill(1, 2); repeat e in x { s, t = (t + e, s) }; s, t }",
     [("f", {"x": X[:2]}, [[X[1][0], X[1][1]], [1 + X[0][0], 1 + X[0][1]]])]),
    ("export fn f(x[T,2]) -> (a[T], b[T]) = repeat e in x { a, b = e; yield a - b, b }",
     [("f", {"x": X}, [[a - b for a, b in X], [b for _, b in X]])]),
    # in the order of rows, the heads side by side
    ("let H = 2\nfn r(x[T]) { s = 0; y = repeat e in x { s = e - 0.5 * s; yield s }; y }\n"
     "export fn f(x[T,H]) -> [T,H] = r(x as [H,T]) as [T,H]", "filter"),
    # a loop in a loop
    ("export fn f(x[T,2], y[S,2]) -> [T,2] { s = fill(0, 2); repeat e in x { t = e; repeat g in y { t = 0.5 * t + g }; s += t; yield s } }",
     "nested"),
    # rows of which there is a fixed number: in one loop, and written out where they are known
    ("export fn f(x[3,2], y[T,2]) -> (y[T,2], s[3,2]) { s = repeat e in x { y += e; yield 2 * e }; y, s }",
     [("f", {"x": X[:3], "y": X[3:]}, [[[v + sum(row[k] for row in X[:3]) for k, v in enumerate(row)] for row in X[3:]],
                                       [[2 * v for v in row] for row in X[:3]]])]),
    ("export fn f(x[T]) -> [T] { repeat n in 2 * range(3) { x = x * n + 1 }; x }", [("f", {"x": [5]}, [[(1 * 2 + 1) * 4 + 1]])]),
]


def filtered():
    result, state = [], [0, 0]
    for row in X:
        state = [v - 0.5 * s for v, s in zip(row, state)]
        result.append(state)
    return [("f", {"x": X}, [result])]


def nested():
    result, state = [], [0, 0]
    for row in X[:3]:
        t = row
        for g in MEMORY:
            t = [0.5 * a + b for a, b in zip(t, g)]
        state = [a + b for a, b in zip(state, t)]
        result.append(state)
    return [("f", {"x": X[:3], "y": MEMORY}, [result])]


def annotate(text, calls, capacity):
    """Writes the calls into the module, as `attn-interpret --test` reads them."""
    for name in dict.fromkeys(call[0] for call in calls):
        own = [call for call in calls if call[0] == name]
        quoted = lambda values: "[" + ", ".join('"' + json.dumps(v) + '"' for v in values) + "]"
        start = text.index(f"func.func @{name}(")
        end = text.index("{\n", start)
        head = text[start:end]
        for parameter in own[0][1]:
            values = quoted([call[1][parameter] for call in own])
            head = head.replace(f'attn.name = "{parameter}"', f'attn.name = "{parameter}", test.value = {values}', 1)
        before, after = head.split(" -> ", 1)
        results = iter(range(99))
        after = re.sub(r'attn.name = "[^"]*"',
                       lambda m: m[0] + ", test.expect = " + quoted([call[2][i] for i in [next(results)] for call in own]), after)
        after = after.replace("attributes {", f'attributes {{test.session = "s", test.capacity = {capacity}, ', 1)
        text = text[:start] + before + " -> " + after + text[end:]
    return text


def agrees(source, calls, capacity=9, tolerance=1e-6):
    with open(scratch + ".attn", "w") as file:
        file.write(source + "\n")
    subprocess.run([attnc, scratch + ".attn", "--emit=attn", "-o", scratch + ".mlir"], check=True)
    with open(scratch + ".mlir") as file:
        text = annotate(file.read(), calls, capacity)
    with open(scratch + ".mlir", "w") as file:
        file.write(text)
    run = subprocess.run([interpreter, scratch + ".mlir", "--test", f"--tolerance={tolerance}"], capture_output=True, text=True)
    right = run.returncode == 0 and all(f"{call[0]}: right" in run.stdout for call in calls)
    if not right:
        print(source, run.stdout, run.stderr, sep="\n")
    return right


results = []
for source, calls, *more in CASES:
    calls = filtered() if calls == "filter" else nested() if calls == "nested" else calls
    if calls:
        results.append(agrees(source, calls, *more))
print(f"{sum(results)} of {len(results)} agree")
sys.exit(not all(results))
