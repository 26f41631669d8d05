"""tiles.py ATTNC CC ROOT FOLDER: attention by tile registers, which tiles.c computes; see tiles.test."""

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re
import subprocess
import sys

attnc, cc, root, folder = sys.argv[1:5]
here = os.path.dirname(os.path.abspath(__file__))

TEXT = """config {{ G = {0}, R = {1}, D = {2}, N = 70 }}
export fn before(q[T,G,R,D], k[T,G,D], v[T,G,D]) -> [T,G,R,D] = attend(q, k, v, mask: causal)
export fn all(q[T,G,R,D], k[S,G,D], v[S,G,D]) -> [T,G,R,D] = attend(q, k, v)
export fn kept(q[T,G,R,D], k[T,G,D], v[T,G,D]) -> [T,G,R,D] = attend(q, cache(k), cache(v), mask: causal)
export fn product(x[T,D]) -> [T,N] = linear(x, "w", N)
"""
# A tile is 1,024 bytes; the functions of tiles.c take addresses of such.
TILE = "<256 x i32>"
WRAPPERS = """
declare void @tile_load(ptr, i16, i16, ptr, i64)
declare void @tile_store(ptr, i16, i16, ptr, i64)
declare void @tile_multiply(ptr, i16, i16, i16, ptr, ptr, ptr)
define internal TILE @as_load(i16 %rows, i16 %bytes, ptr %from, i64 %stride) noinline {
  %t = alloca TILE
  call void @tile_load(ptr %t, i16 %rows, i16 %bytes, ptr %from, i64 %stride)
  %v = load TILE, ptr %t
  ret TILE %v
}
define internal void @as_store(i16 %rows, i16 %bytes, ptr %to, i64 %stride, TILE %v) noinline {
  %t = alloca TILE
  store TILE %v, ptr %t
  call void @tile_store(ptr %t, i16 %rows, i16 %bytes, ptr %to, i64 %stride)
  ret void
}
define internal TILE @as_multiply(i16 %m, i16 %n, i16 %k, TILE %c, TILE %a, TILE %b) noinline {
  %pc = alloca TILE
  %pa = alloca TILE
  %pb = alloca TILE
  store TILE %c, ptr %pc
  store TILE %a, ptr %pa
  store TILE %b, ptr %pb
  call void @tile_multiply(ptr %pc, i16 %m, i16 %n, i16 %k, ptr %pc, ptr %pa, ptr %pb)
  %v = load TILE, ptr %pc
  ret TILE %v
}
""".replace("TILE", TILE)
INSTRUCTIONS = {"tileloadd64": "as_load", "tilestored64": "as_store", "tdpbf16ps": "as_multiply"}
SHAPES = [(2, 1, 64, 150), (1, 3, 24, 70), (2, 2, 17, 131), (1, 1, 128, 97), (3, 1, 33, 65), (1, 4, 80, 49), (1, 1, 5, 3)]


def emulated(text):
    """LLVM's language without tile registers."""
    text = re.sub(r"^declare .*@llvm\.x86\.t(?:ile|dp).*$", "", text, flags=re.M)
    for instruction, function in INSTRUCTIONS.items():
        text, count = re.subn(r"@llvm\.x86\.%s\.internal" % instruction, "@" + function, text)
        assert count, instruction + " is not used"
    return re.sub(r'"target-(cpu|features)"="[^"]*"', "", text.replace("x86_amx", TILE)) + WRAPPERS


def main():
    for number, shape in enumerate(SHAPES):
        stem = os.path.join(folder, str(number))
        with open(stem + ".attn", "w") as file:
            file.write(TEXT.format(*shape))
        subprocess.run([attnc, stem + ".attn", "--precision=bf16", "--mcpu=sapphirerapids", "-o", stem + ".ll"], check=True)
        with open(stem + ".ll") as file:
            text = emulated(file.read())
        with open(stem + ".ll", "w") as file:
            file.write(text)
        subprocess.run(["llc", "-O1", "-mcpu=znver4", "-relocation-model=pic", "-filetype=obj", stem + ".ll", "-o", stem + ".o"],
                       check=True)
        subprocess.run([cc, "-O1", "-I" + root, os.path.join(here, "tiles.c"), stem + ".o", "-o", stem, "-lm"], check=True)
        subprocess.run([stem, *map(str, shape)], check=True)
    print(len(SHAPES), "shapes, all right")


main()
