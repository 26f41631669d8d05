# heat_map.py ATTN-RUN FILE FOLDER: draws weights of several calls and holds the pictures against the printed numbers.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

program, file, folder = sys.argv[1:]
SVG = "{http://www.w3.org/2000/svg}"


def call(name, inputs, *options):
    picture = pathlib.Path(folder, f"{name}.svg")
    words = [word for key, value in inputs.items() for word in ("--input", f"{key}={json.dumps(value)}")]
    command = [program, "call", file, name, *words, f"--weights-out={picture}", *options]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return printed, xml.etree.ElementTree.parse(picture).getroot()


def rects(root, kind):
    return [each for each in root.iter(SVG + "rect") if each.get("class") == kind]


def check(name, panels, root):
    """`panels`: of each the weights, a list of rows. Cells are matched by their place inside their panel."""
    boxes = [[float(box.get(key)) for key in ("x", "y", "width", "height")] for box in rects(root, "panel")]
    assert len(boxes) == len(panels)
    found = {}
    for cell in rects(root, "weight"):
        x, y, size = (float(cell.get(key)) for key in ("x", "y", "width"))
        number = next(n for n, (left, top, w, h) in enumerate(boxes) if left <= x < left + w and top <= y < top + h)
        key = number, round((y - boxes[number][1]) / size), round((x - boxes[number][0]) / size)
        assert key not in found
        found[key] = float(cell.find(SVG + "title").text.split(":")[1]), cell.get("fill")
    wanted = {(n, i, j): w for n, rows in enumerate(panels) for i, row in enumerate(rows) for j, w in enumerate(row) if w != 0}
    assert found.keys() == wanted.keys(), (found.keys() ^ wanted.keys())
    assert all(abs(found[key][0] - wanted[key]) <= 1e-3 * abs(wanted[key]) for key in wanted)
    light = sorted((wanted[key], int(found[key][1][1:3], 16)) for key in wanted)  # more weight is never lighter
    assert all(a[1] >= b[1] for a, b in zip(light, light[1:]))
    cells = {len(rows) * len(rows[0]) for rows in panels}
    print(f"{name}: {len(panels)} panel{'s' * (len(panels) > 1)}, {cells.pop()} cells each, {len(found)} coloured")


q, k = [[[1, 2], [3, 4]], [[0, 1], [1, 0]], [[2, 2], [1, 1]]], [[[i, 1], [1, -i]] for i in range(5)]
printed, root = call("heads", {"q": q, "k": k})
check("heads", [[row[head] for row in printed["weights"]] for head in range(2)], root)
printed, root = call("masked", {"q": [[1], [2], [3], [1]], "k": [[1], [0], [2], [1]]})
check("masked", [printed["w"]], root)
printed, root = call("batch", {"q": [[[1], [2]], [[0], [3]]], "k": [[[1], [2], [3]], [[3], [2], [0]]]}, "--batch")
check("batch", printed["weights"], root)

long = [[(i * 7 % 31) / 31] for i in range(800)]
printed, root = call("batch", {"q": long, "k": long})
label = next(each.text for each in root.iter(SVG + "text") if "cell" in each.text)
blocks = [max(printed["weights"][2 * i + a][2 * j + b] for a in (0, 1) for b in (0, 1)) for i in range(400) for j in range(400)]
cells = [float(cell.find(SVG + "title").text.split(":")[1]) for cell in rects(root, "weight")]
assert len(cells) == len(blocks) and all(abs(a - b) <= 1e-3 * b for a, b in zip(cells, blocks))
print(f"large: 1 panel, {re.sub('.*; ', '', label)}, {len(cells)} cells")
