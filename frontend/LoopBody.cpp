// LoopBody.cpp: the body of a repeat elaborated once: what it carries, what it yields.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/LoopBody.h"
#include "dialect/AttnOps.h"

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

/// A name of the function, or of a turn around.
bool LoopBody::isBound(StringRef name) const {
  for (Scope *scope = e.frame.scope; scope; scope = scope->outer) {
    if (scope->names.contains(name))
      return true;
    if (scope->kind == Scope::Kind::function)
      break;
  }
  return false;
}

Tensor tensorOf(const Value &number, bool isReal) {
  Tensor t;
  t.form = Tensor::Form::constant;
  auto data = std::make_shared<ConstantData>();
  bool isTruth = number.is(Value::Kind::boolean);
  data->values = {isTruth ? double(number.boolean) : number.number};
  data->whole = isTruth || number.whole;
  t.elem = isTruth ? Elem::i1 : data->whole && !isReal ? Elem::i32 : Elem::f32;
  t.data = std::move(data);
  return t;
}

bool LoopBody::add(StringRef name, bool numbersToo) {
  Value value = *e.lookup(name);
  if (value.is(Value::Kind::dim) && !value.dim->isSequence())
    value = Value::integer(value.dim->size);
  bool isNumber = value.is(Value::Kind::number) || value.is(Value::Kind::boolean);
  Tensor before = value.tensor;
  if (isNumber && numbersToo)
    before = tensorOf(value, start.numbersAreReal);
  else if (!value.is(Value::Kind::tensor) || before.form == Tensor::Form::rule)
    return false;
  if (before.form == Tensor::Form::constant) {
    before.value = e.materialise(before, repeat.range);
    before.form = Tensor::Form::ssa;
    before.data = nullptr;
  }
  if (auto walked = start.walked.find(name); walked != start.walked.end()) {
    Dims dims(walked->second);
    unsigned lifted = static_cast<unsigned>(dims.size());
    dims.append(before.visible().begin(), before.visible().end());
    before = e.emitBroadcast(before, dims, lifted, repeat.range);
  }
  carried.push_back({name, *e.lookup(name), before, {}, {}});
  return true;
}

bool LoopBody::collect(bool numbersToo) {
  llvm::SmallVector<StringRef> names;
  assignedIn(*repeat.body, names);
  for (StringRef name : names)
    if (isBound(name) && !add(name, numbersToo))
      return false;
  return true;
}

void LoopBody::carryNumber() {
  Tensor zero = tensorOf(Value::integer(0), false);
  zero.value = e.materialise(zero, repeat.range);
  zero.form = Tensor::Form::ssa;
  carried.insert(carried.begin(), Carried{"", {}, zero, {}, {}});
}

// ------------------------------------------------------------------------------------------------------- the body

mlir::Value LoopBody::begin(Type first) {
  OpBuilder::InsertionGuard guard(e.builder);
  return e.builder.createBlock(&region)->addArgument(first, e.at(repeat.range));
}

void LoopBody::addCarried() {
  for (Carried &c : carried) {
    c.inside = c.before;
    c.inside.value = region.front().addArgument(e.tensorType(c.before.dims, c.before.elem), e.at(repeat.range));
    e.dimsOfValue[c.inside.value] = c.before.dims;
    e.outsideOf[c.inside.value] = c.before.value;
    if (!c.name.empty())
      *e.lookup(c.name) = Value::of(c.inside);
  }
}

void LoopBody::run(Value element) {
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(&region.front());
  Scope scope;
  scope.kind = Scope::Kind::turn;
  scope.outer = e.frame.scope;
  scope.yields = &yields;
  scope.names[repeat.variable.text] = std::move(element);
  Text saved = e.frame.path;
  e.frame.scope = &scope;
  e.turnsInForce.push_back(turn);
  if (repeat.at)
    if (auto path = e.evalText(repeat.at, "a path"))
      e.frame.path = e.joined(saved, *path);
  e.evalBlock(*repeat.body, false);
  e.turnsInForce.pop_back();
  e.frame.path = saved;
  e.frame.scope = scope.outer;
}

/// All that either is walked along, in the order of the calls.
static Dims walkedUnion(const Tensor &a, const Tensor &b) {
  Dims all(a.liftedDims());
  for (DimRef dim : b.liftedDims())
    if (placeOf(all, dim) < 0)
      all.push_back(dim);
  llvm::stable_sort(all,
                    [](DimRef x, DimRef y) { return std::pair(x->level, x->rank) < std::pair(y->level, y->rank); });
  return all;
}

/// Unnamed sizes match by place: they are taken to be those of `like`.
static void matchUnnamed(Tensor &x, const Tensor &like) {
  if (x.visible().size() != like.visible().size())
    return;
  for (auto [own, other] : llvm::zip_equal(llvm::drop_begin(x.dims, x.lifted), like.visible()))
    if (!own->isNamed() && !other->isNamed() && own->sameSize(*other))
      own = other;
}

static bool isSameShape(DimsRef a, DimsRef b) {
  return a.size() == b.size() && llvm::all_of(a, [&](DimRef dim) {
           int place = placeOf(b, dim);
           return place >= 0 && b[place]->sameSize(*dim);
         });
}

