// Rounding to bfloat16 for products.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/Round.h"
#include "lowering/cpu/TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace attn::cpu {
namespace {

/// The function's arguments by name.
struct Rounding {
  Ir &ir;
  Vectors vectors;
  Pairs pairs;
  Value from, fromRow, to, toRow, rows, lanes;

  void run();
  void plainRow(Value row);
  void alongRow(Value row);
  void acrossRows(Value row);
  void columns(int64_t width, std::function<void(Value column, bool whole)> body);
  Value load(Value begin, Value column, int64_t further, bool whole);
  Value rowOf(Value row) { return ir.address(from, ir.f32(), ir.mul(row, fromRow)); }
  Value nearest(Value vector);
  Value sideBySide(Value low, Value high);
};

} // namespace

/// As much of the row as whole steps of `width` hold, then the rest.
void Rounding::columns(int64_t width, std::function<void(Value, bool)> body) {
  Value step = ir.constant(width), whole = ir.mul(ir.div(lanes, step), step);
  ir.loop(ir.constant(0), whole, step, [&](Value column) { body(column, true); });
  ir.when(ir.less(whole, lanes), [&] { body(whole, false); });
}

/// A vector of the row that begins at `begin`; lanes beyond its end are 0.
Value Rounding::load(Value begin, Value column, int64_t further, bool whole) {
  Value first = ir.add(column, ir.constant(further)), mask;
  if (!whole)
    mask = vectors.below(ir.sub(lanes, first));
  return vectors.load(ir.f32(), ir.address(begin, ir.f32(), first), mask);
}

/// float32 to the nearest number whose lower 16 bits are 0, by adding half of the last bit that stays.
Value Rounding::nearest(Value vector) {
  auto whole = [&](int32_t number) { return vectors.widen(ir.constant32(number)); };
  Value bits = arith::BitcastOp::create(ir, ir.loc, vectors.type(ir.i32()), vector);
  Value last = arith::AndIOp::create(ir, ir.loc, arith::ShRUIOp::create(ir, ir.loc, bits, whole(16)), whole(1));
  Value half = arith::AddIOp::create(ir, ir.loc, last, whole(0x7fff));
  Value sum = arith::AddIOp::create(ir, ir.loc, bits, half);
  Value cut = arith::AndIOp::create(ir, ir.loc, sum, whole(int32_t(0xffff0000)));
  Value rounded = arith::BitcastOp::create(ir, ir.loc, vectors.type(ir.f32()), cut);
  Value none = arith::CmpFOp::create(ir, ir.loc, arith::CmpFPredicate::UNO, vector, vector);
  return arith::SelectOp::create(ir, ir.loc, none, vector, rounded);
}

void Rounding::plainRow(Value row) {
  Value begin = rowOf(row), out = ir.address(to, ir.f32(), ir.mul(row, toRow));
  columns(vectors.lanes, [&](Value column, bool whole) {
    vectors.store(nearest(load(begin, column, 0, whole)), ir.address(out, ir.f32(), column));
  });
}

/// Two vectors of float32 as one of bfloat16, `low` in its lower half.
Value Rounding::sideBySide(Value low, Value high) {
  auto type = VectorType::get({2 * vectors.lanes}, ir.getBF16Type());
  return LLVM::CallIntrinsicOp::create(ir, ir.loc, type, ir.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                                       ValueRange{high, low})
      .getResult(0);
}

void Rounding::alongRow(Value row) {
  Value begin = rowOf(row), out = ir.address(to, ir.f32(), ir.mul(row, toRow));
  columns(2 * vectors.lanes, [&](Value column, bool whole) {
    Value low = load(begin, column, 0, whole), high = load(begin, column, vectors.lanes, whole);
    Value place = ir.address(out, ir.f32(), ir.div(column, ir.constant(2)));
    LLVM::StoreOp::create(ir, ir.loc, sideBySide(low, high), place, /*alignment=*/4);
  });
}

