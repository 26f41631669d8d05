#!/usr/bin/env python3
"""numbered_words.py FOLDER COUNT: a tokenizer whose ids are words, w7 for 7, so that recorded ids can be read as text."""
import json
import sys

vocabulary = {f"w{id}": id for id in range(int(sys.argv[2]))} | {"[UNK]": int(sys.argv[2])}
model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
tokenizer = {
    "version": "1.0",
    "added_tokens": [],
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    "model": model | {"vocab": vocabulary},
}
with open(sys.argv[1] + "/tokenizer.json", "w") as file:
    json.dump(tokenizer, file)
