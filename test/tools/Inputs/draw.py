# draw.py ATTNC MASKS FOLDER: draws masks and holds each tile and each pair of the pictures against a walk over all pairs.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import collections
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

attnc, masks, folder = sys.argv[1:]
SVG = "{http://www.w3.org/2000/svg}"
TILES = ["full", "partial", "open", "empty"]


def draw(file, *options):
    picture = pathlib.Path(folder, "mask.svg")
    subprocess.run([attnc, file, f"--draw={picture}", *options], check=True)
    root = xml.etree.ElementTree.parse(picture).getroot()
    rects = collections.defaultdict(list)
    for rect in root.iter(SVG + "rect"):
        if rect.get("class") != "paper":
            rects[rect.get("class")].append((rect, *(float(rect.get(key)) for key in ("x", "y", "width", "height"))))
    return rects, [text.text for text in root.iter(SVG + "text")]


def numbers(rect):
    """First and last query, first and last key, as the tile's title has them."""
    return [int(word) for word in re.findall(r"\d+", rect.find(SVG + "title").text)]


def check(name, file, sees, length, *options):
    """`sees(i, j)`: True, False, or None for what only a run knows."""
    rects, texts = draw(file, f"--length={length}", *options)
    tiles = [(kind, *each) for kind in TILES for each in rects[kind]]
    left, top = min(x for _, _, x, _, _, _ in tiles), min(y for _, _, _, y, _, _ in tiles)
    unit = tiles[0][4] / (numbers(tiles[0][1])[3] - numbers(tiles[0][1])[2] + 1)
    place = {"visible": set(), "unknown": set()}
    for kind in place:
        for _, x, y, width, height in rects[kind]:
            assert abs(height - unit) < 1e-3
            i, j = round((y - top) / unit), round((x - left) / unit)
            run = {(i, j + k) for k in range(round(width / unit))}
            assert not run & place[kind]
            place[kind] |= run
    covered, kinds = set(), collections.Counter()
    for kind, rect, x, y, width, height in tiles:
        i0, i1, j0, j1 = numbers(rect)
        assert abs(x - left - unit * j0) < 0.05 and abs(y - top - unit * i0) < 0.05  # drawn where its title says
        assert abs(width - unit * (j1 - j0 + 1)) < 0.05 and abs(height - unit * (i1 - i0 + 1)) < 0.05
        pairs = {(i, j): sees(i, j) for i in range(i0, i1 + 1) for j in range(j0, j1 + 1)}
        assert not covered & pairs.keys()
        covered |= pairs.keys()
        seen = set(pairs.values())
        assert seen <= {"full": {True}, "empty": {False}, "partial": {True, False}, "open": {True, False, None}}[kind]
        assert kind != "partial" or len(seen) == 2  # not one that could have been skipped or left without mask
        assert kind != "open" or None in seen
        inside = {pair for pair, value in pairs.items() if value} if kind in ("partial", "open") else set()
        assert place["visible"] & pairs.keys() == inside
        assert place["unknown"] & pairs.keys() == {pair for pair, value in pairs.items() if value is None}
        kinds[kind] += 1
    assert len(covered) == length * length
    assert any(f"{length} queries down, {length} keys across" in text for text in texts)
    print(f"{name}: {sum(kinds.values())} tiles, each as it should be; {' '.join(kind for kind in TILES if kinds[kind])}")


def document(i):
    return (i >= 250) + (i >= 340)


window = pathlib.Path(folder, "window.attn")
window.write_text("config { D = 16 }\nexport fn a(q[T,D], k[T,D], v[T,D]) -> [T,D] = attend(q, k, v, mask: causal and window(w: 200))\n")
check("causal", f"{masks}/causal.attn", lambda i, j: j <= i, 300)
check("window", window, lambda i, j: j <= i and i - j < 200, 500)
check("documents, unknown", f"{masks}/documents.attn", lambda i, j: False if j > i else True if i == j else None, 200)
check("documents, known", f"{masks}/documents.attn", lambda i, j: j <= i and document(i) == document(j), 400, "--lookup=doc=0*250,1*90,2*60")

heads = pathlib.Path(folder, "heads.attn")
heads.write_text("config { H = 3, D = 8 }\nexport fn a(q[T,H,D], k[T,H,D], v[T,H,D]) -> [T,H,D] = attend(q, k, v, mask(i, j, h): i - j < 10 * (h + 1) and j <= i)\n")
rects, texts = draw(heads, "--length=40")
pairs = [0, 0, 0]
panels = sorted({y for kind in TILES for _, _, y, _, _ in rects[kind]})
assert len(panels) == 3 and [text for text in texts if text.startswith("head ")] == [f"head {h} of 3" for h in range(3)]
unit = rects["partial"][0][3] / 40
for _, x, y, width, _ in rects["visible"]:
    pairs[max(n for n, top in enumerate(panels) if top <= y)] += round(width / unit)
assert pairs == [sum(min(i + 1, 10 * (h + 1)) for i in range(40)) for h in range(3)], pairs
print("heads: a picture each")
