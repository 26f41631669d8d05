// Values.h: what an expression of an .attn file is while the file is elaborated.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most values are known when compiling: numbers, strings, booleans, `none`, objects of the configuration, dimensions.
// A tensor has named dimensions and one of three forms: an SSA value of the module; data known when compiling (a table
// of frequencies); or, inside a clause of attend, a rule that gives the number at a place (`q + k`, `table[b, h]`),
// because there are no tensors there. A scalar of a clause is such a tensor without dimensions.
//
// Poison is the value of what was already reported: everything made of it is poison, silently.
#ifndef ATTN_FRONTEND_VALUES_H
#define ATTN_FRONTEND_VALUES_H

#include "frontend/Ast.h"
#include "frontend/Dims.h"
#include "mlir/IR/Value.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace attn {

enum class Elem { f32, i32, i1 };

/// The number of a turn of a repeat that is elaborated once for all turns.
struct Turn {
  StringRef name;
  mlir::Value value; ///< the i32 argument of the body
  int64_t count;     ///< turns 0 .. count - 1
  SMRange range;
};

/// A string in which numbers of turns may still be open.
struct Text {
  struct Piece {
    std::string text;
    const Turn *turn = nullptr;
  };
  llvm::SmallVector<Piece, 2> pieces;

  Text() = default;
  explicit Text(StringRef plain) { append(plain); }
  void append(StringRef plain);
  void append(const Turn *turn) { pieces.push_back({"", turn}); }
  void append(const Text &other);
  bool empty() const { return pieces.empty(); }
  bool isPlain() const;
  /// Whether the text itself has a brace, which patterns use for turns.
  bool hasBrace() const;
  bool startsWith(char c) const { return !pieces.empty() && !pieces[0].text.empty() && pieces[0].text[0] == c; }
  /// With `{0}`, `{1}` for turns; `turns` gets them in order of first appearance.
  std::string pattern(llvm::SmallVectorImpl<const Turn *> &turns) const;
  /// For messages: `h.{l}`.
  std::string shown() const;
};

struct ConstantData {
  std::vector<double> values;
  bool whole = false; ///< all are whole numbers by the way they were made
};

/// The number of a rule at a place: one i32 scalar a dimension.
using Rule = std::function<mlir::Value(llvm::ArrayRef<mlir::Value>)>;

struct Tensor {
  enum class Form { ssa, constant, rule };
  Form form = Form::ssa;
  Elem elem = Elem::f32;
  unsigned lifted = 0; ///< how many leading dimensions are lifted
  Dims dims;
  mlir::Value value;                         ///< ssa
  std::shared_ptr<const ConstantData> data;  ///< constant
  std::shared_ptr<const Rule> rule;          ///< rule
  llvm::SmallVector<mlir::Value, 1> sources; ///< rule: the tensors it looks at
  bool isLook = true;                        ///< rule: a place of its one source, not something computed
  /// 'q', 'k': the row itself; 'p': the products of q's and k's row; 'i', 'j': the number of the query, of the key.
  char row = 0;

  DimsRef visible() const { return DimsRef(dims).drop_front(lifted); }
  DimsRef liftedDims() const { return DimsRef(dims).take_front(lifted); }
};

struct ConfigObject {
  std::vector<std::string> path;
  const llvm::json::Value *json;
};

struct Value {
  enum class Kind { poison, unit, none, boolean, number, string, config, dim, tensor, tuple, turn };
  Kind kind = Kind::poison;
  double number = 0;
  bool whole = false; ///< of a number: by the way it was made
  bool boolean = false;
  Text text;
  ConfigObject config;
  DimRef dim = nullptr;
  Tensor tensor;
  std::shared_ptr<std::vector<Value>> elements;
  const Turn *turn = nullptr;
  Origin origin; ///< of a number or none: where it was said

  static Value poison() { return {}; }
  static Value unit() { return of(Kind::unit); }
  static Value none() { return of(Kind::none); }
  static Value of(bool b);
  static Value of(double n, bool whole);
  static Value integer(int64_t n) { return of(static_cast<double>(n), true); }
  static Value of(Text t);
  static Value of(DimRef d);
  static Value of(Tensor t);
  static Value of(const Turn *t);
  static Value of(std::vector<Value> v);

  bool is(Kind k) const { return kind == k; }
  bool isPoison() const { return kind == Kind::poison; }
  /// For messages: "a string", "a tensor [T, E]".
  std::string described() const;

private:
  static Value of(Kind k) {
    Value v;
    v.kind = k;
    return v;
  }
};

/// 0.5, 12, -inf
std::string numberText(double value);

} // namespace attn

#endif // ATTN_FRONTEND_VALUES_H
