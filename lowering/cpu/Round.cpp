// Rounding to bfloat16 for products.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/Round.h"
#include "lowering/cpu/DotTiles.h"
#include "lowering/cpu/SharedFunction.h"
#include "lowering/cpu/TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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
  bool tiles;   // squares of 16 are read
  Value from, fromRow, to, toRow, rows, lanes;

  void run();
  void plain(Value row, Value column, bool whole);
  void alongRow(Value row, Value column, bool whole);
  void acrossRows(Value row, Value column, bool whole);
  void zeroRows();
  void columns(int64_t width, std::function<void(Value column, bool whole)> body);
  Value load(Value row, Value column, bool whole);
  Value placeOf(Value row, Value column) { return ir.address(to, ir.f32(), ir.add(ir.mul(row, toRow), column)); }
  bool isRounded() { return element.isBF16(); }
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

/// A vector of a row; lanes beyond its end are 0.
Value Rounding::load(Value row, Value column, bool whole) {
  Value mask;
  if (!whole)
    mask = vectors.below(ir.sub(lanes, column));
  return vectors.load(element, ir.address(from, element, ir.add(ir.mul(row, fromRow), column)), mask);
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

void Rounding::plain(Value row, Value column, bool whole) {
  vectors.store(nearest(load(row, column, whole)), placeOf(row, column));
}

/// Two vectors of float32 as one of bfloat16, `low` in its lower half.
Value Rounding::sideBySide(Value low, Value high) {
  auto type = VectorType::get({2 * vectors.lanes}, ir.getBF16Type());
  return LLVM::CallIntrinsicOp::create(ir, ir.loc, type, ir.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                                       ValueRange{high, low})
      .getResult(0);
}

void Rounding::alongRow(Value row, Value column, bool whole) {
  Value next = ir.add(column, ir.constant(vectors.lanes));
  Value low = load(row, column, whole), high = load(row, next, whole);
  Value place = placeOf(row, ir.div(column, ir.constant(2)));
  if (isRounded()) {
    vectors.store(low, place);
    vectors.store(high, ir.address(place, element, ir.constant(vectors.lanes)));
  } else {
    LLVM::StoreOp::create(ir, ir.loc, sideBySide(low, high), place, /*alignment=*/4);
  }
}

void Rounding::acrossRows(Value row, Value column, bool whole) {
  Value next = ir.add(row, ir.constant(1)), both = ir.less(next, rows);
  Value even = load(row, column, whole);
  Value odd = load(arith::SelectOp::create(ir, ir.loc, both, next, row), column, whole);
  Value none = arith::ConstantOp::create(ir, ir.loc, ir.getZeroAttr(odd.getType()));
  odd = arith::SelectOp::create(ir, ir.loc, both, odd, none);
  SmallVector<int64_t> zipped;
  for (int64_t l = 0; l < vectors.lanes; ++l)
    zipped.append({l, vectors.lanes + l});
  Value halves = isRounded() ? Value() : sideBySide(even, odd);
  Value zip = halves ? vector::ShuffleOp::create(ir, ir.loc, halves, halves, zipped)
                     : vector::ShuffleOp::create(ir, ir.loc, even, odd, zipped);
  LLVM::StoreOp::create(ir, ir.loc, zip, placeOf(ir.div(row, ir.constant(2)), column), /*alignment=*/4);
}

/// The rows of pairs behind the last, up to a multiple of a tile's side.
void Rounding::zeroRows() {
  Value side = ir.constant(sideOfTile), end = ir.ceilDiv(rows, ir.constant(2));
  ir.loop(end, ir.mul(ir.ceilDiv(end, side), side), ir.constant(1), [&](Value row) {
    Value out = ir.address(to, ir.f32(), ir.mul(row, toRow));
    ir.loop(ir.constant(0), lanes, ir.constant(vectors.lanes),
            [&](Value column) { vectors.store(vectors.widen(ir.number(0)), ir.address(out, ir.f32(), column)); });
  });
}

void Rounding::run() {
  int64_t width = pairs == Pairs::Along ? 2 * vectors.lanes : vectors.lanes;
  Value step = ir.constant(pairs == Pairs::Across ? 2 : 1);
  ir.loop(ir.constant(0), rows, step, [&](Value row) {
    columns(width, [&](Value column, bool whole) {
      if (pairs == Pairs::None)
        plain(row, column, whole);
      else
        pairs == Pairs::Along ? alongRow(row, column, whole) : acrossRows(row, column, whole);
    });
  });
  if (tiles && pairs == Pairs::Across)
    zeroRows();
}

LLVM::LLVMFuncOp roundFunction(ModuleOp module, const Target &target, Pairs pairs, bool rounded) {
  std::string name = rounded ? "attn_pairs" : "attn_round";
  if (pairs != Pairs::None)
    name += pairs == Pairs::Along ? "_along" : "_across";
  return sharedFunction(module, name, "pnpnnn", [&](Ir &ir, ValueRange a) {
    Type element = rounded ? Type(ir.getBF16Type()) : ir.f32();
    Rounding{ir, Vectors(ir, target.lanes), pairs, element, target.amx, a[0], a[1], a[2], a[3], a[4], a[5]}.run();
  });
}

/// How many pairs hold that many numbers; for tile registers, with those that are 0.
Value TileLowering::countPairs(Value numbers) {
  if (!machine.amx)
    return ir.ceilDiv(numbers, ir.constant(2));
  return ir.mul(ir.ceilDiv(numbers, ir.constant(2 * sideOfTile)), ir.constant(sideOfTile));
}

/// Whether the product that takes the tile goes by tile registers.
bool TileLowering::feedsTiles(tile::RoundOp round) {
  auto byLanes = [&](Operation *user) { return choice.lanesOf(cast<tile::DotOp>(user).getResult()) == 0; };
  return machine.amx && llvm::all_of(round->getUsers(), byLanes);
}

/// Pairs that lie side by side in memory already, so that nothing has to be copied: as the place of a tile of them.
std::optional<Place> TileLowering::pairsInMemory(const Place &from, OpFoldResult numbers) {
  auto stride = Ir::known(from.strides[0]), count = getConstantIntValue(numbers);
  if (!from.element.isBF16() || from.scratch || !stride || !count || *stride % 2 || *count % 2)
    return std::nullopt;
  Place pairs = from;
  pairs.element = ir.f32();
  pairs.strides[0] = ir.constant(*stride / 2);
  return pairs;
}

/// Rounds a tile into scratch, in the order in which the products of this machine read it. What lies in memory the
/// other way is turned over when it is pairs.
void TileLowering::lowerRound(tile::RoundOp round) {
  flush(round);
  ir.setInsertionPoint(round);
  tile::TileType type = round.getInput().getType();
  SmallVector<OpFoldResult> valid = round.mixedValid();
  int lanes = choice.lanesOf(round.getResult()), along = int(round.getAlong()), side = lanes;
  Place from = inMemory(round.getInput());
  if (lanes == 0 && along == 1 && Ir::known(from.strides[1]) == 1)
    side = 1;
  // Tile registers want the values' pairs side by side, but two rows of values make a row of pairs.
  if (along == 0 && feedsTiles(round))
    lanes = 0, side = 1;
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
  std::optional<Place> ready = pairs == Pairs::Along ? pairsInMemory(from, valid[1]) : std::nullopt;
  if (ready && (machine.amx || collides(ir, *ready)))
    ready.reset();
  Place to = ready ? *ready : scratch.allocate(stored, side);
  if (!ready) {
    SmallVector<Value> operands{from.pointer,         from.strides[1 - side], to.pointer,
                                to.strides[1 - side], size(valid[1 - side]),  size(valid[side])};
    bool rounded = type.getElementType().isBF16();
    auto function = roundFunction(owner->getParentOfType<ModuleOp>(), machine, pairs, rounded);
    LLVM::CallOp::create(ir, ir.loc, function, operands);
  }
  if (side != lanes) {
    if (pairs != Pairs::None)
      valid[along] = countPairs(size(valid[along]));
    Place turned = scratch.allocate(stored, lanes);
    auto load = round.getInput().getDefiningOp<tile::LoadOp>();
    turn(to, turned, lanes, valid, load ? aheadOf(load) : nothingAhead());
    to = turned;
  }
  places[round.getResult()] = to;
  homes[round.getResult()] = round->getBlock();
  dead.push_back(round);
}

} // namespace attn::cpu
