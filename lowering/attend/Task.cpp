// Attention in fused, online form: nothing as large as queries x keys is ever in memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     task = (sequence, tile of queries, head)
//     for each 64 keys, ascending:
//       s     = score(q . k * scale), -inf where hidden               one dot, one loop over the tile
//       m'    = max(m, ceil(max s * log2(e)))                         an integer: rescaling is exact
//       p     = e^(s - n ln 2) * 2^(n - m') where n = round(s log2(e))
//       l, y  = l * 2^(m - m') + sum p, y * 2^(m - m') + p v
//     y / l
//
// Since m is an integer, every rescaling is a power of two and changes no bit; l and y are one chain of additions each.
// So the result depends on the visible keys in their order alone, not on tiles, the batch or the threads. The weight of
// a large score is as exact as the score. A sink is a first key of logit `sink` whose value is 0 (softmax1: of logit
// 0). `ratio` and `sigmoid` need no maximum.
//
// Hidden keys are selected away before any sum sees their score. Their values are multiplied by a weight of 0, which is
// harmless unless they are infinite or NaN: a finished tile that holds a number that is not finite is computed again by
// products that skip weights of 0 (only where something can be hidden at all).
//
// A tile's rows are queries of one head, on the lanes. A block of one query has another form: its rows are the heads
// that share keys (one where none do), and the keys are on the lanes, then the numbers of the value. Both forms make
// each number by the same operations in the same order, so that it doesn't matter in which a query was computed.
//
// A split attention (Strategy.h) is the same in two kernels: one stops at the scores and stores them, the other begins
// with them.
//
// Keys that the mask hides from the whole tile are not visited, and where it hides none from any query it is not
// evaluated: passes/masks/MaskPlan.h. Going over 64 keys that are all hidden from a query changes no bit of its result,
// so that this doesn't depend on the other queries of the tile: the maximum stays, so that the factor is 1 (or the
// maximum was over nothing, and then sums and y are 0 before and after); the weights are 0 exactly, and x + 0 * v is x,
// but that it may be +0 for -0. Which of the two y was is forgotten at the end: + 0 makes both +0.
#include "lowering/attend/AttendLowering.h"

using namespace mlir;

namespace attn {

static StringRef nameOf(AttendLowering::Part part) {
  return part == AttendLowering::Part::Whole    ? "attend"
         : part == AttendLowering::Part::Scores ? "attend_scores"
                                                : "attend_values";
}

AttendLowering::AttendLowering(Emitter &owner, AttendOp attend, const Strategy &chosen, const KeyPlan *visits,
                               Part which)
    : emitter(owner), op(attend), strategy(chosen), plan(visits), part(which), kernel(owner, nameOf(which)),
      ir(kernel.ir), q(owner.input(attend, 0)), k(owner.input(attend, 1)), v(owner.input(attend, 2)),
      y(owner.output(attend, 0)), rows(chosen.queries), shared(sharedHeads(attend)) {
  auto sizeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); };
  width = sizeOf(op.query());
  valueWidth = sizeOf(op.value());
  for (size_t i = 1; i + 1 < q.rank(); ++i)
    heads *= q.layout.dims[i].size.factor;
}

/// How far apart the tile's rows lie in q or a result.
Value AttendLowering::rowStride(const Local &tensor) {
  return tensor.strides[few && shared.dimension >= 0 ? tensor.find(q.names[shared.dimension]) : 0];
}

/// `tensor` at the place of the head: where it has q's head dimensions it is moved there.
Local AttendLowering::atHead(Local tensor, const Local &query) {
  Value left = head;
  for (size_t i = query.rank() - 1; i-- > 1;) {
    Value size = query.sizes[i], place = ir.rem(left, size);
    left = ir.div(left, size);
    if (int dim = tensor.find(query.names[i]); dim >= 0)
      tensor.pointer = ir.address(tensor.pointer, tensor.element, ir.mul(place, tensor.strides[dim]));
  }
  return tensor;
}

/// Places of a table are held at its ends; an empty one has none, and 0 is read in its stead.
Local AttendLowering::readable(Local table) {
  Value some;
  for (Value size : table.sizes)
    if (!Ir::known(size)) {
      Value positive = ir.less(ir.constant(0), size);
      some = some ? arith::AndIOp::create(ir, ir.loc, some, positive).getResult() : positive;
    }
  if (!some)
    return table;
  Value nothing = LLVM::AllocaOp::create(ir, ir.loc, ir.ptr(), ir.i64(), ir.constant(1), 8);
  ir.store(ir.constant(0), nothing);
  table.pointer = arith::SelectOp::create(ir, ir.loc, some, table.pointer, nothing);
  if (table.rank() > 1)
    for (Value &stride : table.strides)
      stride = arith::SelectOp::create(ir, ir.loc, some, stride, ir.constant(0));
  return table;
}

