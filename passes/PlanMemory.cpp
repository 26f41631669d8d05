// The memory plan: where each tensor of a function lies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     %h = attn.linear @up … -> tensor<?x1536xf32> [T, F]
//  ⇒  %h = attn.linear @up … -> tensor<?x1536xf32> [T, F] {attn.memory = [{at = 1536, units = ["T"]}]}
//
// The arena of a call has one part for each class of tensors (passes/Layout.h: uniform, or the sequence dimensions
// whose product counts units); a slot is a distance and a size in bytes a unit, so the plan holds for every batch.
// Slots of tensors that are never alive together overlap. Reshapes and slices that are another view of the same memory
// take none; a result of the export lies in the caller's memory; what a repeat carries from turn to turn stays in one
// place: the first value and the yielded one are written straight into it where nothing else needs it then (else they
// are copied there).
#include "passes/PlanMemory.h"
#include "dialect/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"
#include "passes/Layout.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace attn {
namespace {

/// A piece of memory, from the first to the last operation that needs it (both by their number in program order).
struct Storage {
  enum Kind { Arena, Output, Given, Session } kind = Arena;
  int64_t output = 0;
  bool uniform = false;
  SmallVector<StringRef, 2> units;
  int64_t bytes = 0; // a unit
  int64_t begin = 0, end = 0;
  int64_t at = 0;
  int64_t into = -1; // merged with that one

  std::string key() const { return uniform ? "uniform" : llvm::join(units, ","); }
};

/// What is known of a tensor value: the value whose memory it is, and how it lies there.
struct Place {
  Value root;
  Layout layout;
};

class Planner {
public:
  explicit Planner(func::FuncOp function) : function(function), builder(function.getContext()) {}
  void run();

private:
  void breakSwaps();
  Value copied(OpBuilder &at, Value value, DimsAttr dims);
  void number(Block &block);
  void visit(Block &block);
  void visitResults(Operation *op);
  void visitRepeat(RepeatOp op);
  void visitScan(ScanOp op);
  void shareCarried(Operation *op, ValueRange results, Block::BlockArgListType arguments);
  void use(Value value, Operation *user);
  int64_t fresh(Value root, bool uniform, DimsAttr dims, Storage::Kind kind);
  int64_t storageOf(Value root);
  void merge(int64_t from, int64_t into);
  void joinYielded(RepeatOp op);
  void joinInitial(Operation *op, ValueRange inputs, Block::BlockArgListType arguments);
  bool endsBefore(Value old, Value made);
  void returnInPlace();
  void allocate();
  void annotate(Operation *op);

