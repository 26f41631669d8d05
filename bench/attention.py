#!/usr/bin/env python3
# attention.py: single attentions by attn and by PyTorch, taking turns in one run; results are checked before the times.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# See README.md here. The points are attention.csv's.
import argparse
import collections
import dataclasses
import datetime
import json
import math
import os
import pathlib
import re
import select
import shutil
import statistics
import subprocess
import time

import attention_points as points
import run

peers = ["sdpa", "flex", "plain"]
titles = {"attn": "attn", "sdpa": "fused", "flex": "flex_attention", "plain": "plain"}
LONGEST = 60  # seconds that a peer may need to make ready, and to answer often enough
RUNS = 15  # at least


class Worker:
    """A process of one engine; begun anew when it had to be ended."""

    def __init__(self, engine, python, artifacts, threads):
        self.engine, self.process = engine, None
        self.command = [str(word) for word in (python, run.here / "attention_worker.py", engine, artifacts, threads)]

    def ask(self, order, seconds=None):
        """The answer; {"fails": …} where there is none, or none in time."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.process.stdin.write((json.dumps(order) + "\n").encode())
        line, deadline = b"", None if seconds is None else time.monotonic() + seconds
        while not line.endswith(b"\n"):
            left = None if deadline is None else max(0, deadline - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                return self.end(f"over {LONGEST} s")
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                code = self.process.wait()
                return self.end("over 8 GB" if code == 9 else f"ended with {code}")
            line += part
        return json.loads(line)

    def end(self, why=""):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
        return {"fails": why}


def compile_point(attnc, point, artifacts, *options):
    """The library of one point; None where this attnc does not have what the point needs."""
    name = re.sub(r"[^a-z0-9]+", "-", " ".join([point.name(), *options]).lower())
    source, library = artifacts / f"{name}.attn", artifacts / f"lib{name}.so"
    source.write_text(points.text(point))
    command = [attnc, source, "--mcpu=native", f"--precision={point.precision}", *options, "-o", library]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode == 2:  # usage: an option that it does not know
        run.say(f"{point.name()}: {done.stderr.strip().splitlines()[-1]}")
        return None
    if done.returncode:
        raise SystemExit(f"bench: attnc on {source}:\n{done.stderr}")
    return library


def bound(point, largest):
    """How far off, relative to the largest number of the result, a row may be."""
    return 1e-2 if point.precision == "bf16" else max(1e-5, 4 * 2**-24 * largest)


def prepare(worker, order, expected, largest, point):
    """Loads a point; the answer with its error, or with why it has no time."""
    reply = worker.ask(order, LONGEST + 5)
    if "fails" in reply:
        return reply
    rows, scale = reply.pop("rows"), max(map(abs, expected))
    off = max(abs(a - b) for a, b in zip(rows, expected)) / scale if len(rows) == len(expected) else math.inf
    reply["error"] = off
    if not off <= bound(point, largest):
        reply["fails"] = f"wrong by {off:.1e}"
    elif reply["prepare"] + reply["first"] > LONGEST:
        reply["fails"] = f"over {LONGEST} s"
    return reply


def take_turns(able, seconds, rounds=5):
    """Times of each engine in `able`, name: (worker, answer so far); at least RUNS each unless that takes over a minute."""
    for worker, reply in able.values():
        warm = worker.ask({"run": 2})["ms"]
        reply["ms"], reply["times"] = [], min(200, max(RUNS, int(seconds * 1e3 / min(warm))))
        if RUNS * min(warm) > LONGEST * 1e3:
            reply["times"], reply["fails"] = rounds, f"over {LONGEST} s for {RUNS} runs"
    names = list(able)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            worker, reply = able[name]
            reply["ms"] += worker.ask({"run": math.ceil(reply["times"] / rounds)})["ms"]
            time.sleep(0.01)  # let its threads fall asleep before the next one's turn


def measure(point, workers, libraries, seconds):
    """What each engine made of the point."""
    order = {"load": dataclasses.asdict(point)}
    *expected, largest = workers["reference"].ask(order)["rows"]
    found = {}
    for name, library in libraries.items():
        found[name] = prepare(workers[name], order | {"library": str(library)}, expected, largest, point)
    for name in [each for each in peers if each in workers]:
        found[name] = prepare(workers[name], order, expected, largest, point)
    able = {name: (workers[name], reply) for name, reply in found.items() if "fails" not in reply}
    if able:
        take_turns(able, seconds)
    return found


def least(reply):
    return min(reply["ms"]) if reply and reply.get("ms") else None


def cell(reply):
    """One engine's place in the table."""
    if reply is None or reply.get("fails", "").startswith("NotImplementedError"):
        return ""
    words = [f"{least(reply):.3g}"] if least(reply) else []
    return " ".join(words + ([reply["fails"]] if "fails" in reply else []))


