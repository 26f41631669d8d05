// Parser.h: from the text of an .attn file to its syntax tree.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_PARSER_H
#define ATTN_FRONTEND_PARSER_H

#include "frontend/Ast.h"
#include "frontend/Diagnostics.h"
#include <memory>

namespace attn {

/// Reads `text` (an answer of diags.addFile(name, …)). Errors go to `diags`; the parser goes on behind each, so the
/// tree holds what could be read. It is never null; whether it is whole is diags.hasErrors().
std::unique_ptr<File> parseFile(llvm::StringRef name, llvm::StringRef text, Diagnostics &diags);

/// The standard library, std/*.attn, built into the compiler; shown as `std/masks.attn`. Sorted by name.
struct StdFile {
  llvm::StringRef name, text;
};
llvm::ArrayRef<StdFile> stdFiles();

/// Parses all of it, one File each.
std::vector<std::unique_ptr<File>> parseStd(Diagnostics &diags);

} // namespace attn

#endif // ATTN_FRONTEND_PARSER_H