void Rounding::acrossRows(Value row) {
  Value next = ir.add(row, ir.constant(1)), both = ir.less(next, rows);
  Value other = arith::SelectOp::create(ir, ir.loc, both, next, row);
  Value upper = rowOf(row), lower = rowOf(other);
  Value out = ir.address(to, ir.f32(), ir.mul(ir.div(row, ir.constant(2)), toRow));
  SmallVector<int64_t> zipped;
  for (int64_t l = 0; l < vectors.lanes; ++l)
    zipped.append({l, vectors.lanes + l});
  columns(vectors.lanes, [&](Value column, bool whole) {
    Value even = load(upper, column, 0, whole), odd = load(lower, column, 0, whole);
    odd = arith::SelectOp::create(ir, ir.loc, both, odd, vectors.widen(ir.number(0)));
    Value halves = sideBySide(even, odd);
    Value pairsOfRow = vector::ShuffleOp::create(ir, ir.loc, halves, halves, zipped);
    LLVM::StoreOp::create(ir, ir.loc, pairsOfRow, ir.address(out, ir.f32(), column), /*alignment=*/4);
  });
}

void Rounding::run() {
  if (pairs == Pairs::Across)
    return ir.loop(ir.constant(0), rows, ir.constant(2), [&](Value row) { acrossRows(row); });
  ir.loop(rows, [&](Value row) { pairs == Pairs::Along ? alongRow(row) : plainRow(row); });
}

LLVM::LLVMFuncOp roundFunction(ModuleOp module, const Target &target, Pairs pairs) {
  StringRef name = pairs == Pairs::None    ? "attn_round"
                   : pairs == Pairs::Along ? "attn_round_along"
                                           : "attn_round_across";
  if (auto made = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return made;
  OpBuilder builder(module.getBodyRegion());
  Ir ir(module.getLoc(), builder);
  Type p = ir.ptr(), n = ir.i64();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ir.getContext()), {p, n, p, n, n, n});
  auto function = LLVM::LLVMFuncOp::create(ir, ir.loc, name, type, LLVM::Linkage::Internal);
  function.setPassthroughAttr(ir.getStrArrayAttr({"noinline", "nounwind"}));
  Block *body = function.addEntryBlock(ir);
  ir.setInsertionPointToEnd(body);
  auto a = body->getArguments();
  Rounding{ir, Vectors(ir, target.lanes), pairs, a[0], a[1], a[2], a[3], a[4], a[5]}.run();
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange{});
  return function;
}

/// Rounds a tile into scratch, in the order in which the products of this machine read it.
void TileLowering::lowerRound(tile::RoundOp round) {
  flush(round);
  ir.setInsertionPoint(round);
  tile::TileType type = round.getInput().getType();
  SmallVector<OpFoldResult> valid = round.mixedValid();
  int lanes = choice.lanesOf(round.getResult()), along = int(round.getAlong());
  Place from = inMemory(round.getInput());
  if (Ir::known(from.strides[lanes]) != 1) {
    Place packed = scratch.allocate(type, lanes);
    copy(from, packed, Space{SmallVector<int64_t, 2>(type.getShape()), {valid[0], valid[1]}, lanes});
    from = packed;
  }
  Pairs pairs = !machine.bf16 ? Pairs::None : lanes == along ? Pairs::Along : Pairs::Across;
  SmallVector<int64_t> shape(type.getShape());
  if (pairs != Pairs::None)
    shape[along] = llvm::divideCeil(shape[along], 2);
  Place to = scratch.allocate(tile::TileType::get(ir.getContext(), shape, ir.f32()), lanes);
  SmallVector<Value> operands{from.pointer,          from.strides[1 - lanes], to.pointer,
                              to.strides[1 - lanes], size(valid[1 - lanes]),  size(valid[lanes])};
  auto function = roundFunction(owner->getParentOfType<ModuleOp>(), machine, pairs);
  LLVM::CallOp::create(ir, ir.loc, function, operands);
  places[round.getResult()] = to;
  homes[round.getResult()] = round->getBlock();
  dead.push_back(round);
}

} // namespace attn::cpu
