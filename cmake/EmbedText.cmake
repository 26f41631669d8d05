# cmake -DOUT=file.cpp -DROOT=dir -DFILES="a b" -P EmbedText.cmake: the texts of files as C++ arrays.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The answer defines `const attn::EmbeddedText attn::embeddedTexts[]` and its length (frontend/EmbeddedText.h), one entry a
# file in the order given, named by its path from ROOT.

string(REPLACE " " ";" FILES "${FILES}")
set(code "// Written by cmake/EmbedText.cmake.\n#include \"frontend/EmbeddedText.h\"\n\nnamespace attn {\n\n")
string(APPEND code "const EmbeddedText embeddedTexts[] = {\n")
set(count 0)
foreach(file IN LISTS FILES)
  file(READ "${ROOT}/${file}" bytes HEX)
  string(LENGTH "${bytes}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(REPLACE "\\x0a" "\\x0a\"\n     \"" bytes "${bytes}") # one literal a line of the file
  string(APPEND code "    {\"${file}\", ${length},\n     \"${bytes}\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND code "};\nconst unsigned embeddedTextCount = ${count};\n\n} // namespace attn\n")
file(WRITE "${OUT}" "${code}")
