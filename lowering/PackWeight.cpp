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

constexpr int64_t pairsOfTile = 16; // of a tile register's row

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

bool packsPairs(const Program &program) {
  return program.options.precision == Precision::bf16 && program.target.bf16;
}

/// Number k of a row whose first place in the panel is `begin`.
void storeNumber(Ir &ir, const Program &program, Value number, Value packed, Value begin, Value k) {
  Value panel = ir.constant(program.target.panel()), two = ir.constant(2);
  if (program.options.precision == Precision::f32)
    return ir.store(number, packed, ir.add(begin, ir.mul(k, panel)));
  Value rounded = arith::TruncFOp::create(ir, ir.loc, ir.getBF16Type(), number);
  if (!packsPairs(program)) {
    Value same = arith::ExtFOp::create(ir, ir.loc, ir.f32(), rounded);
    return ir.store(same, packed, ir.add(begin, ir.mul(k, panel)));
  }
  Value pair = ir.add(begin, ir.mul(ir.div(k, two), panel));
  Value half = arith::BitcastOp::create(ir, ir.loc, ir.getI16Type(), rounded);
  ir.store(half, packed, ir.add(ir.mul(pair, two), ir.rem(k, two)));
}

/// packedRows of a width known at run time.
Value packedRows(Ir &ir, const Program &program, Value width) {
  if (!packsPairs(program))
    return width;
  Value side = ir.constant(program.target.amx ? pairsOfTile : 1);
  return ir.mul(ir.ceilDiv(ir.ceilDiv(width, ir.constant(2)), side), side);
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
    Value ofPanel = ir.mul(packedRows(ir, program, width), panel);
    Value begin = ir.add(ir.mul(ir.div(row, panel), ofPanel), ir.rem(row, panel));
    Value from = ir.mul(n, given(5));
    ir.loop(width, [&](Value k) {
      Value number = loadNumber(ir, dtype, given(1), ir.add(from, ir.mul(k, given(6))));
      storeNumber(ir, program, number, given(0), begin, k);
    });
  });
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange());
  return function;
}

/// Zeroes the last panel if rows are missing there, and all panels if numbers of each row are.
void clearMissing(Ir &ir, const Sizes &sizes, const Program &program, Value packed) {
  int64_t panel = program.target.panel(), rows = packedRows(sizes.width, program);
  bool full = !packsPairs(program) || 2 * rows == sizes.width;
  if (full && sizes.rows % panel == 0)
    return;
  int64_t first = full ? sizes.rows / panel : 0, end = llvm::divideCeil(sizes.rows, panel);
  ir.loop(ir.constant(first * panel * rows), ir.constant(end * panel * rows), ir.constant(1),
          [&](Value i) { ir.store(ir.number(0), packed, i); });
}

} // namespace

int64_t packedRows(int64_t width, const Program &program) {
  return packsPairs(program) ? llvm::alignTo(llvm::divideCeil(width, 2), program.target.amx ? pairsOfTile : 1) : width;
}

int64_t packedBytes(WeightOp weight, const Program &program) {
  Sizes sizes = sizesOf(weight);
  int64_t panel = program.target.panel();
  return llvm::divideCeil(sizes.rows, panel) * panel * packedRows(sizes.width, program) * 4;
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
  clearMissing(ir, sizes, program, packed);
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
