#!/usr/bin/env python3
"""greedy.py FOLDER [SOURCE]: what attn-run verify checks the toy of next.c with: a song, or a source and its way back."""
import json
import sys

import tensors

folder, source = sys.argv[1], sys.argv[2:]
song = list(b"Dabcdefghijkl") if not source else [258, *reversed(source[0].encode())]
prompt = 4 if not source else 1
io = {"tokens": tensors.Tensor("I64", [len(song)], song)}
rows = [float(v == token) for token in song[prompt:] for v in range(259)]
io["greedy.logits"] = tensors.Tensor("F32", [len(song) - prompt, 259], rows)
call = {"fn": "logits", "greedy": "ids", "prompt": prompt, "tokens": "tokens", "logits": "greedy.logits"}
calls = [call]
if source:
    io["source"] = tensors.Tensor("I64", [1, len(source[0])], list(source[0].encode()))
    call |= {"fn": "decode", "inputs": {"memory": "$memory"}}
    calls.insert(0, {"fn": "encode", "inputs": {"ids": "source"}, "keep": [None, "memory"]})
tensors.write(folder + "/io.safetensors", io)
with open(folder + "/verify.json", "w") as file:
    json.dump({"calls": calls}, file)
