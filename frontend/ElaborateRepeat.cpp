// ElaborateRepeat.cpp: `repeat l in A..B`: one attn.repeat where the turns differ only in the names of their weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body is elaborated once with `l` an open number. Where something needs the number (a condition, a size, an
// index), or a carried tensor comes out with other dimensions, the attempt is taken back and the body is elaborated for
// each turn; a remark of the module says why.
#include "dialect/AttnOps.h"
#include "frontend/Elaborator.h"
#include "frontend/Labels.h"

using namespace mlir;

namespace attn {

// ----------------------------------------------------------------------------------------- what a body may assign

static void assignedIn(const Expr *e, llvm::SmallVectorImpl<StringRef> &names);

static void assignedIn(const Block &block, llvm::SmallVectorImpl<StringRef> &names) {
  for (const Stmt *stmt : block.statements) {
    if (auto *assign = llvm::dyn_cast<AssignStmt>(stmt)) {
      for (const Ident &target : assign->targets)
        if (!llvm::is_contained(names, target.text))
          names.push_back(target.text);
      assignedIn(assign->value, names);
    } else if (auto *at = llvm::dyn_cast<AtStmt>(stmt)) {
      assignedIn(*at->body, names);
    } else if (auto *expr = llvm::dyn_cast<ExprStmt>(stmt)) {
      assignedIn(expr->expr, names);
    }
  }
}

/// Only statements assign, and only blocks hold statements.
static void assignedIn(const Expr *e, llvm::SmallVectorImpl<StringRef> &names) {
  if (auto *conditional = llvm::dyn_cast<IfExpr>(e)) {
    assignedIn(*conditional->then, names);
    if (conditional->otherwise)
      assignedIn(*conditional->otherwise, names);
  } else if (auto *repeat = llvm::dyn_cast<RepeatExpr>(e)) {
    assignedIn(*repeat->body, names);
  }
}

// ------------------------------------------------------------------------------------------------------- one loop

namespace {

struct Carried {
  StringRef name;
  Tensor before, inside, after;
};

} // namespace

/// An attempt to elaborate the body once.
struct LoopBody {
  Elaborator &e;
  const RepeatExpr &repeat;
  const Turn *turn;
  llvm::SmallVector<Carried, 0> carried;
  std::vector<std::vector<Value>> yields;
  Region region;

