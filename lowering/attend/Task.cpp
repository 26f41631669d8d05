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
// Keys that the mask hides from the whole tile are not visited, and where it hides none from any query it is not
// evaluated: passes/masks/MaskPlan.h. Going over 64 keys that are all hidden from a query changes no bit of its result,
// so that this doesn't depend on the other queries of the tile: the maximum stays, so that the factor is 1 (or the
// maximum was over nothing, and then sums and y are 0 before and after); the weights are 0 exactly, and x + 0 * v is x,
// but that it may be +0 for -0. Which of the two y was is forgotten at the end: + 0 makes both +0.
#include "lowering/attend/AttendLowering.h"

using namespace mlir;

namespace attn {

AttendLowering::AttendLowering(Emitter &owner, AttendOp attend)
    : emitter(owner), op(attend), kernel(owner, "attend"), ir(kernel.ir), q(owner.input(attend, 0)),
      k(owner.input(attend, 1)), v(owner.input(attend, 2)), y(owner.output(attend, 0)), rows(owner.target.panel()) {
  auto sizeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); };
  width = sizeOf(op.query());
  valueWidth = sizeOf(op.value());
  for (size_t i = 1; i + 1 < q.rank(); ++i)
    heads *= q.layout.dims[i].size.factor;
  findShared();
  // Keys that have to be copied side by side or rounded first should serve more queries.
  const Monomial &keyStride = k.layout.dims[0].stride;
  if (rounds() || (keyStride.isStatic() && Target::collide(keyStride.factor * 4)))
    rows *= 2;
}

/// The last of q's head dimensions that neither keys nor values have, unless it is too large for a tile.
void AttendLowering::findShared() {
  constexpr int64_t most = 64;
  int64_t step = 1;
  for (size_t i = q.rank() - 1; i-- > 1;) {
    int64_t size = q.layout.dims[i].size.factor;
    if (size > 1 && size <= most && k.find(q.names[i]) < 0 && v.find(q.names[i]) < 0) {
      shared = int(i), sharing = size, headStep = step;
      return;
    }
    step *= size;
  }
}

/// How far apart the tile's rows lie in q or a result.
Value AttendLowering::rowStride(const Local &tensor) {
  return tensor.strides[few && shared >= 0 ? tensor.find(q.names[shared]) : 0];
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
    Value part;
    if (y.layout.uniform) {
      kernel.tasks(emitter.entry.constant(tiles * heads));
      part = kernel.task;
    } else {
      Kernel::Block block = kernel.sequence(tiles * heads);
      sequence = block.sequence;
      part = block.inner;
    }
    head = ir.rem(part, ir.constant(heads));
    first = ir.mul(ir.div(part, ir.constant(heads)), ir.constant(rows));
    queries = ir.max(ir.constant(0), ir.min(ir.constant(rows), ir.sub(ir.constant(all), first)));
  }
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
    captured.push_back(kernel.local(emitter.input(op, i), sequence));
  keys = kAt.sizes[0];
}

Value AttendLowering::attempt(Value guard) {
  packedQueries = packQueries();
  tally(QueryTiles, ir.constant(1));
  tallyRows(q, count, width);
  Running end = overKeys(begin(), guard);
  Value again = finish(end);
  if (op.getWeights())
    storeWeights(end);
  return again;
}

/// The whole tile, twice at most: the second time with guarded products, if the first gave something that is not
/// finite.
void AttendLowering::attempts() {
  if (!canHide()) {
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
  few = true, rows = sharing, count = ir.constant(sharing);
  Value place = ir.rem(ir.div(head, ir.constant(headStep)), ir.constant(sharing));
  if (shared < 0)
    attempts();
  else
    ir.when(ir.less(place, ir.constant(1)), [&] { attempts(); });
  few = false, rows = wideRows;
}

void AttendLowering::run() {
  for (Region *region : {&op.getScore(), &op.getMask(), &op.getSink()})
    if (!region->empty())
      bindOutsideScalars(*region, emitter, kernel, scalars);
  startCounting();
  chooseTask();
  if (!op.getMask().empty()) {
    plan.emplace(op);
    prepareTables();
  }
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
  AttendLowering(emitter, op).run();
  return success();
}

} // namespace attn
