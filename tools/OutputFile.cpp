// OutputFile.cpp: write beside, then rename.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn {

namespace {

bool cannotWrite(StringRef path, const std::string &why, Diagnostics &diags) {
  diags.error("cannot write `" + path + "`: " + StringRef(why).take_front().lower() + StringRef(why).drop_front());
  return false;
}

bool writeStandardOutput(StringRef contents, Diagnostics &diags) {
  outs() << contents;
  outs().flush();
  if (!outs().has_error())
    return true;
  std::string why = outs().error().message();
  outs().clear_error();
  return cannotWrite("-", why, diags);
}

} // namespace

bool writeOutput(StringRef path, StringRef contents, Diagnostics &diags, bool executable) {
  if (path == "-")
    return writeStandardOutput(contents, diags);
  if (sys::fs::is_directory(path))
    return cannotWrite(path, "is a directory", diags);
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path)) { // /dev/null, a pipe: there is nothing to rename onto
    std::error_code error;
    raw_fd_ostream stream(path, error);
    if (!error) {
      stream << contents;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    return !error || cannotWrite(path, error.message(), diags);
  }
  unsigned mode = executable ? 0755 : 0644;
  Expected<sys::fs::TempFile> scratch = sys::fs::TempFile::create(path + ".%%%%%%.tmp", mode);
  if (!scratch)
    return cannotWrite(path, toString(scratch.takeError()), diags);
  std::error_code error;
  {
    raw_fd_ostream stream(scratch->FD, /*shouldClose=*/false);
    stream << contents;
    stream.flush();
    error = stream.error();
    stream.clear_error();
  }
  if (error) {
    consumeError(scratch->discard());
    return cannotWrite(path, error.message(), diags);
  }
  if (Error renaming = scratch->keep(path))
    return cannotWrite(path, toString(std::move(renaming)), diags);
  return true;
}

} // namespace attn
