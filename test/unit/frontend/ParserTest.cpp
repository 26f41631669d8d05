// ParserTest.cpp: what --emit=ast does not show: ranges, heights, recovery.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Parser.h"
#include <gtest/gtest.h>

using namespace attn;
using llvm::cast;
using llvm::StringRef;

namespace {

struct ParserTest : testing::Test {
  std::string messages;
  llvm::raw_string_ostream stream{messages};
  Diagnostics diags{stream};
  std::unique_ptr<File> file;

  void parse(StringRef text) { file = parseFile("a.attn", diags.addFile("a.attn", text), diags); }
  const Expr *letValue(unsigned index = 0) { return cast<LetItem>(file->items[index])->value; }
  static StringRef textOf(llvm::SMRange range) {
    return {range.Start.getPointer(), size_t(range.End.getPointer() - range.Start.getPointer())};
  }
};

} // namespace

TEST_F(ParserTest, RangesCoverWhatWasRead) {
  parse("let a = (x + 1) * y |> f(z) at \"p\" # end\nfn g(x[T,E] = 1) -> [T] {\n  x, y = z[0]\n}\n");
  ASSERT_FALSE(diags.hasErrors()) << messages;
  auto *call = cast<CallExpr>(letValue());
  EXPECT_EQ(textOf(file->items[0]->range), "let a = (x + 1) * y |> f(z) at \"p\"");
  EXPECT_EQ(textOf(call->callRange), "f(z) at \"p\"");
  auto *product = cast<BinaryExpr>(call->args[0].value);
  EXPECT_EQ(textOf(product->range), "(x + 1) * y");
  EXPECT_EQ(textOf(product->opRange), "*");
  EXPECT_EQ(textOf(product->lhs->range), "x + 1");
  auto *function = cast<FnDecl>(file->items[1]);
  EXPECT_EQ(textOf(function->params[0].range), "x[T,E] = 1");
  EXPECT_EQ(textOf(function->params[0].shape.range), "[T,E]");
  EXPECT_EQ(textOf(function->body->range), "{\n  x, y = z[0]\n}");
  EXPECT_EQ(textOf(function->body->statements[0]->range), "x, y = z[0]");
}

TEST_F(ParserTest, StringPiecesHaveRangesOfTheFile) {
  parse("let a = \"h.{l + 1}.\\\"x\"");
  auto *string = cast<StringExpr>(letValue());
  ASSERT_EQ(string->pieces.size(), 3u);
  EXPECT_FALSE(string->isPlain());
  EXPECT_EQ(string->pieces[0].text, "h.");
  EXPECT_EQ(textOf(string->pieces[1].expr->range), "l + 1");
  EXPECT_EQ(diags.place(string->pieces[1].expr->range.Start).column, 13u);
  EXPECT_EQ(string->pieces[2].text, ".\"x");
  EXPECT_EQ(textOf(string->pieces[2].range), ".\\\"x");
}

TEST_F(ParserTest, HeightsCountBlocks) {
  parse("let a = 1\nlet b = f(x + 1)\nlet c = if x { y = -1\n y }");
  EXPECT_EQ(letValue(0)->height, 1u);
  EXPECT_EQ(letValue(1)->height, 3u);
  EXPECT_EQ(letValue(2)->height, 4u);
}

TEST_F(ParserTest, NumbersKnowWhetherTheyAreWhole) {
  parse("let a = 12\nlet b = 12.0\nlet c = 1e2\nlet d = 9223372036854775807");
  EXPECT_TRUE(cast<NumberExpr>(letValue(0))->isInteger);
  EXPECT_EQ(cast<NumberExpr>(letValue(0))->integer, 12);
  EXPECT_FALSE(cast<NumberExpr>(letValue(1))->isInteger);
  EXPECT_EQ(cast<NumberExpr>(letValue(1))->value, 12.0);
  EXPECT_FALSE(cast<NumberExpr>(letValue(2))->isInteger);
  EXPECT_EQ(cast<NumberExpr>(letValue(3))->integer, INT64_MAX);
}

TEST_F(ParserTest, WhatCouldBeReadIsKept) {
  parse("let a = 3 3\nconfig { b = 1, = 2, c = 3 }\nfn f(x) {\n  y = x\n  y y\n  y\n}\nlet d = 4");
  EXPECT_EQ(diags.errorCount(), 3u) << messages;
  ASSERT_EQ(file->items.size(), 4u);
  EXPECT_EQ(cast<ConfigBlock>(file->items[1])->entries.size(), 2u);
  EXPECT_EQ(cast<FnDecl>(file->items[2])->body->statements.size(), 2u);
}

TEST_F(ParserTest, OneMistakeOneError) {
  parse("fn f(x) {\n  y = g(x, 3\n  z = h(y)\n  z\n}\nfn g(x) = x");
  EXPECT_EQ(diags.errorCount(), 1u) << messages;
  ASSERT_EQ(file->items.size(), 2u);
}
