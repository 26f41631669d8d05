// Ast.h: the syntax tree of an .attn file, as written: nothing is resolved, nothing is typed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes are plain structs in the arena of their File; they are never changed after parsing, never freed singly, and a
// node's address is its identity (the checker keys its tables on it). Names and texts are slices of the source buffer,
// which a Diagnostics owns. Every node has the range of characters it was read from, first character to behind the
// last.
//
// Two things of the surface are gone in the tree: `x |> f(a)` is a Call with `piped` set and x as its first argument,
// and `fn f(x) = e` is a function whose block has the one statement e (`equals` set).
//
// The parser bounds the height of the tree (Expr::height <= maxHeight), so recursive walks are safe.
#ifndef ATTN_FRONTEND_AST_H
#define ATTN_FRONTEND_AST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <deque>
#include <vector>

namespace attn {

using llvm::ArrayRef;
using llvm::SMRange;
using llvm::StringRef;

/// A word of the user's: a slice of the source. `text` is empty where an optional word is not there.
struct Ident {
  StringRef text;
  SMRange range;
  explicit operator bool() const { return !text.empty(); }
};

//===-- Expressions -------------------------------------------------------------------------------------------------===

struct Block;
struct StringExpr;

struct Expr {
  enum class Kind {
    number,      ///< 12, 1e-5
    string,      ///< "h.{l}"
    name,        ///< x
    constant,    ///< none, true, false
    tuple,       ///< a, b
    call,        ///< f(x, k: 1) at "p", x |> f
    index,       ///< x[i, j]
    as,          ///< x as [T, E]
    field,       ///< r.factor
    unary,       ///< -x, not c
    binary,      ///< a + b, a ?? b, a | b, a and b
    compare,     ///< 0 <= a < b
    conditional, ///< if c { } else { }
    mix,         ///< mix e in w { }
    repeat,      ///< repeat l in 0..L at "h.{l}" { }
  };
  static constexpr unsigned maxHeight = 250;

