#!/usr/bin/env python3
# gpt2.py: GPT-2 124M by attn and by others, taking turns in one run: prefill and decoding; results are checked before the times.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# See README.md here. The weights are random (gpt2_model.py), which changes no time.
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import time

import gpt2_model
import run

peers = ["torch", "compiled", "openvino"]
relative = 2e-5  # of the largest logit


def compile_times(attnc, folder, artifacts, layers, repeats=5):
    """Seconds of attnc, process start to library on disk; the library of the first number of layers stays for the worker."""
    times = {count: [] for count in layers}
    for _ in range(repeats):
        for count in reversed(layers):
            start = time.perf_counter()
            source, config = run.root / "examples" / "gpt2.attn", folder / f"gpt2-{count}"
            subprocess.run([attnc, source, "--mcpu=native", f"--config={config}", "-o", artifacts / "libgpt2.so"], check=True)
            times[count].append(time.perf_counter() - start)
    return {count: (min(values), statistics.median(values)) for count, values in times.items()}


def bandwidth(artifacts, threads):
    """GB/s that so many threads read at, of 512 MB in large pages."""
    program = artifacts / "read"
    subprocess.run(["cc", "-O3", "-march=native", run.here / "read.c", "-o", program, "-lpthread"], check=True)
    return float(subprocess.run([program, str(threads)], check=True, capture_output=True, text=True).stdout)


def bytes_of_step(model, count):
    """What decoding one token behind `count` others has to read: every weight that is not looked up, keys and values."""
    config = json.loads((model / "config.json").read_text())
    width, layers = config["n_embd"], config["n_layer"]
    return 4 * (config["vocab_size"] * width + layers * (12 * width * width + 13 * width + 2 * count * width) + 2 * width)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=run.root / "build-release")
    parser.add_argument("--prefill", default="16,128,512", help="numbers of tokens")
    parser.add_argument("--decode", default="512", help="numbers of tokens before the one that is decoded")
    parser.add_argument("--peers", default=",".join(peers), help="which to compare with; none for attn alone")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=8, help="for each engine and point")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    artifacts = run.root / ".cache" / "bench" / "gpt2"
    artifacts.mkdir(parents=True, exist_ok=True)
    engines = [peer for peer in options.peers.split(",") if peer in peers]
    python = run.install("torch")  # says what is right, and has OpenVINO too
    model = artifacts / "gpt2-12"
    if not (model / "model.safetensors").exists():
        run.say("making random weights")
        subprocess.run([python, run.here / "gpt2_model.py", model], check=True)
    gpt2_model.configure(artifacts / "gpt2-48", 48)

    print(f"{run.processor()}, {options.threads} threads, {datetime.date.today()}\n")
    for layers, (least, median) in compile_times(options.build.resolve() / "bin" / "attnc", artifacts, artifacts, [12, 48]).items():
        print(f"compiling gpt2.attn with {layers} layers: {least:.2f} s minimum, {median:.2f} s median")
    reading = [bandwidth(artifacts, options.threads)]

    workers = [run.Worker("attn", run.sys.executable, model, artifacts, options.threads, "gpt2_worker.py")]
    workers += [run.Worker(peer, python, model, artifacts, options.threads, "gpt2_worker.py") for peer in engines]
    judge = next((worker for worker in workers if worker.engine == "torch"), None)
    judge = judge or run.Worker("torch", python, model, artifacts, options.threads, "gpt2_worker.py")
    print("\n| | engine | min ms | median ms | min / attn's | median / attn's | largest error |\n|-|-|-|-|-|-|-|")
    points = [("prefill", int(count)) for count in options.prefill.split(",") if count]
    points += [("decode", int(count)) for count in options.decode.split(",") if count]
    for kind, count in points:
        expected = judge.ask({"load": [kind, count]})["vector"]
        able = [worker for worker in workers if worker.engine != "openvino" or kind == "prefill"]
        bound = relative * max(abs(x) for x in expected)
        errors = run.measure(able, [kind, count], expected, options.rounds, options.seconds, bound)
        run.report(able, f"{kind} {count}", errors)
        if kind == "decode":
            reading.append(bandwidth(artifacts, options.threads))
            rate = bytes_of_step(model, count) / min(able[0].ms) * 1e-6
            print(f"\ndecoding behind {count}: {bytes_of_step(model, count) * 1e-6:.0f} MB a token at {rate:.1f} GB/s, "
                  f"{rate / max(reading):.0%} of the {max(reading):.1f} GB/s that {options.threads} threads read at\n")
    for worker in {id(worker): worker for worker in [*workers, judge]}.values():
        worker.close()


if __name__ == "__main__":
    main()
