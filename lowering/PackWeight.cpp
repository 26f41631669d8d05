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

/// Writes the rows `first`, first + 1, … of the weight from one part that has `count` of them.
void packPart(Ir &ir, WeightOp weight, const Target &target, int32_t dtype, Value packed, Value data, int64_t first,
              int64_t count) {
  int64_t width = sizesOf(weight).width, panel = target.panel();
  bool inOut = weight.getStored() == "in_out";
  ir.loop(ir.constant(count), [&](Value n) {
    Value row = ir.add(n, ir.constant(first)), size = ir.constant(panel);
    Value begin = ir.add(ir.mul(ir.div(row, size), ir.constant(width * panel)), ir.rem(row, size));
    ir.loop(ir.constant(width), [&](Value k) {
      Value from = inOut ? ir.add(ir.mul(k, ir.constant(count)), n) : ir.add(ir.mul(n, ir.constant(width)), k);
      ir.store(loadNumber(ir, dtype, data, from), packed, ir.add(begin, ir.mul(k, size)));
    });
  });
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
  for (int32_t known : {ATTN_F32, ATTN_F16, ATTN_BF16})
    ir.when(arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::eq, dtype, ir.constant32(known)), [&] {
      int64_t first = 0;
      for (auto [i, count] : llvm::enumerate(rows)) {
        Value data = ir.load(ir.ptr(), parts, ir.constant(int64_t(i)));
        packPart(ir, weight, program.target, known, packed, data, first, count * sizes.inner);
        first += count * sizes.inner;
      }
    });
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange());
  return program.share(function);
}

} // namespace attn
