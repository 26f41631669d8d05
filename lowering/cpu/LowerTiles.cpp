// From tiles to loops over hardware vectors: the course through a function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/LowerTiles.h"
#include "lowering/cpu/DotTiles.h"
#include "lowering/cpu/TileLowering.h"
#include "lowering/cpu/Turn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace attn::cpu {

/// A kernel's scratch beyond this does not belong on a thread's stack.
constexpr int64_t scratchLimit = 3 << 20;

TileLowering::TileLowering(FunctionOpInterface function, const Target &target)
    : owner(function), machine(target), choice(function, target.lanes, target.amx),
      ir(function.getLoc(), OpBuilder(function.getContext())), vectors(ir, target.lanes),
      scratch(function, target.lanes, target.amx ? sideOfTile : 1), group(choice) {}

LogicalResult TileLowering::run() {
  for (Block &block : owner.getFunctionBody())
    if (failed(lowerBlock(block)))
      return failure();
  // Dead operations use each other's results and the arguments of dead loops, in no one order.
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  if (scratch.bytes() > scratchLimit) // the function has no place in the text, what it computes has
    return mlir::emitError(owner.getFunctionBody().front().front().getLoc())
           << "rows too wide: a tile of them needs " << scratch.bytes() << " bytes of a thread's stack, more than "
           << scratchLimit;
  return success();
}

LogicalResult TileLowering::lowerBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(lowerOp(&op)))
      return failure();
  return success();
}

static bool holdsTiles(Operation *op) {
  WalkResult walk = op->walk([](Operation *inner) {
    bool tile = isa_and_nonnull<tile::TileDialect>(inner->getDialect()) && !isa<tile::ScaleOp, tile::ExpOp>(inner);
    return tile ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

LogicalResult TileLowering::lowerOp(Operation *op) {
  if (isa<tile::MapOp, tile::ReduceOp, tile::StoreOp>(op)) {
    if (auto store = dyn_cast<tile::StoreOp>(op); store && lowerTurnedStore(store))
      return success();
    if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && lowerOrderedSum(reduce))
      return success();
    if (!group.accepts(op))
      flush(op);
    group.add(op);
    for (Value result : op->getResults())
      homes[result] = op->getBlock();
    return success();
  }
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    lowerLoad(load);
    return success();
  }
  if (auto packed = dyn_cast<tile::PackedOp>(op)) {
    ir.setInsertionPoint(packed);
    places[packed.getResult()] =
        Place{packed.getBase(), {ir.constant(packed.getType().dim(1)), ir.constant(1)}, ir.f32(), {}};
    dead.push_back(op);
    return success();
  }
  if (auto fill = dyn_cast<tile::FillOp>(op)) {
    Place &place = places[fill.getResult()];
    place.splat = fill.getScalar();
    place.element = fill.getScalar().getType();
    dead.push_back(op);
    return success();
  }
  if (auto round = dyn_cast<tile::RoundOp>(op)) {
    lowerRound(round);
    return success();
  }
  if (!isa<tile::DotOp, scf::ForOp, scf::WhileOp>(op) &&
      llvm::any_of(op->getResultTypes(), llvm::IsaPred<tile::TileType>))
    return op->emitError() << "tiles leave `" << op->getName() << "`, only loops may carry them";
  bool quiet = op->getNumRegions() == 0 && !isa<LLVM::StoreOp, LLVM::CallOp, tile::DotOp>(op) &&
               !op->hasTrait<OpTrait::IsTerminator>();
  if (quiet && !group.feeds(op))
    return success();
  flush(op);
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    lowerDot(dot);
    return success();
  }
  auto carries = [](Operation *one) { return llvm::any_of(one->getResultTypes(), llvm::IsaPred<tile::TileType>); };
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && (holdsTiles(op) || carries(op)))
    return lowerLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op); loop && carries(op))
    return lowerWhile(loop);
  if (op->getNumRegions() == 0 || !holdsTiles(op))
    return success();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(lowerBlock(block)))
        return failure();
  return success();
}

