// Lexer.h: the tokens of an .attn text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lexer decides two things that the parser then need not think about. Which line ends are tokens (rule 1 of
// docs/language.md): none inside ( ) and [ ], none after a token that cannot end an expression or before one that
// cannot begin one. And that brackets match: it reports every one that does not and puts in or leaves out closing ones,
// so that the parser always sees a balanced text and recovers by counting.
#ifndef ATTN_FRONTEND_LEXER_H
#define ATTN_FRONTEND_LEXER_H

#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace attn {

struct Token {
  enum class Kind {
    end,     ///< of the text; the last token, always there
    newline, ///< a line end that ends a statement, or `;`
    number,  ///< 12, 1e-5
    string,  ///< quotes included
    word,    ///< a name or a word of the language
    symbol,  ///< an operator or a bracket
    unknown, ///< characters that begin no token
  };
  Kind kind = Kind::end;
  llvm::StringRef text; ///< empty at the end
  llvm::SMRange range;
  bool field = false; ///< a word right after `.`, never a word of the language
  bool synthetic =
      false; ///< not so in the text (a closing bracket, a string's quote), or unknown: errors at it have been said

  /// An operator, a bracket or a word of the language.
  bool is(llvm::StringRef s) const { return (kind == Kind::symbol || (kind == Kind::word && !field)) && text == s; }
};

/// An error of the lexer; the parser reports it when it gets there, so that messages come in the order of the text.
struct LexError {
  llvm::SMRange range;
  std::string message;
  llvm::SMRange noteRange; ///< invalid: no note
  std::string note;
};

struct Tokens {
  std::vector<Token> list;
  std::vector<LexError> errors; ///< by place
  /// Between a bracket that is never closed and the place where that was noticed: errors of the parser are
  /// consequences.
  std::vector<llvm::SMRange> spoiled;
};

/// The tokens of `text`. Of many errors, the first `maxErrors` and one more are kept.
Tokens lex(llvm::StringRef text, unsigned maxErrors = Diagnostics::defaultMaxErrors);

/// Words that are never names: `if`, `repeat`, `none`, … (words of declarations are reserved only where one can begin).
bool isReserved(llvm::StringRef word);

} // namespace attn

#endif // ATTN_FRONTEND_LEXER_H
