# depth.py ATTNC FILE.attn CONFIG.json FOLDER [KEY]: whether more layers make more code. They must not: a repeat is one loop over a
# table of weights. (How long a compilation takes is measured in bench/, not tested.)
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import subprocess
import sys

attnc, page, config, folder = sys.argv[1:5]
key = sys.argv[5] if len(sys.argv) > 5 else "num_hidden_layers"
folder = pathlib.Path(folder)
values = json.loads(pathlib.Path(config).read_text(encoding="utf-8"))
layers = values[key]


def instructions(depth):
    """How many lines of assembly stand in functions, without data and labels."""
    values[key] = depth
    path = folder / str(depth)
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(values), encoding="utf-8")
    run = [attnc, page, f"--config={path}", "--mcpu=x86-64-v3", "--emit=asm", "-o", path / "model.s"]
    subprocess.run(run, check=True)
    lines = (path / "model.s").read_text(encoding="utf-8").split("\n")
    return sum(line.startswith("\t") and not line.startswith("\t.") for line in lines)


one, four = instructions(layers), instructions(4 * layers)
print(f"{layers} layers: {one} instructions, {4 * layers} layers: {four}")
print("depth costs nothing" if one == four and one > 1000 else "depth costs")