void TileLowering::flush(Operation *before) {
  if (group.empty())
    return;
  emitGroup(before);
  llvm::append_range(dead, group.operations());
  group.clear();
}

Value TileLowering::size(OpFoldResult value) {
  if (auto constant = getConstantIntValue(value))
    return ir.constant(*constant);
  return cast<Value>(value);
}

/// Whether a tile of float32 with dimension 0 on the lanes lies in memory with dimension 1 contiguous.
static bool isTurned(const Place &place, int lanes) {
  if (place.strides.size() != 2 || lanes != 0 || !place.element.isF32())
    return false;
  auto lane = Ir::known(place.strides[0]);
  return Ir::known(place.strides[1]) == 1 && !(lane && (*lane == 0 || *lane == 1));
}

void TileLowering::lowerLoad(tile::LoadOp load) {
  ir.setInsertionPoint(load);
  Place place;
  place.pointer = load.getBase();
  place.element = load.getType().getElementType();
  for (OpFoldResult stride : load.mixedStrides())
    place.strides.push_back(size(stride));
  places[load.getResult()] = place;
  dead.push_back(load);
  if (!isTurned(place, choice.lanesOf(load.getResult())))
    return;
  Place turned = scratch.allocate(load.getType(), 0);
  turn(place, turned, 0, load.mixedValid(), aheadOf(load));
  places[load.getResult()] = turned;
  homes[load.getResult()] = load->getBlock();
}

/// A tile that lies on the lanes the other way than in memory goes through scratch whole.
bool TileLowering::lowerTurnedStore(tile::StoreOp store) {
  ir.setInsertionPoint(store);
  Place to;
  to.pointer = store.getBase();
  to.element = store.getValue().getType().getElementType();
  for (OpFoldResult stride : store.mixedStrides())
    to.strides.push_back(size(stride));
  if (!isTurned(to, choice.lanesOf(store.getValue())))
    return false;
  flush(store);
  ir.setInsertionPoint(store);
  Place from = inMemory(store.getValue());
  if (!from.scratch)
    return false;
  turn(from, to, 1, store.mixedValid(), nothingAhead());
  dead.push_back(store);
  return true;
}

/// Copies between a tile in memory, its dimension 1 contiguous, and scratch with dimension 0 contiguous; `lanes` is the
/// contiguous dimension of `to`.
void TileLowering::turn(const Place &from, const Place &to, int lanes, ArrayRef<OpFoldResult> valid,
                        ArrayRef<Value> ahead) {
  auto function = turnFunction(owner->getParentOfType<ModuleOp>(), machine);
  SmallVector<Value> operands{from.pointer,          from.strides[lanes],    to.pointer,
                              to.strides[1 - lanes], size(valid[1 - lanes]), size(valid[lanes])};
  llvm::append_range(operands, ahead);
  LLVM::CallOp::create(ir, ir.loc, function, operands);
}

// ----------------------------------------------------------------------------------------------------- loops over
// tiles

Space TileLowering::whole(Value tile) {
  auto shape = cast<tile::TileType>(tile.getType()).getShape();
  Space space{SmallVector<int64_t, 2>(shape), {}, choice.lanesOf(tile)};
  auto load = tile.getDefiningOp<tile::LoadOp>();
  SmallVector<OpFoldResult> valid = load ? load.mixedValid() : SmallVector<OpFoldResult>();
  for (size_t d = 0; d < shape.size(); ++d)
    space.valid.push_back(load ? valid[d] : OpFoldResult(ir.getI64IntegerAttr(shape[d])));
  return space;
}

/// Where a loop keeps what it carries: where `init` lies, if that is ours and nobody reads it afterwards, else a copy.
Place TileLowering::carry(Value init, Value argument, Operation *loop) {
  Place &given = places[init];
  bool once = llvm::count(loop->getOperands(), init) == 1;
  if (!given.splat && given.scratch && once && choice.lanesOf(init) == choice.lanesOf(argument) &&
      diesBefore(init, loop->getNextNode()))
    return given;
  Place buffer = scratch.allocate(cast<tile::TileType>(init.getType()), choice.lanesOf(argument));
  copy(given, buffer, whole(init));
  return buffer;
}

