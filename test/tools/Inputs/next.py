#!/usr/bin/env python3
"""next.py FOLDER: a tokenizer whose ids are bytes, with 256, 257 and 258 as special tokens, and the toy's configuration."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
hidden = [byte for byte in range(256) if byte not in shown]
letters = {byte: chr(byte) for byte in shown} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
special = [
    {"id": id, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    for id, text in [(256, "<end>"), (257, "<stop>"), (258, "<start>")]
]
level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
tokenizer = {
    "version": "1.0",
    "added_tokens": special,
    "pre_tokenizer": level,
    "decoder": level,
    "model": {"type": "BPE", "vocab": {letters[byte]: byte for byte in range(256)}, "merges": []},
}
(folder / "tokenizer.json").write_text(json.dumps(tokenizer))
(folder / "config.json").write_text('{"eos_token_id": 256, "decoder_start_token_id": 258}')
