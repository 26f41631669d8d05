// StdLibrary.cpp: the standard library out of the compiler's own binary.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Config.h"
#include "frontend/EmbeddedText.h"
#include "frontend/Parser.h"

using namespace llvm;

namespace attn {

ArrayRef<StdFile> stdFiles() {
  static const std::vector<StdFile> files = [] {
    std::vector<StdFile> list;
    for (unsigned i = 0; i < embeddedTextCount; ++i)
      if (StringRef(embeddedTexts[i].name).ends_with(".attn"))
        list.push_back({embeddedTexts[i].name, StringRef(embeddedTexts[i].text, embeddedTexts[i].length)});
    return list;
  }();
  return files;
}

std::vector<std::unique_ptr<File>> parseStd(Diagnostics &diags) {
  std::vector<std::unique_ptr<File>> files;
  for (StdFile file : stdFiles())
    files.push_back(parseFile(file.name, diags.addFile(file.name, file.text), diags));
  return files;
}

StringRef harmlessKeys() {
  for (unsigned i = 0; i < embeddedTextCount; ++i)
    if (StringRef(embeddedTexts[i].name) == "std/harmless-keys")
      return StringRef(embeddedTexts[i].text, embeddedTexts[i].length);
  return {};
}

} // namespace attn
