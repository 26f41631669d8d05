// Which dimension of each tile lies on the lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/Lanes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace attn::cpu {

bool isPanel(Value value, int64_t lanes) {
  if (auto packed = value.getDefiningOp<tile::PackedOp>())
    return packed.getType().dim(1) % lanes == 0;
  auto load = value.getDefiningOp<tile::LoadOp>();
  if (!load || load.getType().getRank() != 2)
    return false;
  auto stride = getConstantIntValue(load.mixedStrides()[1]), columns = getConstantIntValue(load.mixedValid()[1]);
  return stride && *stride == 1 && columns && *columns == load.getType().dim(1) && *columns % lanes == 0;
}

LaneChoice::LaneChoice(Operation *function, int64_t lanes, bool tiles) : byTiles(tiles) {
  function->walk([&](Operation *op) {
    if (auto map = dyn_cast<tile::MapOp>(op))
      uniteMap(map);
    else if (auto round = dyn_cast<tile::RoundOp>(op))
      uniteRound(round);
    else if (auto dot = dyn_cast<tile::DotOp>(op); dot && dot.getAcc())
      unite(dot.getAcc(), dot.getResult());
    else
      uniteLoops(op);
  });
  function->walk<WalkOrder::PreOrder>([&](tile::DotOp dot) { decide(dot, lanes); });
  function->walk([&](tile::MapOp map) { decideReads(map); });
}

void LaneChoice::unite(Value a, Value b) {
  auto type = dyn_cast<tile::TileType>(a.getType());
  if (type && type.getRank() == 2 && a.getType() == b.getType())
    classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
}

/// What is computed is rounded as it lies; what is loaded is turned, if at all, when it is half as large.
void LaneChoice::uniteRound(tile::RoundOp round) {
  if (!round.getInput().getDefiningOp<tile::LoadOp>())
    classes.unionSets(round.getInput().getAsOpaquePointer(), round.getResult().getAsOpaquePointer());
}

void LaneChoice::uniteLoops(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Operation *yield = loop.getBody()->getTerminator();
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      for (Value other : {loop.getInitArgs()[i], yield->getOperand(i), Value(loop.getResult(i))})
        unite(loop.getRegionIterArg(i), other);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    Operation *yield = loop.getAfterBody()->getTerminator();
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      for (Value other :
           {loop.getInits()[i], Value(loop.getBeforeArguments()[i]), yield->getOperand(i), Value(loop.getResult(i))})
        unite(loop.getAfterArguments()[i], other);
  }
}

/// Tiles of any shape that a region reads at its own first index lie as the result does.
static bool readsRowOf(tile::AtOp at, tile::MapOp map) {
  return at.getIndices().size() == 2 && at.getIndices()[0] == map.block()->getArgument(0);
}

void LaneChoice::uniteMap(tile::MapOp map) {
  for (size_t n = 0; n < map.getInputs().size(); ++n)
    if (map.inputAlong(n) < 0)
      unite(map.getInputs()[n], map.getResult());
  map.getBody().walk([&](tile::AtOp at) {
    if (map.getType().getRank() == 2 && readsRowOf(at, map))
      classes.unionSets(at.getTile().getAsOpaquePointer(), map.getResult().getAsOpaquePointer());
  });
}

std::optional<int> LaneChoice::chosen(Value tile) const {
  void *key = tile.getAsOpaquePointer();
  auto leader = classes.findLeader(key);
  auto found = choice.find(leader == classes.member_end() ? key : *leader);
  if (found == choice.end())
    return std::nullopt;
  return found->second;
}

void LaneChoice::choose(Value tile, int dimension) {
  void *key = tile.getAsOpaquePointer();
  auto leader = classes.findLeader(key);
  choice.try_emplace(leader == classes.member_end() ? key : *leader, dimension);
}

void LaneChoice::decide(tile::DotOp dot, int64_t lanes) {
  std::optional<int> wanted = chosen(dot.getResult());
  bool few = dot.getFew() && !(byTiles && dot.getA().getType().getElementType().isBF16());
  if (!wanted && (few || (dot.getForm() == tile::Form::kn && isPanel(dot.getB(), lanes))))
    wanted = 1;
  if (!wanted)
    wanted = chosen(dot.getA());
  if (!wanted) {
    bool computed = !dot.getA().getDefiningOp<tile::LoadOp>();
    wanted = dot.getForm() == tile::Form::nk || computed ? 0 : 1;
  }
  choose(dot.getResult(), *wanted);
  if (*wanted == 0)
    choose(dot.getA(), 0);
  else
    choose(dot.getB(), dot.getForm() == tile::Form::kn ? 1 : 0);
}

/// A tile that a region reads at the index that lies on the lanes has its own first dimension there.
void LaneChoice::decideReads(tile::MapOp map) {
  if (map.getType().getRank() != 2 || lanesOf(map.getResult()) != 1)
    return;
  map.getBody().walk([&](tile::AtOp at) {
    if (at.getIndices().size() == 2 && at.getIndices()[0] == map.block()->getArgument(1) && !chosen(at.getTile()))
      choose(at.getTile(), 0);
  });
}

int LaneChoice::lanesOf(Value tile) const {
  if (cast<tile::TileType>(tile.getType()).getRank() == 1)
    return 0;
  return chosen(tile).value_or(1);
}

} // namespace attn::cpu