/// What a turn of a loop ends with goes where its arguments lie. The values that are no tiles are returned.
SmallVector<Value> TileLowering::endTurn(Operation *yield, ValueRange arguments) {
  SmallVector<Value> values;
  SmallVector<std::pair<Value, Value>> moves;
  for (auto [value, argument] : llvm::zip(yield->getOperands(), arguments)) {
    if (!isa<tile::TileType>(value.getType()))
      values.push_back(value);
    else if (!(places[value] == places[argument]))
      moves.emplace_back(value, argument);
  }
  ir.setInsertionPoint(yield);
  // A tile that lies in another's buffer is saved before that buffer is overwritten.
  for (auto &[value, argument] : moves)
    for (auto &[other, target] : moves)
      if (target != argument && places[value] == places[target]) {
        Place saved = scratch.allocate(cast<tile::TileType>(value.getType()), choice.lanesOf(value));
        copy(places[value], saved, whole(value));
        places[value] = saved;
        break;
      }
  for (auto &[value, argument] : moves)
    copy(places[value], places[argument], whole(value));
  dead.push_back(yield);
  return values;
}

/// Uses of a block's arguments that are no tiles go to those of the block that replaces it.
static void replaceNumbers(Block *old, Block *fresh, unsigned first = 0) {
  unsigned next = first;
  for (BlockArgument argument : old->getArguments().drop_front(first))
    if (!isa<tile::TileType>(argument.getType()))
      argument.replaceAllUsesWith(fresh->getArgument(next++));
}

static void replaceNumbers(Operation *old, Operation *fresh) {
  unsigned next = 0;
  for (Value result : old->getResults())
    if (!isa<tile::TileType>(result.getType()))
      result.replaceAllUsesWith(fresh->getResult(next++));
}

/// The loop again without its tiles: each has a buffer that the body reads and writes.
LogicalResult TileLowering::lowerLoop(scf::ForOp loop) {
  ir.setInsertionPoint(loop);
  SmallVector<Value> carried;
  for (auto [init, argument, result] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    if (!isa<tile::TileType>(init.getType())) {
      carried.push_back(init);
      continue;
    }
    Place buffer = carry(init, argument, loop);
    for (Value held : {Value(argument), Value(result)})
      places[held] = buffer;
    homes[result] = loop->getBlock();
  }
  auto fresh =
      scf::ForOp::create(ir, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), carried);
  Block *body = fresh.getBody();
  if (carried.empty())
    body->getTerminator()->erase();
  for (Value argument : loop.getRegionIterArgs())
    homes[argument] = body;
  loop.getInductionVar().replaceAllUsesWith(fresh.getInductionVar());
  replaceNumbers(loop.getBody(), body, 1);
  replaceNumbers(loop, fresh);
  Operation *yield = loop.getBody()->getTerminator();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  if (failed(lowerBlock(*body)))
    return failure();
  SmallVector<Value> values = endTurn(yield, loop.getRegionIterArgs());
  scf::YieldOp::create(ir, yield->getLoc(), values);
  dead.push_back(loop);
  return success();
}

