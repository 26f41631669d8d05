# elaborate.py ATTNC COUNT SEED FOLDER FILES…: texts with a few words exchanged are elaborated or diagnosed, never a crash.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Words are exchanged for words of the same file, so that most texts still parse and what is wrong is their meaning.
import pathlib
import random
import re
import subprocess
import sys

attnc, count, seed, folder, *files = sys.argv[1:]
random.seed(int(seed))
token = re.compile(r'#[^\n]*|[A-Za-z_]\w*|\d+(?:\.\d+)?|"[^"\n]*"|\|>|\?\?|->|\.\.|//|\S|\s+')
word = re.compile(r'[A-Za-z_0-9"]')


def change(tokens, words, places):
    """One word exchanged, left out, doubled or swapped with another."""
    place, what = random.choice(places), random.random()
    if what < 0.7 and word.match(tokens[place]):
        tokens[place] = random.choice(words)
    elif what < 0.8:
        tokens[place] = ""
    elif what < 0.9:
        tokens[place] += " " + random.choice(words)
    else:
        other = random.choice(places)
        tokens[place], tokens[other] = tokens[other], tokens[place]


seeds = [pathlib.Path(file) for file in files]
built, failed = 0, 0
for number in range(int(count)):
    source = random.choice(seeds)
    tokens = [t for t in token.findall(source.read_text(encoding="utf-8")) if not t.startswith("#")]
    words = [t for t in tokens if word.match(t)]
    places = [i for i, t in enumerate(tokens) if not t.isspace()]
    for _ in range(random.choice([1, 1, 2, 3])):
        change(tokens, words, places)
    text = pathlib.Path(folder) / "changed.attn"
    text.write_text("".join(tokens), encoding="utf-8")
    config = source.parent / "Inputs" / "module.json"
    command = [attnc, str(text), "--emit=attn", "-o", "-"] + ([f"--config={config}"] if config.exists() else [])
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    built += run.returncode == 0
    if run.returncode not in (0, 1) or "this is a bug" in run.stderr or (run.returncode == 1) != ("error: " in run.stderr):
        failed += 1
        kept = pathlib.Path(folder) / f"failed-{number}.attn"
        kept.write_text("".join(tokens), encoding="utf-8")
        print(f"{kept}: exit {run.returncode}\n{run.stderr[-1000:]}")
print(f"{count} texts: {built} elaborated, {int(count) - built - failed} diagnosed, {failed} failed")
sys.exit(1 if failed else 0)