  func::FuncOp function;
  Builder builder;
  DenseMap<Operation *, int64_t> numbers, ends; // a repeat has an end behind its body
  int64_t next = 0;
  DenseMap<Value, Place> places;
  DenseMap<Value, int64_t> storages; // by root
  DenseMap<Value, int64_t> lastUse;  // by root
  SmallVector<Storage> all;
  SmallVector<std::pair<std::string, int64_t>> parts; // classes, bytes a unit
};

int64_t elementBytes(Type element) {
  return element.isInteger(1) ? 1 : 4;
}

/// Weights and constants lie elsewhere already.
bool isGiven(Operation *op) {
  return isa<ParamOp, arith::ConstantOp>(op) && op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

/// What a session keeps lies in its own memory.
bool isKept(Operation *op) {
  return isa<CacheOp, OnceOp>(op);
}

/// Operations whose blocks are run over and over.
Block *loopBody(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return &repeat.getBody().front();
  if (auto scan = dyn_cast<ScanOp>(op))
    return &scan.getBody().front();
  return nullptr;
}

/// The arguments of such a block that hold what is carried.
Block::BlockArgListType carriedArguments(Operation *op) {
  auto arguments = loopBody(op)->getArguments();
  if (auto scan = dyn_cast<ScanOp>(op))
    return arguments.drop_front(scan.getSources());
  return arguments.drop_front(1); // the turn's number
}

/// How many bytes a slot takes: full cache lines, once the units are rounded as lowering rounds them.
int64_t padded(const Storage &storage, int64_t bytes) {
  bool perSequenceLength = !storage.uniform && !storage.units.empty();
  return llvm::alignTo(bytes, perSequenceLength ? 4 : 64);
}

// ------------------------------------------------------------------------------------------------------- preparation

Value Planner::copied(OpBuilder &at, Value value, DimsAttr dims) {
  auto one = at.getArrayAttr({dims});
  auto map = MapOp::create(at, value.getLoc(), value.getType(), ValueRange{value}, one, one);
  Block *body =
      at.createBlock(&map.getBody(), {}, {cast<RankedTensorType>(value.getType()).getElementType()}, {value.getLoc()});
  at.setInsertionPointToStart(body);
  YieldOp::create(at, value.getLoc(), body->getArguments());
  at.setInsertionPointAfter(map);
  return map.getOutput();
}

/// A loop that yields one carried value as another would overwrite what it still has to copy: it yields a copy
/// instead. What a tap shows is copied if it may be no packed tensor of the batch.
void Planner::breakSwaps() {
  function.walk([&](Operation *op) {
    OpBuilder at(op);
    if (auto tap = dyn_cast<TapOp>(op)) {
      Value shown = tap.getInputs()[0];
      bool rows = !cast<RankedTensorType>(shown.getType()).hasStaticShape();
      Operation *source = shown.getDefiningOp();
      if (source && (!rows || isa<ReshapeOp, SliceOp>(source) || isKept(source))) {
        tap.getInputsMutable()[0].set(copied(at, shown, tap.inDims(0)));
        tap.getInputs()[0].getDefiningOp()->setAttr("attn.batch", builder.getUnitAttr());
      }
      return;
    }
    Operation *loop = op->getParentOp();
    if (!isa<YieldOp>(op) || !loopBody(loop))
      return;
    auto carried = carriedArguments(loop);
    for (OpOperand &yielded : op->getOpOperands()) {
      Value root = yielded.get();
      while (Operation *source = root.getDefiningOp()) {
        if (!isa<ReshapeOp, SliceOp>(source))
          break;
        root = source->getOperand(0);
      }
      auto argument = dyn_cast<BlockArgument>(root);
      size_t place = yielded.getOperandNumber();
      bool same = root == yielded.get() && place < carried.size() && root == carried[place];
      if (!argument || !llvm::is_contained(carried, argument) || same)
        continue;
      ArrayRef<StringAttr> names = cast<DimsAttr>(loop->getAttrOfType<ArrayAttr>("out_dims")[place]).getNames();
      if (place >= carried.size()) // the turns of what is stacked come first
        names = names.drop_front();
      yielded.set(copied(at, yielded.get(), DimsAttr::get(op->getContext(), names)));
    }
  });
}

void Planner::number(Block &block) {
  for (Operation &op : block) {
    numbers[&op] = next++;
    if (Block *body = loopBody(&op))
      number(*body);
    ends[&op] = next++;
  }
}

// ---------------------------------------------------------------------------------------------------------- lifetimes

int64_t Planner::fresh(Value root, bool uniform, DimsAttr dims, Storage::Kind kind) {
  auto type = cast<RankedTensorType>(root.getType());
  Layout layout = kind == Storage::Session ? scatteredLayout(type, dims) : packedLayout(type, dims, uniform);
  places[root] = {root, layout};
  Storage storage;
  storage.kind = kind;
  storage.uniform = layout.uniform;
  storage.units = layout.units;
  storage.bytes = layout.perUnit * elementBytes(type.getElementType());
  Operation *source = root.getDefiningOp();
  storage.begin = storage.end = source ? numbers[source] : 0;
  all.push_back(storage);
  return storages[root] = all.size() - 1;
}

int64_t Planner::storageOf(Value root) {
  int64_t storage = storages.lookup(root);
  while (all[storage].into >= 0)
    storage = all[storage].into;
  return storage;
}

/// A use inside a repeat of what was made outside lasts until the repeat's end.
void Planner::use(Value value, Operation *user) {
  Value root = places.lookup(value).root;
  Block *home = root.getParentBlock();
  int64_t when = numbers[user];
  while (user->getBlock() != home) {
    user = user->getParentOp();
    when = ends[user];
  }
  lastUse[root] = std::max(lastUse.lookup(root), when);
  Storage &storage = all[storages.lookup(root)];
  storage.end = std::max(storage.end, when);
}

void Planner::visitResults(Operation *op) {
  bool uniform = !isa<SessionOp>(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
    return !isa<RankedTensorType>(operand.getType()) || places.lookup(operand).layout.uniform;
  });
  std::optional<Layout> view;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    view = reshapedLayout(places.lookup(op->getOperand(0)).layout, reshape);
  if (auto slice = dyn_cast<SliceOp>(op))
    view = slicedLayout(places.lookup(op->getOperand(0)).layout, slice);
  if (view) {
    places[op->getResult(0)] = {places.lookup(op->getOperand(0)).root, *view};
    return;
  }
  auto dims = op->getAttrOfType<ArrayAttr>("out_dims");
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    fresh(result, uniform && !op->hasAttr("attn.batch"), cast<DimsAttr>(dims[i]),
          isKept(op) ? Storage::Session : Storage::Arena);
}

/// The results of a loop live as long as it runs; what it carries is in the memory of the first ones.
void Planner::shareCarried(Operation *op, ValueRange results, Block::BlockArgListType arguments) {
  auto dims = op->getAttrOfType<ArrayAttr>("out_dims");
  for (auto [i, result] : llvm::enumerate(results)) {
    int64_t storage = fresh(result, false, cast<DimsAttr>(dims[i]), Storage::Arena);
    all[storage].end = ends[op];
    if (i >= arguments.size())
      continue;
    places[arguments[i]] = {arguments[i], places.lookup(result).layout};
    storages[arguments[i]] = storage;
  }
}

void Planner::visitRepeat(RepeatOp op) {
  shareCarried(op, op.getOutputs(), carriedArguments(op));
  visit(op.getBody().front());
}

/// The rows of the turn are copied into memory of their own, so that a sequence that has ended has some too.
void Planner::visitScan(ScanOp op) {
  shareCarried(op, op.getOutputs(), carriedArguments(op));
  for (size_t i = 0; i < op.getSources(); ++i) {
    Value row = op.getBody().front().getArgument(i);
    auto dims = DimsAttr::get(op.getContext(), op.inDims(i).getNames().drop_front());
    Storage &storage = all[fresh(row, false, dims, Storage::Arena)];
    storage.begin = storage.end = numbers[op];
    Storage &source = all[storages.lookup(places.lookup(op.getInputs()[i]).root)];
    source.end = std::max(source.end, ends[op]);
  }
  visit(op.getBody().front());
}

void Planner::visit(Block &block) {
  for (Operation &op : block) {
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        use(operand, &op);
    // what regions capture is used by the operation
    if (!loopBody(&op))
      for (Region &region : op.getRegions())
        region.walk([&](AtOp at) {
          if (places.count(at.getTensor()))
            use(at.getTensor(), &op);
        });
    if (auto repeat = dyn_cast<RepeatOp>(op))
      visitRepeat(repeat);
    else if (auto scan = dyn_cast<ScanOp>(op))
      visitScan(scan);
    else if (isGiven(&op)) {
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      auto none = DimsAttr::get(op.getContext(), SmallVector<StringAttr>(type.getRank()));
      fresh(op.getResult(0), true, none, Storage::Given);
    } else if (op.getNumResults() && isa<RankedTensorType>(op.getResult(0).getType()))
      visitResults(&op);
  }
}

// -------------------------------------------------------------------------------------------------- memory in common

void Planner::merge(int64_t from, int64_t into) {
  all[into].begin = std::min(all[into].begin, all[from].begin);
  all[into].end = std::max(all[into].end, all[from].end);
  all[from].into = into;
}

/// Operations that read element for element what they then write there: input n may lie where the result goes.
static bool worksInPlace(Operation *op, unsigned n) {
  auto dims = op->getAttrOfType<ArrayAttr>("in_dims"), out = op->getAttrOfType<ArrayAttr>("out_dims");
  if (!isa<MapOp, LinearOp, NormaliseOp>(op) || dims[n] != out[0])
    return false;
  return !isa<LinearOp>(op) || n > 0;
}

/// Is nothing of `old` (a carried value of the turn) needed once `made` is being written?
bool Planner::endsBefore(Value old, Value made) {
  Operation *maker = made.getDefiningOp();
  int64_t last = lastUse.lookup(old);
  if (last < numbers[maker])
    return true;
  if (last > numbers[maker] || loopBody(maker))
    return false;
  auto inputs = cast<OperandRange>(maker->getOperands());
  size_t scalars = llvm::count_if(inputs, [](Value v) { return !isa<RankedTensorType>(v.getType()); });
  for (auto [i, operand] : llvm::enumerate(inputs)) {
    if (i < scalars || places.lookup(operand).root != old)
      continue;
    if (operand != old || !worksInPlace(maker, i - scalars))
      return false;
  }
  return true;
}

static bool sameClass(const Storage &a, const Storage &b) {
  return a.uniform == b.uniform && a.units == b.units && a.bytes == b.bytes;
}

/// What a turn yields is written straight into the carried memory.
void Planner::joinYielded(RepeatOp op) {
  Operation *yield = op.getBody().front().getTerminator();
  for (auto [i, argument] : llvm::enumerate(carriedArguments(op))) {
    Value yielded = yield->getOperand(i);
    int64_t carried = storageOf(argument);
    bool makesIt = yielded != argument && places.lookup(yielded).root == yielded &&
                   yielded.getParentBlock() == argument.getOwner() && yielded.getDefiningOp();
    if (!makesIt)
      continue;
    int64_t storage = storageOf(yielded);
    if (storage != carried && all[storage].kind == Storage::Arena && sameClass(all[storage], all[carried]) &&
        llvm::count(yield->getOperands(), yielded) == 1 && endsBefore(argument, yielded))
      merge(storage, carried);
  }
}

/// So is what is carried into the first turn.
void Planner::joinInitial(Operation *op, ValueRange inputs, Block::BlockArgListType arguments) {
  for (auto [initial, argument] : llvm::zip_equal(inputs, arguments)) {
    int64_t carried = storageOf(argument);
    if (places.lookup(initial).root != initial || !initial.getDefiningOp() ||
        llvm::count(op->getOperands(), initial) != 1)
      continue;
    int64_t storage = storageOf(initial);
    bool dies = lastUse.lookup(initial) == numbers[op] && initial.getParentBlock() == op->getBlock();
    if (storage != carried && dies && all[storage].kind == Storage::Arena && sameClass(all[storage], all[carried]))
      merge(storage, carried);
  }
}

void Planner::returnInPlace() {
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    const Place &place = places[value];
    Storage &storage = all[storageOf(place.root)];
    auto rootType = cast<RankedTensorType>(place.root.getType());
    int64_t bytes = place.layout.perUnit * elementBytes(rootType.getElementType());
    if (storage.kind != Storage::Arena || storage.uniform || !place.layout.isPacked() || bytes != storage.bytes)
      continue;
    storage.kind = Storage::Output;
    storage.output = i;
  }
}

