# hostile.py ATTNC SCRATCH: texts that no parser likes; each must end with exit code 1, its first message as expected.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random
import subprocess
import sys
import time

attnc, scratch = sys.argv[1:]
random.seed(1)

WORDS = 'x = ( [ { fn let + "a" 12 } ] ) |> at if config repeat in .. é \x01'.split(" ")
N = 100_000
DEEP = "nested too deeply, more than 250 levels"
START = "expected a declaration (`config`, `weights`, `let`, `fn`, …), found "

# name: (text, place and message of the first error)
CASES = {
    "empty": ("", "1:1: error: the file has no declarations"),
    "comment": ("# nothing else\n\n", "3:1: error: the file has no declarations"),
    "mark": ("\ufeff", "1:2: error: the file has no declarations"),
    "zero": (bytes(1000), "1:1: error: unknown byte 0x00"),
    "binary": (b"\xff" + random.randbytes(300_000), "1:1: error: unknown byte 0xff"),
    "cut": (b"let x = \xc3", "1:9: error: unknown byte 0xc3"),
    "noise": ("{ x\n" + "\n".join(" ".join(random.choices(WORDS, k=12)) for _ in range(10_000)),
              "1:1: error: " + START + "`{`"),
    "prose": ("lorem ipsum dolor\n" * 10_000, "1:1: error: " + START + "`lorem`"),
    "statements": ("fn f(x) {\n" + "y = = 3\n" * 10_000 + "}\n", "2:5: error: expected an expression, found `=`"),
    "long-line": ("let x = " + "y " * 50_000, "1:11: error: expected the end of the line after a declaration, found `y`"),
    "parentheses": ("let x = " + "(" * N + "1" + ")" * N, "1:259: error: " + DEEP),
    "open": ("let x = " + "(" * N, None),
    "close": ("let x = " + ")" * N, "1:9: error: `)` closes nothing"),
    "indices": ("let x = " + "y[" * N + "1" + "]" * N, None),
    "calls": ("let x = " + "f(" * N + "1" + ")" * N, None),
    "minuses": ("let x = " + "-" * N + "1", None),
    "nots": ("let x = " + "not " * N + "1", None),
    "powers": ("let x = 1" + "^1" * N, None),
    "sums": ("let x = 1" + " + 1" * N, "1:9: error: " + DEEP),
    "defaults": ("let x = a" + " ?? a" * N, None),
    "stages": ("let x = a" + " |> f" * N, "1:9: error: " + DEEP),
    "postfixes": ("let x = a" + "[0]" * N, "1:9: error: " + DEEP),
    "fields": ("let x = a" + ".b" * N, "1:9: error: " + DEEP),
    "else-ifs": ("fn f() = if a { 1 }" + " else if a { 1 }" * N, None),
    "blocks": ("fn f() { " + "if a { " * N + "}" * N + "}", None),
    "at-blocks": ("fn f() { " + 'at "a" { ' * N + "}" * N + "}", None),
    "string": ('let x = "' + "a" * N, "1:9: error: the string is never closed"),
    "braces": ('let x = "' + "{" * N + "}" * N + '"', "1:11: error: expected an expression, found `{`"),
    "last-line": ("let x = 1\n" * N + "let", f"{N + 1}:4: error: expected a name after `let`, found the end of the file"),
}


def check(name, text, expected):
    path = f"{scratch}.{name}.attn"
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    begin = time.monotonic()
    run = subprocess.run([attnc, path, "--emit=ast"], capture_output=True, timeout=60)
    seconds = time.monotonic() - begin
    lines = run.stderr.decode(errors="replace").splitlines()
    errors = [line for line in lines if ": error: " in line]
    problems = []
    if run.returncode != 1:
        problems.append(f"exit code {run.returncode}")
    if run.stdout:
        problems.append("something on standard output")
    if not 1 <= len(errors) <= 20 or len(lines) > 120 or max(map(len, lines)) > 400:
        problems.append(f"{len(errors)} errors in {len(lines)} lines")
    message = f"{path}:{expected}" if expected else DEEP
    if expected and lines[:1] != [message] or not expected and not any(DEEP in line for line in errors):
        problems.append(f"expected `{message}`, got `{lines[:1]}`")
    if seconds > 20:
        problems.append(f"took {seconds:.1f} s")
    for problem in problems:
        print(f"{name}: {problem}")
    return not problems


sys.exit(not all([check(name, *case) for name, case in CASES.items()]))
