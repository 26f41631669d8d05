# explained.py ROOT FOLDER ATTNC: on every point of bench/attention.csv, what --explain says and what --count counts.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import collections
import pathlib
import re
import subprocess
import sys
from array import array

root, folder, attnc = sys.argv[1:]
sys.path.insert(0, root + "/bench")
import attention_points  # noqa: E402
import attnlib  # noqa: E402


def documents(point):
    """Sorted, of uneven lengths; as --lookup and as numbers."""
    edges = [point.keys * n * n // point.size**2 for n in range(point.size + 1)]
    lengths = [b - a for a, b in zip(edges, edges[1:])]
    return "doc=" + ",".join(f"{n}*{length}" for n, length in enumerate(lengths)), array("i", [n for n, length in enumerate(lengths) for _ in range(length)])


def compare(number, point):
    source, library = pathlib.Path(folder, f"{number}.attn"), pathlib.Path(folder, f"{number}.so")
    source.write_text(attention_points.text(point))
    past, groups, width = point.past, point.heads // point.group, point.width
    options = [f"--length=T={point.queries},past={past}", f"--precision={point.precision}"]
    given = [array("f", [0.5]) * (point.queries * heads * width) for heads in (point.heads, groups, groups)]
    if point.kind == "documents":
        lookup, table = documents(point)
        options.append(f"--lookup={lookup}")
        given.append(table)
    if point.kind == "additive":
        given.append(array("f", [0.5]) * width)
    said = subprocess.run([attnc, source, "--count", "--explain", "-o", library, *options], check=True, capture_output=True, text=True).stderr
    found = re.search(r"^a, sequences(?:.*\n)*?.*quer(?:y|ies), \d+ keys?: (\d+) tiles? of queries; (\d+) tiles? without mask, (\d+) with it, (\d+) skipped .*; (\d+) bytes read", said, re.M)
    tiles, full, partial, skipped, read = map(int, found.groups())
    model = attnlib.Model(library)
    fill = None
    if past:
        fill = model.prepare("fill", [array("f", [0.5]) * (past * groups * width)] * 2, [[0, past]], point.keys)
        fill()
    model.prepare("a", given, [[0, point.queries]], after=fill)()
    (counted,) = [each for each in model.counts() if each[0].startswith("a at")]
    assert counted[1:] == (tiles, full, partial, read), f"{point.name()}: counted {counted[1:]}, explained {(tiles, full, partial, read)}"
    library.unlink()
    return tiles, full, partial, skipped


sums = collections.Counter()
points = attention_points.read()
for number, point in enumerate(points):
    for name, count in zip(("tiles", "full", "partial", "skipped"), compare(number, point)):
        sums[name] += count
print(f"{len(points)} points: counted as explained")
assert all(sums[name] for name in ("full", "partial", "skipped"))
