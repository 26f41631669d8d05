// DiagnosticsTest.cpp: columns, carets, notes, the limit.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Diagnostics.h"
#include <gtest/gtest.h>

using namespace attn;
using llvm::StringRef;

namespace {

struct DiagnosticsTest : testing::Test {
  std::string text;
  llvm::raw_string_ostream stream{text};
  Diagnostics diags{stream, 2};

  /// The range of the first `part` in `file`.
  static llvm::SMRange find(StringRef file, StringRef part) {
    const char *begin = file.data() + file.find(part);
    return {llvm::SMLoc::getFromPointer(begin), llvm::SMLoc::getFromPointer(begin + part.size())};
  }
};

} // namespace

TEST_F(DiagnosticsTest, ShowsPlaceLineAndRange) {
  StringRef file = diags.addFile("a.attn", "one\n  two = three\n");
  diags.error(find(file, "three"), "no `three`");
  EXPECT_EQ(text, "a.attn:2:9: error: no `three`\n  two = three\n        ^~~~~\n");
}

TEST_F(DiagnosticsTest, ColumnsCountCharactersAndCaretsStandUnderThem) {
  StringRef file = diags.addFile("a.attn", "\t\"\xC3\xA9\xE6\xBC\xA2\" = x");
  diags.error(find(file, "x"), "wide");
  EXPECT_EQ(text, "a.attn:1:9: error: wide\n\t\"\xC3\xA9\xE6\xBC\xA2\" = x\n\t        ^\n");
}

TEST_F(DiagnosticsTest, BytesThatAreNoTextAreReplaced) {
  StringRef file = diags.addFile("a.attn", "a\xFF\x01"
                                           "b\r\n");
  diags.error(find(file, "b"), "m");
  EXPECT_EQ(text, "a.attn:1:4: error: m\na\xEF\xBF\xBD\xEF\xBF\xBD"
                  "b\n   ^\n");
}

TEST_F(DiagnosticsTest, ARangeOverLinesEndsWithTheFirst) {
  StringRef file = diags.addFile("a.attn", "ab(c\nd)\n");
  diags.error(find(file, "(c\nd)"), "m");
  EXPECT_EQ(text, "a.attn:1:3: error: m\nab(c\n  ^~\n");
}

TEST_F(DiagnosticsTest, TheEndOfAFileHasAPlace) {
  StringRef file = diags.addFile("a.attn", "ab\n");
  diags.error({llvm::SMLoc::getFromPointer(file.end()), llvm::SMLoc::getFromPointer(file.end())}, "m");
  EXPECT_EQ(text, "a.attn:2:1: error: m\n\n^\n");
}

TEST_F(DiagnosticsTest, LongLinesShowAWindow) {
  StringRef file = diags.addFile("a.attn", std::string(1000, 'a') + "b" + std::string(1000, 'a'));
  diags.error(find(file, "b"), "m");
  EXPECT_EQ(text, "a.attn:1:1001: error: m\n..." + std::string(80, 'a') + "b" + std::string(79, 'a') + "...\n" +
                      std::string(83, ' ') + "^\n");
}

TEST_F(DiagnosticsTest, NotesNameOtherPlacesAndCompare) {
  StringRef file = diags.addFile("a.attn", "x y");
  StringRef other = diags.addFile("std/b.attn", "z");
  diags.error(find(file, "y"), "m").note(find(other, "z"), "here").compare("[T]", "[S]");
  EXPECT_EQ(text, "a.attn:1:3: error: m\nx y\n  ^\nstd/b.attn:1:1: note: here\nz\n^\n"
                  "note: expected [T]\nnote:   actual [S]\n");
}

TEST_F(DiagnosticsTest, MoreThanTheLimitIsCountedOnly) {
  StringRef file = diags.addFile("a.attn", "x");
  for (int i = 0; i < 5; ++i) {
    diags.error(find(file, "x"), "m").note("n");
    EXPECT_EQ(diags.full(), i >= 2);
  }
  StringRef one = "a.attn:1:1: error: m\nx\n^\nnote: n\n";
  EXPECT_EQ(text, one.str() + one.str() + "note: more than 2 errors; the rest is not shown\n");
  EXPECT_EQ(diags.errorCount(), 5u);
}

TEST_F(DiagnosticsTest, WithoutAPlaceTheProgramSpeaks) {
  diags.error("cannot read `x`");
  diags.warning("old");
  EXPECT_EQ(text, "attnc: error: cannot read `x`\nattnc: warning: old\n");
  EXPECT_EQ(diags.warningCount(), 1u);
}
