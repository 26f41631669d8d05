#!/usr/bin/env python3
# memory.py: attention over a million positions, and additive attention, by one call each: time, memory, set-up.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   memory.py [--attnc=build/bin/attnc] [--divide=20]       a twentieth of the positions and of the window
#
# A process a show. What is measured is the peak of resident memory during the call beyond what was resident when the
# inputs and outputs had been written; some rows of the result are compared with sums in double before.
import argparse
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from array import array

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))

WINDOW = """config {{ D = {width}, W = {window} }}
export fn a(q[T,D], k[T,D], v[T,D]) -> [T,D] = attend(q, k, v, mask: causal and window(w: W))
"""
ADDITIVE = """config {{ D = {width} }}
export fn a(q[T,D], k[T,D], v[T,D], w[D]) -> [T,D] = attend(q, k, v, score(q, k): dot(w, tanh(q + k)))
"""
SHOWS = {"window": (WINDOW, 1_000_000, 4096, 64), "additive": (ADDITIVE, 8192, 0, 64)}


def status(key):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key + ":")).split()[1]) << 10


def numbers(source, rows, width):
    """Rows of a period that no window is a multiple of."""
    period = array("f", [source.gauss(0, 1) for _ in range(1009 * width)])
    return (period * (rows // 1009 + 1))[: rows * width]


def expected(show, inputs, i, window, width):
    """One row of the result, in double."""
    q, k, v = inputs[:3]
    keys = range(max(0, i - window + 1), i + 1) if show == "window" else range(len(k) // width)
    query = q[i * width : (i + 1) * width]
    if show == "window":
        scores = [sum(a * b for a, b in zip(query, k[j * width : (j + 1) * width])) / math.sqrt(width) for j in keys]
    else:
        scores = [sum(w * math.tanh(a + b) for w, a, b in zip(inputs[3], query, k[j * width : (j + 1) * width])) for j in keys]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    return [sum(p * v[j * width + d] for p, j in zip(weights, keys)) / sum(weights) for d in range(width)]


def show(name, library, positions, window, width):
    """The row of the table."""
    import attnlib

    source = random.Random(3)
    inputs = [numbers(source, positions, width) for _ in range(3)]
    if name == "additive":
        inputs.append(numbers(source, 1, width))
    start = time.perf_counter()
    model = attnlib.Model(library)
    made = time.perf_counter() - start
    call = model.prepare("a", inputs, [[0, positions]], positions)
    for buffer in call.buffers:  # resident before the call, and not on its account
        for at in range(0, len(buffer), 1024):
            buffer[at] = 0
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, start = status("VmRSS"), time.perf_counter()
    call()
    seconds, peak = time.perf_counter() - start, status("VmHWM") - before
    result, error = call.buffers[0], 0.0
    for i in {0, positions // 2, positions - 1}:
        right = expected(name, inputs, i, window, width)
        error = max(error, max(abs(a - b) for a, b in zip(right, result[i * width : (i + 1) * width])))
    error /= max(map(abs, result))
    given = 4 * (sum(map(len, inputs)) + len(result))
    print(f"| {name} | {positions} x {width} | {f'{window}' if window else ''} | {seconds:.2f} | {given / 1e6:.0f} | {peak / 1e6:.2f} | "
          f"{1e3 * made:.1f} | {library.stat().st_size / 1e3:.0f} | {error:.1e} |", flush=True)
    return error < 1e-5


def main():
    parser = argparse.ArgumentParser(description="attention over a million positions, and additive attention: time and memory")
    parser.add_argument("--attnc", default=ROOT / "build" / "bin" / "attnc")
    parser.add_argument("--divide", type=int, default=1, help="positions and window by this")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, library, *sizes = options.one
        return 0 if show(name, pathlib.Path(library), *map(int, sizes)) else 1
    print("| | positions | window | s | inputs and outputs MB | peak beyond them MB | create ms | library kB | error |\n" + 9 * "|-" + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, positions, window, width) in SHOWS.items():
            source, library = pathlib.Path(folder, f"{name}.attn"), pathlib.Path(folder, f"{name}.so")
            source.write_text(text.format(width=width, window=window // options.divide))
            subprocess.run([options.attnc, source, "--mcpu=native", "-o", library], check=True)
            sizes = map(str, (positions // options.divide, window // options.divide, width))
            if subprocess.run([sys.executable, os.path.abspath(__file__), "--one", name, library, *sizes]).returncode:
                return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
