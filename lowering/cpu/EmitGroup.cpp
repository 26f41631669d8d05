// One loop for a group of maps, reductions and stores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/CloneRegion.h"
#include "lowering/cpu/TileLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn::cpu {

void TileLowering::emitGroup(Operation *before) {
  ir.setInsertionPoint(before);
  reductions.clear();
  for (Operation *op : group.operations())
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      reductions.push_back(reduce);
  placeResults(before);
  if (group.space().shape.size() == 1 || group.reducesAcross() || (group.space().lanes == 1 && !group.reducesDown()))
    emitRowsOutside();
  else
    emitColumnsOutside();
}

/// Results that are used outside the group get memory.
void TileLowering::placeResults(Operation *before) {
  for (Operation *op : group.operations()) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && isa<tile::TileType>(reduce.getResult().getType()))
      places[reduce.getResult()] = scratch.allocate(cast<tile::TileType>(reduce.getResult().getType()), 0);
    auto map = dyn_cast<tile::MapOp>(op);
    if (!map || llvm::all_of(map->getUsers(), [&](Operation *user) { return group.contains(user); }))
      continue;
    SmallVector<Value> candidates;
    for (size_t n = 0; n < map.getInputs().size(); ++n) {
      Value input = map.getInputs()[n];
      bool readElsewhere = llvm::any_of(input.getUsers(), [&](Operation *user) { return isa<tile::AtOp>(user); });
      bool taken = llvm::any_of(group.operations(), [&](Operation *other) {
        return other != op && other->getNumResults() == 1 && places.contains(other->getResult(0)) &&
               places.contains(input) && places[other->getResult(0)] == places[input];
      });
      if (map.inputAlong(n) < 0 && !readElsewhere && !taken && diesBefore(input, before))
        candidates.push_back(input);
    }
    Place place = placeFor(map.getResult(), candidates);
    places[map.getResult()] = place;
  }
}

Value TileLowering::valid(int dimension) {
  return size(group.space().valid[dimension]);
}

/// Masks are wanted where a vector may reach beyond the space.
Spot TileLowering::spotAt(Value row, Value column) {
  Value columns = valid(group.space().lanes);
  auto known = Ir::known(columns);
  if (known && *known % vectors.lanes == 0)
    return {row, column, {}};
  return {row, column, vectors.below(ir.sub(columns, column))};
}

SmallVector<Value> TileLowering::neutrals(bool vector) {
  SmallVector<Value> values;
  for (tile::ReduceOp reduce : reductions) {
    Value one = vectors.neutral(reduce.getKind(), reduce.getInput().getType().getElementType());
    values.push_back(vector ? vectors.widen(one) : one);
  }
  return values;
}

/// for row { for vector of the row … ; sums across the lanes }
void TileLowering::emitRowsOutside() {
  auto alongRow = [&](Value row) {
    SmallVector<Value> start = neutrals(/*vector=*/true);
    Value end = valid(group.space().lanes), step = ir.constant(vectors.lanes);
    SmallVector<Value> totals = ir.loop(ir.constant(0), end, step, start, [&](Value column, ValueRange before) {
      return emitSpot(spotAt(row, column), before);
    });
    for (auto [reduce, total] : llvm::zip(reductions, totals)) {
      Value one = vectors.across(reduce.getKind(), total);
      if (row)
        ir.store(one, places[reduce.getResult()].pointer, row);
      else
        reduce.getResult().replaceAllUsesWith(one);
    }
  };
  if (group.space().shape.size() == 1)
    alongRow({});
  else
    ir.loop(valid(group.space().rows()), alongRow);
}

/// One number of a tile of rank 1.
Value TileLowering::readNumber(const Place &place, Value row) {
  return place.splat ? place.splat : ir.load(place.element, place.pointer, ir.mul(row, place.strides[0]));
}

/// A chain of additions along the lanes, which no loop over vectors can make: row by row, number by number. False where
/// the group's own loop keeps the order.
bool TileLowering::lowerOrderedSum(tile::ReduceOp reduce) {
  auto type = reduce.getInput().getType();
  int along = int(reduce.getAlong());
  if (!reduce.getOrdered() || type.getRank() != 2 || along != choice.lanesOf(reduce.getInput()))
    return false;
  flush(reduce);
  ir.setInsertionPoint(reduce);
  Place from = inMemory(reduce.getInput());
  Place to = scratch.allocate(cast<tile::TileType>(reduce.getResult().getType()), 0);
  SmallVector<OpFoldResult> valid = reduce.mixedValid();
  ir.loop(size(valid[1 - along]), [&](Value row) {
    Value begin = ir.address(from.pointer, from.element, ir.mul(row, from.strides[1 - along]));
    auto add = [&](Value n, ValueRange total) {
      Value next = ir.load(from.element, begin, ir.mul(n, from.strides[along]));
      return SmallVector<Value>{arith::AddFOp::create(ir, ir.loc, total[0], next)};
    };
    Value start = ir.number(0);
    if (Value tile = reduce.getFrom())
      start = readNumber(places.lookup(tile), row);
    Value total = ir.loop(ir.constant(0), size(valid[along]), ir.constant(1), start, add)[0];
    ir.store(total, to.pointer, row);
  });
  places[reduce.getResult()] = to;
  homes[reduce.getResult()] = reduce->getBlock();
  dead.push_back(reduce);
  return true;
}

