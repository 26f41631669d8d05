// The entry function of one export: arena, tables, operations in order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     entry: numbers of units; bytes = tables + sum over classes of bytes a unit * units
//            if (!call->arena) { call->arena_bytes = bytes; return 0; }
//     main:  tables of units and of blocks, pointers into the arena; then launch after launch; return 0
//
// Tables and pointers are made when an operation first asks for them, but written in front of all operations, so that
// they are there everywhere, loops included.
#include "lowering/Emitter.h"
#include "dialect/Exports.h"
#include "lowering/Program.h"
#include "lowering/attend/Strategy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace attn {

Emitter::Emitter(Program &program, func::FuncOp source)
    : program(program), target(program.target), entry(source.getLoc(), OpBuilder(source.getContext())), source(source),
      sizes(entry), prologue(entry) {
  for (Attribute name : source->getAttrOfType<ArrayAttr>("attn.sequences"))
    sequenceNames.push_back(cast<StringAttr>(name).getValue());
  if (auto name = source->getAttrOfType<StringAttr>("attn.cached"))
    cached = name.getValue();
  keptNames = keptSequences(source);
}

LogicalResult Emitter::run() {
  beginEntry();
  bindParameters();
  if (failed(lowerBlock(source.getBody().front())))
    return failure();
  endEntry();
  return success();
}