// --------------------------------------------------------------------------------------------------------- allocation

/// The biggest first, each at the lowest place that is free for as long as it lives.
void Planner::allocate() {
  llvm::MapVector<StringRef, SmallVector<Storage *>> classes;
  std::vector<std::string> keys;
  keys.reserve(all.size());
  for (Storage &storage : all)
    if (storage.kind == Storage::Arena && storage.into < 0)
      classes[keys.emplace_back(storage.key())].push_back(&storage);
  for (auto &[key, slots] : classes) {
    llvm::sort(slots, [](Storage *a, Storage *b) { return std::tie(b->bytes, a) < std::tie(a->bytes, b); });
    int64_t total = 0;
    for (size_t i = 0; i < slots.size(); ++i) {
      Storage &slot = *slots[i];
      SmallVector<Storage *> busy;
      for (Storage *other : ArrayRef(slots).take_front(i))
        if (other->begin <= slot.end && slot.begin <= other->end)
          busy.push_back(other);
      llvm::sort(busy, [](Storage *a, Storage *b) { return a->at < b->at; });
      slot.at = 0;
      for (Storage *other : busy) {
        if (slot.at + padded(slot, slot.bytes) <= other->at)
          break;
        slot.at = std::max(slot.at, other->at + padded(*other, other->bytes));
      }
      total = std::max(total, slot.at + padded(slot, slot.bytes));
    }
    parts.push_back({key.str(), total});
  }
}

