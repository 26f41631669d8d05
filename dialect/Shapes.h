// Shapes of the attn dialect as pure functions on types and dimension names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rule of docs/dialect.md that is about shapes is here, once; verifiers report what these functions find.
// A problem is a message that names the constraint it violates, `… (reshape_c3)`.
#ifndef ATTN_DIALECT_SHAPES_H
#define ATTN_DIALECT_SHAPES_H
#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <string>

namespace attn {

/// A tensor's type and the names of its dimensions.
struct Shape {
  mlir::RankedTensorType type;
  DimsAttr dims;

  size_t rank() const { return dims.size(); }
  int64_t size(size_t i) const { return type.getDimSize(i); }
  bool isDynamic(size_t i) const { return type.isDynamicDim(i); }
  int find(llvm::StringRef name) const { return dims.find(name); }
  mlir::Type element() const { return type.getElementType(); }
};

/// What is wrong, or nothing.
using Problem = std::optional<std::string>;

/// The derived sequences: all rows that a session has of `T` once a call adds its own, `all.T`; the rows that a `once`
/// keeps of `S`, `kept.S`.
std::string allRows(llvm::StringRef sequence);
std::string keptRows(llvm::StringRef sequence);
/// `T` of `all.T`, `S` of `kept.S`; empty for other names.
llvm::StringRef cachedSequence(llvm::StringRef name);
llvm::StringRef keptSequence(llvm::StringRef name);

/// `[T, H:T, 64]`: names with sizes, for messages.
std::string describe(const Shape &shape);
/// `E = 384`, or `S:T` where the size is a sequence's length.
std::string describeDim(const Shape &shape, size_t i);

/// Whether dimension `i` of `a` and `j` of `b` are surely of one size: equal, or the same sequence's length.
bool sameSize(const Shape &a, size_t i, const Shape &b, size_t j);

/// tensor_c2 to tensor_c4: as many names as dimensions, all different, a sequence only where the size is dynamic.
Problem checkNames(const Shape &shape);
/// tensor_c5: in all of them a name has one size.
Problem checkSizes(llvm::ArrayRef<Shape> shapes);
/// The shape without one of its dimensions, for operations that change its size and may keep its name.
Shape withoutDim(const Shape &shape, size_t i);
/// The dimensions of `inner` that `outer` lacks, by name.
llvm::SmallVector<llvm::StringRef> missingDims(const Shape &inner, const Shape &outer);
/// Whether both have the same names, in any order.
bool sameNames(const Shape &a, const Shape &b);

Problem checkMap(llvm::ArrayRef<Shape> inputs, const Shape &output);
Problem checkReduce(const Shape &input, const Shape &output);
Problem checkContract(const Shape &a, const Shape &b, const Shape &output);
Problem checkSoftmax(llvm::StringRef along, const Shape &input, const Shape &output);
Problem checkNormalise(llvm::ArrayRef<Shape> inputs, const Shape &output, bool rms);
Problem checkLinear(llvm::ArrayRef<Shape> inputs, const Shape &output);
/// With the weight's type: linear_c3 and linear_c4.
Problem checkLinearWeight(const Shape &x, mlir::RankedTensorType weight, const Shape &output);
Problem checkGather(llvm::ArrayRef<Shape> inputs, const Shape &output);
Problem checkReshape(const Shape &input, const Shape &output);
Problem checkSlice(llvm::StringRef along, int64_t offset, const Shape &input, const Shape &output);
Problem checkConcat(llvm::StringRef along, llvm::ArrayRef<llvm::StringRef> places, llvm::ArrayRef<Shape> inputs,
                    const Shape &output);
Problem checkPatches(int64_t stride, int64_t pad, const Shape &input, const Shape &output);
/// `usesDot`: the score is, or is made from, the product of the rows of q and k.
Problem checkAttend(llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape> outputs, bool usesDot, bool weights, bool lse);

/// The dimensions of the indices in order of first appearance, then the rest of the table's.
Shape inferGather(llvm::ArrayRef<Shape> inputs);
/// q's dimensions without its last, then the last of v.
Shape inferAttend(llvm::ArrayRef<Shape> inputs);

/// One group of a reshape: some dimensions of the input are some of the output, one side being a single one.
struct Regrouping {
  llvm::SmallVector<size_t, 4> from, to;
};
/// How the dimensions that are not on both sides are regrouped, dimensions of size 1 left out; nothing if they are not.
std::optional<llvm::SmallVector<Regrouping>> findRegrouping(const Shape &input, const Shape &output);

} // namespace attn
#endif
