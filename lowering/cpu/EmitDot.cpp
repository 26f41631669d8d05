// A product of tiles as a call of the module's product function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/DotKernels.h"
#include "lowering/cpu/DotTiles.h"
#include "lowering/cpu/TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace attn::cpu {

/// Pointer, stride between rows and lines of a row of what is to be asked for meanwhile: nothing.
SmallVector<Value> TileLowering::nothingAhead() {
  return {LLVM::ZeroOp::create(ir, ir.loc, ir.ptr()), ir.constant(0), ir.constant(0)};
}

/// The same: as many rows as `load` has, from its row `first` on. Who asks counts in float32 numbers.
SmallVector<Value> TileLowering::rowsAhead(tile::LoadOp load, Value first) {
  Type element = load.getType().getElementType();
  int64_t part = 32 / element.getIntOrFloatBitWidth(), numbersOfLine = 16 * part;
  Value stride = size(load.mixedStrides()[0]), begin = ir.address(load.getBase(), element, ir.mul(first, stride));
  Value lines = ir.constant(llvm::divideCeil(load.getType().dim(1), numbersOfLine));
  return {begin, ir.div(stride, ir.constant(part)), lines};
}

/// The rows behind `load`, or, if it is known that there are fewer, the last ones that there are: to ask for memory
/// that isn't there takes long.
SmallVector<Value> TileLowering::rowsBehind(tile::LoadOp load) {
  Value own = ir.constant(load.getType().dim(0));
  if (!load.getAll())
    return rowsAhead(load, own);
  return rowsAhead(load, ir.max(ir.constant(0), ir.min(own, ir.sub(load.getAll(), own))));
}

/// Where an operand's numbers come from, as they are or rounded.
static tile::LoadOp loadedFrom(Value operand) {
  auto round = operand.getDefiningOp<tile::RoundOp>();
  return (round ? round.getInput() : operand).getDefiningOp<tile::LoadOp>();
}

/// What is loaded for the product with few rows of that form in `block`.
static tile::LoadOp loadedForFew(Block *block, tile::Form form) {
  for (auto dot : block->getOps<tile::DotOp>())
    if (dot.getFew() && dot.getForm() == form)
      return loadedFrom(dot.getB());
  return {};
}

/// What the product asks for meanwhile: the rows behind a tile whose rows collide, since the next tile of a loop is
/// most likely there. Attention of one query goes over its memory only once and waits for little else: the values
/// behind are asked for while values are summed, the keys behind while keys are turned, so that a whole tile is on its
/// way.
SmallVector<Value> TileLowering::aheadOf(tile::DotOp dot) {
  if (dot.getFew()) {
    auto values = dot.getForm() == tile::Form::kn ? loadedFrom(dot.getB()) : tile::LoadOp();
    return values ? rowsBehind(values) : nothingAhead();
  }
  auto load = loadedFrom(dot.getB());
  return load && collides(ir, places.lookup(load)) ? rowsBehind(load) : nothingAhead();
}

SmallVector<Value> TileLowering::aheadOf(tile::LoadOp keys) {
  bool few = keys == loadedForFew(keys->getBlock(), tile::Form::nk);
  return few ? rowsBehind(keys) : nothingAhead();
}

/// The operand that lies on the lanes: scratch or a panel with its dimension `lanes` contiguous, else a copy that is.
Place TileLowering::wideOperand(Value tile, int lanes, bool readOnce, ArrayRef<OpFoldResult> valid) {
  Place place = places.lookup(tile);
  bool fits = !place.splat && Ir::known(place.strides[lanes]) == 1;
  if (fits && (place.scratch || (lanes == 1 && isPanel(tile, vectors.lanes) && (readOnce || !collides(ir, place)))))
    return place;
  auto type = cast<tile::TileType>(tile.getType());
  Place packed = scratch.allocate(type, lanes);
  Space space{SmallVector<int64_t, 2>(type.getShape()), SmallVector<OpFoldResult, 2>(valid), lanes};
  copy(place, packed, space);
  return packed;
}

Place TileLowering::eachOperand(Value tile, ArrayRef<OpFoldResult> valid) {
  Place place = inMemory(tile);
  auto type = cast<tile::TileType>(tile.getType());
  if (type.dim(0) < 16 || type.dim(1) < 16 || !collides(ir, place) || Ir::known(place.strides[1]) != 1)
    return place;
  Place packed = scratch.allocate(type, 1);
  copy(place, packed, Space{SmallVector<int64_t, 2>(type.getShape()), SmallVector<OpFoldResult, 2>(valid), 1});
  return packed;
}

