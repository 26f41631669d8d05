// Short words for the IR that lowering writes most.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Ir.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace attn {

Type Ir::i8() {
  return getI8Type();
}
Type Ir::i32() {
  return getI32Type();
}
Type Ir::i64() {
  return getI64Type();
}
Type Ir::f32() {
  return getF32Type();
}
Type Ir::ptr() {
  return LLVM::LLVMPointerType::get(getContext());
}

Value Ir::constant(int64_t number) {
  return arith::ConstantOp::create(*this, loc, getI64IntegerAttr(number));
}
Value Ir::constant32(int32_t number) {
  return arith::ConstantOp::create(*this, loc, getI32IntegerAttr(number));
}
Value Ir::number(double value) {
  return arith::ConstantOp::create(*this, loc, FloatAttr::get(getF32Type(), (float)value));
}

std::optional<int64_t> Ir::known(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

Value Ir::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(loc, a, b);
}
Value Ir::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(loc, a, b);
}

Value Ir::mul(Value a, Value b) {
  if (known(a))
    std::swap(a, b); // the folder looks for constants on the right
  return createOrFold<arith::MulIOp>(loc, a, b);
}

Value Ir::div(Value a, Value b) {
  auto number = known(b);
  if (number && *number > 1 && llvm::isPowerOf2_64(*number) && !known(a))
    return arith::ShRUIOp::create(*this, loc, a, constant(llvm::Log2_64(*number)));
  return createOrFold<arith::DivUIOp>(loc, a, b);
}

Value Ir::rem(Value a, Value b) {
  return createOrFold<arith::RemUIOp>(loc, a, b);
}
Value Ir::ceilDiv(Value a, Value b) {
  return div(add(a, sub(b, constant(1))), b);
}
Value Ir::min(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(loc, a, b);
}
Value Ir::max(Value a, Value b) {
  return createOrFold<arith::MaxSIOp>(loc, a, b);
}
Value Ir::less(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, b);
}

static Type inMemory(Ir &ir, Type element) {
  return element.isInteger(1) ? ir.i8() : element;
}

Value Ir::address(Value pointer, Type element, Value index) {
  auto number = known(index);
  if (number && *number == 0)
    return pointer;
  return LLVM::GEPOp::create(*this, loc, ptr(), inMemory(*this, element), pointer, ArrayRef<LLVM::GEPArg>{index});
}

Value Ir::load(Type element, Value pointer) {
  Value value = LLVM::LoadOp::create(*this, loc, inMemory(*this, element), pointer);
  if (!element.isInteger(1))
    return value;
  Value zero = arith::ConstantOp::create(*this, loc, getI8IntegerAttr(0));
  return arith::CmpIOp::create(*this, loc, arith::CmpIPredicate::ne, value, zero);
}

Value Ir::load(Type element, Value pointer, Value index) {
  return load(element, address(pointer, element, index));
}

void Ir::store(Value value, Value pointer) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(*this, loc, i8(), value);
  LLVM::StoreOp::create(*this, loc, value, pointer);
}

void Ir::store(Value value, Value pointer, Value index) {
  store(value, address(pointer, value.getType(), index));
}

void Ir::loop(Value lower, Value upper, Value step, std::function<void(Value)> body) {
  auto loop = scf::ForOp::create(*this, loc, lower, upper, step);
  setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
  setInsertionPointAfter(loop);
}

SmallVector<Value> Ir::loop(Value lower, Value upper, Value step, ValueRange carried,
                            std::function<SmallVector<Value>(Value, ValueRange)> body) {
  if (carried.empty()) {
    loop(lower, upper, step, [&](Value i) { body(i, {}); });
    return {};
  }
  auto made = scf::ForOp::create(*this, loc, lower, upper, step, carried);
  setInsertionPointToStart(made.getBody());
  SmallVector<Value> next = body(made.getInductionVar(), made.getRegionIterArgs());
  scf::YieldOp::create(*this, loc, next);
  setInsertionPointAfter(made);
  return SmallVector<Value>(made.getResults());
}

void Ir::when(Value condition, std::function<void()> body) {
  auto test = scf::IfOp::create(*this, loc, condition, /*withElseRegion=*/false);
  setInsertionPoint(test.thenBlock()->getTerminator());
  body();
  setInsertionPointAfter(test);
}

} // namespace attn