Value Emitter::field(size_t offset, Type type, Ir &ir) {
  Value at = LLVM::GEPOp::create(ir, ir.loc, ir.ptr(), ir.i8(), call, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::LoadOp::create(ir, ir.loc, type, at);
}

/// Element `index` of one of the call's arrays of pointers.
Value Emitter::caller(size_t offset, int64_t index) {
  Value &known = pointers[("call " + Twine(offset) + " " + Twine(index)).str()];
  if (!known)
    known = prologue.load(prologue.ptr(), field(offset, prologue.ptr(), prologue), prologue.constant(index));
  return known;
}

void Emitter::beginEntry() {
  auto type = LLVM::LLVMFunctionType::get(entry.i32(), {entry.ptr()});
  function = program.function(source.getLoc(), ("attn_entry_" + source.getName()).str(), type);
  Block *first = function.addEntryBlock(entry);
  call = first->getArgument(0);
  Block *asked = entry.createBlock(&function.getBody(), function.getBody().end());
  Block *main = entry.createBlock(&function.getBody(), function.getBody().end());
  entry.setInsertionPointToEnd(first);
  tableCount = entry.constant(0).getDefiningOp();
  sizes.setInsertionPoint(tableCount);
  Value n = sequences();
  Value tableSize = entry.add(entry.mul(n, entry.constant(8)), entry.constant(8 + 63));
  tableBytes = entry.mul(entry.div(tableSize, entry.constant(64)), entry.constant(64));
  layOutArena();
  Value bytes = regions["end"].first;
  Value null = LLVM::ZeroOp::create(entry, entry.loc, entry.ptr());
  Value none = LLVM::ICmpOp::create(entry, entry.loc, LLVM::ICmpPredicate::eq, arena, null);
  LLVM::CondBrOp::create(entry, entry.loc, none, asked, main);

  entry.setInsertionPointToEnd(asked);
  Value place = LLVM::GEPOp::create(entry, entry.loc, entry.ptr(), entry.i8(), call,
                                    ArrayRef<LLVM::GEPArg>{int32_t(offsetof(attn_call, arena_bytes))});
  entry.store(bytes, place);
  LLVM::ReturnOp::create(entry, entry.loc, entry.constant32(0));

  entry.setInsertionPointToEnd(main);
  prologue.setInsertionPoint(LLVM::ReturnOp::create(entry, entry.loc, entry.constant32(0)));
  Operation *marker = prologue.constant(0).getDefiningOp(); // everything in front of it is the prologue
  prologue.setInsertionPoint(marker);
  entry.setInsertionPoint(main->getTerminator());
}

static std::string classKey(DictionaryAttr memory) {
  if (memory.contains("uniform"))
    return "uniform";
  std::string key;
  for (Attribute unit : memory.getAs<ArrayAttr>("units"))
    key += cast<StringAttr>(unit).str() + ",";
  return key;
}

/// Where each class of slots begins (in bytes) and how many units it has.
void Emitter::layOutArena() {
  arena = field(offsetof(attn_call, arena), entry.ptr(), entry);
  // The count is patched when all tables are known, so this must not fold.
  Value at = arith::MulIOp::create(entry, entry.loc, tableCount->getResult(0), tableBytes);
  for (Attribute attribute : source->getAttrOfType<ArrayAttr>("attn.arena")) {
    auto part = cast<DictionaryAttr>(attribute);
    Value units = entry.constant(1);
    if (!part.contains("uniform")) {
      SmallVector<StringRef> names;
      for (Attribute unit : part.getAs<ArrayAttr>("units"))
        names.push_back(cast<StringAttr>(unit).getValue());
      units = total(names);
      if (!names.empty())
        units = entry.mul(entry.ceilDiv(units, entry.constant(16)), entry.constant(16));
    }
    regions[classKey(part)] = {at, units};
    at = entry.add(at, entry.mul(units, entry.constant(part.getAs<IntegerAttr>("bytes").getInt())));
  }
  regions["scratch"] = {at, Value()};
  regions["end"] = {entry.add(at, scratchBytes()), Value()};
}

/// How many threads the call has, i64.
Value Emitter::threads() {
  auto type = LLVM::LLVMFunctionType::get(entry.i64(), {entry.ptr()});
  return LLVM::CallOp::create(entry, entry.loc, program.runtime("attn_rt_threads", type), ValueRange{call}).getResult();
}

/// Whether the call splits the attention (lowering/attend/Strategy.h): where each sequence has one query, and unless it
/// was asked for, where keys are many and threads would idle for a quarter of the time.
Value Emitter::decideSplit(AttendOp op) {
  constexpr int64_t fewestKeys = 512;
  Strategy strategy = chooseStrategy(op, target, program.options);
  auto both = [&](Value a, Value b) { return arith::AndIOp::create(entry, entry.loc, a, b).getResult(); };
  Value yes = arith::ConstantOp::create(entry, entry.loc, entry.getBoolAttr(true));
  if (cast<RankedTensorType>(op.query().getType()).isDynamicDim(0))
    yes = entry.less(longest(entry, op.inDims(0).sequence(0)), entry.constant(2));
  if (strategy.always)
    return yes;
  Value tasks = entry.mul(sequences(), entry.constant(strategy.tasks)), all = threads();
  Value rounds = entry.ceilDiv(tasks, all), used = entry.mul(tasks, entry.constant(4));
  Value idle = entry.less(used, entry.mul(entry.mul(rounds, all), entry.constant(3)));
  Value few = entry.mul(sequences(), entry.constant(fewestKeys));
  return both(yes, both(idle, entry.less(few, total(op.inDims(1).sequence(0)))));
}

/// Of the scores of the largest attention that this call splits.
Value Emitter::scratchBytes() {
  Value most = entry.constant(0);
  source->walk([&](AttendOp op) {
    Strategy strategy = chooseStrategy(op, target, program.options);
    if (!strategy.splits)
      return;
    Value split = splitting[op] = decideSplit(op);
    Value bytes = entry.mul(total(op.inDims(1).sequence(0)), entry.constant(strategy.heads * 4));
    most = entry.max(most, arith::SelectOp::create(entry, entry.loc, split, bytes, entry.constant(0)));
  });
  return most;
}

Value Emitter::scratch() {
  Value &known = pointers["scratch"];
  return known ? known : known = prologue.address(arena, prologue.i8(), regions["scratch"].first);
}

Value Emitter::slotPointer(DictionaryAttr memory) {
  if (auto output = memory.getAs<IntegerAttr>("output"))
    return caller(offsetof(attn_call, outputs), output.getInt());
  std::string key = classKey(memory);
  int64_t at = memory.getAs<IntegerAttr>("at").getInt();
  Value &known = pointers["slot " + key + Twine(at).str()];
  if (!known) {
    auto [begin, units] = regions[key];
    Value byte = prologue.add(begin, prologue.mul(units, prologue.constant(at)));
    known = prologue.address(arena, prologue.i8(), byte);
  }
  return known;
}

void Emitter::endEntry() {
  tableCount->setAttr("value", entry.getI64IntegerAttr(tablesMade));
}

// ---------------------------------------------------------------------------------------------------- tables and sizes

Value Emitter::sequences() {
  Value &known = pointers["n"];
  if (!known)
    known = field(offsetof(attn_call, sequences), sizes.i64(), sizes);
  return known;
}

Value Emitter::perCall(size_t offset) {
  Value &known = pointers[("field " + Twine(offset)).str()];
  if (!known)
    known = field(offset, sizes.ptr(), sizes);
  return known;
}

Value Emitter::past() {
  return perCall(offsetof(attn_call, past));
}

Value Emitter::capacity() {
  return perCall(offsetof(attn_call, capacity));
}

/// The number of a sequence dimension that a `once` keeps rows of, among those of the function.
int64_t Emitter::keptPlace(StringRef sequence) {
  return llvm::find(keptNames, sequence) - keptNames.begin();
}

/// Makes what `length` looks at, for loops in which it is called.
void Emitter::prepareLength(StringRef sequence) {
  StringRef base = cachedSequence(sequence);
  if (!keptSequence(sequence).empty())
    perCall(offsetof(attn_call, kept));
  else
    table(base.empty() ? sequence : base);
  if (!base.empty())
    past();
}

/// How long sequence `s` is along a dimension, derived ones included.
Value Emitter::length(Ir &ir, StringRef sequence, Value s) {
  if (StringRef kept = keptSequence(sequence); !kept.empty()) {
    Value rows = ir.load(ir.ptr(), perCall(offsetof(attn_call, kept)), ir.constant(keptPlace(kept)));
    return ir.load(ir.i64(), rows, s);
  }
  StringRef base = cachedSequence(sequence);
  Value offsets = table(base.empty() ? sequence : base);
  Value rows = ir.sub(ir.load(ir.i64(), offsets, ir.add(s, ir.constant(1))), ir.load(ir.i64(), offsets, s));
  return base.empty() ? rows : ir.add(rows, ir.load(ir.i64(), past(), s));
}

/// The most rows that a sequence has along a dimension.
Value Emitter::longest(StringRef sequence) {
  Value &known = pointers[("longest " + sequence).str()];
  return known ? known : known = longest(prologue, sequence);
}

Value Emitter::longest(Ir &ir, StringRef sequence) {
  prepareLength(sequence);
  auto body = [&](Value s, ValueRange most) { return SmallVector<Value>{ir.max(most[0], length(ir, sequence, s))}; };
  return ir.loop(ir.constant(0), sequences(), ir.constant(1), ir.constant(0), body)[0];
}

/// A sequence dimension whose lengths follow from the session, not from offsets of the caller.
static bool isDerived(StringRef sequence) {
  return !cachedSequence(sequence).empty() || !keptSequence(sequence).empty();
}

/// Sums the products of lengths over the sequences; writes the running sums if there is a table.
Value Emitter::sumUnits(Ir &ir, ArrayRef<StringRef> units, Value table) {
  if (table)
    ir.store(ir.constant(0), table);
  for (StringRef unit : units)
    prepareLength(unit);
  auto body = [&](Value s, ValueRange sum) {
    Value product = ir.constant(1);
    for (StringRef unit : units)
      product = ir.mul(product, length(ir, unit, s));
    Value grown = ir.add(sum[0], product);
    if (table)
      ir.store(grown, table, ir.add(s, ir.constant(1)));
    return SmallVector<Value>{grown};
  };
  return ir.loop(ir.constant(0), sequences(), ir.constant(1), ir.constant(0), body)[0];
}

/// Room in the arena for one more int64[n + 1].
Value Emitter::tablePlace() {
  return prologue.address(arena, prologue.i8(), prologue.mul(tableBytes, prologue.constant(tablesMade++)));
}

Value Emitter::table(ArrayRef<StringRef> units) {
  if (units.empty())
    return nullptr;
  std::string key = llvm::join(units, ",");
  if (Value known = tables[key].pointer)
    return known;
  Value made;
  if (units.size() == 1 && !isDerived(units[0])) {
    size_t index = llvm::find(sequenceNames, units[0]) - sequenceNames.begin();
    made = sizes.load(sizes.ptr(), field(offsetof(attn_call, offsets), sizes.ptr(), sizes), sizes.constant(index));
  } else {
    made = tablePlace();
    sumUnits(prologue, units, made);
  }
  return tables[key].pointer = made;
}

Value Emitter::total(ArrayRef<StringRef> units) {
  if (units.empty())
    return sequences();
  std::string key = llvm::join(units, ",");
  if (Value known = tables[key].total)
    return known;
  bool given = units.size() == 1 && !isDerived(units[0]);
  Value made = given ? sizes.load(sizes.i64(), table(units), sequences()) : sumUnits(sizes, units, nullptr);
  return tables[key].total = made;
}

Value Emitter::blockTable(StringRef sequence, int64_t size) {
  Value &known = pointers[("blocks of " + Twine(size) + " " + sequence).str()];
  if (known)
    return known;
  Ir &ir = prologue;
  Value made = tablePlace();
  ir.store(ir.constant(0), made);
  prepareLength(sequence);
  auto body = [&](Value s, ValueRange sum) {
    Value grown = ir.add(sum[0], ir.ceilDiv(length(ir, sequence, s), ir.constant(size)));
    ir.store(grown, made, ir.add(s, ir.constant(1)));
    return SmallVector<Value>{grown};
  };
  tables[("blocks of " + Twine(size) + " " + sequence).str()].total =
      ir.loop(ir.constant(0), sequences(), ir.constant(1), ir.constant(0), body)[0];
  return pointers[("blocks of " + Twine(size) + " " + sequence).str()] = made;
}

Value Emitter::blockTotal(StringRef sequence, int64_t size) {
  blockTable(sequence, size);
  return tables[("blocks of " + Twine(size) + " " + sequence).str()].total;
}

Value Emitter::argumentBlock(size_t count) {
  Value &known = pointers["arguments"];
  OpBuilder::InsertionGuard guard(sizes);
  sizes.setInsertionPointToStart(&function.getBody().front());
  if (!known)
    known = LLVM::AllocaOp::create(sizes, sizes.loc, sizes.ptr(), sizes.i64(), sizes.constant(16), 64);
  Operation *size = known.getDefiningOp()->getOperand(0).getDefiningOp();
  if (size_t(*Ir::known(size->getResult(0))) < count)
    size->setAttr("value", sizes.getI64IntegerAttr(count));
  return known;
}

// -------------------------------------------------------------------------------------------------- values and weights

View Emitter::named(View view, DimsAttr dims) {
  view.names.clear();
  for (size_t i = 0; i < dims.size(); ++i)
    view.names.push_back(dims.dim(i));
  return view;
}

View Emitter::find(Value tensor) {
  auto known = views.find(tensor);
  assert(known != views.end() && "a tensor is used before it is placed");
  return known->second;
}

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

void Emitter::bindParameters() {
  for (BlockArgument argument : source.getArguments()) {
    int64_t i = argument.getArgNumber();
    auto dims = source.getArgAttrOfType<DimsAttr>(i, "attn.dims");
    auto layout = packedLayout(cast<RankedTensorType>(argument.getType()), dims, false);
    views[argument] = named({caller(offsetof(attn_call, inputs), i), elementOf(argument), layout, {}}, dims);
  }
}

WeightOp Emitter::weightOp(StringRef symbol) {
  return cast<WeightOp>(SymbolTable::lookupNearestSymbolFrom(source, StringAttr::get(source.getContext(), symbol)));
}

Value Emitter::weight(StringRef symbol, ValueRange turns, WeightForm form) {
  WeightOp op = weightOp(symbol);
  int64_t first = program.slot(op, form == Packed);
  if (turns.empty())
    return caller(offsetof(attn_call, weights), first);
  Value all = perCall(offsetof(attn_call, weights));
  return entry.load(entry.ptr(), all, slotNumber(first, turns, op.getTurns()));
}

/// The slot of a symbol in the current turns; its first one is given.
Value Emitter::slotNumber(int64_t first, ValueRange turns, ArrayRef<int64_t> counts) {
  Value slot = entry.constant(0);
  for (auto [turn, count] : llvm::zip_equal(turns, counts)) {
    Value number = arith::ExtSIOp::create(entry, entry.loc, entry.i64(), scalar(turn));
    slot = entry.add(entry.mul(slot, entry.constant(count)), number);
  }
  return entry.add(slot, entry.constant(first));
}

/// The place that a cache or once names.
StateOp Emitter::stateOf(Operation *op) {
  auto symbol = op->getAttrOfType<FlatSymbolRefAttr>("state");
  return cast<StateOp>(SymbolTable::lookupNearestSymbolFrom(source, symbol));
}

/// Where its rows are: a pointer to one pointer a sequence.
Value Emitter::state(Operation *op) {
  StateOp place = stateOf(op);
  auto turns = isa<CacheOp>(op) ? cast<CacheOp>(op).getTurns() : cast<OnceOp>(op).getTurns();
  int64_t first = program.slot(place);
  if (turns.empty())
    return caller(offsetof(attn_call, state), first);
  return entry.load(entry.ptr(), perCall(offsetof(attn_call, state)), slotNumber(first, turns, place.getTurns()));
}

Value Emitter::scalar(Value number) {
  return scalars.lookup(number);
}

// ---------------------------------------------------------------------------------------------------------- operations

/// Says where the results of an operation lie, as the memory plan has it.
void Emitter::place(Operation *op) {
  auto memory = op->getAttrOfType<ArrayAttr>("attn.memory");
  assert(memory && memory.size() == op->getNumResults() && "the plan knows every operation");
  auto dims = op->getAttrOfType<ArrayAttr>("out_dims");
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto names = cast<DimsAttr>(dims[i]);
    auto slot = cast<DictionaryAttr>(memory[i]);
    if (slot.contains("view")) {
      View view = find(op->getOperand(0));
      if (auto reshape = dyn_cast<ReshapeOp>(op))
        view.layout = *reshapedLayout(view.layout, reshape);
      else
        view.layout = *slicedLayout(view.layout, cast<SliceOp>(op));
      views[result] = named(view, names);
      continue;
    }
    if (slot.contains("session")) {
      auto layout = scatteredLayout(cast<RankedTensorType>(result.getType()), names);
      Type element = program.keepsRounded(stateOf(op)) ? entry.getBF16Type() : elementOf(result);
      views[result] = named({state(op), element, layout, {}}, names);
      continue;
    }
    auto layout = packedLayout(cast<RankedTensorType>(result.getType()), names, slot.contains("uniform"));
    views[result] = named({slotPointer(slot), elementOf(result), layout, {}}, names);
  }
}