  const Kind kind;
  SMRange range;
  unsigned height = 1; ///< of the tree below, blocks counted

protected:
  Expr(Kind k, SMRange r) : kind(k), range(r) {}
};

using Exprs = ArrayRef<const Expr *>;

/// `[T, H*D, F | F, 3]`: what stands in brackets after a parameter's name, `->` or `as`.
struct Shape {
  Exprs dims;
  SMRange range;
};

struct NumberExpr : Expr {
  double value;
  bool isInteger;  ///< written without `.` and `e`
  int64_t integer; ///< its value then
  StringRef spelling;
  NumberExpr(SMRange r, double v, bool whole, int64_t i, StringRef text)
      : Expr(Kind::number, r), value(v), isInteger(whole), integer(i), spelling(text) {}
  static bool classof(const Expr *e) { return e->kind == Kind::number; }
};

/// A part of a string: text with escapes resolved, or an expression written in braces.
struct StringPiece {
  StringRef text;
  const Expr *expr = nullptr; ///< null for text
  SMRange range;
};

struct StringExpr : Expr {
  ArrayRef<StringPiece> pieces; ///< no two texts are neighbours; "" has none
  StringExpr(SMRange r, ArrayRef<StringPiece> p) : Expr(Kind::string, r), pieces(p) {}
  /// No braces: the whole string is known as it stands.
  bool isPlain() const { return pieces.empty() || (pieces.size() == 1 && !pieces[0].expr); }
  StringRef plainText() const { return pieces.empty() ? StringRef() : pieces[0].text; }
  static bool classof(const Expr *e) { return e->kind == Kind::string; }
};

struct NameExpr : Expr {
  StringRef name;
  NameExpr(SMRange r, StringRef n) : Expr(Kind::name, r), name(n) {}
  static bool classof(const Expr *e) { return e->kind == Kind::name; }
};

struct ConstantExpr : Expr {
  enum class Value { none, true_, false_ };
  Value value;
  ConstantExpr(SMRange r, Value v) : Expr(Kind::constant, r), value(v) {}
  static bool classof(const Expr *e) { return e->kind == Kind::constant; }
};

/// `a, b`, in parentheses or as a statement; two elements or more.
struct TupleExpr : Expr {
  Exprs elements;
  TupleExpr(SMRange r, Exprs e) : Expr(Kind::tuple, r), elements(e) {}
  static bool classof(const Expr *e) { return e->kind == Kind::tuple; }
};

/// `e`, `name: e`, or `name(a, b): e`, which binds a and b in e (a clause of attend).
struct Argument {
  Ident name;              ///< empty: by place
  bool hasBinders = false; ///< `score(s): e`; `score(): e` has it too
  ArrayRef<Ident> binders;
  const Expr *value = nullptr;
  SMRange range;
};

struct CallExpr : Expr {
  Ident callee;
  ArrayRef<Argument> args; ///< with `piped`, the first is what stands before `|>`
  const StringExpr *at = nullptr;
  bool piped = false;
  SMRange callRange; ///< of `f(a) at "p"` alone, also when piped
  CallExpr(SMRange r, Ident f, ArrayRef<Argument> a, bool pipe)
      : Expr(Kind::call, r), callee(f), args(a), piped(pipe) {}
  static bool classof(const Expr *e) { return e->kind == Kind::call; }
};

struct IndexExpr : Expr {
  const Expr *base;
  Exprs indices;
  IndexExpr(SMRange r, const Expr *b, Exprs i) : Expr(Kind::index, r), base(b), indices(i) {}
  static bool classof(const Expr *e) { return e->kind == Kind::index; }
};

struct AsExpr : Expr {
  const Expr *base;
  Shape shape;
  AsExpr(SMRange r, const Expr *b, Shape s) : Expr(Kind::as, r), base(b), shape(s) {}
  static bool classof(const Expr *e) { return e->kind == Kind::as; }
};

struct FieldExpr : Expr {
  const Expr *base;
  Ident field;
  FieldExpr(SMRange r, const Expr *b, Ident f) : Expr(Kind::field, r), base(b), field(f) {}
  static bool classof(const Expr *e) { return e->kind == Kind::field; }
};

enum class UnaryOp { negate, not_ };

struct UnaryExpr : Expr {
  UnaryOp op;
  const Expr *operand;
  UnaryExpr(SMRange r, UnaryOp o, const Expr *e) : Expr(Kind::unary, r), op(o), operand(e) {}
  static bool classof(const Expr *e) { return e->kind == Kind::unary; }
};

enum class BinaryOp {
  orElse, ///< `??`
  bar,    ///< `|`
  or_,
  and_,
  add,
  subtract,
  multiply,
  divide,
  floorDivide, ///< `//`
  modulo,      ///< `%`
  matmul,      ///< `@`
  power,       ///< `^`
};
/// As it is written: "??", "and", "+".
StringRef spelling(BinaryOp op);

struct BinaryExpr : Expr {
  BinaryOp op;
  SMRange opRange;
  const Expr *lhs, *rhs;
  BinaryExpr(SMRange r, BinaryOp o, SMRange where, const Expr *a, const Expr *b)
      : Expr(Kind::binary, r), op(o), opRange(where), lhs(a), rhs(b) {}
  static bool classof(const Expr *e) { return e->kind == Kind::binary; }
};

enum class CompareOp { less, lessEqual, greater, greaterEqual, equal, notEqual };
StringRef spelling(CompareOp op);

/// A chain `a < b <= c`, which means `a < b and b <= c` with b computed once. ops[i] stands between terms[i] and
/// terms[i + 1].
struct CompareExpr : Expr {
  Exprs terms;
  ArrayRef<CompareOp> ops;
  CompareExpr(SMRange r, Exprs t, ArrayRef<CompareOp> o) : Expr(Kind::compare, r), terms(t), ops(o) {}
  static bool classof(const Expr *e) { return e->kind == Kind::compare; }
};

struct IfExpr : Expr {
  const Expr *condition;
  const Block *then;
  const Block *otherwise; ///< null without `else`; `else if` is a block of the one inner `if`
  IfExpr(SMRange r, const Expr *c, const Block *t, const Block *e)
      : Expr(Kind::conditional, r), condition(c), then(t), otherwise(e) {}
  static bool classof(const Expr *e) { return e->kind == Kind::conditional; }
};

struct MixExpr : Expr {
  Ident variable;
  const Expr *selection;
  const Block *body;
  MixExpr(SMRange r, Ident v, const Expr *s, const Block *b) : Expr(Kind::mix, r), variable(v), selection(s), body(b) {}
  static bool classof(const Expr *e) { return e->kind == Kind::mix; }
};

struct RepeatExpr : Expr {
  Ident variable;
  const Expr *from; ///< the lower bound, or the tensor to walk
  const Expr *to;   ///< the upper bound (not reached); null when a tensor is walked
  const StringExpr *at;
  const Block *body;
  RepeatExpr(SMRange r, Ident v, const Expr *lower, const Expr *upper, const StringExpr *path, const Block *b)
      : Expr(Kind::repeat, r), variable(v), from(lower), to(upper), at(path), body(b) {}
  static bool classof(const Expr *e) { return e->kind == Kind::repeat; }
};

//===-- Statements --------------------------------------------------------------------------------------------------===

struct Stmt {
  enum class Kind { expr, assign, at, yield };
  const Kind kind;
  SMRange range;

protected:
  Stmt(Kind k, SMRange r) : kind(k), range(r) {}
};

struct Block {
  ArrayRef<const Stmt *> statements;
  SMRange range;       ///< braces included
  unsigned height = 1; ///< of the highest expression in it
};

struct ExprStmt : Stmt {
  const Expr *expr; ///< `a, b` is a TupleExpr
  ExprStmt(SMRange r, const Expr *e) : Stmt(Kind::expr, r), expr(e) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::expr; }
};

