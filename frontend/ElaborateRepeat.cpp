// ElaborateRepeat.cpp: `repeat l in A..B` and `repeat e in x`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Over numbers, and over the rows of a tensor with a fixed number of them, the body is elaborated once with `l` an open
// number; it is one attn.repeat where the turns differ only in the names of their weights. Where something needs the
// number (a condition, a size, an index), or a carried tensor comes out with other dimensions, the attempt is taken
// back and the body is elaborated for each turn; a remark of the module says why. Over the rows of a sequence it is an
// attn.scan, which has no other form.
#include "dialect/AttnOps.h"
#include "frontend/LoopBody.h"

using namespace mlir;

namespace attn {

// ---------------------------------------------------------------------------------------------------------- one loop

/// Row `number` of those that are walked.
static Value rowOf(Elaborator &e, const Tensor &rows, const Tensor &number, SMRange where) {
  Value row = e.gather(rows, {Value::of(number)}, where);
  return row.is(Value::Kind::tensor) ? e.settle(row.tensor) : row;
}

bool Elaborator::repeatOnce(const RepeatExpr &e, int64_t count, DimRef along, const Tensor *rows, Value &result) {
  turnPool.push_back({e.variable.text, {}, count, e.variable.range});
  Turn *open = &turnPool.back();
  LoopStart start;
  std::string why;
  for (bool again = true; again;) {
    LoopBody body(*this, e, {open, 0, false}, start);
    if (!body.collect(false)) {
      why = "it carries a number";
      break;
    }
    size_t mark = weights.mark();
    States::Mark statesMark = states.mark();
    why = tryOnce(body, along, rows, result);
    if (why.empty())
      return true;
    body.restore();
    weights.reset(mark);
    states.reset(statesMark);
    again = body.again;
  }
  remark(e.range, "this repeat is written out turn by turn: " + why);
  return false;
}

/// The reason why it is no loop; none where there is a result, or poison.
std::string Elaborator::tryOnce(LoopBody &body, DimRef along, const Tensor *rows, Value &result) {
  Turn *open = const_cast<Turn *>(body.turn.open);
  SMRange where = body.repeat.range;
  States::Mark statesMark = states.mark();
  unsigned errors = failures;
  if (rows)
    body.carryNumber();
  open->value = body.begin(builder.getI32Type());
  body.addCarried();
  Value element = Value::of(open);
  if (rows) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&body.region.front());
    element = rowOf(*this, *rows, body.carried[0].inside, where);
  }
  body.run(std::move(element));
  std::string why;
  if (failures == errors && !isStopping())
    why = body.settle(along);
  if (failures != errors || stopForInts || (stopTurn && stopTurn != open)) {
    result = Value::poison();
    body.restore(failures != errors);
    return "";
  }
  if (stopTurn)
    why = stopWhy + " needs its number";
  else if (why.empty() && states.reachedOneOf(writtenOut, statesMark))
    why = "another export, which keeps the same rows, needs its number";
  stopTurn = nullptr;
  if (!why.empty())
    return why;
  LoopBody::Ends ends = body.close(along);
  auto op = RepeatOp::create(builder, at(where), ends.types, builder.getI64IntegerAttr(0),
                             builder.getI64IntegerAttr(open->count), ends.inputs, dimsArray(&context, ends.in),
                             dimsArray(&context, ends.out));
  result = body.finish(op, ends);
  return "";
}

// ------------------------------------------------------------------------------------------------------ turn by turn

bool Elaborator::canStack(const Tensor &t, DimRef along, SMRange where) {
  if (!along->isNamed() || placeOf(t.visible(), along) < 0)
    return true;
  fail(where, "`yield` of " + text(t.visible()) + " would give a tensor with `" + along->name + "` twice");
  return false;
}

Value Elaborator::stack(llvm::ArrayRef<Value> turns, DimRef along, SMRange where) {
  llvm::SmallVector<Tensor> parts;
  DimRef one = table.unnamed(1);
  for (Value v : turns) {
    if (!asOperand(v, where, "`yield`"))
      return Value::poison();
    if (!v.is(Value::Kind::tensor))
      v = Value::of(tensorOf(v, true));
    if (!canStack(v.tensor, along, where))
      return Value::poison();
    Dims dims(v.tensor.dims);
    dims.insert(dims.begin() + v.tensor.lifted, one);
    parts.push_back(emitReshape(v.tensor, dims, v.tensor.lifted, where));
  }
  llvm::SmallVector<unsigned> places;
  for (const Tensor &part : parts)
    places.push_back(part.lifted);
  Value joined = concat(parts, places, where);
  if (joined.is(Value::Kind::tensor))
    joined.tensor.dims[joined.tensor.lifted] = along;
  return joined;
}

Value Elaborator::repeatTurns(const RepeatExpr &e, int64_t from, int64_t to, DimRef along, const Tensor *rows) {
  std::vector<std::vector<Value>> yields;
  Text saved = frame.path;
  for (int64_t turn = from; turn < to && !isStopping(); ++turn) {
    Scope scope;
    scope.kind = Scope::Kind::turn;
    scope.outer = frame.scope;
    scope.yields = &yields;
    Value element = rows ? settle(emitSlice(*rows, rows->lifted, turn, nullptr, e.range)) : Value::integer(turn);
    scope.names[e.variable.text] = std::move(element);
    frame.scope = &scope;
    turnsInForce.push_back({nullptr, turn, false});
    unsigned errors = failures;
    if (e.at)
      if (auto path = evalText(e.at, "a path"))
        frame.path = joined(saved, *path);
    evalBlock(*e.body, false);
    turnsInForce.pop_back();
    frame.path = saved;
    frame.scope = scope.outer;
    if (failures != errors)
      return Value::poison();
  }
  if (yields.empty() || isStopping())
    return isStopping() ? Value::poison() : Value::unit();
  std::vector<Value> results;
  for (size_t k = 0; k < yields[0].size(); ++k) {
    llvm::SmallVector<Value, 0> column;
    for (auto &values : yields) {
      if (values.size() != yields[0].size())
        return fail(e.range, "turns yield different numbers of values");
      column.push_back(values[k]);
    }
    results.push_back(stack(column, along, e.range));
  }
  return results.size() == 1 ? results[0] : Value::of(std::move(results));
}