LogicalResult Emitter::lowerBlock(Block &block) {
  for (Operation &op : block) {
    entry.loc = op.getLoc();
    if (failed(lower(&op)))
      return failure();
  }
  return success();
}

static bool isView(Operation *op) {
  auto memory = op->getAttrOfType<ArrayAttr>("attn.memory");
  return memory && memory.size() == 1 && cast<DictionaryAttr>(memory[0]).contains("view");
}

/// Weights and constants: the memory is there.
bool Emitter::bindGiven(Operation *op) {
  if (op->getNumResults() != 1 || !isa<ParamOp, arith::ConstantOp>(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return false;
  Value pointer;
  if (auto param = dyn_cast<ParamOp>(op))
    pointer = weight(param.getWeight(), param.getTurns(), Plain);
  else
    pointer = LLVM::AddressOfOp::create(
        entry, entry.loc, program.constant(cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue())));
  auto layout = packedLayout(type, DimsAttr::get(op->getContext(), SmallVector<StringAttr>(type.getRank())), true);
  views[op->getResult(0)] = {pointer, type.getElementType(), layout, {}};
  return true;
}

LogicalResult Emitter::lower(Operation *op) {
  if (bindGiven(op))
    return success();
  if (isa<arith::ArithDialect>(op->getDialect())) {
    entry.clone(*op, scalars);
    return success();
  }
  if (auto tap = dyn_cast<TapOp>(op))
    return lowerTap(tap);
  if (isa<func::ReturnOp>(op))
    return lowerReturn(op);
  if (isa<YieldOp>(op))
    return success();
  place(op);
  if (isView(op))
    return success();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RepeatOp o) { return lowerRepeat(o); })
      .Case([&](ScanOp o) { return lowerScan(o); })
      .Case([&](SessionOp o) { return lowerSession(*this, o); })
      .Case([&](CacheOp o) { return lowerCache(*this, o); })
      .Case([&](OnceOp o) { return lowerOnce(*this, o); })
      .Case([&](LinearOp o) { return lowerLinear(*this, o); })
      .Case([&](AttendOp o) { return lowerAttend(*this, o); })
      .Case([&](MapOp o) { return lowerMap(*this, o); })
      .Case([&](PosOp o) { return lowerPos(*this, o); })
      .Case([&](ReduceOp o) { return lowerReduce(*this, o); })
      .Case([&](SoftmaxOp o) { return lowerSoftmax(*this, o); })
      .Case([&](NormaliseOp o) { return lowerNormalise(*this, o); })
      .Case([&](ContractOp o) { return lowerContract(*this, o); })
      .Case([&](GatherOp o) { return lowerGather(*this, o); })
      .Case([&](ReshapeOp o) { return lowerReshape(*this, o); })
      .Case([&](SliceOp o) { return lowerSlice(*this, o); })
      .Case([&](ConcatOp o) { return lowerConcat(*this, o); })
      .Case([&](PatchesOp o) { return lowerPatches(*this, o); })
      .Default([](Operation *) -> LogicalResult { llvm_unreachable("the plan refuses other operations"); });
}

