#!/usr/bin/env python3
"""symbols.py LIBRARY HEADER: the library's NEEDED holds only libc and libm, and it exports exactly the header's functions."""
import re
import subprocess
import sys

library, header = sys.argv[1:]
dynamic = subprocess.run(["llvm-readelf", "-d", library], check=True, capture_output=True, text=True).stdout
needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
assert set(needed) <= {"libc.so.6", "libm.so.6"}, needed
assert "TEXTREL" not in dynamic, dynamic
symbols = subprocess.run(["llvm-nm", "-D", "--defined-only", "--format=just-symbols", library], check=True, capture_output=True, text=True)
declared = set(re.findall(r"ATTN_API[^;(]*?\b(attn_\w+)\(", open(header).read()))
exported = set(symbols.stdout.split())
assert exported == declared, (exported - declared, declared - exported)