static DictionaryAttr describe(Builder &builder, const Storage &storage, StringRef size, int64_t number) {
  SmallVector<NamedAttribute> entries{builder.getNamedAttr(size, builder.getI64IntegerAttr(number))};
  if (storage.uniform)
    entries.push_back(builder.getNamedAttr("uniform", builder.getUnitAttr()));
  else
    entries.push_back(builder.getNamedAttr("units", builder.getStrArrayAttr(storage.units)));
  return builder.getDictionaryAttr(entries);
}

void Planner::annotate(Operation *op) {
  SmallVector<Attribute> memory;
  for (Value result : op->getResults()) {
    auto place = places.find(result);
    if (place == places.end() || isGiven(op))
      return;
    const Storage &storage = all[storageOf(place->second.root)];
    if (place->second.root != result)
      memory.push_back(builder.getDictionaryAttr(builder.getNamedAttr("view", builder.getUnitAttr())));
    else if (storage.kind == Storage::Session)
      memory.push_back(builder.getDictionaryAttr(builder.getNamedAttr("session", builder.getUnitAttr())));
    else if (storage.kind == Storage::Output)
      memory.push_back(
          builder.getDictionaryAttr(builder.getNamedAttr("output", builder.getI64IntegerAttr(storage.output))));
    else
      memory.push_back(describe(builder, storage, "at", storage.at));
  }
  if (!memory.empty())
    op->setAttr("attn.memory", builder.getArrayAttr(memory));
  auto scan = dyn_cast<ScanOp>(op);
  if (!scan)
    return;
  SmallVector<Attribute> rows;
  for (Value row : scan.getBody().front().getArguments().take_front(scan.getSources())) {
    const Storage &storage = all[storageOf(row)];
    rows.push_back(describe(builder, storage, "at", storage.at));
  }
  op->setAttr("attn.rows", builder.getArrayAttr(rows));
}

