# attention_points.py: what bench/attention.py measures: the list, each point's text, its inputs, and what is right.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   python3 bench/attention_points.py > bench/attention.csv      draws the list again; the same every time
#
# The list is corners and sizes with a name elsewhere, then a seeded draw. Beyond the standard library only `inputs` and
# `reference` need anything: numpy.
import csv
import dataclasses
import math
import pathlib
import random
import sys

FILE = pathlib.Path(__file__).with_name("attention.csv")
KINDS = ["none", "causal", "window", "alibi", "softcap", "prefix", "chunked", "documents", "sink", "additive"]
SINKS, CAP = 4, 20  # keys at the front that are always seen; what a score is capped at


@dataclasses.dataclass(frozen=True)
class Point:
    kind: str
    queries: int  # the last ones of `keys` positions
    keys: int
    heads: int  # of the queries
    group: int  # of them share a head of keys and values
    width: int
    precision: str = "f32"
    size: int = 0  # of the window, prefix, chunk; how many documents

    @property
    def past(self):
        return self.keys - self.queries

    def name(self):
        length = str(self.keys) if self.queries == self.keys else f"{self.queries} of {self.keys}"
        heads = str(self.heads) if self.group == 1 else f"{self.heads}/{self.heads // self.group}"
        kind = f"{self.kind} {self.size}" if self.size else self.kind
        return f"{heads} x {length} x {self.width} {kind}" + ("" if self.precision == "f32" else f" {self.precision}")

    def visible(self):
        """Pairs of a query and a key that it sees, of one head; documents as if all were of one length."""
        if self.kind in ("none", "additive"):
            return self.queries * self.keys
        if self.kind == "documents":
            return self.keys * self.keys // self.size // 2
        return sum(self.seen(query + self.past) for query in range(self.queries))

    def seen(self, i):
        if self.kind in ("window", "alibi", "softcap"):
            return min(i + 1, self.size)
        if self.kind == "sink":
            return min(i + 1, self.size + SINKS)
        return {"causal": i + 1, "prefix": max(i + 1, self.size), "chunked": i % max(self.size, 1) + 1}[self.kind]

    def operations(self, pairs):
        """Additions and multiplications of so many pairs a head; a hyperbolic tangent counts as twenty."""
        return self.heads * pairs * self.width * (22 if self.kind == "additive" else 4)


def corners():
    yield Point("none", 1024, 1024, 16, 1, 64)
    yield Point("causal", 1024, 1024, 16, 1, 64)
    yield Point("causal", 4096, 4096, 8, 1, 128)
    for kind in ("window", "alibi", "softcap"):
        yield Point(kind, 8192, 8192, 8, 1, 64, size=512)
    yield Point("documents", 4096, 4096, 8, 1, 128, size=8)
    yield Point("additive", 1024, 1024, 1, 1, 64)
    # the same in bf16
    yield Point("none", 1024, 1024, 16, 1, 64, "bf16")
    yield Point("causal", 1024, 1024, 16, 1, 64, "bf16")
    yield Point("causal", 4096, 4096, 8, 1, 128, "bf16")
    yield Point("window", 8192, 8192, 8, 1, 64, "bf16", 512)
    yield Point("documents", 4096, 4096, 8, 1, 128, "bf16", 8)
    # decoding
    yield Point("none", 1, 4096, 32, 4, 128)
    yield Point("none", 1, 4096, 32, 4, 128, "bf16")
    yield Point("none", 1, 16384, 8, 8, 128)
    yield Point("none", 1, 512, 12, 1, 64)
    yield Point("causal", 4, 4096, 32, 4, 128)
    yield Point("alibi", 1, 8192, 16, 1, 64, size=4096)
    yield Point("sink", 1, 16384, 32, 8, 128, size=1024)
    yield Point("additive", 1, 16384, 1, 1, 128)
    # the ends of each range
    yield Point("none", 1, 1, 1, 1, 32)
    yield Point("none", 1, 1, 32, 1, 256)
    yield Point("none", 16, 16, 12, 1, 32)
    yield Point("causal", 197, 197, 12, 1, 40)
    yield Point("causal", 16384, 16384, 1, 1, 32)
    yield Point("window", 16384, 16384, 1, 1, 64, size=256)
    yield Point("causal", 512, 512, 32, 8, 256)


def draw(random):
    """One point, of any cost."""
    kind, precision = random.choice(KINDS), random.choice(["f32", "f32", "f32", "bf16"])
    width, group = random.choice([32, 48, 64, 64, 80, 96, 128, 128, 192, 256]), random.choice([1, 1, 2, 4, 8])
    heads = group * random.choice([1, 2, 4, 8])
    keys = round(2 ** random.uniform(5, 14))
    queries = random.choice([1, 1, 2, 8]) if random.random() < 0.25 and kind != "documents" else keys
    size = 0
    if kind in ("window", "alibi", "softcap", "sink", "prefix", "chunked"):
        size = max(2, round(keys * 2 ** random.uniform(-5, -1)))
    elif kind == "documents":
        size = random.choice([2, 4, 8, 16])
    return Point(kind, queries, keys, heads, group, width, precision if kind != "additive" else "f32", size)


def points(count=60, seed=5):
    """Corners, then points of the draw that bring every kind as often as the others, and that a run of half a second or
    less can be hoped for of every engine: 20 billion operations where visible, 50 billion where the mask is a tensor."""
    chosen = list(dict.fromkeys(corners()))
    source = random.Random(seed)
    while len(chosen) < count:
        point = draw(source)
        times = [sum(each.kind == kind for each in chosen) for kind in KINDS]
        cheap = point.operations(point.visible()) < 20e9 and point.operations(point.queries * point.keys) < 50e9
        if cheap and point.heads <= 32 and times[KINDS.index(point.kind)] == min(times) and point not in chosen:
            chosen.append(point)
    return chosen


