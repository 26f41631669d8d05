#!/usr/bin/env python3
"""What the reference tokenizer makes of every code point, as checksums: characters.txt.

    make_characters.py > characters.txt      (needs tokenizers; made with 0.23.3)

A line is: question, first code point of a block of 4096, crc32 of the block's answers, each followed by a newline, in UTF-8.
For clean, chinese, strip and lower an answer is the text "a" + character + "b" normalized with that one step on; for words
how many words the same text is; for nfc the text composed; for edge whether the token "zq" is found behind the character though it is `single_word`.
"""
import zlib
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

def normalizer(**on):
    steps = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**steps, **on}).normalize_str

def edge():
    t = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    t.add_tokens([AddedToken("zq", single_word=True, normalized=False)])
    return lambda s: str(int(1 in t.encode(s[1:-1] + "zq").ids))

words = pre_tokenizers.BertPreTokenizer()
questions = {
    "clean": normalizer(clean_text=True), "chinese": normalizer(handle_chinese_chars=True), "strip": normalizer(strip_accents=True),
    "lower": normalizer(lowercase=True), "words": lambda s: str(len(words.pre_tokenize_str(s))), "edge": edge(),
    "nfc": normalizers.NFC().normalize_str,
}
for name, answer in questions.items():
    for first in range(0, 0x110000, 4096):
        block = (c for c in range(first, first + 4096) if not 0xd800 <= c < 0xe000)
        text = "".join(answer("a" + chr(c) + "b") + "\n" for c in block)
        print(f"{name} {first:x} {zlib.crc32(text.encode()):08x}")