static bool sameMemory(const View &a, const View &b) {
  return a.base == b.base && a.layout.perUnit == b.layout.perUnit && a.layout.isPacked() && b.layout.isPacked();
}

LogicalResult Emitter::lowerReturn(Operation *op) {
  for (auto [i, value] : llvm::enumerate(op->getOperands())) {
    auto dims = source.getResultAttrOfType<DimsAttr>(i, "attn.dims");
    auto layout = packedLayout(cast<RankedTensorType>(value.getType()), dims, false);
    View to = named({caller(offsetof(attn_call, outputs), i), elementOf(value), layout, {}}, dims);
    View from = named(find(value), dims);
    if (!sameMemory(from, to))
      lowerCopy(*this, from, to);
  }
  return success();
}

/// A copy to where a result lies, if it is not there.
void Emitter::moveInto(View from, Value to) {
  from.names = find(to).names;
  if (!sameMemory(from, find(to)))
    lowerCopy(*this, from, find(to));
}

/// One place, known at run time, of the first dimension of a view.
static View placeOfFirst(View view, Value place) {
  view.place = place;
  view.placeStride = view.layout.dims.front().stride;
  view.layout.dims.erase(view.layout.dims.begin());
  view.names.erase(view.names.begin());
  return view;
}

LogicalResult Emitter::lowerRepeat(RepeatOp op) {
  size_t carried = op.getInputs().size();
  for (size_t i = 0; i < carried; ++i)
    moveInto(find(op.getInputs()[i]), op->getResult(i));
  auto loop = scf::ForOp::create(entry, entry.loc, entry.constant(op.getLower()), entry.constant(op.getUpper()),
                                 entry.constant(1));
  entry.setInsertionPoint(loop.getBody()->getTerminator());
  Block &body = op.getBody().front();
  Value turn = loop.getInductionVar();
  scalars.map(op.turn(), arith::TruncIOp::create(entry, entry.loc, entry.i32(), turn).getResult());
  for (size_t i = 0; i < carried; ++i)
    views[body.getArgument(i + 1)] = find(op->getResult(i));
  if (failed(lowerBlock(body)))
    return failure();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    if (i < carried) {
      moveInto(find(value), op->getResult(i));
      continue;
    }
    View all = placeOfFirst(find(op->getResult(i)), entry.sub(turn, entry.constant(op.getLower())));
    View one = find(value);
    one.names = all.names;
    lowerCopy(*this, one, all);
  }
  entry.setInsertionPointAfter(loop);
  return success();
}

