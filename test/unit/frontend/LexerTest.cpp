// LexerTest.cpp: tokens, line ends and repaired brackets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Lexer.h"
#include <gtest/gtest.h>

using namespace attn;

namespace {

/// The tokens as a line: line ends as `;`, synthetic ones marked by `!`.
std::string tokensOf(llvm::StringRef text) {
  std::string line;
  Tokens tokens = lex(text);
  for (const Token &token : tokens.list) {
    if (token.kind == Token::Kind::end)
      break;
    line += line.empty() ? "" : " ";
    line += token.kind == Token::Kind::newline ? ";" : token.text.str();
    line += token.synthetic ? "!" : "";
  }
  return line;
}

} // namespace

TEST(Lexer, ANumberDoesNotEndInAPoint) {
  EXPECT_EQ(tokensOf("0..L"), "0 .. L");
  EXPECT_EQ(tokensOf("1.5..2"), "1.5 .. 2");
  EXPECT_EQ(tokensOf("1.x"), "1 . x");
  EXPECT_EQ(tokensOf("1e5 1e-5 2.5E+3"), "1e5 1e-5 2.5E+3");
}

TEST(Lexer, LongestSymbolFirst) {
  EXPECT_EQ(tokensOf("a|>b|c??d->e+=f//g/h<=i<j"), "a |> b | c ?? d -> e += f // g / h <= i < j");
}

TEST(Lexer, LineEndsInsideParenthesesAndBracketsAreNone) {
  EXPECT_EQ(tokensOf("f(a,\nb[\n1\n])\nx"), "f ( a , b [ 1 ] ) ; x");
  EXPECT_EQ(tokensOf("f({\na\nb\n})"), "f ( { ; a ; b } )");
}

TEST(Lexer, LineEndsAfterWhatCannotEndAnExpression) {
  EXPECT_EQ(tokensOf("a +\n\n  b and # why\n c"), "a + b and c");
  EXPECT_EQ(tokensOf("r.and\nb"), "r . and ; b");
}

TEST(Lexer, LineEndsBeforeWhatCannotBeginOne) {
  EXPECT_EQ(tokensOf("a\n+ b\n|> c\nas [T]\nelse"), "a + b |> c as [ T ] else");
  EXPECT_EQ(tokensOf("a\n- b\n(c)\n[d]\nat \"p\""), "a ; - b ; ( c ) ; [ d ] ; at \"p\"");
}

TEST(Lexer, ASemicolonAlwaysCounts) {
  EXPECT_EQ(tokensOf("a; b\n;\n c"), "a ; b ; c");
  EXPECT_EQ(tokensOf("a +; b"), "a + ; b");
  EXPECT_EQ(tokensOf("f(a; b)"), "f ( a ; b )");
}

TEST(Lexer, CommentsByteOrderMarksAndCarriageReturnsAreNothing) {
  EXPECT_EQ(tokensOf("\xEF\xBB\xBF# first\r\na # second\r\nb \"# no comment\""), "a ; b \"# no comment\"");
}

TEST(Lexer, BracketsAreBalanced) {
  EXPECT_EQ(tokensOf("f(a }"), "f ( a }! )! ;!");
  EXPECT_EQ(tokensOf("{ f(a }"), "{ f ( a )! }");
  EXPECT_EQ(tokensOf("(a]"), "( a )!");
  EXPECT_EQ(tokensOf("fn f() {\nx\nfn g() = 1"), "fn f ( ) { ; x ; }! ;! fn g ( ) = 1");
  EXPECT_EQ(tokensOf("([{"), "( [ { }! ]! )! ;!");
}

TEST(Lexer, ErrorsComeByPlaceAndAreBounded) {
  Tokens tokens = lex("f(a & ~\n]\n");
  ASSERT_EQ(tokens.errors.size(), 3u);
  EXPECT_LT(tokens.errors[0].range.Start.getPointer(), tokens.errors[1].range.Start.getPointer());
  EXPECT_LT(tokens.errors[1].range.Start.getPointer(), tokens.errors[2].range.Start.getPointer());
  EXPECT_EQ(lex(std::string(1000, '$') + std::string("a$").append(1000, ' '), 3).errors.size(), 2u);
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "$ ";
  EXPECT_EQ(lex(many, 3).errors.size(), 4u);
}
