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
  Type element; // of `from`
  Value from, fromRow, to, toRow, rows, lanes;

  void run();
  void plainRow(Value row);
  void alongRow(Value row);
  void acrossRows(Value row);
  void columns(int64_t width, std::function<void(Value column, bool whole)> body);
  Value load(Value begin, Value column, int64_t further, bool whole);
  bool isRounded() { return element.isBF16(); }
  Value rowOf(Value row) { return ir.address(from, element, ir.mul(row, fromRow)); }
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
  return vectors.load(element, ir.address(begin, element, first), mask);
}

/// float32 to the nearest number whose lower 16 bits are 0, by adding half of the last bit that stays; of bfloat16 the
/// same number.
Value Rounding::nearest(Value vector) {
  if (isRounded())
    return arith::ExtFOp::create(ir, ir.loc, vectors.type(ir.f32()), vector);
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
  if (isRounded())
    return columns(vectors.lanes, [&](Value column, bool whole) {
      vectors.store(load(begin, column, 0, whole), ir.address(out, element, column));
    });
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
    Value none = arith::ConstantOp::create(ir, ir.loc, ir.getZeroAttr(odd.getType()));
    odd = arith::SelectOp::create(ir, ir.loc, both, odd, none);
    Value pairsOfRow;
    if (isRounded()) {
      pairsOfRow = vector::ShuffleOp::create(ir, ir.loc, even, odd, zipped);
    } else {
      Value halves = sideBySide(even, odd);
      pairsOfRow = vector::ShuffleOp::create(ir, ir.loc, halves, halves, zipped);
    }
    LLVM::StoreOp::create(ir, ir.loc, pairsOfRow, ir.address(out, ir.f32(), column), /*alignment=*/4);
  });
}

void Rounding::run() {
  if (pairs == Pairs::Across)
    return ir.loop(ir.constant(0), rows, ir.constant(2), [&](Value row) { acrossRows(row); });
  ir.loop(rows, [&](Value row) { pairs == Pairs::Along ? alongRow(row) : plainRow(row); });
}

LLVM::LLVMFuncOp roundFunction(ModuleOp module, const Target &target, Pairs pairs, bool rounded) {
  std::string name = rounded ? "attn_pairs" : "attn_round";
  if (pairs != Pairs::None)
    name += pairs == Pairs::Along ? "_along" : "_across";
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
  Type element = rounded ? Type(ir.getBF16Type()) : ir.f32();
  Rounding{ir, Vectors(ir, target.lanes), pairs, element, a[0], a[1], a[2], a[3], a[4], a[5]}.run();
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange{});
  return function;
}

/// Rounds a tile into scratch, in the order in which the products of this machine read it. What is bfloat16 already and
/// lies the other way is turned over when it is pairs.
void TileLowering::lowerRound(tile::RoundOp round) {
  flush(round);
  ir.setInsertionPoint(round);
  tile::TileType type = round.getInput().getType();
  SmallVector<OpFoldResult> valid = round.mixedValid();
  int lanes = choice.lanesOf(round.getResult()), along = int(round.getAlong()), side = lanes;
  bool rounded = type.getElementType().isBF16();
  Place from = inMemory(round.getInput());
  if (rounded && lanes == 0 && along == 1)
    side = 1;
  if (Ir::known(from.strides[side]) != 1) {
    Place packed = scratch.allocate(type, side);
    copy(from, packed, Space{SmallVector<int64_t, 2>(type.getShape()), {valid[0], valid[1]}, side});
    from = packed;
  }
  Pairs pairs = !machine.bf16 ? Pairs::None : side == along ? Pairs::Along : Pairs::Across;
  SmallVector<int64_t> shape(type.getShape());
  if (pairs != Pairs::None)
    shape[along] = llvm::divideCeil(shape[along], 2);
  auto stored = tile::TileType::get(ir.getContext(), shape, ir.f32());
  Place to = scratch.allocate(stored, side);
  SmallVector<Value> operands{from.pointer,         from.strides[1 - side], to.pointer,
                              to.strides[1 - side], size(valid[1 - side]),  size(valid[side])};
  auto function = roundFunction(owner->getParentOfType<ModuleOp>(), machine, pairs, rounded);
  LLVM::CallOp::create(ir, ir.loc, function, operands);
  if (side != lanes) {
    Value inner = size(valid[1]);
    if (pairs != Pairs::None)
      inner = ir.ceilDiv(inner, ir.constant(2));
    Place turned = scratch.allocate(stored, lanes);
    auto load = round.getInput().getDefiningOp<tile::LoadOp>();
    turn(to, turned, lanes, {valid[0], inner}, load ? aheadOf(load) : nothingAhead());
    to = turned;
  }
  places[round.getResult()] = to;
  homes[round.getResult()] = round->getBlock();
  dead.push_back(round);
}

} // namespace attn::cpu