void Planner::run() {
  breakSwaps();
  Block &block = function.getBody().front();
  number(block);
  for (BlockArgument argument : function.getArguments())
    fresh(argument, false, function.getArgAttrOfType<DimsAttr>(argument.getArgNumber(), "attn.dims"), Storage::Given);
  visit(block);
  function.walk<WalkOrder::PostOrder>([&](RepeatOp op) {
    joinYielded(op);
    joinInitial(op, op.getInputs(), carriedArguments(op));
  });
  function.walk<WalkOrder::PostOrder>([&](ScanOp op) { joinInitial(op, op.carried(), carriedArguments(op)); });
  returnInPlace();
  allocate();
  function.walk([&](Operation *op) { annotate(op); });
  SmallVector<Attribute> arena;
  for (auto &[key, bytes] : parts) {
    const Storage *sample = llvm::find_if(all, [&](const Storage &storage) {
      return storage.kind == Storage::Arena && storage.into < 0 && storage.key() == key;
    });
    arena.push_back(describe(builder, *sample, "bytes", bytes));
  }
  function->setAttr("attn.arena", builder.getArrayAttr(arena));
}

/// A dimension that is known to have no places: there is nothing to compute, and tiles have none of that size.
bool hasNoPlaces(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

/// Tensors come from this dialect's operations and from constants, and hold numbers.
LogicalResult checkOperations(func::FuncOp function) {
  if (llvm::any_of(function.getArgumentTypes(), hasNoPlaces))
    return function.emitError() << "`" << function.getName() << "` has a parameter with a dimension of size 0";
  WalkResult checked = function.walk([&](Operation *op) -> WalkResult {
    if (llvm::any_of(op->getResultTypes(), hasNoPlaces))
      return op->emitError() << "`" << function.getName() << "` computes a tensor with a dimension of size 0";
    bool tensors = llvm::any_of(op->getResultTypes(), [](Type type) { return isa<TensorType>(type); });
    if (!tensors || isGiven(op) || op->hasAttr("out_dims"))
      return WalkResult::advance();
    return op->emitOpError("makes a tensor and cannot be lowered");
  });
  return failure(checked.wasInterrupted());
}

struct PlanMemory : PassWrapper<PlanMemory, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanMemory)
  StringRef getArgument() const override { return "attn-plan-memory"; }
  StringRef getDescription() const override { return "say where each tensor lies"; }
  void runOnOperation() override {
    if (!getOperation()->hasAttr("attn.export"))
      return;
    if (failed(checkOperations(getOperation())))
      return signalPassFailure();
    Planner(getOperation()).run();
  }
};

} // namespace

std::unique_ptr<Pass> createPlanMemoryPass() {
  return std::make_unique<PlanMemory>();
}

} // namespace attn
