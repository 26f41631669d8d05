# count.py LIBRARY: the counts of count.attn's functions, against a walk over all pairs.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from array import array

import attnlib

TILE = 64  # keys
MASKS = {
    "plain": lambda i, j: True,
    "causal_": lambda i, j: j <= i,
    "near": lambda i, j: abs(i - j) <= 100,
    "grouped": lambda i, j: j <= i and i - j < 100,
}


def walk(sees, queries, keys, rows, heads, query_bytes, key_bytes):
    """Query tiles, full tiles, partial tiles, bytes: of tiles of `rows` queries by TILE keys."""
    tiles = full = partial = read = 0
    for first in range(0, queries, rows):
        mine = range(first, min(first + rows, queries))
        tiles, read = tiles + 1, read + len(mine) * query_bytes
        for key in range(0, keys, TILE):
            theirs = range(key, min(key + TILE, keys))
            seen = [bool(sees(i, j)) for i in mine for j in theirs]
            full, partial = full + all(seen), partial + (any(seen) and not all(seen))
            read += any(seen) * len(theirs) * key_bytes
    return heads * tiles, heads * full, heads * partial, heads * read


model = attnlib.Model(sys.argv[1])
for number, (name, sees) in enumerate(MASKS.items()):
    heads, groups = (6, 2) if name == "grouped" else (2, 2)
    for queries, keys in [(500, 500), (130, 300)]:
        given = [array("f", [0.5]) * (rows * width) for rows, width in [(queries, heads * 16), (keys, groups * 16), (keys, groups * 32)]]
        before = model.counts()[number]
        model.run(name, given, [[0, queries], [0, keys]])
        after = model.counts()[number]
        assert before[0] == after[0]
        counted = tuple(b - a for a, b in zip(before[1:], after[1:]))
        rows = [rows for rows in range(8, 129, 8) if -(-queries // rows) * heads == counted[0]]
        assert any(walk(sees, queries, keys, each, heads, 64, 192) == counted for each in rows), (name, counted, rows)
    print(f"{after[0]}: as counted by hand")
assert [each[0].split()[0] for each in model.counts()] == [*MASKS, "small"]
