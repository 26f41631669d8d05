#!/usr/bin/env python3
# run.py: MiniLM by attn and by others, taking turns in one run; results are checked before anything is timed.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# See README.md here. Peers are installed into .venv-* (ignored by git), what they read into .cache/bench.
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
root = here.parent
peers = ["torch", "onnxruntime", "openvino"]
titles = {
    "attn": "attn",
    "torch": "PyTorch eager",
    "compiled": "PyTorch compiled",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
}
tolerance = 1e-5


def say(text):
    print(text, file=sys.stderr, flush=True)


def install(peer):
    """A virtual environment with what requirements/PEER.txt lists; again only if that changed."""
    venv, wanted = root / f".venv-{peer}", (here / "requirements" / f"{peer}.txt").read_text()
    stamp = venv / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        say(f"installing {peer} into {venv.name}")
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        command = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", here / "requirements" / f"{peer}.txt"]
        subprocess.run(command, check=True, stdout=sys.stderr)
        stamp.write_text(wanted)
    return venv / "bin" / "python"


def export(python, model, artifacts, tokens):
    wanted = [artifacts / f"{count}.{suffix}" for count in tokens for suffix in ("onnx", "xml")]
    vectors = artifacts / "vectors.json"
    if not all(path.exists() for path in wanted) or not vectors.exists() or not set(map(str, tokens)) <= set(json.loads(vectors.read_text())):
        say("exporting the model for the others")
        subprocess.run([python, here / "export.py", model, artifacts, *map(str, tokens)], check=True, stdout=sys.stderr)
    return json.loads(vectors.read_text())


def compile_times(attnc, model, artifacts, repeats=5):
    """Seconds of attnc on minilm.attn, and on the same with 24 layers; the library stays for the worker."""
    config = json.loads((model / "config.json").read_text())
    deep = artifacts / "deep"
    deep.mkdir(parents=True, exist_ok=True)
    (deep / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 24}))
    times = {6: [], 24: []}
    for _ in range(repeats):
        for layers, folder, output in [(6, model, artifacts), (24, deep, deep)]:
            start = time.perf_counter()
            source = root / "examples" / "minilm.attn"
            subprocess.run([attnc, source, "--mcpu=native", f"--config={folder}", "-o", output / "libminilm.so"], check=True)
            times[layers].append(time.perf_counter() - start)
    return {layers: (min(values), statistics.median(values)) for layers, values in times.items()}


class Worker:
    def __init__(self, engine, python, model, artifacts, threads, script="worker.py"):
        command = [python, here / script, engine, model, artifacts, threads]
        self.engine, self.ms = engine, []
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bench: {self.engine} ended early")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(workers, count, expected, rounds, seconds, bound=tolerance):
    """Fills `ms` of each worker; exits if one answers wrongly. `count` is what the workers are to load."""
    errors = {}
    for worker in workers:
        vector = worker.ask({"load": count})["vector"]
        errors[worker.engine] = max(abs(a - b) for a, b in zip(vector, expected))
        if len(vector) != len(expected) or errors[worker.engine] > bound:
            sys.exit(f"bench: {worker.engine} is wrong at {count} by {errors[worker.engine]:.1e}")
        worker.ms, warm = [], worker.ask({"run": 3})["ms"]
        worker.times = max(1, int(seconds * 1e3 / rounds / min(warm)))
    for turn in range(rounds):
        for worker in workers[turn % len(workers) :] + workers[: turn % len(workers)]:
            worker.ms += worker.ask({"run": worker.times})["ms"]
            time.sleep(0.05)  # let its threads fall asleep before the next one's turn
    return errors


def report(workers, label, errors):
    """The rows of the table for what was measured last."""
    ours = min(workers[0].ms), statistics.median(workers[0].ms)
    for worker in workers:
        least, median = min(worker.ms), statistics.median(worker.ms)
        ratios = f"{least / ours[0]:.2f} | {median / ours[1]:.2f}"
        print(f"| {label} | {titles[worker.engine]} | {least:.2f} | {median:.2f} | {ratios} | {errors[worker.engine]:.1e} |", flush=True)


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown processor"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build-release")
    parser.add_argument("--model", type=pathlib.Path, default=root / ".models" / "minilm")
    parser.add_argument("--tokens", default="16,128,256")
    parser.add_argument("--peers", default=",".join(peers), help="which to compare with; none for attn alone")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=4, help="for each engine and number of tokens")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    model, attnc = options.model.resolve(), options.build.resolve() / "bin" / "attnc"
    tokens = [int(count) for count in options.tokens.split(",")]
    engines = [peer for peer in options.peers.split(",") if peer in peers]
    artifacts = root / ".cache" / "bench"
    artifacts.mkdir(parents=True, exist_ok=True)

    pythons = {peer: install(peer) for peer in dict.fromkeys(["torch", *engines])}  # PyTorch says what is right
    expected = export(pythons["torch"], model, artifacts, tokens)
    print(f"{processor()}, {options.threads} threads, {datetime.date.today()}\n")
    for layers, (least, median) in compile_times(attnc, model, artifacts).items():
        print(f"compiling minilm.attn with {layers} layers: {least:.2f} s minimum, {median:.2f} s median")

    print("\n| tokens | engine | min ms | median ms | min / attn's | median / attn's | largest error |\n|-|-|-|-|-|-|-|")
    pythons["attn"] = sys.executable
    workers = [Worker(engine, pythons[engine], model, artifacts, options.threads) for engine in ["attn", *engines]]
    for count in tokens:
        report(workers, count, measure(workers, count, expected[str(count)], options.rounds, options.seconds))
    for worker in workers:
        worker.close()


if __name__ == "__main__":
    main()
