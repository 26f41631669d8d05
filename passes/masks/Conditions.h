// A mask's expression in a form that can be decided for tiles: when is a key visible, when hidden.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     doc[i] == doc[j] and (j <= i or j // 8 == i // 8)
//
//     visible:  any of   0 <= doc[i] - doc[j] <= 0,  0 <= i - j
//                        0 <= doc[i] - doc[j] <= 0,  0 <= i // 8 - j // 8 <= 0
//     hidden:   any of   1 <= doc[i] - doc[j]   …
//
// Both lists may say too much, never too little: what can't be analysed (it is named in `undecided`) is left out of the
// terms, which then hold more often. Conditions.cpp proves what it writes.
#ifndef ATTN_PASSES_MASKS_CONDITIONS_H
#define ATTN_PASSES_MASKS_CONDITIONS_H

#include "dialect/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <deque>

namespace attn::masks {

struct Atom;

/// A sum of whole multiples of atoms and a constant. Terms ascend by Atom::order, factors are not 0.
struct Affine {
  llvm::SmallVector<std::pair<const Atom *, int64_t>, 3> terms = {};
  int64_t constant = 0;

  int64_t least() const;
  int64_t most() const;
  bool operator==(const Affine &other) const = default;
};

/// What sums are made of.
struct Atom {
  enum Kind {
    Query,  // i
    Key,    // j
    Head,   // h
    Scalar, // a number of the program around, `value`, or of a captured tensor of rank 0
    Div,    // floor(of / number)
    Mod,    // of - number * floor(of / number)
    Table   // entry `of` of captured tensor `number`, held at its ends
  };
  Kind kind;
  int64_t number = 0;
  Affine of;
  mlir::Value value;
  int64_t least = 0, most = 0; // what it surely lies between
  bool ofQuery = false, ofKey = false;
  unsigned order = 0;
};

/// least <= form <= most, if what the machine's int32 arithmetic computes for `mustFit` is what it would be without
/// bounds.
struct Literal {
  Affine form; // constant 0; the first factor is positive, factors have no common divisor
  int64_t least, most;
  llvm::SmallVector<Affine, 1> mustFit = {};
};
/// All of them hold.
using Term = std::vector<Literal>;
/// At least one of them holds; none: never.
using Condition = std::vector<Term>;

/// A part of the mask that the analysis knows nothing of.
struct Undecided {
  mlir::Operation *op;
  std::string why;
};

/// Whether `weak` holds wherever `strong` does, as far as the literals show.
bool implies(const Term &strong, const Term &weak);

class Conditions {
public:
  /// Of an attend that has a mask.
  explicit Conditions(AttendOp op);

  Condition visible, hidden;
  std::vector<Undecided> undecided;

  /// Where Literal::least and most have no bound.
  static constexpr int64_t none = int64_t(1) << 40;

private:
  /// A whole number, where the guard holds. The guards of a number's cases cover everything.
  struct Case {
    Condition guard;
    Affine value;
    llvm::SmallVector<Affine, 1> mustFit = {};
  };
  using Cases = std::vector<Case>;

  const Atom *atom(Atom wanted);
  Affine single(const Atom *one);
  std::optional<Cases> cases(mlir::Value number);
  std::optional<Cases> caseOf(mlir::Operation *op);
  std::optional<Cases> choose(Condition first, Condition second, mlir::Value a, mlir::Value b);
  std::optional<Cases> table(AtOp at);
  std::optional<Affine> leaf(mlir::Value number);
  Cases withFit(Affine value, llvm::ArrayRef<Affine> mustFit);
  Condition condition(mlir::Value truth, bool negated);
  Condition compare(mlir::arith::CmpIPredicate predicate, mlir::Value left, mlir::Value right, mlir::Operation *op);
  Condition compare(mlir::arith::CmpIPredicate predicate, const Case &left, const Case &right);
  Condition atMostZero(Affine form, int64_t below, llvm::ArrayRef<Affine> mustFit);
  Condition unknown(mlir::Operation *op, const llvm::Twine &why);
  Condition both(const Condition &a, const Condition &b);
  Condition either(Condition a, const Condition &b);

  AttendOp attend;
  mlir::Block &mask;
  std::deque<Atom> atoms;
  std::string reason; // why the last number could not be followed
  bool toldOfSize = false;
};

} // namespace attn::masks
#endif