def read(path=FILE):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [Point(**{field.name: field.type(row[field.name]) for field in dataclasses.fields(Point)}) for row in rows]


# What each kind is in the language.
MASKS = {
    "causal": "j <= i",
    "window": "j <= i and i - j < W",
    "prefix": "j <= i or j < W",
    "chunked": "j <= i and i // W == j // W",
    "documents": "j <= i and doc[i] == doc[j]",
    "sink": f"j <= i and (i - j < W or j < {SINKS})",
}
MASKS |= {"alibi": MASKS["window"], "softcap": MASKS["window"]}
SCORES = {
    "alibi": "score(s, i, j, h): alibi(s, i, j, h, G * R)",
    "softcap": f"score(s): softcap(s, {CAP})",
    "additive": "score(q, k): dot(w, tanh(q + k))",
}


def text(point):
    """The point as a file of the language: the export `a`; where a session holds what came before, `fill` puts it there."""
    more = {"documents": ", doc[T]", "additive": ", w[D]"}.get(point.kind, "")
    clauses = [f"mask(i, j): {MASKS[point.kind]}"] if point.kind in MASKS else []
    clauses += [SCORES[point.kind]] if point.kind in SCORES else []
    keys, values = ("keys(k)", "values(v)") if point.past else ("k", "v")
    lines = [f"config {{ G = {point.heads // point.group}, R = {point.group}, D = {point.width}, W = {point.size} }}"]
    if point.past:
        lines += ["fn keys(k[T,G,D]) = cache(k)", "fn values(v[T,G,D]) = cache(v)",
                  "export fn fill(k[T,G,D], v[T,G,D]) -> [T,G,D] = attend(k, keys(k), values(v), mask(i, j): j < 1)"]
    lines += [f"export fn a(q[T,G,R,D], k[T,G,D], v[T,G,D]{more}) -> [T,G,R,D] =",
              f"  attend({', '.join(['q', keys, values, *clauses])})"]
    return "\n".join(lines) + "\n"


def inputs(point):
    """q[T,H,D], k[S,G,D], v[S,G,D] and what the kind has besides, drawn anew for every point; in bf16 already rounded."""
    import numpy

    source = numpy.random.default_rng([point.queries, point.keys, point.heads, point.width])
    groups = point.heads // point.group
    shapes = [(point.queries, point.heads, point.width)] + 2 * [(point.keys, groups, point.width)]
    tensors = [source.standard_normal(shape, dtype=numpy.float32) for shape in shapes]
    if point.precision == "bf16":
        for each in tensors:
            bits = each.view(numpy.uint32)
            bits += 0x7FFF + ((bits >> 16) & 1)
            bits &= 0xFFFF0000
    if point.kind == "documents":
        cuts = numpy.sort(source.choice(point.keys - 1, point.size - 1, replace=False)) + 1
        tensors.append(numpy.searchsorted(cuts, numpy.arange(point.keys), side="right").astype(numpy.int32))
    if point.kind == "additive":
        tensors.append(source.standard_normal(point.width, dtype=numpy.float32) / numpy.float32(math.sqrt(point.width)))
    return tensors


def mask(point, i, j, doc=None):
    """What is visible, for positions i and j of any library of arrays; None: everything."""
    if point.kind in ("none", "additive"):
        return None
    causal = j <= i
    if point.kind == "causal":
        return causal
    if point.kind == "prefix":
        return causal | (j < point.size)
    if point.kind == "chunked":
        return causal & (i // point.size == j // point.size)
    if point.kind == "documents":
        return causal & (doc[i] == doc[j])
    near = i - j < point.size
    return causal & (near | (j < SINKS)) if point.kind == "sink" else causal & near


def slopes(heads):
    """ALiBi's, of each head: arXiv 2108.12409, as its authors' program has them."""

    def of_power(n):
        return [2 ** (-8 / n * (h + 1)) for h in range(n)]

    power = 2 ** int(math.log2(heads))
    return of_power(power) + of_power(2 * power)[::2][: heads - power]


def rows(point):
    return sorted({0, point.queries // 3, point.queries // 2, point.queries - 1})


def reference(point):
    """The rows `rows(point)` of the result, [rows,H,D], by sums in float64, and the largest logit that is visible."""
    import numpy

    q, k, v, *more = inputs(point)
    chosen, result, largest = rows(point), [], 0.0
    i, j = numpy.array(chosen)[:, None] + point.past, numpy.arange(point.keys)[None]
    seen = mask(point, i, j, more[0] if point.kind == "documents" else None)
    for head in range(point.heads):
        rows_of, keys = q[chosen, head].astype(float), k[:, head // point.group].astype(float)
        if point.kind == "additive":
            s = numpy.array([numpy.tanh(row + keys) @ more[0].astype(float) for row in rows_of])
        else:
            s = rows_of @ keys.T / math.sqrt(point.width)
        if point.kind == "softcap":
            s = CAP * numpy.tanh(s / CAP)
        if point.kind == "alibi":
            s = s - slopes(point.heads)[head] * abs(i - j)
        if seen is not None:
            s = numpy.where(seen, s, -numpy.inf)
        largest = max(largest, abs(s[numpy.isfinite(s)]).max())
        p = numpy.exp(s - s.max(axis=1, keepdims=True))
        result.append(p / p.sum(axis=1, keepdims=True) @ v[:, head // point.group].astype(float))
    return numpy.stack(result, axis=1), largest


if __name__ == "__main__":
    out = csv.DictWriter(sys.stdout, [field.name for field in dataclasses.fields(Point)], lineterminator="\n")
    out.writeheader()
    out.writerows(map(dataclasses.asdict, points()))
