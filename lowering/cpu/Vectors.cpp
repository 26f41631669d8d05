// Words for the IR of one hardware vector.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;

namespace attn::cpu {

VectorType Vectors::type(Type element) const {
  return VectorType::get({lanes}, element);
}

Value Vectors::widen(Value value) {
  if (isa<VectorType>(value.getType()))
    return value;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(ir, ir.loc, DenseElementsAttr::get(type(value.getType()), constant));
  return vector::BroadcastOp::create(ir, ir.loc, type(value.getType()), value);
}

Value Vectors::numbers(Type element) {
  SmallVector<Attribute> all;
  for (int64_t l = 0; l < lanes; ++l)
    all.push_back(IntegerAttr::get(element, l));
  return arith::ConstantOp::create(ir, ir.loc, DenseElementsAttr::get(type(element), all));
}

Value Vectors::below(Value count) {
  // Compared as i32: twice as many lanes a register. Counts beyond it are all the same.
  Value capped = ir.min(count, ir.constant(lanes));
  Value narrow = arith::TruncIOp::create(ir, ir.loc, ir.i32(), capped);
  return arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::slt, numbers(ir.i32()), widen(narrow));
}

Value Vectors::everyLane() {
  return arith::ConstantOp::create(ir, ir.loc, DenseElementsAttr::get(type(ir.getI1Type()), true));
}

/// Truth values are bytes; bfloat16 is 16 bits, which machines without it can move too.
static Type inMemory(Type element) {
  if (element.isBF16())
    return IntegerType::get(element.getContext(), 16);
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

static unsigned alignment(Type element) {
  return inMemory(element).getIntOrFloatBitWidth() / 8;
}

/// What was loaded as a vector of the element.
static Value fromMemory(Vectors &vectors, Type element, Value vector) {
  if (element.isBF16())
    return arith::BitcastOp::create(vectors.ir, vectors.ir.loc, vectors.type(element), vector);
  if (!element.isInteger(1))
    return vector;
  Ir &ir = vectors.ir;
  Value zero = vectors.widen(arith::ConstantOp::create(ir, ir.loc, ir.getI8IntegerAttr(0)));
  return arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::ne, vector, zero);
}

static Value toMemory(Vectors &vectors, Value vector) {
  if (cast<VectorType>(vector.getType()).getElementType().isBF16())
    return arith::BitcastOp::create(vectors.ir, vectors.ir.loc, vectors.type(vectors.ir.getI16Type()), vector);
  if (!cast<VectorType>(vector.getType()).getElementType().isInteger(1))
    return vector;
  return arith::ExtUIOp::create(vectors.ir, vectors.ir.loc, vectors.type(vectors.ir.i8()), vector);
}

static Value zeroOf(Ir &ir, VectorType type) {
  return arith::ConstantOp::create(ir, ir.loc, ir.getZeroAttr(type));
}

Value Vectors::load(Type element, Value pointer, Value mask) {
  VectorType stored = type(inMemory(element));
  Value vector;
  if (mask)
    vector = LLVM::MaskedLoadOp::create(ir, ir.loc, stored, pointer, mask, zeroOf(ir, stored), alignment(element));
  else
    vector = LLVM::LoadOp::create(ir, ir.loc, stored, pointer, alignment(element));
  return fromMemory(*this, element, vector);
}

void Vectors::store(Value vector, Value pointer, Value mask) {
  Value stored = toMemory(*this, vector);
  Type element = cast<VectorType>(stored.getType()).getElementType();
  if (mask)
    LLVM::MaskedStoreOp::create(ir, ir.loc, stored, pointer, mask, alignment(element));
  else
    LLVM::StoreOp::create(ir, ir.loc, stored, pointer, alignment(element));
}

Value Vectors::pointers(Type element, Value pointer, Value indices) {
  return LLVM::GEPOp::create(ir, ir.loc, type(ir.ptr()), inMemory(element), pointer, ArrayRef<LLVM::GEPArg>{indices});
}

Value Vectors::gather(Type element, Value pointer, Value indices, Value mask) {
  VectorType stored = type(inMemory(element));
  Value vector = LLVM::masked_gather::create(ir, ir.loc, stored, pointers(element, pointer, indices),
                                             mask ? mask : everyLane(), zeroOf(ir, stored), alignment(element));
  return fromMemory(*this, element, vector);
}

Value Vectors::loadStrided(Type element, Value pointer, Value stride, Value mask) {
  Value indices = arith::MulIOp::create(ir, ir.loc, numbers(ir.i64()), widen(stride));
  return gather(element, pointer, indices, mask);
}

void Vectors::storeStrided(Value vector, Value pointer, Value stride, Value mask) {
  Value stored = toMemory(*this, vector);
  Type element = cast<VectorType>(stored.getType()).getElementType();
  Value indices = arith::MulIOp::create(ir, ir.loc, numbers(ir.i64()), widen(stride));
  LLVM::masked_scatter::create(ir, ir.loc, stored, pointers(element, pointer, indices), mask ? mask : everyLane(),
                               alignment(element));
}

Value Vectors::combine(tile::Reduction kind, Value total, Value next) {
  bool real = isa<FloatType>(getElementTypeOrSelf(total.getType()));
  if (kind == tile::Reduction::sum)
    return real ? arith::AddFOp::create(ir, ir.loc, total, next).getResult()
                : arith::AddIOp::create(ir, ir.loc, total, next).getResult();
  bool min = kind == tile::Reduction::min;
  if (!real)
    return min ? arith::MinSIOp::create(ir, ir.loc, total, next).getResult()
               : arith::MaxSIOp::create(ir, ir.loc, total, next).getResult();
  if (kind != tile::Reduction::top)
    return min ? arith::MinimumFOp::create(ir, ir.loc, total, next).getResult()
               : arith::MaximumFOp::create(ir, ir.loc, total, next).getResult();
  // The machine's maximum takes its second operand on NaN.
  Value better = arith::CmpFOp::create(ir, ir.loc, arith::CmpFPredicate::OGT, next, total);
  return arith::SelectOp::create(ir, ir.loc, better, next, total);
}

Value Vectors::neutral(tile::Reduction kind, Type element) {
  if (kind == tile::Reduction::sum)
    return arith::ConstantOp::create(ir, ir.loc, ir.getZeroAttr(element));
  bool max = kind != tile::Reduction::min;
  if (isa<FloatType>(element)) {
    float infinity = std::numeric_limits<float>::infinity();
    return ir.number(max ? -infinity : infinity);
  }
  return ir.constant32(max ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max());
}

Value Vectors::across(tile::Reduction kind, Value vector) {
  // Halves onto halves: the same tree of additions for every row.
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < width; ++l) {
      low.push_back(l);
      high.push_back(width + l);
    }
    Value a = vector::ShuffleOp::create(ir, ir.loc, vector, vector, low);
    Value b = vector::ShuffleOp::create(ir, ir.loc, vector, vector, high);
    vector = combine(kind, a, b);
  }
  return vector::ExtractOp::create(ir, ir.loc, vector, ArrayRef<int64_t>{0});
}

} // namespace attn::cpu