/// As many turns as the longest sequence has rows. A sequence that has ended goes on with rows of zeros, and what it
/// makes of them is dropped: it keeps what it carries and stacks nothing.
LogicalResult Emitter::lowerScan(ScanOp op) {
  for (auto [i, initial] : llvm::enumerate(op.carried()))
    moveInto(find(initial), op->getResult(i));
  auto loop = scf::ForOp::create(entry, entry.loc, entry.constant(0), longest(op.getAlong()), entry.constant(1));
  entry.setInsertionPoint(loop.getBody()->getTerminator());
  enterTurn(op, loop.getInductionVar());
  if (failed(lowerBlock(op.getBody().front())))
    return failure();
  leaveTurn(op, loop.getInductionVar());
  entry.setInsertionPointAfter(loop);
  return success();
}

void Emitter::enterTurn(ScanOp op, Value turn) {
  auto rows = op->getAttrOfType<ArrayAttr>("attn.rows");
  for (auto [i, argument] : llvm::enumerate(op.getBody().front().getArguments())) {
    if (i >= op.getSources()) {
      views[argument] = find(op->getResult(i - op.getSources()));
      continue;
    }
    View from = placeOfFirst(input(op, i), turn);
    auto dims = DimsAttr::get(op.getContext(), op.inDims(i).getNames().drop_front());
    auto layout = packedLayout(cast<RankedTensorType>(argument.getType()), dims, false);
    View row = named({slotPointer(cast<DictionaryAttr>(rows[i])), elementOf(argument), layout, {}}, dims);
    lowerCopyOfTurn(*this, from, row, op.getAlong(), turn, Otherwise::Zeros);
    views[argument] = row;
  }
}

