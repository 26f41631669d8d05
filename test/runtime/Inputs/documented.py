#!/usr/bin/env python3
"""documented.py HEADER DOCUMENT: the document names every function that the header declares, and no other."""
import re
import sys

header, document = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
declared = set(re.findall(r"ATTN_API[^;(]*?\b(attn_\w+)\(", header))
types = set(re.findall(r"\b(attn_\w+)\b", header)) - declared
named = set(re.findall(r"\b(attn_\w+)\b", document))
assert declared <= named, declared - named
assert named <= declared | types | {"attn_call", "attn_program", "attn_pack"}, named - declared - types
