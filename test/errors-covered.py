# errors-covered.py ROOT: every message of the sources has a test that matches it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A message is the text given to one of the functions below. Each of its pieces between placeholders that is long enough to be
# told apart has to stand in a test; a message without such a piece has to stand there as a pattern of all its pieces.
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
makers = r"\b(fail|failAt|error|errorAt|emitError|emitOpError|emitOptionalError|emitWarning|warning|complain|refuse|wrong|cannotWrite)\("
literal = r'"((?:[^"\\]|\\.)*)"'
placeholder = re.compile(r"\{[^{}]*\}|%[-.*0-9a-zA-Z]*[sdufgxcz]|\{\{|\}\}")


def messages(text):
    """The literals of each call, up to the end of its statement."""
    text = re.sub(r"//[^\n]*", "", text)
    for call in re.finditer(makers, text):
        depth, end = 1, call.end()
        while depth and end < len(text):
            if text[end] == '"':
                end = re.compile(literal).match(text, end).end()
                continue
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        statement = text[call.end() : text.find(";", end)]
        joined = re.sub(r'"\s*\n\s*"', "", statement)
        yield [piece for found in re.findall(literal, joined) for piece in placeholder.split(found)]


# What no test can bring about on a machine that builds the project, with the reason.
unreachable = {
    "internal error": "a bug of ours, which no input is known to show",
    "there is no `ld.lld` in": "the tests need it",
}

tests = "\n".join(
    path.read_text(encoding="utf-8", errors="replace")
    for path in sorted((root / "test").rglob("*"))
    if path.suffix in {".test", ".mlir", ".attn", ".cpp", ".c", ".py"}
)
tests += re.sub(r'"\s*\n\s*"', "", tests)  # a message may be written in several lines
plain = tests.replace("\\", "") + re.sub(r"\{\{.*?\}\}|\\", "", tests)
missing = 0
for folder in ["frontend", "dialect", "passes", "lowering", "runtime", "tools"]:
    for path in sorted((root / folder).rglob("*.cpp")) + sorted((root / folder).rglob("*.h")):
        for pieces in messages(path.read_text(encoding="utf-8")):
            long = [piece.strip(" `'") for piece in pieces if len(piece.strip(" `'")) >= 8]
            if any(piece.startswith(tuple(unreachable)) for piece in long):
                continue
            absent = [piece for piece in long if piece.replace("\\", "") not in plain]
            if absent:
                missing += 1
                print(f"{path.relative_to(root)}: no test has `{absent[0]}`")
print(f"{missing} messages without a test")
sys.exit(1 if missing else 0)