/// `a = e`, `a, b = e`, `a += e` (one target).
struct AssignStmt : Stmt {
  ArrayRef<Ident> targets;
  bool adds;
  const Expr *value; ///< of `+=`: the right side alone
  AssignStmt(SMRange r, ArrayRef<Ident> t, bool plus, const Expr *v)
      : Stmt(Kind::assign, r), targets(t), adds(plus), value(v) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::assign; }
};

struct AtStmt : Stmt {
  const StringExpr *path;
  const Block *body;
  AtStmt(SMRange r, const StringExpr *p, const Block *b) : Stmt(Kind::at, r), path(p), body(b) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::at; }
};

struct YieldStmt : Stmt {
  Exprs values;
  YieldStmt(SMRange r, Exprs v) : Stmt(Kind::yield, r), values(v) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::yield; }
};

//===-- Items -------------------------------------------------------------------------------------------------------===

struct Item {
  enum class Kind { version, config, weights, tokenizer, input, use, let, require, function };
  const Kind kind;
  SMRange range;

protected:
  Item(Kind k, SMRange r) : kind(k), range(r) {}
};

/// `attn 1`, the first line.
struct VersionItem : Item {
  unsigned edition;
  VersionItem(SMRange r, unsigned e) : Item(Kind::version, r), edition(e) {}
  static bool classof(const Item *i) { return i->kind == Kind::version; }
};

/// `NAME = expr`, or `ignore "key"` (then `value` is null and `ignored` the string).
struct ConfigEntry {
  Ident name;
  const Expr *value = nullptr;
  const StringExpr *ignored = nullptr;
  SMRange range;
};

