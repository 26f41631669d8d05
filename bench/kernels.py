"""kernels.py [--attnc=build/bin/attnc] [--threads=1,2] [--mcpu=native] [--precision=f32] [--times=60]: single attentions and
products.

Compiles each shape to an object, links it with kernels.c, and lets the shapes take turns, three rounds. Every result is
checked before its time counts; a wrong one ends the run.
"""

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

ATTEND = """config {{ H = {0}, D = {2} }}
export fn a(q[T,H,D], k[S,H,D], v[S,H,D]) -> [T,H,D] = attend(q, k, v)
"""
LINEAR = """config {{ K = {1}, N = {2} }}
export fn a(x[T,K]) -> [T,N] = linear(x, "w", N)
"""
# heads, length, width; rows, inner, columns
SHAPES = [("attend", 12, 128, 32), ("attend", 12, 256, 32), ("attend", 12, 512, 64), ("attend", 16, 1024, 64),
          ("attend", 1, 1024, 64), ("attend", 12, 197, 40), ("linear", 1, 384, 1536), ("linear", 16, 384, 1536),
          ("linear", 128, 384, 1536), ("linear", 128, 1536, 384), ("linear", 256, 384, 384), ("linear", 1024, 1024, 1024)]


def build(folder, shape, attnc, mcpu, precision):
    kind, sizes = shape[0], shape[1:]
    name = os.path.join(folder, "-".join(map(str, shape)))
    with open(name + ".attn", "w") as file:
        file.write((ATTEND if kind == "attend" else LINEAR).format(*sizes))
    subprocess.run([attnc, name + ".attn", "--emit=obj", "--mcpu=" + mcpu, "--precision=" + precision, "-o", name + ".o"], check=True,
                   stderr=subprocess.DEVNULL)
    subprocess.run(["cc", "-O2", "-I" + ROOT, os.path.join(ROOT, "bench", "kernels.c"), name + ".o", "-o", name, "-lm",
                    "-lpthread"], check=True)
    return name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--attnc", default=os.path.join(ROOT, "build", "bin", "attnc"))
    parser.add_argument("--threads", default="1")
    parser.add_argument("--mcpu", default="native")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--times", default="60")
    options = parser.parse_args()
    tolerance = "1e-5" if options.precision == "f32" else "1e-2"
    with tempfile.TemporaryDirectory() as folder:
        programs = [(shape, build(folder, shape, options.attnc, options.mcpu, options.precision)) for shape in SHAPES]
        for _ in range(3):
            for (kind, *sizes), program in programs:
                for threads in options.threads.split(","):
                    words = [program, kind, *map(str, sizes), threads, options.times, tolerance]
                    if subprocess.run(words).returncode:
                        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
