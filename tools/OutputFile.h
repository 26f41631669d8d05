// OutputFile.h: a result that appears whole or not at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text or object is gathered in memory, written beside the target under a scratch name, and renamed onto it. `-` is
// standard output. A link is followed; what is no file (a device, a pipe) is written to. Nothing is left behind after
// an error. Several results appear together if all are prepared before the first is delivered.
#ifndef ATTN_TOOLS_OUTPUTFILE_H
#define ATTN_TOOLS_OUTPUTFILE_H

#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include <optional>

namespace attn {

class OutputFile {
public:
  OutputFile(llvm::StringRef path, Diagnostics &diags) : asked(path), diags(diags) {}
  OutputFile(const OutputFile &) = delete;
  ~OutputFile();

  /// Writes what can be written without a trace; `contents` stay alive until deliver(). False after an error, which is
  /// reported. `executable` for shared libraries.
  bool prepare(llvm::StringRef contents, bool executable = false);
  bool deliver();

private:
  bool fail(const std::string &why);
  bool writeStraight();

  std::string asked;  // as messages call it
  std::string target; // behind links
  Diagnostics &diags;
  llvm::StringRef text;
  std::optional<llvm::sys::fs::TempFile> scratch; // none: there is nothing to rename onto
};

/// Prepares and delivers. False after an error, which is reported.
bool writeOutput(llvm::StringRef path, llvm::StringRef contents, Diagnostics &diags);

} // namespace attn

#endif // ATTN_TOOLS_OUTPUTFILE_H
