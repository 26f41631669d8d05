// The functions that lay weights out as the matrix product reads them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written as plain loops over the rows of the text: they run once, at the speed of memory, one weight a thread.
#include "lowering/PackWeight.h"
#include "lowering/Ir.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/abi.h"

using namespace mlir;

namespace attn {

namespace {

struct Sizes {
  int64_t rows = 1, width = 1, inner = 1; // N, K, and rows of the product for one row of dimension 0
};

Sizes sizesOf(WeightOp weight) {
  auto shape = cast<RankedTensorType>(weight.getType()).getShape();
  Sizes sizes;
  sizes.width = shape.back();
  for (int64_t size : shape.drop_back())
    sizes.rows *= size;
  for (int64_t size : shape.drop_back().drop_front())
    sizes.inner *= size;
  return sizes;
}

/// float16 to float32 without the instruction, which not every machine has: the exponent moves by a multiplication with
/// 2^112, which is exact and serves subnormal numbers too; infinities and NaN keep their exponent.
Value halfToFloat(Ir &ir, Value half) {
  auto bits = [&](int32_t number) { return ir.constant32(number); };
  Value wide = arith::ExtUIOp::create(ir, ir.loc, ir.i32(), half);
  Value sign = arith::ShLIOp::create(ir, ir.loc, arith::AndIOp::create(ir, ir.loc, wide, bits(0x8000)), bits(16));
  Value rest = arith::ShLIOp::create(ir, ir.loc, arith::AndIOp::create(ir, ir.loc, wide, bits(0x7fff)), bits(13));
  Value moved = arith::BitcastOp::create(ir, ir.loc, ir.f32(), rest);
  Value scaled = arith::MulFOp::create(ir, ir.loc, moved, ir.number(0x1p112));
  Value finite = arith::BitcastOp::create(ir, ir.loc, ir.i32(), scaled);
  Value special = arith::OrIOp::create(ir, ir.loc, rest, bits(0x7f800000));
  Value isSpecial = arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::uge, rest, bits(0x7c00 << 13));
  Value magnitude = arith::SelectOp::create(ir, ir.loc, isSpecial, special, finite);
  return arith::BitcastOp::create(ir, ir.loc, ir.f32(), arith::OrIOp::create(ir, ir.loc, magnitude, sign));
}

Value loadNumber(Ir &ir, int32_t dtype, Value data, Value index) {
  if (dtype == ATTN_F32)
    return ir.load(ir.f32(), data, index);
  Value bits = ir.load(ir.getI16Type(), data, index);
  if (dtype == ATTN_F16)
    return halfToFloat(ir, bits);
  Value wide = arith::ShLIOp::create(ir, ir.loc, arith::ExtUIOp::create(ir, ir.loc, ir.i32(), bits), ir.constant32(16));
  return arith::BitcastOp::create(ir, ir.loc, ir.f32(), wide);
}

/// `attn_pack_rows_TYPE(packed, data, first, count, width, row, step)`: writes the rows first, first + 1, … of a weight
/// from a part that has `count` of them; the number k of row n lies at data[n * row + k * step]. Shared by all weights.
LLVM::LLVMFuncOp packRows(Program &program, int32_t dtype, StringRef name) {
  if (auto known = program.lowered.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  Ir types(program.lowered.getLoc(), OpBuilder(program.lowered.getContext()));
  SmallVector<Type> parameters(7, types.i64());
  parameters[0] = parameters[1] = types.ptr();
  auto none = LLVM::LLVMVoidType::get(types.getContext());
  auto function = program.function(types.loc, name, LLVM::LLVMFunctionType::get(none, parameters));
  Block *block = function.addEntryBlock(types);
  Ir ir(types.loc, OpBuilder::atBlockEnd(block));
  auto given = [&](unsigned i) -> Value { return block->getArgument(i); };
  Value width = given(4), panel = ir.constant(program.target.panel());
  ir.loop(given(3), [&](Value n) {
    Value row = ir.add(n, given(2));
    Value begin = ir.add(ir.mul(ir.div(row, panel), ir.mul(width, panel)), ir.rem(row, panel));
    Value from = ir.mul(n, given(5));
    ir.loop(width, [&](Value k) {
      Value number = loadNumber(ir, dtype, given(1), ir.add(from, ir.mul(k, given(6))));
      ir.store(number, given(0), ir.add(begin, ir.mul(k, panel)));
    });
  });
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange());
  return function;
}

/// Zeroes the last panel if rows are missing there.
void clearTail(Ir &ir, const Sizes &sizes, int64_t panel, Value packed) {
  if (sizes.rows % panel == 0)
    return;
  int64_t begin = sizes.rows / panel * panel * sizes.width;
  ir.loop(ir.constant(sizes.width * panel),
          [&](Value i) { ir.store(ir.number(0), packed, ir.add(i, ir.constant(begin))); });
}

} // namespace

int64_t packedBytes(WeightOp weight, const Target &target) {
  Sizes sizes = sizesOf(weight);
  return llvm::divideCeil(sizes.rows, target.panel()) * target.panel() * sizes.width * 4;
}

LLVM::LLVMFuncOp packFunction(Program &program, WeightOp weight) {
  Ir types(weight.getLoc(), OpBuilder(weight.getContext()));
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(weight.getContext()),
                                          {types.ptr(), types.ptr(), types.i32()});
  LLVM::LLVMFuncOp function = program.function(weight.getLoc(), "attn_pack", type);
  Block *block = function.addEntryBlock(types);
  Ir ir(weight.getLoc(), OpBuilder::atBlockEnd(block));
  Value packed = block->getArgument(0), parts = block->getArgument(1), dtype = block->getArgument(2);
  Sizes sizes = sizesOf(weight);
  SmallVector<int64_t> rows(weight.getRows());
  if (rows.empty())
    rows.push_back(sizes.rows / sizes.inner);
  clearTail(ir, sizes, program.target.panel(), packed);
  bool inOut = weight.getStored() == "in_out";
  std::pair<int32_t, StringRef> forms[] = {
      {ATTN_F32, "attn_pack_rows_f32"}, {ATTN_F16, "attn_pack_rows_f16"}, {ATTN_BF16, "attn_pack_rows_bf16"}};
  for (auto [known, name] : forms) {
    LLVM::LLVMFuncOp packer = packRows(program, known, name);
    ir.when(arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::eq, dtype, ir.constant32(known)), [&] {
      int64_t first = 0;
      for (auto [i, rowsOfPart] : llvm::enumerate(rows)) {
        int64_t count = rowsOfPart * sizes.inner;
        Value data = ir.load(ir.ptr(), parts, ir.constant(int64_t(i)));
        SmallVector<Value> arguments{packed, data};
        for (int64_t number : {first, count, sizes.width, inOut ? 1 : sizes.width, inOut ? count : 1})
          arguments.push_back(ir.constant(number));
        LLVM::CallOp::create(ir, ir.loc, packer, arguments);
        first += count;
      }
    });
  }
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange());
  return program.share(function);
}

} // namespace attn
