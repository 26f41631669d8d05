#!/usr/bin/env python3
# demo.py: from examples/minilm.attn to the similarities of sentences, step by step, compared with PyTorch's.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Exit 1 if a step fails or an embedding is further than 1e-5 from the recorded one (test/data/minilm: values and their script).
# Only Python's own library is used; the mathematics is done by the library that attnc writes.
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parents[2]
data = root / "test" / "data" / "minilm"
tolerance = 1e-5
pairs = [(2, 3), (2, 4), (4, 5), (5, 15), (15, 2), (13, 19)]  # lines of sentences.txt


def read_tensor(path, name):
    """The rows of a float32 matrix in a .safetensors file."""
    blob = path.read_bytes()
    (length,) = struct.unpack_from("<Q", blob)
    entry = json.loads(blob[8 : 8 + length])[name]
    rows, width = entry["shape"]
    begin, end = (8 + length + offset for offset in entry["data_offsets"])
    values = struct.unpack(f"<{rows * width}f", blob[begin:end])
    return [values[row * width : (row + 1) * width] for row in range(rows)]


def step(text, command):
    """Runs a command, saying so; its output, and how long it took."""
    print(f"\n{text}\n  $ {' '.join(str(word) for word in command)}", flush=True)
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, cwd=root)
    if done.returncode != 0:
        sys.exit(f"demo: this step failed (exit {done.returncode})")
    return done.stdout, time.perf_counter() - start


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def short(sentence):
    return sentence if len(sentence) <= 56 else sentence[:53] + "..."


def main():
    parser = argparse.ArgumentParser(description="compiles MiniLM and embeds sentences with it")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--model", type=pathlib.Path, default=root / ".models" / "minilm")
    options = parser.parse_args()
    tools = (root / options.build / "bin").resolve()
    model = (root / options.model).resolve()

    sentences = (data / "sentences.txt").read_text(encoding="utf-8").splitlines()
    expected = read_tensor(data / "embeddings.safetensors", "embeddings")

    source = root / "examples" / "minilm.attn"
    lines = source.read_text(encoding="utf-8").splitlines()
    print(f"The model is a text of {len(lines)} lines, examples/minilm.attn:\n")
    print("\n".join("    " + line for line in lines))

    with tempfile.TemporaryDirectory() as scratch:
        library = pathlib.Path(scratch) / "libminilm.so"
        command = [tools / "attnc", source, f"--config={model}", "-o", library]
        _, seconds = step("Compile it to a C library:", command)
        print(f"  {seconds:.2f} s, {library.stat().st_size // 1024} KB")

        command = [tools / "attn-run", "embed", library, f"--model={model}", f"--file={data / 'sentences.txt'}"]
        output, seconds = step(f"Embed {len(sentences)} sentences of 1 to 300 words with it:", command)
        vectors = [[float(word) for word in line.split()] for line in output.splitlines()]
        print(f"  {seconds:.2f} s, weights mapped and packed included")

    if [len(vector) for vector in vectors] != [len(vector) for vector in expected]:
        sys.exit(f"demo: {len(expected)} vectors of {len(expected[0])} numbers were expected")
    worst = max(abs(x - y) for vector, want in zip(vectors, expected) for x, y in zip(vector, want))
    print("\nSimilarities, and what PyTorch has:\n")
    for a, b in pairs:
        got = dot(vectors[a - 1], vectors[b - 1])
        want = dot(expected[a - 1], expected[b - 1])
        worst = max(worst, abs(got - want))
        print(f"  {got:9.6f}  {want:9.6f}   {short(sentences[a - 1])}\n{'':25}{short(sentences[b - 1])}")
    agrees = worst <= tolerance
    print(f"\nLargest difference of any number: {worst:.1e} ({'within' if agrees else 'NOT within'} {tolerance:.0e})")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
