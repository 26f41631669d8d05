#!/usr/bin/env python3
"""tokenizer_seeds.py OUT FOLDER…: the texts of each cases.json, and each tokenizer with a small vocabulary before one of them."""
import json
import pathlib
import sys

out, *folders = map(pathlib.Path, sys.argv[1:])
for folder in folders:
    cases = json.loads((folder / "cases.json").read_text())
    for number, case in enumerate(cases):
        (out / f"{folder.name}{number}").write_text(case["text"])
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    model = tokenizer["model"]
    if model["type"] == "BPE":  # some merges and what they need
        model["merges"] = model["merges"][:12]
        needed = {part for a, b in model["merges"] for part in (a, b, a + b)} | set("abcdehilnorst.,ĠĊ1Ãð")
        model["vocab"] = {text: number for text, number in model["vocab"].items() if text in needed or number < 5}
    else:
        model["vocab"] = dict(list(model["vocab"].items())[:20])
    text = json.dumps(tokenizer, separators=(",", ":"), ensure_ascii=False)
    (out / folder.name).write_bytes(text.encode() + b"\0" + cases[5]["text"].encode())
