// Products of bfloat16 pairs by tile registers (AMX).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/DotTiles.h"
#include "lowering/cpu/SharedFunction.h"
#include "lowering/cpu/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace attn::cpu {
namespace {

/// A square in memory, distances in float32 numbers or pairs.
struct Square {
  Value begin, row;
};

/// The function's arguments by name.
struct TileProduct {
  Ir &ir;
  Vectors vectors;
  Value each, eachRow, wide, wideK, out, outRow, rows, lanes, inner, add;
  Value zeros = {}, masked = {}, result = {}; // memory of the function's own, a square each

  void run();
  void runGuarded();
  void overTiles(Value count, std::function<void(Value first, int64_t many)> body);
  void block(Value row, Value lane, int64_t height, int64_t width);
  void lane(Value number, Value row);
  void maskRows(Value row, Value k, Value number);
  Value square();
  Square begin(Value row, Value lane);
  Square eachAt(Value row, Value k) { return at(each, eachRow, row, k); }
  Square wideAt(Value k, Value lane) { return at(wide, wideK, k, lane); }
  Square at(Value base, Value stride, Value row, Value column) {
    return {ir.address(base, ir.f32(), ir.add(ir.mul(row, stride), column)), stride};
  }
  Value after(Value first, int64_t tiles) { return ir.add(first, ir.constant(tiles * sideOfTile)); }

  // Instructions.
  Value size(int64_t number) { return arith::ConstantOp::create(ir, ir.loc, ir.getI16IntegerAttr(int16_t(number))); }
  Value bytes(Value numbers) { return ir.mul(numbers, ir.constant(4)); }
  Value load(Square from) {
    SmallVector<Value> operands{size(sideOfTile), size(4 * sideOfTile), from.begin, bytes(from.row)};
    return LLVM::CallIntrinsicOp::create(ir, ir.loc, LLVM::LLVMX86AMXType::get(ir.getContext()),
                                         ir.getStringAttr("llvm.x86.tileloadd64.internal"), operands)
        .getResult(0);
  }
  void store(Value tile, Square to) {
    SmallVector<Value> operands{size(sideOfTile), size(4 * sideOfTile), to.begin, bytes(to.row), tile};
    LLVM::CallIntrinsicOp::create(ir, ir.loc, ir.getStringAttr("llvm.x86.tilestored64.internal"), operands);
  }
  Value multiply(Value total, Value a, Value b) {
    SmallVector<Value> operands{size(sideOfTile), size(4 * sideOfTile), size(4 * sideOfTile), total, a, b};
    return LLVM::CallIntrinsicOp::create(ir, ir.loc, total.getType(), ir.getStringAttr("llvm.x86.tdpbf16ps.internal"),
                                         operands)
        .getResult(0);
  }
};

} // namespace

Value TileProduct::square() {
  Value count = ir.constant(sideOfTile * sideOfTile);
  return LLVM::AllocaOp::create(ir, ir.loc, ir.ptr(), ir.f32(), count, /*alignment=*/64);
}

/// Where the sums of a tile begin: in `out`, or as 0.
Square TileProduct::begin(Value row, Value lane) {
  Square there = at(out, outRow, row, lane);
  auto choose = [&](Value a, Value b) { return arith::SelectOp::create(ir, ir.loc, add, a, b).getResult(); };
  return {choose(there.begin, zeros), choose(there.row, ir.constant(sideOfTile))};
}

/// Two tiles at a time, then the one that is left.
void TileProduct::overTiles(Value count, std::function<void(Value, int64_t)> body) {
  Value tiles = ir.ceilDiv(count, ir.constant(sideOfTile)), two = ir.constant(2);
  Value even = ir.mul(ir.div(tiles, two), two);
  ir.loop(ir.constant(0), even, two, [&](Value tile) { body(ir.mul(tile, ir.constant(sideOfTile)), 2); });
  ir.when(ir.less(even, tiles), [&] { body(ir.mul(even, ir.constant(sideOfTile)), 1); });
}