/// The same where the first part only decides whether to go on and hands everything over as it is.
LogicalResult TileLowering::lowerWhile(scf::WhileOp loop) {
  ir.setInsertionPoint(loop);
  Block *decide = loop.getBeforeBody(), *turn = loop.getAfterBody();
  scf::ConditionOp condition = loop.getConditionOp();
  if (!llvm::equal(condition.getArgs(), decide->getArguments()))
    return loop->emitError() << "a loop that carries tiles hands them over as they are";
  SmallVector<Value> carried;
  SmallVector<Type> types;
  for (auto [init, argument, inside, result] :
       llvm::zip(loop.getInits(), decide->getArguments(), turn->getArguments(), loop.getResults())) {
    if (!isa<tile::TileType>(init.getType())) {
      carried.push_back(init);
      types.push_back(init.getType());
      continue;
    }
    Place buffer = carry(init, argument, loop);
    for (Value held : {Value(argument), Value(inside), Value(result)})
      places[held] = buffer;
    homes[result] = loop->getBlock();
  }
  auto fresh = scf::WhileOp::create(ir, loop.getLoc(), types, carried);
  SmallVector<Location> where(types.size(), loop.getLoc());
  Block *newDecide = &fresh.getBefore().emplaceBlock(), *newTurn = &fresh.getAfter().emplaceBlock();
  newDecide->addArguments(types, where);
  newTurn->addArguments(types, where);
  for (Value inside : turn->getArguments())
    homes[inside] = newTurn;
  replaceNumbers(decide, newDecide);
  replaceNumbers(turn, newTurn);
  replaceNumbers(loop, fresh);
  Operation *yield = turn->getTerminator();
  newDecide->getOperations().splice(newDecide->end(), decide->getOperations());
  newTurn->getOperations().splice(newTurn->end(), turn->getOperations());
  ir.setInsertionPoint(condition);
  scf::ConditionOp::create(ir, condition.getLoc(), condition.getCondition(), newDecide->getArguments());
  dead.push_back(condition);
  if (failed(lowerBlock(*newTurn)))
    return failure();
  SmallVector<Value> values = endTurn(yield, turn->getArguments());
  scf::YieldOp::create(ir, yield->getLoc(), values);
  dead.push_back(loop);
  return success();
}

void TileLowering::copy(const Place &from, const Place &to, const Space &space) {
  Value rows = space.shape.size() == 2 ? size(space.valid[space.rows()]) : ir.constant(1);
  Value columns = size(space.valid[space.lanes]);
  auto count = Ir::known(columns);
  bool ragged = !from.scratch && !from.splat && !(count && *count % vectors.lanes == 0);
  ir.loop(rows, [&](Value row) {
    ir.loop(ir.constant(0), columns, ir.constant(vectors.lanes), [&](Value column) {
      Spot spot{row, column, ragged ? vectors.below(ir.sub(columns, column)) : Value()};
      writePlace(vectors, readPlace(vectors, from, space, spot, -1), to, space, spot);
    });
  });
}

// ------------------------------------------------------------------------------------------------------ places of
// values

Place TileLowering::inMemory(Value tile) {
  Place &place = places[tile];
  if (!place.splat)
    return place;
  Place filled = scratch.allocate(cast<tile::TileType>(tile.getType()), choice.lanesOf(tile));
  copy(place, filled, whole(tile));
  return filled;
}

/// Whether every use of the tile comes before `end` in the block where it lives.
bool TileLowering::diesBefore(Value tile, Operation *end) {
  Block *home = homes.lookup(tile);
  if (!home || home != end->getBlock())
    return false;
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    Operation *ancestor = home->findAncestorOpInBlock(*user);
    return ancestor && ancestor->isBeforeInBlock(end);
  });
}

/// A buffer for a result: that of a candidate that dies here, or new.
Place TileLowering::placeFor(Value result, ArrayRef<Value> candidates) {
  for (Value candidate : candidates) {
    auto found = places.find(candidate);
    if (found != places.end() && found->second.scratch && candidate.getType() == result.getType() &&
        choice.lanesOf(candidate) == choice.lanesOf(result))
      return found->second;
  }
  return scratch.allocate(cast<tile::TileType>(result.getType()), choice.lanesOf(result));
}

// ------------------------------------------------------------------------------------------------------------- modules

LogicalResult lowerTiles(ModuleOp module, const Target &target) {
  SmallVector<FunctionOpInterface> functions;
  module.walk([&](FunctionOpInterface function) {
    if (!function.isExternal() && holdsTiles(function))
      functions.push_back(function);
  });
  for (FunctionOpInterface function : functions)
    if (failed(TileLowering(function, target).run()))
      return failure();
  return success();
}

} // namespace attn::cpu