/// One carried name, or the number of the next row.
std::string LoopBody::settleOne(Carried &c) {
  Value after = c.name.empty() ? e.apply(ScalarOp::add, {Value::of(c.inside), Value::integer(1)}, repeat.range, "")
                               : *e.lookup(c.name);
  if ((after.is(Value::Kind::number) || after.is(Value::Kind::boolean)) && c.before.dims.empty())
    after = Value::of(tensorOf(after, c.before.elem == Elem::f32));
  if (!after.is(Value::Kind::tensor) || after.tensor.form == Tensor::Form::rule)
    return ("`" + c.name + "` is no tensor behind a turn").str();
  Tensor left = after.tensor;
  matchUnnamed(left, c.inside);
  if (!isSameShape(c.inside.visible(), left.visible()))
    return ("`" + c.name + "` changes its dimensions from " + text(c.inside.visible()) + " to " + text(left.visible()))
        .str();
  if (left.elem != c.inside.elem) {
    bool learnt = c.before.dims.empty() && c.inside.elem == Elem::i32 && left.elem == Elem::f32;
    again = learnt && !start.numbersAreReal;
    start.numbersAreReal = start.numbersAreReal || learnt;
    return ("`" + c.name + "` becomes another kind of number").str();
  }
  Dims walked = walkedUnion(c.inside, left);
  if (walked.size() > c.inside.lifted) {
    again = true;
    start.walked[c.name] = walked;
    return ("`" + c.name + "` comes to be walked").str();
  }
  if (left.lifted < c.inside.lifted) {
    Dims dims(c.inside.liftedDims());
    dims.append(left.visible().begin(), left.visible().end());
    left = e.emitBroadcast(left, dims, c.inside.lifted, repeat.range);
  }
  c.after = e.emitMove(left, c.inside.dims, c.inside.lifted, repeat.range);
  c.after.value = e.materialise(c.after, repeat.range);
  return "";
}

std::string LoopBody::settle(DimRef along) {
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(&region.front());
  if (yields.size() > 1)
    return "it yields several times in a turn";
  for (Carried &c : carried)
    if (std::string why = settleOne(c); !why.empty())
      return why;
  for (auto &values : yields)
    for (Value &v : values) {
      if (!e.asOperand(v, repeat.range, "`yield`"))
        return "it yields what is no tensor";
      if (v.is(Value::Kind::number) || v.is(Value::Kind::boolean))
        v = Value::of(tensorOf(v, true));
      if (!e.canStack(v.tensor, along, repeat.range))
        return "it yields what cannot be stacked";
    }
  return "";
}

/// What the body leaves as it was is not carried.
void LoopBody::dropUnchanged() {
  for (size_t i = carried.size(); i-- > 0;) {
    mlir::Value inside = carried[i].inside.value, before = carried[i].before.value;
    if (carried[i].after.value != inside || carried[i].name.empty())
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
    *e.lookup(carried[i].name) = carried[i].original;
    carried.erase(carried.begin() + static_cast<ptrdiff_t>(i));
  }
}

/// The operation stacks outermost: in front of what the call is walked along, which comes first in the text's order.
static Dims stackedOrder(const Tensor &whole) {
  Dims order(whole.dims);
  std::rotate(order.begin(), order.begin() + whole.lifted, order.begin() + whole.lifted + 1);
  return order;
}

LoopBody::Ends LoopBody::close(DimRef along) {
  dropUnchanged();
  Ends ends;
  llvm::SmallVector<mlir::Value> yielded;
  for (Carried &c : carried) {
    ends.in.push_back(Labels().give(c.before.dims));
    ends.out.push_back(ends.in.back());
    ends.inputs.push_back(e.materialise(c.before, repeat.range));
    yielded.push_back(c.after.value);
    ends.types.push_back(ends.inputs.back().getType());
  }
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToEnd(&region.front());
  for (Value &v : yields.empty() ? std::vector<Value>() : yields[0]) {
    yielded.push_back(e.materialise(v.tensor, repeat.range));
    Tensor &stacked = ends.stacked.emplace_back(v.tensor);
    stacked.dims.insert(stacked.dims.begin() + v.tensor.lifted, along);
    Dims order = stackedOrder(stacked);
    ends.out.push_back(Labels().give(order));
    ends.types.push_back(e.tensorType(order, v.tensor.elem));
  }
  YieldOp::create(e.builder, e.at(repeat.range), yielded);
  return ends;
}

Value LoopBody::finish(Operation *op, const Ends &ends) {
  op->getRegion(0).takeBody(region);
  for (size_t i = 0; i < carried.size(); ++i)
    if (!carried[i].name.empty())
      *e.lookup(carried[i].name) =
          Value::of(e.made(op->getResult(static_cast<unsigned>(i)), carried[i].before.dims, carried[i].before.lifted));
  std::vector<Value> results;
  for (size_t i = 0; i < ends.stacked.size(); ++i) {
    const Tensor &stacked = ends.stacked[i];
    mlir::Value result = op->getResult(static_cast<unsigned>(carried.size() + i));
    Tensor made = e.made(result, stackedOrder(stacked), 0);
    results.push_back(Value::of(e.emitMove(made, stacked.dims, stacked.lifted, repeat.range)));
  }
  if (results.empty())
    return Value::unit();
  return results.size() == 1 ? results[0] : Value::of(std::move(results));
}

void LoopBody::restore(bool failed) {
  for (mlir::BlockArgument argument : region.empty() ? mlir::Block::BlockArgListType() : region.front().getArguments())
    e.outsideOf.erase(argument);
  for (Carried &c : carried)
    if (!c.name.empty())
      *e.lookup(c.name) = failed ? Value::poison() : c.original;
}

} // namespace attn
