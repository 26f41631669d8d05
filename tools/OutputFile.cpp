// OutputFile.cpp: write beside, then rename.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn {

namespace {

std::error_code write(raw_fd_ostream &stream, StringRef contents) {
  stream << contents;
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

} // namespace

OutputFile::~OutputFile() {
  if (scratch)
    consumeError(scratch->discard());
}

bool OutputFile::fail(const std::string &why) {
  std::string rest = StringRef(why).take_front().lower() + StringRef(why).drop_front().str();
  diags.error("cannot write `" + asked + "`: " + rest);
  return false;
}

bool OutputFile::prepare(StringRef contents, bool executable) {
  text = contents;
  target = asked;
  SmallString<256> real;
  if (asked == "-" || sys::fs::is_directory(asked))
    return asked == "-" || fail("is a directory");
  if (!sys::fs::real_path(asked, real))
    target = std::string(real);
  bool leadsNowhere = sys::fs::is_symlink_file(target);
  if (leadsNowhere || (sys::fs::exists(target) && !sys::fs::is_regular_file(target)))
    return true;
  Expected<sys::fs::TempFile> made = sys::fs::TempFile::create(target + ".%%%%%%.tmp", executable ? 0755 : 0644);
  if (!made)
    return fail(toString(made.takeError()));
  scratch.emplace(std::move(*made));
  raw_fd_ostream stream(scratch->FD, /*shouldClose=*/false);
  std::error_code error = write(stream, text);
  return !error || fail(error.message());
}

bool OutputFile::writeStraight() {
  std::error_code error;
  if (asked == "-") {
    error = write(outs(), text);
  } else {
    raw_fd_ostream stream(target, error);
    if (!error)
      error = write(stream, text);
  }
  return !error || fail(error.message());
}

bool OutputFile::deliver() {
  if (!scratch)
    return writeStraight();
  Error renaming = scratch->keep(target);
  scratch.reset();
  return !renaming || fail(toString(std::move(renaming)));
}

bool writeOutput(StringRef path, StringRef contents, Diagnostics &diags) {
  OutputFile file(path, diags);
  return file.prepare(contents) && file.deliver();
}

} // namespace attn
