# pipeline-doc.py ATTNC DOC [--update]: the examples of docs/pipeline.md are what attnc writes.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# In front of each block of code stands a comment that says where it comes from:
#
#     <!-- attnc --emit=tile | from `PATTERN` | to `PATTERN` -->
#
# the output's lines from the first that holds a pattern to the next that holds the other, their common indentation removed,
# their values numbered from 0.
# Without patterns: all of it. `--update` writes the blocks anew.
import pathlib
import re
import subprocess
import sys

attnc, doc = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
text = doc.read_text(encoding="utf-8")
folder = doc.parent / "pipeline"
block = re.compile(r"<!-- attnc (?P<options>[^|\n]*?)(?: \| from `(?P<first>[^`]*)`)?(?: \| to `(?P<last>[^`]*)`)? -->\n"
                   r"```(?P<kind>\w*)\n(?P<body>.*?)```", re.S)


def output(options):
    command = [attnc, "blend.attn", "--config=config.json", "--mcpu=x86-64-v3", *options.split()]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return run.stderr if "--explain" in options else run.stdout


def excerpt(lines, first, last):
    begin = next((i for i, line in enumerate(lines) if not first or first in line), None)
    if begin is None:
        sys.exit(f"{doc}: no line holds `{first}`")
    end = len(lines) - 1
    if last:
        end = next((i for i in range(begin, len(lines)) if last in lines[i]), None)
        if end is None:
            sys.exit(f"{doc}: no line behind `{first}` holds `{last}`")
    chosen = lines[begin : end + 1]
    indent = min((len(line) - len(line.lstrip(" ")) for line in chosen if line.strip()), default=0)
    return renumbered("".join(line[indent:] + "\n" for line in chosen))


def renumbered(text):
    """Values that have only a number are counted from the excerpt's first."""
    numbers = {}
    return re.sub(r"%(\d+)\b", lambda value: f"%{numbers.setdefault(value[1], len(numbers))}", text)


def renewed(match):
    lines = output(match["options"]).rstrip("\n").split("\n")
    body = excerpt(lines, match["first"], match["last"])
    return match[0][: match.start("body") - match.start()] + body + "```"


made, count = block.subn(renewed, text)
if "--update" in sys.argv:
    doc.write_text(made, encoding="utf-8")
elif made != text:
    import difflib

    sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), made.splitlines(True), str(doc), "attnc"))
    sys.exit(1)
print(f"{count} examples")
