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
    SmallVector<Value> totals = start;
    Value from = ir.constant(0);
    if (int64_t abreast = spotsAbreast(group.space().lanes)) {
      // Whole vectors side by side, as far as they go.
      Value many = ir.constant(abreast * vectors.lanes), until = ir.mul(ir.div(end, many), many);
      totals = ir.loop(from, until, many, totals, [&](Value column, ValueRange before) {
        SmallVector<Spot> spots;
        for (int64_t n = 0; n < abreast; ++n)
          spots.push_back({row, ir.add(column, ir.constant(n * vectors.lanes)), {}});
        return emitSpots(spots, before);
      });
      from = until;
    }
    totals = ir.loop(from, end, step, totals,
                     [&](Value column, ValueRange before) { return emitSpots(spotAt(row, column), before); });
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
    SmallVector<Value> totals = start;
    Value from = ir.constant(0);
    if (int64_t abreast = spotsAbreast(group.space().rows())) {
      Value many = ir.constant(abreast), until = ir.mul(ir.div(rows, many), many);
      totals = ir.loop(from, until, many, totals, [&](Value row, ValueRange before) {
        SmallVector<Spot> spots;
        for (int64_t n = 0; n < abreast; ++n)
          spots.push_back(spotAt(ir.add(row, ir.constant(n)), column));
        return emitSpots(spots, before);
      });
      from = until;
    }
    totals = ir.loop(from, rows, ir.constant(1), totals,
                     [&](Value row, ValueRange before) { return emitSpots(spotAt(row, column), before); });
    for (auto [reduce, total] : llvm::zip(reductions, totals)) {
      const Place &place = places[reduce.getResult()];
      vectors.store(total, ir.address(place.pointer, place.element, column));
    }
  });
}

/// How many spots are worth emitting side by side along that dimension: where a region has a loop of its own, a quarter
/// of the registers hold what it carries, and what is the same for all of them is read once. Else 0: one by one.
int64_t TileLowering::spotsAbreast(int dimension) {
  bool loops = llvm::any_of(group.operations(), [](Operation *op) {
    auto map = dyn_cast<tile::MapOp>(op);
    return map && !map.block()->getOps<scf::ForOp>().empty();
  });
  int64_t size = group.space().shape[dimension];
  int64_t most = dimension == group.space().lanes ? llvm::divideCeil(size, vectors.lanes) : size;
  int64_t abreast = std::min<int64_t>(machine.registers / 4, most);
  return loops && abreast > 1 ? abreast : 0;
}

/// The group's operations at these spots, in ascending order where it matters.
SmallVector<Value> TileLowering::emitSpots(ArrayRef<Spot> spots, ValueRange totals) {
  current.clear();
  SmallVector<Value> next(totals);
  size_t reduction = 0;
  for (Operation *op : group.operations()) {
    if (auto map = dyn_cast<tile::MapOp>(op)) {
      evaluate(map, spots);
      if (auto place = places.find(map.getResult()); place != places.end())
        for (auto [n, spot] : llvm::enumerate(spots))
          writePlace(vectors, current[map.getResult()][n], place->second, group.space(), spot);
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      Place place{store.getBase(), {}, store.getValue().getType().getElementType(), {}, false};
      for (OpFoldResult stride : store.mixedStrides())
        place.strides.push_back(size(stride));
      for (auto [n, spot] : llvm::enumerate(spots))
        writePlace(vectors, element(store.getValue(), spots, n, -1), place, group.space(), spot);
    } else {
      auto reduce = cast<tile::ReduceOp>(op);
      for (auto [n, spot] : llvm::enumerate(spots)) {
        Value value = vectors.widen(element(reduce.getInput(), spots, n, -1));
        if (spot.mask && !group.reducesDown()) {
          Value none = vectors.widen(vectors.neutral(reduce.getKind(), reduce.getInput().getType().getElementType()));
          value = arith::SelectOp::create(ir, ir.loc, spot.mask, value, none);
        }
        next[reduction] = vectors.combine(reduce.getKind(), next[reduction], value);
      }
      ++reduction;
    }
  }
  return next;
}

Value TileLowering::element(Value tile, ArrayRef<Spot> spots, size_t number, int64_t along) {
  if (auto made = current.find(tile); made != current.end())
    return made->second[number];
  return readPlace(vectors, places.lookup(tile), group.space(), spots[number], along);
}

/// The map's values at the spots, into `current`.
void TileLowering::evaluate(tile::MapOp map, ArrayRef<Spot> spots) {
  Block &block = *map.block();
  SmallVector<IRMapping> mappings(spots.size());
  int64_t rank = map.getType().getRank();
  auto narrow = [&](Value value) { return arith::TruncIOp::create(ir, ir.loc, ir.i32(), value).getResult(); };
  SmallVector<Value> laneNumbers(spots.size());
  for (auto [s, spot] : llvm::enumerate(spots)) {
    for (int64_t d = 0; d < rank; ++d) {
      BlockArgument index = block.getArgument(d);
      if (index.use_empty())
        continue;
      if (d != group.space().lanes) {
        mappings[s].map(index, narrow(spot.row));
        continue;
      }
      Value first = vectors.widen(narrow(spot.column));
      laneNumbers[s] = arith::AddIOp::create(ir, ir.loc, first, vectors.numbers(ir.i32()));
      mappings[s].map(index, laneNumbers[s]);
    }
    for (size_t n = 0; n < map.getInputs().size(); ++n)
      if (BlockArgument argument = block.getArgument(rank + n); !argument.use_empty())
        mappings[s].map(argument, element(map.getInputs()[n], spots, s, map.inputAlong(n)));
  }
  cloneOntoLanes(vectors, block, mappings, [&](tile::AtOp at, ArrayRef<Value> indices, size_t spot) {
    return readElement(at, indices, spots[spot], laneNumbers[spot]);
  });
  SmallVector<Value> values;
  for (IRMapping &mapping : mappings)
    values.push_back(mapping.lookupOrDefault(cast<tile::YieldOp>(block.getTerminator()).getValue()));
  current[map.getResult()] = values;
}

/// An element of any tile: whole vectors where the lanes' own number is the index of its lane dimension.
Value TileLowering::readElement(tile::AtOp at, ArrayRef<Value> indices, const Spot &spot, Value laneNumbers) {
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
