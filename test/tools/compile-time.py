# compile-time.py ATTNC FILE.attn CONFIG.json FOLDER: how long a library takes, and whether depth costs.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the page five times as it is and five times four times as deep, taking turns; medians of the processor's time, which
# other work on the machine disturbs least. A repeat is one loop over a table of weights, so the code is the same.
import json
import pathlib
import resource
import statistics
import subprocess
import sys

attnc, page, config, folder = sys.argv[1:]
folder = pathlib.Path(folder)
values = json.loads(pathlib.Path(config).read_text(encoding="utf-8"))
layers = values["num_hidden_layers"]


def write(name, depth):
    values["num_hidden_layers"] = depth
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(values), encoding="utf-8")
    return path


def seconds(path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([attnc, page, f"--config={path}", "--mcpu=native", "-o", path / "libmodel.so"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines(path):
    run = [attnc, page, f"--config={path}", "--mcpu=native", "--emit=asm", "-o", path / "model.s"]
    subprocess.run(run, check=True)
    return len((path / "model.s").read_text(encoding="utf-8").split("\n"))


shallow, deep = write("shallow", layers), write("deep", 4 * layers)
times = [(seconds(shallow), seconds(deep)) for _ in range(5)]
first, second = (statistics.median(column) for column in zip(*times))
print(f"{layers} layers: {first:.2f} s, {4 * layers} layers: {second:.2f} s")
print("under 2 s" if first < 2 else "too slow")
print("depth costs nothing" if second <= 1.2 * first and lines(deep) == lines(shallow) else "depth costs")