void AttendLowering::chooseTask() {
  const Extent &queryDim = q.layout.dims[0];
  if (!queryDim.size.isStatic()) {
    Kernel::Block block = kernel.sequenceBlock(queryDim.size.lengths[0], rows, heads);
    sequence = block.sequence;
    first = block.begin;
    queries = block.count;
    head = block.inner;
    past = kernel.past(queryDim.size.lengths[0], sequence);
  } else {
    past = ir.constant(0);
    int64_t all = queryDim.size.factor, tiles = std::max<int64_t>(1, llvm::divideCeil(all, rows));
    Value number;
    if (y.layout.uniform) {
      kernel.tasks(emitter.entry.constant(tiles * heads));
      number = kernel.task;
    } else {
      Kernel::Block block = kernel.sequence(tiles * heads);
      sequence = block.sequence;
      number = block.inner;
    }
    head = ir.rem(number, ir.constant(heads));
    first = ir.mul(ir.div(number, ir.constant(heads)), ir.constant(rows));
    queries = ir.max(ir.constant(0), ir.min(ir.constant(rows), ir.sub(ir.constant(all), first)));
  }
  findTensors();
}

/// A task of a split attention: the one query of a sequence, heads that share keys, and a part of the keys or of the
/// value's row.
void AttendLowering::chooseSplitTask() {
  int64_t parts = part == Part::Scores ? strategy.parts : valueWidth / strategy.columns;
  Kernel::Block block = kernel.sequence(heads / shared.size * parts);
  sequence = block.sequence;
  Value number = ir.rem(block.inner, ir.constant(parts)), group = ir.div(block.inner, ir.constant(parts));
  Value step = ir.constant(shared.step);
  head = ir.add(ir.mul(ir.div(group, step), ir.constant(shared.step * shared.size)), ir.rem(group, step));
  first = ir.constant(0), queries = ir.constant(1);
  const Monomial &all = q.layout.dims[0].size;
  past = all.isStatic() ? ir.constant(0) : kernel.past(all.lengths[0], sequence);
  findTensors();
  StringRef along = k.layout.dims[0].size.lengths[0];
  Value before = ir.mul(kernel.unitsBefore(along, sequence), ir.constant(heads));
  Value own = ir.mul(ir.mul(group, ir.constant(shared.size)), keys);
  between = ir.address(kernel.get(emitter.scratch()), ir.f32(), ir.add(before, own));
  if (part == Part::Scores) {
    Value tile = ir.constant(strategy.keys), tiles = ir.ceilDiv(keys, tile);
    Value size = ir.mul(ir.ceilDiv(tiles, ir.constant(parts)), tile);
    partBegin = ir.mul(number, size), partEnd = ir.add(partBegin, size);
    return;
  }
  valueWidth = strategy.columns;
  Value column = ir.mul(number, ir.constant(valueWidth));
  for (Local *tensor : {&vAt, &yAt})
    tensor->pointer = ir.address(tensor->pointer, tensor->element, ir.mul(column, tensor->strides.back()));
}

void AttendLowering::findTensors() {
  Local query = kernel.local(q, sequence);
  qAt = atHead(query, query);
  kAt = atHead(kernel.local(k, sequence), query);
  vAt = atHead(kernel.local(v, sequence), query);
  yAt = atHead(kernel.local(y, sequence), query);
  size_t result = 1;
  if (op.getWeights())
    weightsAt = atHead(kernel.local(emitter.output(op, result++), sequence), query);
  if (op.getLse())
    lseAt = atHead(kernel.local(emitter.output(op, result), sequence), query);
  for (size_t i = 3; i < op.getInputs().size(); ++i)
    captured.push_back(readable(kernel.local(emitter.input(op, i), sequence)));
  keys = kAt.sizes[0];
  if (plan)
    for (auto [table, flags] : plan->sorted) {
      Value flag = ir.load(ir.i64(), kernel.get(flags), sequence ? sequence : ir.constant(0));
      sortedTables[table] = ir.less(ir.constant(0), flag);
    }
}

Value AttendLowering::attempt(Value guard) {
  if (part != Part::Values) {
    packedQueries = packQueries();
    tallyQueries();
  }
  Running end = overKeys(begin(), guard);
  if (part == Part::Scores)
    return {};
  Value again = finish(end);
  if (op.getWeights())
    storeWeights(end);
  return again;
}

