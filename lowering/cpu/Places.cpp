// Where tiles lie, and reading and writing vectors of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/Places.h"
#include "lowering/targets/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace attn::cpu {

static bool sameSize(OpFoldResult a, OpFoldResult b) {
  auto left = getConstantIntValue(a), right = getConstantIntValue(b);
  return left || right ? left == right : a == b;
}

bool Space::operator==(const Space &other) const {
  return shape == other.shape && lanes == other.lanes && llvm::all_of_zip(valid, other.valid, sameSize);
}

bool collides(Ir &ir, const Place &place) {
  if (place.splat || place.scratch)
    return false;
  auto stride = Ir::known(place.strides[0]);
  return stride && Target::collide(*stride * place.element.getIntOrFloatBitWidth() / 8);
}

Place Scratch::allocate(tile::TileType type, int lanes) {
  OpBuilder builder(owner.getContext());
  builder.setInsertionPointToStart(&owner.getFunctionBody().front());
  Ir ir(owner.getLoc(), builder);
  bool flat = type.getRank() == 1;
  int64_t padded = llvm::alignTo(type.dim(flat ? 0 : lanes), width);
  int64_t count = flat ? padded : padded * llvm::alignTo(type.dim(1 - lanes), height);
  Type element = type.getElementType(), stored = element.isInteger(1) ? ir.i8() : element;
  total += count * stored.getIntOrFloatBitWidth() / 8;
  Place place;
  place.element = element;
  place.scratch = true;
  place.pointer = LLVM::AllocaOp::create(ir, ir.loc, ir.ptr(), stored, ir.constant(count), /*alignment=*/64);
  place.strides.assign(type.getRank(), ir.constant(1));
  if (!flat)
    place.strides[1 - lanes] = ir.constant(padded);
  return place;
}

/// The address of the spot's first lane, and the stride between lanes.
static std::pair<Value, Value> locate(Vectors &vectors, const Place &place, const Space &space, const Spot &spot) {
  Ir &ir = vectors.ir;
  Value step = place.strides[place.strides.size() == 1 ? 0 : space.lanes];
  Value offset = ir.mul(spot.column, step);
  if (place.strides.size() == 2)
    offset = ir.add(ir.mul(spot.row, place.strides[space.rows()]), offset);
  return {ir.address(place.pointer, place.element, offset), step};
}

Value readPlace(Vectors &vectors, const Place &place, const Space &space, const Spot &spot, int64_t along) {
  if (place.splat)
    return place.splat;
  Ir &ir = vectors.ir;
  if (along >= 0 && space.shape.size() == 2 && along != space.lanes)
    return ir.load(place.element, place.pointer, ir.mul(spot.row, place.strides[0]));
  auto [pointer, step] = locate(vectors, place, space, spot);
  auto known = Ir::known(step);
  if (known && *known == 0)
    return ir.load(place.element, pointer);
  Value mask = place.scratch ? Value() : spot.mask;
  if (known && *known == 1)
    return vectors.load(place.element, pointer, mask);
  return vectors.loadStrided(place.element, pointer, step, mask);
}

void writePlace(Vectors &vectors, Value value, const Place &place, const Space &space, const Spot &spot) {
  auto [pointer, step] = locate(vectors, place, space, spot);
  auto known = Ir::known(step);
  Value mask = place.scratch ? Value() : spot.mask;
  if (known && *known == 1)
    vectors.store(vectors.widen(value), pointer, mask);
  else
    vectors.storeStrided(vectors.widen(value), pointer, step, mask);
}

} // namespace attn::cpu