def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def against_peers(chosen, attnc, artifacts, workers, options, say):
    """One row a point, and how often attn is faster than the fastest of the others. Whether attn was always right."""
    say("| heads x length x width | attn ms | GFLOP/s | fused | flex_attention | its set-up s | plain | best / attn's |\n" + 8 * "|-" + "|")
    ratios, results, right = collections.defaultdict(list), [], True
    for point in chosen:
        library = compile_point(attnc, point, artifacts)
        found = measure(point, workers, {"attn": library} if library else {}, options.seconds)
        results.append(dataclasses.asdict(point) | {"name": point.name(), "engines": found})
        ours, others = least(found.get("attn")), [least(found[name]) for name in peers if least(found.get(name))]
        right &= "fails" not in found.get("attn", {})
        ratio = min(others) / ours if ours and others else None
        if ratio:
            ratios[point.precision].append(ratio)
            ratios["decode" if point.queries < point.keys else "prefill"].append(ratio)
        flex = found.get("flex", {})
        setup = f"{flex['prepare'] + flex['first']:.1f}" if "prepare" in flex else ""
        rate = f"{point.operations(point.visible()) / ours * 1e-6:.0f}" if ours else ""
        cells = [point.name(), cell(found.get("attn")), rate, cell(found.get("sdpa")), cell(flex), setup, cell(found.get("plain"))]
        say("| " + " | ".join(cells + [f"{ratio:.2f}" if ratio else ""]) + " |")
    say("")
    for what, of in ratios.items():
        say(f"{what}: geometric mean {mean(of):.2f} over {len(of)} points, least {min(of):.2f}, {sum(r < 1 for r in of)} below 1")
    return results, right


def forms_of(attnc):
    """What --attention can be told, but for the choice itself."""
    text = subprocess.run([attnc, "--help"], capture_output=True, text=True).stdout
    words = re.search(r"--attention=<[^>]*>(.*?)\n  --", text, re.S)
    return [form for form in re.findall(r"^\s+=(\S+)", words[1], re.M) if form != "auto"] if words else []


def against_forms(chosen, attnc, artifacts, workers, options, say):
    """The compiler's own choice against each form that it can be told to take."""
    forms = forms_of(attnc)
    if not forms:
        raise SystemExit("bench: this attnc has no --attention")
    say("| heads x length x width | chosen ms | " + " | ".join(forms) + " | chosen / best |\n" + (3 + len(forms)) * "|-" + "|")
    ratios, results, right = [], [], True
    for form in forms:
        workers[form] = Worker("attn", workers["attn"].command[0], artifacts, options.threads)
    for point in chosen:
        libraries = {"attn": compile_point(attnc, point, artifacts)}
        libraries |= {form: compile_point(attnc, point, artifacts, f"--attention={form}") for form in forms}
        libraries = {name: library for name, library in libraries.items() if library}
        if "attn" not in libraries:
            continue
        found = measure(point, workers, libraries, options.seconds)
        results.append(dataclasses.asdict(point) | {"name": point.name(), "engines": found})
        right &= all("fails" not in reply for reply in found.values())
        times = {name: least(reply) for name, reply in found.items() if least(reply)}
        ratio = min(times.values()) / times["attn"] if "attn" in times else math.nan
        ratios.append(ratio)
        say("| " + " | ".join([point.name(), *(cell(found.get(name)) for name in ["attn", *forms]), f"{ratio:.2f}"]) + " |")
    say(f"\nof the best form: geometric mean {mean(ratios):.3f}, least {min(ratios):.2f} (wanted: 0.97 and 0.90)")
    return results, right


def main():
    parser = argparse.ArgumentParser(description="single attentions by attn and by PyTorch, in turns")
    parser.add_argument("--build", type=pathlib.Path, default=run.root / "build-release")
    parser.add_argument("--peers", default=",".join(peers), help="which to compare with; none for attn alone")
    parser.add_argument("--forms", action="store_true", help="attn's own forms instead of the others")
    parser.add_argument("--only", default="", help="points whose name holds this regular expression")
    parser.add_argument("--seconds", type=float, default=1, help="for each engine and point, beyond 15 runs")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--json", type=pathlib.Path, help="all numbers; default: .cache/bench/attention/results.json")
    options = parser.parse_args()
    artifacts = run.root / ".cache" / "bench" / "attention"
    artifacts.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(artifacts / "inductor", ignore_errors=True)  # what was compiled before would be no set-up
    python, attnc = run.install("torch"), options.build.resolve() / "bin" / "attnc"  # it has numpy, which all need
    engines = [] if options.forms else [peer for peer in options.peers.split(",") if peer in peers]
    workers = {name: Worker(name, python, artifacts, options.threads) for name in ["attn", "reference", *engines]}
    chosen = [point for point in points.read() if re.search(options.only, point.name())]

    start = time.monotonic()
    print(f"{run.processor()}, {options.threads} threads, {datetime.date.today()}\n")
    compare = against_forms if options.forms else against_peers
    results, right = compare(chosen, attnc, artifacts, workers, options, lambda text: print(text, flush=True))
    print(f"\n{len(chosen)} points in {(time.monotonic() - start) / 60:.0f} minutes")
    (options.json or artifacts / "results.json").write_text(json.dumps(results, indent=1))
    for worker in workers.values():
        worker.end()
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
