// Terms: scalar expressions followed through elementwise operations, for recognising arithmetic written by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text's `c * rsqrt(mean(c^2) + eps)` is spread over several attn.map, since tensors of different dimensions or
// with several readers stand between. A term is a scalar in the region of one of them; an argument of the region goes
// on in the map that makes its tensor. All dimension names of a term are those of the map where the search began.
#ifndef ATTN_PASSES_TERMS_H
#define ATTN_PASSES_TERMS_H

#include "passes/Elementwise.h"

namespace attn {

/// A tensor and what its dimensions are called.
struct NamedTensor {
  mlir::Value value;
  DimsAttr names;
  explicit operator bool() const { return static_cast<bool>(value); }
  bool operator==(const NamedTensor &other) const { return value == other.value && sameNames(names, other.names); }
};

class Term {
public:
  /// A scalar of `map`'s region, where the map's result has the dimensions `names`.
  Term(mlir::Value scalarOf, MapOp mapOf, DimsAttr namesOf) : scalar(scalarOf), map(mapOf), names(namesOf) {}
  /// What `map` computes.
  static Term result(MapOp map, DimsAttr names) { return {yieldedValue(map.getBody().front()), map, names}; }

  /// The tensor whose numbers the scalar is, if it is an argument of its region.
  NamedTensor tensor() const;
  /// The scalar that makes it: arguments are followed into the maps behind them.
  Term followed() const;
  /// The operation that computes it, in whichever map; none if it comes from a tensor that no map makes.
  mlir::Operation *op() const { return followed().scalar.getDefiningOp(); }
  /// Operand `i` of that operation.
  Term operand(unsigned i) const;
  /// The tensor that no map makes, if it comes from one.
  NamedTensor leaf() const { return followed().tensor(); }
  /// Whether it is `wanted`, as it is or through maps that give it on.
  bool is(const NamedTensor &wanted) const;
  std::optional<double> constant() const { return constantValue(followed().scalar); }
  /// Whether `other`, under the same names, is the same expression of the same tensors.
  bool equals(const Term &other) const;
  /// Whether it may differ from place to place along a dimension.
  bool variesAlong(llvm::StringRef dim) const;
  /// Its scalar in a region that is being built, made of this map's inputs.
  mlir::Value copyTo(ElementwiseBody &body) const;

private:
  mlir::Value scalar;
  MapOp map;
  DimsAttr names;
};

/// A reduction over one dimension: what it reduces, where that dimension is called `along`.
struct ReducedTensor {
  NamedTensor input;
  mlir::StringAttr along;
  int64_t size = 0;
  explicit operator bool() const { return static_cast<bool>(input); }
};

/// The reduction of `kind` over one dimension whose result `term` is. `along` is the name to give that dimension.
ReducedTensor matchReduction(const Term &term, Reduction kind, mlir::StringAttr along);

/// A mean over one dimension: attn.reduce mean, or a sum divided by its number of terms.
ReducedTensor matchMean(const Term &term, mlir::StringAttr along);

} // namespace attn
#endif