  Value *slot(StringRef name) { return e.lookup(name); }
  bool collect();
  void run();
  std::string settle();
  void dropUnchanged();
  Value finish(DimRef along);
  void restore() {
    for (Carried &c : carried)
      *slot(c.name) = Value::of(c.before);
  }
};

/// Names of the function that the body assigns, if they are tensors now; false where a number is carried.
bool LoopBody::collect() {
  llvm::SmallVector<StringRef> names;
  assignedIn(*repeat.body, names);
  for (StringRef name : names) {
    bool bound = false;
    for (Scope *scope = e.frame.scope; scope; scope = scope->outer) {
      bound |= scope->names.contains(name);
      if (scope->kind == Scope::Kind::function)
        break;
    }
    if (!bound)
      continue;
    Value *value = slot(name);
    if (!value->is(Value::Kind::tensor) || value->tensor.form == Tensor::Form::rule)
      return false;
    Tensor before = value->tensor;
    if (before.form == Tensor::Form::constant) {
      before.value = e.materialise(before, repeat.range);
      before.form = Tensor::Form::ssa;
      before.data = nullptr;
    }
    carried.push_back({name, before, {}, {}});
  }
  return true;
}

void LoopBody::run() {
  OpBuilder::InsertionGuard guard(e.builder);
  mlir::Block *block = e.builder.createBlock(&region);
  Turn *open = const_cast<Turn *>(turn);
  open->value = block->addArgument(e.builder.getI32Type(), e.at(repeat.range));
  for (Carried &c : carried) {
    c.inside = c.before;
    c.inside.value = block->addArgument(e.tensorType(c.before.dims, c.before.elem), e.at(repeat.range));
    e.dimsOfValue[c.inside.value] = c.before.dims;
    *slot(c.name) = Value::of(c.inside);
  }
  Scope scope;
  scope.kind = Scope::Kind::turn;
  scope.outer = e.frame.scope;
  scope.yields = &yields;
  scope.names[repeat.variable.text] = Value::of(turn);
  Text saved = e.frame.path;
  e.frame.scope = &scope;
  if (repeat.at)
    if (auto path = e.evalText(repeat.at, "a path"))
      e.frame.path = e.joined(saved, *path);
  e.evalBlock(*repeat.body, false);
  e.frame.path = saved;
  e.frame.scope = scope.outer;
}

/// Brings what the body left into the shape of what it found; the reason where that cannot be.
std::string LoopBody::settle() {
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(&region.front());
  if (yields.size() > 1)
    return "it yields several times in a turn";
  for (Carried &c : carried) {
    Value *value = slot(c.name);
    if (!value->is(Value::Kind::tensor))
      return ("`" + c.name + "` is no tensor behind a turn").str();
    Tensor after = value->tensor;
    bool same = after.dims.size() == c.inside.dims.size() && after.lifted == c.inside.lifted;
    Dims order;
    for (DimRef dim : c.inside.dims) {
      int place = same ? placeOf(after.dims, dim) : -1;
      same = same && place >= 0 && after.dims[place]->sameSize(*dim);
    }
    if (!same)
      return ("`" + c.name + "` changes its dimensions from " + text(c.inside.visible()) + " to " +
              text(after.visible()))
          .str();
    if (after.elem != c.inside.elem)
      return ("`" + c.name + "` becomes another kind of number").str();
    c.after = e.emitMove(after, c.inside.dims, c.inside.lifted, repeat.range);
    c.after.value = e.materialise(c.after, repeat.range);
  }
  for (auto &values : yields)
    for (Value &v : values)
      if (!e.asOperand(v, repeat.range, "`yield`") || !v.is(Value::Kind::tensor))
        return "it yields what is no tensor";
  return "";
}

/// What the body leaves as it was is not carried.
void LoopBody::dropUnchanged() {
  for (size_t i = carried.size(); i-- > 0;) {
    mlir::Value inside = carried[i].inside.value, before = carried[i].before.value;
    if (carried[i].after.value != inside)
      continue;
    inside.replaceAllUsesWith(before);
    for (Carried &c : carried)
      if (c.after.value == inside)
        c.after.value = before;
    for (auto &values : yields)
      for (Value &v : values)
        if (v.tensor.value == inside)
          v.tensor.value = before;
    region.front().eraseArgument(static_cast<unsigned>(i + 1));
    *slot(carried[i].name) = Value::of(carried[i].before);
    carried.erase(carried.begin() + static_cast<ptrdiff_t>(i));
  }
}

/// attn.repeat stacks outermost: in front of what the call is walked along, which comes first in the text's order.
static Dims stackedOrder(const Tensor &whole) {
  Dims order(whole.dims);
  std::rotate(order.begin(), order.begin() + whole.lifted, order.begin() + whole.lifted + 1);
  return order;
}

Value LoopBody::finish(DimRef along) {
  dropUnchanged();
  llvm::SmallVector<mlir::Value> inputs, yielded;
  llvm::SmallVector<Type> types;
  llvm::SmallVector<Labels::List> in, out;
  llvm::SmallVector<Tensor> stacked;
  for (Carried &c : carried) {
    in.push_back(Labels().give(c.before.dims));
    out.push_back(in.back());
    inputs.push_back(e.materialise(c.before, repeat.range));
    yielded.push_back(c.after.value);
    types.push_back(inputs.back().getType());
  }
  Location loc = e.at(repeat.range);
  {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToEnd(&region.front());
    for (Value &v : yields.empty() ? std::vector<Value>() : yields[0]) {
      yielded.push_back(e.materialise(v.tensor, repeat.range));
      stacked.push_back(v.tensor);
      stacked.back().dims.insert(stacked.back().dims.begin() + v.tensor.lifted, along);
      Dims order = stackedOrder(stacked.back());
      out.push_back(Labels().give(order));
      types.push_back(e.tensorType(order, v.tensor.elem));
    }
    YieldOp::create(e.builder, loc, yielded);
  }
  RepeatOp op =
      RepeatOp::create(e.builder, loc, types, e.builder.getI64IntegerAttr(0), e.builder.getI64IntegerAttr(turn->count),
                       inputs, dimsArray(&e.context, in), dimsArray(&e.context, out));
  op.getBody().takeBody(region);
  for (size_t i = 0; i < carried.size(); ++i)
    *slot(carried[i].name) = Value::of(e.made(op.getOutputs()[i], carried[i].before.dims, carried[i].before.lifted));
  std::vector<Value> results;
  for (size_t i = 0; i < stacked.size(); ++i) {
    Tensor made = e.made(op.getOutputs()[carried.size() + i], stackedOrder(stacked[i]), 0);
    results.push_back(Value::of(e.emitMove(made, stacked[i].dims, stacked[i].lifted, repeat.range)));
  }
  if (results.empty())
    return Value::unit();
  return results.size() == 1 ? results[0] : Value::of(std::move(results));
}

bool Elaborator::repeatOnce(const RepeatExpr &e, int64_t count, DimRef along, Value &result) {
  turnPool.push_back({e.variable.text, {}, count, e.variable.range});
  LoopBody body{*this, e, &turnPool.back(), {}, {}, {}};
  if (!body.collect()) {
    remark(e.range, "this repeat is written out turn by turn: it carries a number");
    return false;
  }
  size_t mark = weights.mark();
  unsigned errors = failures;
  body.run();
  std::string why;
  if (failures != errors) {
    result = Value::poison();
    body.restore();
    for (Carried &c : body.carried)
      *lookup(c.name) = Value::poison();
    return true;
  }
  if (stopTurn && stopTurn != body.turn) {
    result = Value::poison();
    return true;
  }
  if (stopForInts) {
    result = Value::poison();
    return true;
  }
  if (stopTurn) {
    why = stopWhy + " needs its number";
    stopTurn = nullptr;
  } else {
    why = body.settle();
    if (why.empty()) {
      result = body.finish(along);
      return true;
    }
  }
  body.restore();
  weights.reset(mark);
  remark(e.range, "this repeat is written out turn by turn: " + why);
  return false;
}

// ------------------------------------------------------------------------------------------------------ turn by turn

Value Elaborator::stack(llvm::ArrayRef<Value> turns, DimRef along, SMRange where) {
  llvm::SmallVector<Tensor> parts;
  DimRef one = table.unnamed(1);
  for (Value v : turns) {
    if (!asOperand(v, where, "`yield`"))
      return Value::poison();
    if (!v.is(Value::Kind::tensor))
      return fail(where, "`yield` needs a tensor, not " + v.described());
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

Value Elaborator::repeatTurns(const RepeatExpr &e, int64_t from, int64_t to, DimRef along) {
  std::vector<std::vector<Value>> yields;
  Text saved = frame.path;
  for (int64_t turn = from; turn < to && !isStopping(); ++turn) {
    Scope scope;
    scope.kind = Scope::Kind::turn;
    scope.outer = frame.scope;
    scope.yields = &yields;
    scope.names[e.variable.text] = Value::integer(turn);
    frame.scope = &scope;
    unsigned errors = failures;
    if (e.at)
      if (auto path = evalText(e.at, "a path"))
        frame.path = joined(saved, *path);
    evalBlock(*e.body, false);
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

Value Elaborator::evalRepeat(const RepeatExpr &e) {
  if (!e.to) {
    Value walked = eval(e.from);
    if (walked.isPoison())
      return walked;
    return fail(e.from->range, "`repeat` over a tensor is not in this edition of the compiler yet");
  }
  auto from = wholeNumber(eval(e.from), e.from->range, "the lower bound of a `repeat`");
  Value upper = evalArgument(e.to);
  auto to = wholeNumber(upper, e.to->range, "the upper bound of a `repeat`");
  if (!from || !to)
    return Value::poison();
  if (clause)
    return fail(e.range, "`repeat` cannot stand in a clause of `attend`");
  if (*to <= *from)
    return Value::unit();
  bool named = upper.is(Value::Kind::dim) && *from == 0;
  DimRef along = named ? upper.dim : table.unnamed(*to - *from, {e.range, ""});
  Value result;
  if (*from == 0 && *to > 1 && repeatOnce(e, *to, along, result))
    return result;
  return repeatTurns(e, *from, *to, along);
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