void TileProduct::block(Value row, Value lane, int64_t height, int64_t width) {
  SmallVector<Value> totals;
  for (int64_t h = 0; h < height; ++h)
    for (int64_t w = 0; w < width; ++w)
      totals.push_back(load(begin(after(row, h), after(lane, w))));
  totals = ir.loop(ir.constant(0), inner, ir.constant(sideOfTile), totals, [&](Value k, ValueRange before) {
    SmallVector<Value> a, b, next;
    for (int64_t h = 0; h < height; ++h)
      a.push_back(load(eachAt(after(row, h), k)));
    for (int64_t w = 0; w < width; ++w)
      b.push_back(load(wideAt(k, after(lane, w))));
    for (int64_t n = 0; n < height * width; ++n)
      next.push_back(multiply(before[n], a[n / width], b[n % width]));
    return next;
  });
  for (auto [n, total] : llvm::enumerate(totals))
    store(total, at(out, outRow, after(row, int64_t(n) / width), after(lane, int64_t(n) % width)));
}

void TileProduct::run() {
  overTiles(rows, [&](Value row, int64_t height) {
    overTiles(lanes, [&](Value lane, int64_t width) { block(row, lane, height, width); });
  });
}

/// A square of `each` from `row` and pair `k` on, into `masked`: 0 where the lane's number of the same place is 0.
void TileProduct::maskRows(Value row, Value k, Value number) {
  auto halves = VectorType::get({2 * sideOfTile}, ir.getI16Type());
  auto bits = [&](Value pairs) { return LLVM::BitcastOp::create(ir, ir.loc, halves, pairs).getResult(); };
  auto same = [&](int16_t value) {
    return arith::ConstantOp::create(ir, ir.loc, DenseElementsAttr::get(halves, value)).getResult();
  };
  Value weights = bits(vectors.loadStrided(ir.f32(), wideAt(k, number).begin, wideK));
  Value sizes = arith::AndIOp::create(ir, ir.loc, weights, same(0x7fff)), zero = same(0);
  Value skip = arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::eq, sizes, zero);
  ir.loop(ir.constant(sideOfTile), [&](Value r) {
    Value pairs = bits(vectors.load(ir.f32(), eachAt(ir.add(row, r), k).begin));
    Value kept = arith::SelectOp::create(ir, ir.loc, skip, zero, pairs);
    LLVM::StoreOp::create(ir, ir.loc, kept, at(masked, ir.constant(sideOfTile), r, ir.constant(0)).begin, 4);
  });
}

/// One lane of 16 rows: the products of its whole tile, of which the others are dropped.
void TileProduct::lane(Value number, Value row) {
  Value side = ir.constant(sideOfTile), first = ir.mul(ir.div(number, side), side), own = ir.sub(number, first);
  Value start = load(begin(row, first));
  Value total = ir.loop(ir.constant(0), inner, side, start, [&](Value k, ValueRange before) {
    maskRows(row, k, number);
    return SmallVector<Value>{multiply(before[0], load({masked, side}), load(wideAt(k, first)))};
  })[0];
  store(total, {result, side});
  ir.loop(side, [&](Value r) {
    Value sum = ir.load(ir.f32(), at(result, side, r, own).begin);
    ir.store(sum, at(out, outRow, ir.add(row, r), number).begin);
  });
}

void TileProduct::runGuarded() {
  masked = square(), result = square();
  ir.loop(lanes, [&](Value number) {
    ir.loop(ir.constant(0), rows, ir.constant(sideOfTile), [&](Value row) { lane(number, row); });
  });
}

LLVM::LLVMFuncOp tileDotFunction(ModuleOp module, bool guarded) {
  StringRef name = guarded ? "attn_dot_tiles_guard" : "attn_dot_tiles";
  return sharedFunction(module, name, "pnpnpnnnnb", [&](Ir &ir, ValueRange a) {
    TileProduct product{ir, Vectors(ir, sideOfTile), a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]};
    product.zeros = product.square();
    Value none = product.vectors.widen(ir.number(0));
    for (int64_t r = 0; r < sideOfTile; ++r)
      product.vectors.store(none, ir.address(product.zeros, ir.f32(), ir.constant(r * sideOfTile)));
    guarded ? product.runGuarded() : product.run();
  });
}

} // namespace attn::cpu