void Emitter::leaveTurn(ScanOp op, Value turn) {
  for (auto [i, value] : llvm::enumerate(op.getBody().front().getTerminator()->getOperands())) {
    View from = find(value), to = find(op->getResult(i));
    if (i >= op.carried().size())
      to = placeOfFirst(to, turn);
    from.names = to.names;
    if (!sameMemory(from, to) || to.place)
      lowerCopyOfTurn(*this, from, to, op.getAlong(), turn, Otherwise::Nothing);
  }
}

/// attn_rt_tap(call, name, rank, dims, turns, data)
LogicalResult Emitter::lowerTap(TapOp op) {
  if (!program.options.probe)
    return success();
  View shown = input(op, 0);
  assert(shown.layout.isPacked() && !shown.layout.uniform && "the plan has copied what is not");
  SmallVector<Value> dims, turns;
  for (const Extent &dim : shown.layout.dims) {
    int64_t sequence = 0;
    if (!dim.size.isStatic())
      sequence = llvm::find(sequenceNames, dim.size.lengths[0]) - sequenceNames.begin();
    dims.push_back(entry.constant(dim.size.isStatic() ? dim.size.factor : -1 - sequence));
  }
  for (Value turn : op.getTurns())
    turns.push_back(arith::ExtSIOp::create(entry, entry.loc, entry.i64(), scalar(turn)));
  Value block = argumentBlock(dims.size() + turns.size());
  for (auto [i, number] : llvm::enumerate(llvm::concat<Value>(dims, turns)))
    entry.store(number, block, entry.constant(i));
  LLVM::GlobalOp text = program.text("attn_tap", op.getName());
  Value name = LLVM::AddressOfOp::create(entry, entry.loc, text);
  Type ptr = entry.ptr(), i64 = entry.i64();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(op.getContext()), {ptr, ptr, i64, ptr, ptr, ptr});
  auto tap = program.runtime("attn_rt_tap", type);
  Value behind = entry.address(block, i64, entry.constant(dims.size()));
  SmallVector<Value> arguments{call, name, entry.constant(dims.size()), block, behind, shown.base};
  LLVM::CallOp::create(entry, entry.loc, tap, arguments);
  return success();
}

} // namespace attn