/// The whole tile, twice at most: the second time with guarded products, if the first gave something that is not
/// finite.
void AttendLowering::attempts() {
  if (!canHide() || part == Part::Scores) {
    attempt(Value());
    return;
  }
  Value yes = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(true));
  ir.loop(ir.constant(0), ir.constant(2), ir.constant(1), yes, [&](Value turn, ValueRange wanted) {
    auto choose = scf::IfOp::create(ir, ir.loc, TypeRange{ir.getI1Type()}, wanted[0], /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(ir);
      ir.setInsertionPointToEnd(choose.thenBlock());
      Value again = attempt(ir.less(ir.constant(0), turn));
      scf::YieldOp::create(ir, ir.loc, again);
      ir.setInsertionPointToEnd(choose.elseBlock());
      Value no = arith::ConstantOp::create(ir, ir.loc, ir.getBoolAttr(false));
      scf::YieldOp::create(ir, ir.loc, no);
    }
    return SmallVector<Value>{choose.getResult(0)};
  });
}

/// A block of one query: the first of the heads that share keys does the work of all of them.
void AttendLowering::oneQuery() {
  int64_t wideRows = rows;
  few = true, rows = shared.size, count = ir.constant(shared.size);
  Value place = ir.rem(ir.div(head, ir.constant(shared.step)), ir.constant(shared.size));
  if (shared.dimension < 0 || part != Part::Whole)
    attempts();
  else
    ir.when(ir.less(place, ir.constant(1)), [&] { attempts(); });
  few = false, rows = wideRows;
}

/// Half of a split attention. A sequence may have no query at all.
void AttendLowering::runSplit() {
  chooseSplitTask();
  const Monomial &all = q.layout.dims[0].size;
  Value some = all.isStatic() ? ir.constant(1) : kernel.length(all.lengths[0], sequence);
  ir.when(ir.less(ir.constant(0), some), [&] { oneQuery(); });
}

/// The tasks of a split attention load the same queries, which count once.
void AttendLowering::tallyQueries() {
  auto once = [&] {
    tally(QueryTiles, ir.constant(1));
    tallyRows(q, count, width);
  };
  if (counts && part == Part::Scores)
    ir.when(ir.less(partBegin, ir.constant(1)), once);
  else
    once();
}

/// For those who ask what the kernel does.
void AttendLowering::tellTiling() {
  auto bytes = [](const View &tensor, int64_t numbers) { return numbers * tensor.element.getIntOrFloatBitWidth() / 8; };
  emitter.program.attends.push_back({op, q.layout.dims[0].size, k.layout.dims[0].size, heads, rows, strategy.keys,
                                     shared.size, shared.step, bytes(q, width), bytes(k, keyWidth()),
                                     bytes(v, valueWidth)});
}

void AttendLowering::run() {
  if (part == Part::Whole)
    tellTiling();
  for (Region *region : {&op.getScore(), &op.getMask(), &op.getSink()})
    if (!region->empty())
      bindOutsideScalars(*region, emitter, kernel, scalars);
  startCounting();
  if (part != Part::Whole) {
    runSplit();
    endCounting();
    return kernel.launch();
  }
  chooseTask();
  const Monomial &all = q.layout.dims[0].size;
  if (all.isStatic() && all.factor == 1) {
    oneQuery();
    endCounting();
    return kernel.launch();
  }
  Value several = arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::ne, queries, ir.constant(1));
  auto choose = scf::IfOp::create(ir, ir.loc, several, /*withElseRegion=*/true);
  ir.setInsertionPoint(choose.thenBlock()->getTerminator());
  count = queries;
  attempts();
  ir.setInsertionPoint(choose.elseBlock()->getTerminator());
  oneQuery();
  ir.setInsertionPointAfter(choose);
  endCounting();
  kernel.launch();
}

LogicalResult lowerAttend(Emitter &emitter, AttendOp op) {
  using Part = AttendLowering::Part;
  Strategy strategy = chooseStrategy(op, emitter.target, emitter.program.options);
  std::optional<KeyPlan> plan = planKeys(emitter, op);
  auto lower = [&](Part part) { AttendLowering(emitter, op, strategy, plan ? &*plan : nullptr, part).run(); };
  Value split = emitter.splits(op);
  if (!split && strategy.always)
    op.emitWarning() << "this attention stays online: " << strategy.why;
  if (!split) {
    lower(Part::Whole);
    return success();
  }
  Ir &entry = emitter.entry;
  auto choose = scf::IfOp::create(entry, entry.loc, split, /*withElseRegion=*/true);
  entry.setInsertionPoint(choose.thenBlock()->getTerminator());
  lower(Part::Scores);
  lower(Part::Values);
  entry.setInsertionPoint(choose.elseBlock()->getTerminator());
  lower(Part::Whole);
  entry.setInsertionPointAfter(choose);
  return success();
}

} // namespace attn