/// The product by tile registers, guarded where that is asked for.
void TileLowering::emitTiles(tile::DotOp dot, ArrayRef<Value> operands) {
  auto module = owner->getParentOfType<ModuleOp>();
  auto call = [&](bool guarded) { LLVM::CallOp::create(ir, ir.loc, tileDotFunction(module, guarded), operands); };
  dead.push_back(dot);
  if (!dot.getGuard())
    return call(false);
  auto choose = scf::IfOp::create(ir, ir.loc, dot.getGuard(), /*withElseRegion=*/true);
  ir.setInsertionPoint(choose.thenBlock()->getTerminator());
  call(true);
  ir.setInsertionPoint(choose.elseBlock()->getTerminator());
  call(false);
}

void TileLowering::lowerDot(tile::DotOp dot) {
  ir.setInsertionPoint(dot);
  SmallVector<OpFoldResult> valid = dot.mixedValid(); // m, n, k
  bool kn = dot.getForm() == tile::Form::kn, pairs = machine.bf16 && dot.getA().getType().getElementType().isBF16();
  int lanes = choice.lanesOf(dot.getResult()), bK = kn ? 0 : 1;
  Place wide, each;
  Value wideK, eachRow, eachK;
  if (lanes == 0) {
    wide = wideOperand(dot.getA(), 0, false, {valid[0], valid[2]});
    each = kn ? eachOperand(dot.getB(), {valid[2], valid[1]}) : eachOperand(dot.getB(), {valid[1], valid[2]});
    wideK = wide.strides[1], eachK = each.strides[bK], eachRow = each.strides[1 - bK];
  } else {
    auto b = kn ? SmallVector<OpFoldResult>{valid[2], valid[1]} : SmallVector<OpFoldResult>{valid[1], valid[2]};
    wide = wideOperand(dot.getB(), 1 - bK, dot.getFew(), b);
    each = inMemory(dot.getA());
    wideK = wide.strides[bK], eachK = each.strides[1], eachRow = each.strides[0];
  }
  // The sums go where the third tile lies if nobody needs it any more.
  Value add = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(false));
  Place out;
  SmallVector<Value> candidates;
  if (dot.getAcc() && diesBefore(dot.getAcc(), dot->getNextNode()))
    candidates.push_back(dot.getAcc());
  out = placeFor(dot.getResult(), candidates);
  if (dot.getAcc()) {
    Place acc = places.lookup(dot.getAcc());
    bool zero = acc.splat && matchPattern(acc.splat, m_AnyZeroFloat());
    if (!zero) {
      add = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(true));
      auto shape = dot.getType().getShape();
      if (!(acc == out))
        copy(acc, out, Space{SmallVector<int64_t, 2>(shape), {valid[0], valid[1]}, lanes});
    }
  }
  places[dot.getResult()] = out;
  homes[dot.getResult()] = dot->getBlock();
  Value inner = size(valid[2]);
  if (pairs)
    inner = ir.ceilDiv(inner, ir.constant(2));
  if (pairs && machine.amx && (lanes == 0 || (Ir::known(eachK) == 1 && !dot.getGuard()))) {
    emitTiles(dot, {each.pointer, eachRow, wide.pointer, wideK, out.pointer, out.strides[1 - lanes],
                    size(valid[1 - lanes]), size(valid[lanes]), inner, add});
    return;
  }
  SmallVector<Value> operands{each.pointer,
                              eachRow,
                              eachK,
                              wide.pointer,
                              wideK,
                              out.pointer,
                              out.strides[1 - lanes],
                              size(valid[1 - lanes]),
                              size(valid[lanes]),
                              inner,
                              add};
  llvm::append_range(operands, aheadOf(dot));
  auto module = owner->getParentOfType<ModuleOp>();
  bool few = dot.getFew() && dot.getType().dim(0) > 1;
  auto call = [&](Guard guard) {
    LLVM::CallOp::create(ir, ir.loc, dotFunction(module, machine, guard, pairs, few), operands);
  };
  if (!dot.getGuard()) {
    call(Guard::None);
  } else {
    auto choose = scf::IfOp::create(ir, ir.loc, dot.getGuard(), /*withElseRegion=*/true);
    ir.setInsertionPoint(choose.thenBlock()->getTerminator());
    call(lanes == 0 ? Guard::Wide : Guard::Each);
    ir.setInsertionPoint(choose.elseBlock()->getTerminator());
    call(Guard::None);
  }
  dead.push_back(dot);
}

} // namespace attn::cpu
