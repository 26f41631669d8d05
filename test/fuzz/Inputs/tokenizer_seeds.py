#!/usr/bin/env python3
"""tokenizer_seeds.py FOLDER OUT: the texts of cases.json, and the tokenizer with a small vocabulary before one of them."""
import json
import pathlib
import sys

folder, out = map(pathlib.Path, sys.argv[1:])
cases = json.loads((folder / "cases.json").read_text())
for number, case in enumerate(cases):
    (out / f"text{number}").write_text(case["text"])
tokenizer = json.loads((folder / "tokenizer.json").read_text())
tokenizer["model"]["vocab"] = dict(list(tokenizer["model"]["vocab"].items())[:20])
(out / "tokenizer").write_bytes(json.dumps(tokenizer, separators=(",", ":")).encode() + b"\0" + cases[5]["text"].encode())