// --------------------------------------------------------------------------------------------------- rows of a tensor

/// One attempt; the reason why it is no scan.
std::string Elaborator::tryScan(LoopBody &body, const Tensor &rows, DimRef along, unsigned lifted, Value &result) {
  SMRange where = body.repeat.range;
  unsigned errors = failures;
  Dims rowDims(rows.dims.begin() + 1, rows.dims.end());
  mlir::Value row = body.begin(tensorType(rowDims, rows.elem));
  outsideOf[row] = rows.value;
  body.addCarried();
  body.run(Value::of(made(row, rowDims, lifted)));
  std::string why = failures == errors && !isStopping() ? body.settle(along) : "";
  if (failures != errors || isStopping()) {
    result = Value::poison();
    body.restore(failures != errors);
    return "";
  }
  if (!why.empty())
    return why;
  LoopBody::Ends ends = body.close(along);
  llvm::SmallVector<Labels::List> in{Labels().give(rows.dims)};
  llvm::SmallVector<mlir::Value> inputs{materialise(rows, where)};
  in.append(ends.in.begin(), ends.in.end());
  inputs.append(ends.inputs.begin(), ends.inputs.end());
  auto op =
      ScanOp::create(builder, at(where), ends.types, builder.getStringAttr(along->sequence),
                     builder.getI64IntegerAttr(1), inputs, dimsArray(&context, in), dimsArray(&context, ends.out));
  result = body.finish(op, ends);
  return "";
}

/// The rows of a sequence, in order, when the model runs.
Value Elaborator::scanRows(const RepeatExpr &e, const Tensor &given) {
  DimRef along = given.visible()[0];
  Dims order(given.dims);
  std::rotate(order.begin(), order.begin() + given.lifted, order.begin() + given.lifted + 1);
  Tensor rows = emitMove(given, order, 0, e.range);
  std::string why;
  LoopStart start;
  for (bool again = true; again;) {
    LoopBody body(*this, e, {nullptr, 0, true}, start);
    if (!body.collect(true))
      return fail(e.range,
                  "this `repeat` walks a sequence when the model runs, and can carry tensors and numbers only");
    size_t mark = weights.mark();
    Value result;
    why = tryScan(body, rows, along, given.lifted, result);
    if (why.empty())
      return result;
    again = body.again;
    body.restore(!again);
    weights.reset(mark);
  }
  Report r = report(e.range, "this `repeat` walks a sequence when the model runs, and its turns must be alike: " + why);
  if (StringRef(why).contains("dimensions"))
    r.note("what is carried has its shape before the first turn: `state = fill(0, H)`");
  return Value::poison();
}

Value Elaborator::repeatRows(const RepeatExpr &e, Value rows) {
  SMRange where = e.from->range;
  if (!asOperand(rows, where, "`repeat`"))
    return Value::poison();
  bool isTensor =
      rows.is(Value::Kind::tensor) && rows.tensor.form != Tensor::Form::rule && !rows.tensor.visible().empty();
  if (!isTensor) {
    report(where, "`repeat` walks numbers `A..B` or the rows of a tensor, and this is " + rows.described());
    return Value::poison();
  }
  const Tensor &x = rows.tensor;
  DimRef along = x.visible()[0];
  if (along->isSequence())
    return scanRows(e, x);
  bool isFixed = x.form == Tensor::Form::constant;
  for (DimRef dim : x.liftedDims())
    isFixed = isFixed || dim->isSequence();
  Value result;
  if (!isFixed && along->size > 1 && repeatOnce(e, along->size, along, &x, result))
    return result;
  return repeatTurns(e, 0, along->size, along, &x);
}

Value Elaborator::evalRepeat(const RepeatExpr &e) {
  if (clause)
    return fail(e.range, "`repeat` cannot stand in a clause of `attend`");
  if (!e.to)
    return repeatRows(e, eval(e.from));
  auto from = wholeNumber(eval(e.from), e.from->range, "the lower bound of a `repeat`");
  Value upper = evalArgument(e.to);
  auto to = wholeNumber(upper, e.to->range, "the upper bound of a `repeat`");
  if (!from || !to)
    return Value::poison();
  if (*to <= *from)
    return Value::unit();
  bool named = upper.is(Value::Kind::dim) && *from == 0;
  DimRef along = named ? upper.dim : table.unnamed(*to - *from, {e.range, ""});
  Value result;
  if (*from == 0 && *to > 1 && repeatOnce(e, *to, along, nullptr, result))
    return result;
  return repeatTurns(e, *from, *to, along, nullptr);
}

void Elaborator::remark(SMRange where, const llvm::Twine &message) {
  Place place = diags.place(where.Start);
  std::string line =
      place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + message.str();
  if (!llvm::is_contained(remarks, line))
    remarks.push_back(line);
}

Value Elaborator::needNumber(const Turn *turn, SMRange where, StringRef why) {
  if (!stopTurn) {
    stopTurn = turn;
    stopRange = where;
    stopWhy = why.str();
  }
  return Value::poison();
}

} // namespace attn
