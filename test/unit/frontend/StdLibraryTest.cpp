// StdLibraryTest.cpp: the library in the binary is the one in std/, and it parses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Config.h"
#include "frontend/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace attn;
using llvm::StringRef;

TEST(StdLibrary, HasEveryFileByteForByte) {
  std::error_code error;
  unsigned found = 0;
  for (llvm::sys::fs::directory_iterator it(ATTN_STD_FOLDER, error), end; it != end && !error; it.increment(error)) {
    if (!StringRef(it->path()).ends_with(".attn"))
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(it->path());
    ASSERT_TRUE(bool(buffer));
    auto isIt = [&](const StdFile &file) { return StringRef(it->path()).ends_with(file.name); };
    auto file = llvm::find_if(stdFiles(), isIt);
    ASSERT_NE(file, stdFiles().end()) << it->path();
    EXPECT_EQ(file->text, (*buffer)->getBuffer()) << it->path();
    ++found;
  }
  EXPECT_FALSE(error);
  EXPECT_EQ(found, stdFiles().size());
  EXPECT_GT(found, 5u);
}

TEST(StdLibrary, ParsesAndDefinesEachFunctionOnce) {
  Diagnostics diags;
  llvm::StringSet<> names;
  for (const auto &file : parseStd(diags))
    for (const Item *item : file->items) {
      auto *function = llvm::dyn_cast<FnDecl>(item);
      ASSERT_TRUE(function) << file->name.str();
      EXPECT_FALSE(function->isExport);
      EXPECT_TRUE(names.insert(function->name.text).second) << function->name.text.str();
    }
  EXPECT_FALSE(diags.hasErrors());
  EXPECT_TRUE(names.contains("layernorm") && names.contains("causal"));
}

TEST(StdLibrary, HarmlessKeysAreThere) {
  EXPECT_TRUE(harmlessKeys().contains("\ntransformers_version\n"));
}