/// for vector of columns { for row … ; one vector of sums down the rows }
void TileLowering::emitColumnsOutside() {
  Value end = valid(group.space().lanes), step = ir.constant(vectors.lanes);
  ir.loop(ir.constant(0), end, step, [&](Value column) {
    SmallVector<Value> start = neutrals(/*vector=*/true);
    for (auto [reduce, first] : llvm::zip(reductions, start))
      if (Value tile = reduce.getFrom()) {
        Space rank1{{cast<tile::TileType>(tile.getType()).dim(0)}, {group.space().valid[group.space().lanes]}, 0};
        first = vectors.widen(readPlace(vectors, places.lookup(tile), rank1, spotAt({}, column), -1));
      }
    Value rows = valid(group.space().rows());
    SmallVector<Value> totals = ir.loop(ir.constant(0), rows, ir.constant(1), start, [&](Value row, ValueRange before) {
      return emitSpot(spotAt(row, column), before);
    });
    for (auto [reduce, total] : llvm::zip(reductions, totals)) {
      const Place &place = places[reduce.getResult()];
      vectors.store(total, ir.address(place.pointer, place.element, column));
    }
  });
}

SmallVector<Value> TileLowering::emitSpot(const Spot &spot, ValueRange totals) {
  current.clear();
  SmallVector<Value> next(totals);
  size_t reduction = 0;
  for (Operation *op : group.operations()) {
    if (auto map = dyn_cast<tile::MapOp>(op)) {
      Value value = evaluate(map, spot);
      current[map.getResult()] = value;
      if (auto place = places.find(map.getResult()); place != places.end())
        writePlace(vectors, value, place->second, group.space(), spot);
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      Place place{store.getBase(), {}, store.getValue().getType().getElementType(), {}, false};
      for (OpFoldResult stride : store.mixedStrides())
        place.strides.push_back(size(stride));
      writePlace(vectors, element(store.getValue(), spot, -1), place, group.space(), spot);
    } else {
      auto reduce = cast<tile::ReduceOp>(op);
      Value value = vectors.widen(element(reduce.getInput(), spot, -1));
      if (spot.mask && !group.reducesDown()) {
        Value none = vectors.widen(vectors.neutral(reduce.getKind(), reduce.getInput().getType().getElementType()));
        value = arith::SelectOp::create(ir, ir.loc, spot.mask, value, none);
      }
      next[reduction] = vectors.combine(reduce.getKind(), totals[reduction], value);
      ++reduction;
    }
  }
  return next;
}

Value TileLowering::element(Value tile, const Spot &spot, int64_t along) {
  if (Value value = current.lookup(tile))
    return value;
  return readPlace(vectors, places.lookup(tile), group.space(), spot, along);
}

Value TileLowering::evaluate(tile::MapOp map, const Spot &spot) {
  Block &block = *map.block();
  IRMapping mapping;
  int64_t rank = map.getType().getRank();
  auto narrow = [&](Value value) { return arith::TruncIOp::create(ir, ir.loc, ir.i32(), value).getResult(); };
  laneNumbers = {};
  for (int64_t d = 0; d < rank; ++d) {
    BlockArgument index = block.getArgument(d);
    if (index.use_empty())
      continue;
    if (d != group.space().lanes) {
      mapping.map(index, narrow(spot.row));
      continue;
    }
    Value first = vectors.widen(narrow(spot.column));
    laneNumbers = arith::AddIOp::create(ir, ir.loc, first, vectors.numbers(ir.i32()));
    mapping.map(index, laneNumbers);
  }
  for (size_t n = 0; n < map.getInputs().size(); ++n)
    if (BlockArgument argument = block.getArgument(rank + n); !argument.use_empty())
      mapping.map(argument, element(map.getInputs()[n], spot, map.inputAlong(n)));
  cloneOntoLanes(vectors, block, mapping,
                 [&](tile::AtOp at, ArrayRef<Value> indices) { return readElement(at, indices, spot); });
  return mapping.lookupOrDefault(cast<tile::YieldOp>(block.getTerminator()).getValue());
}

/// An element of any tile: whole vectors where the lanes' own number is the index of its lane dimension.
Value TileLowering::readElement(tile::AtOp at, ArrayRef<Value> indices, const Spot &spot) {
  Place place = places.lookup(at.getTile());
  if (place.splat)
    return place.splat;
  auto wide = [&](Value value) -> Value {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return arith::ExtSIOp::create(ir, ir.loc, vectors.type(ir.i64()), value);
    return arith::ExtSIOp::create(ir, ir.loc, ir.i64(), value);
  };
  Value offset = ir.constant(0), scattered, step;
  for (auto [index, stride] : llvm::zip(indices, place.strides)) {
    if (index == laneNumbers && !step) {
      step = stride;
      offset = ir.add(offset, ir.mul(spot.column, stride));
    } else if (isa<VectorType>(index.getType())) {
      Value part = arith::MulIOp::create(ir, ir.loc, wide(index), vectors.widen(stride));
      scattered = scattered ? arith::AddIOp::create(ir, ir.loc, scattered, part).getResult() : part;
    } else {
      offset = ir.add(offset, ir.mul(wide(index), stride));
    }
  }
  Value pointer = ir.address(place.pointer, place.element, offset);
  Value mask = place.scratch ? Value() : spot.mask;
  if (scattered) {
    if (step) {
      Value own = arith::MulIOp::create(ir, ir.loc, vectors.numbers(ir.i64()), vectors.widen(step));
      scattered = arith::AddIOp::create(ir, ir.loc, scattered, own);
    }
    return vectors.gather(place.element, pointer, scattered, mask);
  }
  if (!step)
    return ir.load(place.element, pointer);
  if (Ir::known(step) == 1)
    return vectors.load(place.element, pointer, mask);
  return vectors.loadStrided(place.element, pointer, step, mask);
}

} // namespace attn::cpu
