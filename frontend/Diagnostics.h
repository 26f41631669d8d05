// Diagnostics.h: errors, warnings and notes at places of several source files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every place is an llvm::SMRange: two pointers into a buffer that a Diagnostics owns, so a range alone says which file
// it means. A report is printed at once, its notes right after it:
//
//   diags.error(range, "`T` is 3 here").note(other, "`T` is 4 here").compare("[T, 384]", "[T, 1536]");
//
//   bert.attn:12:7: error: `T` is 3 here
//     x = y + z
//         ^~~~~
//   bert.attn:3:9: note: `T` is 4 here
//     fn f(y[T])
//            ^
//   note: expected [T, 384]
//   note:   actual [T, 1536]
//
// After maxErrors errors one line says that there are more, and the rest is only counted. Columns count characters, not
// bytes. Messages are lower case, without a full stop, with the user's names in backticks.
#ifndef ATTN_FRONTEND_DIAGNOSTICS_H
#define ATTN_FRONTEND_DIAGNOSTICS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace attn {

/// Where a range begins: its file's name, and line and column from 1 (column in characters).
struct Place {
  std::string file;
  unsigned line = 0, column = 0;
};

class Diagnostics;

/// What `error` and `warning` give back, to hang notes on. Notes of a report that was not printed are not printed.
class Report {
public:
  Report(Diagnostics &owner, bool printed) : diags(owner), shown(printed) {}
  /// A note at another place; without a valid range, a line of its own.
  Report &note(llvm::SMRange range, const llvm::Twine &message);
  Report &note(const llvm::Twine &message);
  /// Two aligned notes: what was expected and what there is.
  Report &compare(const llvm::Twine &expected, const llvm::Twine &actual);

private:
  Diagnostics &diags;
  bool shown;
};

class Diagnostics {
public:
  static constexpr unsigned defaultMaxErrors = 20;

  explicit Diagnostics(llvm::raw_ostream &stream = llvm::errs(), unsigned limit = defaultMaxErrors)
      : os(stream), maxErrors(limit) {}
  Diagnostics(const Diagnostics &) = delete;

  /// Takes over a text under the name that is shown. The text lives as long as this object.
  llvm::StringRef addFile(llvm::StringRef name, llvm::StringRef text);

  /// At `range`; an invalid (default) range gives a line `attnc: error: …` without source.
  Report error(llvm::SMRange range, const llvm::Twine &message);
  Report error(const llvm::Twine &message) { return error(llvm::SMRange(), message); }
  Report warning(llvm::SMRange range, const llvm::Twine &message);
  Report warning(const llvm::Twine &message) { return warning(llvm::SMRange(), message); }
  /// A note of its own, e.g. which processor the code is for.
  void note(llvm::SMRange range, const llvm::Twine &message);

  unsigned errorCount() const { return errors; }
  unsigned warningCount() const { return warnings; }
  bool hasErrors() const { return errors != 0; }
  /// There are more errors than are shown: work that only finds more of them can stop.
  bool full() const { return errors > maxErrors; }

  Place place(llvm::SMLoc loc) const;
  /// The way back: an empty range at that place of a file that was added; invalid for others.
  llvm::SMRange rangeAt(llvm::StringRef file, unsigned line, unsigned column) const;

private:
  friend class Report;
  enum class Level { error, warning, note };
  void print(Level level, llvm::SMRange range, const llvm::Twine &message);
  void printSource(llvm::SMRange range, unsigned buffer);

  llvm::raw_ostream &os;
  llvm::SourceMgr sources;
  unsigned maxErrors, errors = 0, warnings = 0;
};

} // namespace attn

#endif // ATTN_FRONTEND_DIAGNOSTICS_H