struct ConfigBlock : Item {
  const StringExpr *at; ///< `config at "text_config"`, or null
  ArrayRef<ConfigEntry> entries;
  ConfigBlock(SMRange r, const StringExpr *path, ArrayRef<ConfigEntry> e)
      : Item(Kind::config, r), at(path), entries(e) {}
  static bool classof(const Item *i) { return i->kind == Kind::config; }
};

struct WeightsEntry {
  enum class Kind { prefix, rename, ignore, stored };
  Kind kind = Kind::prefix;
  bool optional = false;              ///< of a prefix
  const StringExpr *first = nullptr;  ///< the prefix, the old name, the glob
  const StringExpr *second = nullptr; ///< the new name
  bool inFirst = false;               ///< `stored [in, out]`
  SMRange range;
};

struct WeightsBlock : Item {
  ArrayRef<WeightsEntry> entries;
  WeightsBlock(SMRange r, ArrayRef<WeightsEntry> e) : Item(Kind::weights, r), entries(e) {}
  static bool classof(const Item *i) { return i->kind == Kind::weights; }
};

struct TokenizerItem : Item {
  const StringExpr *path;
  TokenizerItem(SMRange r, const StringExpr *p) : Item(Kind::tokenizer, r), path(p) {}
  static bool classof(const Item *i) { return i->kind == Kind::tokenizer; }
};

/// `input image(rgb, size: 224)`.
struct InputItem : Item {
  Ident name;
  ArrayRef<Argument> args;
  InputItem(SMRange r, Ident n, ArrayRef<Argument> a) : Item(Kind::input, r), name(n), args(a) {}
  static bool classof(const Item *i) { return i->kind == Kind::input; }
};

/// `use "file.attn" (f, g)`; without names, every function of the file.
struct UseItem : Item {
  const StringExpr *path;
  ArrayRef<Ident> names;
  UseItem(SMRange r, const StringExpr *p, ArrayRef<Ident> n) : Item(Kind::use, r), path(p), names(n) {}
  static bool classof(const Item *i) { return i->kind == Kind::use; }
};

struct LetItem : Item {
  Ident name;
  const Expr *value;
  LetItem(SMRange r, Ident n, const Expr *v) : Item(Kind::let, r), name(n), value(v) {}
  static bool classof(const Item *i) { return i->kind == Kind::let; }
};

struct RequireItem : Item {
  const Expr *condition;
  RequireItem(SMRange r, const Expr *c) : Item(Kind::require, r), condition(c) {}
  static bool classof(const Item *i) { return i->kind == Kind::require; }
};

struct Parameter {
  Ident name;
  bool hasShape = false; ///< `x[]` has a shape of no dimensions
  Shape shape;
  const Expr *defaultValue = nullptr;
  SMRange range;
};

struct Result {
  Ident name; ///< may be empty
  Shape shape;
};

struct FnDecl : Item {
  bool isExport;
  Ident name;
  ArrayRef<Parameter> params;
  bool hasResults; ///< `->` was written
  ArrayRef<Result> results;
  bool equals; ///< the body was written `= e`
  const Block *body;
  FnDecl(SMRange r, bool exported, Ident n, ArrayRef<Parameter> p, bool arrow, ArrayRef<Result> res, bool eq,
         const Block *b)
      : Item(Kind::function, r), isExport(exported), name(n), params(p), hasResults(arrow), results(res), equals(eq),
        body(b) {}
  static bool classof(const Item *i) { return i->kind == Kind::function; }
};

/// One file. It must not outlive the Diagnostics that owns its text.
struct File {
  StringRef name; ///< as shown in messages
  StringRef text;
  std::vector<const Item *> items; ///< in the order written
  llvm::BumpPtrAllocator arena;
};

/// A readable form of the tree, one node a line, two spaces a level; the `--emit=ast` of attnc.
void printAst(const File &file, llvm::raw_ostream &os);

} // namespace attn

#endif // ATTN_FRONTEND_AST_H
