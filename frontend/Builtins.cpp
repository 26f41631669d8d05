// Builtins.cpp: the table of built-in functions, and those that make tensors from numbers or choose among them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "frontend/CallArgs.h"
#include "frontend/Labels.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace attn {

// ----------------------------------------------------------------------------------------------------------- arguments

bool CallArgs::check(size_t least, size_t most, llvm::ArrayRef<StringRef> names) {
  if (placed.size() < least || placed.size() > most) {
    std::string wanted = std::to_string(least);
    if (most != least)
      wanted = most > 100 ? "at least " + wanted : wanted + " to " + std::to_string(most);
    e.fail(range(), what() + " takes " + wanted + (wanted == "1" ? " argument" : " arguments") + ", not " +
                        llvm::Twine(placed.size()));
    return false;
  }
  for (const Argument &arg : call.args)
    if (arg.name && !llvm::is_contained(names, arg.name.text)) {
      e.fail(arg.name.range, what() + " has no argument `" + arg.name.text + "`");
      return false;
    }
  return true;
}

Value CallArgs::tensor(size_t i) {
  SMRange where = placed[i]->value->range;
  Value v = eval(i);
  if (!e.asOperand(v, where, what()))
    return Value::poison();
  if (!v.is(Value::Kind::tensor))
    return e.fail(where, what() + " needs a tensor, not " + v.described());
  if (v.tensor.form == Tensor::Form::rule)
    return e.fail(where, what() + " cannot be computed from the rows of a clause of `attend`");
  return v;
}

bool CallArgs::dims(size_t from, Dims &result) {
  for (size_t i = from; i < placed.size(); ++i) {
    DimRef dim = e.boundDim(placed[i]->value, what());
    if (!dim || !e.isStatic(dim, placed[i]->value->range, "a dimension of a weight"))
      return false;
    result.push_back(dim);
  }
  return true;
}

std::optional<Text> CallArgs::path() {
  if (!call.at)
    return e.frame.path;
  auto moved = e.evalText(call.at, "a path");
  return moved ? std::optional(e.joined(e.frame.path, *moved)) : std::nullopt;
}

std::optional<Text> CallArgs::weightName(size_t i) {
  auto around = path();
  auto name = e.evalText(placed[i]->value, "the name of a weight");
  if (!around || !name)
    return std::nullopt;
  return e.joined(*around, *name);
}

// --------------------------------------------------------------------------------------------------------------- table

Value Elaborator::callBuiltin(const CallExpr &e, bool &found) {
  CallArgs args(*this, e);
  StringRef name = e.callee.text;
  found = true;
  for (const Argument &arg : e.args)
    if (arg.hasBinders && name != "attend")
      return fail(arg.range, "only a clause of `attend` binds names");
  if (auto op = unaryFunction(name)) {
    if (!args.check(1, 1))
      return Value::poison();
    return apply(*op, {args.eval(0)}, e.callRange, args.what());
  }
  if ((name == "max" || name == "min") && args.size() == 2) {
    if (!args.check(2, 2))
      return Value::poison();
    Value a = args.eval(0), b = args.eval(1);
    return apply(name == "max" ? ScalarOp::max : ScalarOp::min, {a, b}, e.callRange, args.what());
  }
  if (name == "sum" || name == "mean" || name == "max" || name == "min")
    return builtinReduce(args, name);
  using Method = Value (Elaborator::*)(CallArgs &);
  Method method = llvm::StringSwitch<Method>(name)
                      .Case("param", &Elaborator::builtinParam)
                      .Case("conv2d", &Elaborator::builtinConv2d)
                      .Case("tap", &Elaborator::builtinTap)
                      .Case("fill", &Elaborator::builtinFill)
                      .Case("range", &Elaborator::builtinRange)
                      .Case("softmax", &Elaborator::builtinSoftmax)
                      .Case("dot", &Elaborator::builtinDot)
                      .Case("concat", &Elaborator::builtinConcat)
                      .Case("roll", &Elaborator::builtinRoll)
                      .Cases({"select", "clamp"}, &Elaborator::builtinSelect)
                      .Case("refuse", &Elaborator::builtinRefuse)
                      .Case("count", &Elaborator::builtinCount)
                      .Case("attend", &Elaborator::builtinAttend)
                      .Case("rotate", &Elaborator::builtinRotate)
                      .Cases({"cache", "once"}, &Elaborator::builtinKeep)
                      .Default(nullptr);
  if (method)
    return (this->*method)(args);
  if (name == "linear" || name == "dense")
    return builtinLinear(args, name == "dense");
  for (StringRef later : {"topk", "chosen"})
    if (name == later)
      return fail(e.callee.range, "`" + name + "` is not in this edition of the compiler yet");
  found = false;
  return Value::poison();
}

// ------------------------------------------------------------------------------------------------------------- numbers

/// More numbers than these are not written into a library.
static constexpr int64_t maxConstant = 1 << 24;

Value Elaborator::builtinFill(CallArgs &args) {
  if (!args.check(1, 100))
    return Value::poison();
  Value v = args.eval(0);
  if (!asOperand(v, args.placed[0]->value->range, "`fill`"))
    return Value::poison();
  if (v.is(Value::Kind::boolean))
    v = Value::integer(v.boolean);
  auto n = number(v, args.placed[0]->value->range, "the value of `fill`");
  if (!n)
    return Value::poison();
  Dims dims;
  bool isFixed = true;
  for (size_t i = 1; i < args.size(); ++i) {
    DimRef dim = boundDim(args.placed[i]->value, "`fill`");
    if (!dim)
      return Value::poison();
    isFixed = isFixed && !dim->isSequence();
    dims.push_back(dim);
  }
  if (!isFixed || product(dims) > maxConstant)
    return Value::of(made(emitFill(*n, Elem::f32, dims, args.range()), dims, 0));
  Tensor t;
  t.form = Tensor::Form::constant;
  t.dims = dims;
  auto data = std::make_shared<ConstantData>();
  data->values.assign(static_cast<size_t>(product(dims)), *n);
  t.data = std::move(data);
  return Value::of(std::move(t));
}

Value Elaborator::builtinRange(CallArgs &args) {
  if (!args.check(1, 1))
    return Value::poison();
  DimRef dim = boundDim(args.placed[0]->value, "`range`");
  if (!dim || !isStatic(dim, args.placed[0]->value->range, "the length of `range`"))
    return Value::poison();
  if (dim->size > maxConstant)
    return fail(args.range(),
                "`range` of " + llvm::Twine(dim->size) + " numbers is longer than " + llvm::Twine(maxConstant));
  Tensor t;
  t.form = Tensor::Form::constant;
  t.elem = Elem::i32;
  t.dims = {dim};
  auto data = std::make_shared<ConstantData>();
  data->whole = true;
  for (int64_t i = 0; i < dim->size; ++i)
    data->values.push_back(static_cast<double>(i));
  t.data = std::move(data);
  return Value::of(std::move(t));
}

Value Elaborator::builtinSelect(CallArgs &args) {
  bool selects = args.name() == "select";
  if (!args.check(3, 3))
    return Value::poison();
  Value first = args.eval(0);
  if (selects && first.is(Value::Kind::boolean)) // the side not taken is not looked at
    return args.eval(first.boolean ? 1 : 2);
  Value second = args.eval(1), third = args.eval(2);
  return apply(selects ? ScalarOp::select : ScalarOp::clamp, {first, second, third}, args.range(), args.what());
}

Value Elaborator::builtinRefuse(CallArgs &args) {
  if (!args.check(1, 1))
    return Value::poison();
  auto message = evalText(args.placed[0]->value, "what `refuse` says");
  return message ? fail(usersCall(args.range()), message->shown()) : Value::poison();
}

Value Elaborator::builtinCount(CallArgs &args) {
  if (!args.check(1, 1))
    return Value::poison();
  Value v = args.eval(0);
  if (v.isPoison())
    return v;
  if (v.is(Value::Kind::config)) {
    if (auto *list = v.config.json->getAsArray())
      return Value::integer(static_cast<int64_t>(list->size()));
    return Value::integer(static_cast<int64_t>(v.config.json->getAsObject()->size()));
  }
  return fail(args.range(), "`count` counts a list or an object of config.json, not " + v.described());
}

// ---------------------------------------------------------------------------------------------------------- reductions

std::optional<unsigned> Elaborator::along(CallArgs &args, const Tensor &x) {
  const Argument *arg = args.named("along");
  if (x.visible().empty()) {
    fail(args.range(), args.what() + " needs a dimension, and this is one number");
    return std::nullopt;
  }
  if (!arg)
    return static_cast<unsigned>(x.dims.size() - 1);
  DimRef dim = boundDim(arg->value, "`along`");
  if (!dim)
    return std::nullopt;
  int place = placeOf(x.visible(), dim);
  if (place < 0) {
    Report r = report(arg->value->range, "`" + dim->name + "` is no dimension of " + text(x.visible()));
    if (DimRef kept = keptDimension(x))
      r.note("`" + kept->name + "` is another dimension; `as [S, …]` gives it a name, and then `along: S` is it");
    return std::nullopt;
  }
  return static_cast<unsigned>(place) + x.lifted;
}

static Tensor reduceConstant(const Tensor &x, unsigned place, StringRef kind) {
  Tensor result = x;
  int64_t inner = product(DimsRef(x.dims).drop_front(place + 1)), length = x.dims[place]->size;
  int64_t outer = product(DimsRef(x.dims).take_front(place));
  auto data = std::make_shared<ConstantData>();
  data->whole = x.data->whole && kind != "mean";
  ScalarOp op = kind == "max" ? ScalarOp::max : kind == "min" ? ScalarOp::min : ScalarOp::add;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      auto at = [&](int64_t k) { return x.data->values[static_cast<size_t>((o * length + k) * inner + i)]; };
      double total = kind == "max" ? -HUGE_VAL : kind == "min" ? HUGE_VAL : 0;
      for (int64_t k = 0; k < length; ++k)
        total = fold(op, {Folded{total, false}, Folded{at(k), false}}).value;
      data->values.push_back(kind == "mean" && length ? total / static_cast<double>(length) : total);
    }
  result.dims.erase(result.dims.begin() + place);
  result.elem = data->whole ? Elem::i32 : Elem::f32;
  result.data = std::move(data);
  return result;
}

Value Elaborator::reduceTensor(const Tensor &x, unsigned place, StringRef kind, SMRange where) {
  if (x.form == Tensor::Form::constant)
    return settle(reduceConstant(x, place, kind));
  Tensor real = emitConvert(x, Elem::f32, where);
  mlir::Value input = materialise(real, where);
  Labels labels;
  Labels::List in = labels.give(x.dims), out = in;
  out.erase(out.begin() + place);
  Dims dims(x.dims);
  dims.erase(dims.begin() + place);
  auto which = *symbolizeReduction(kind);
  ReduceOp op = ReduceOp::create(builder, at(where), tensorType(dims, Elem::f32), ReductionAttr::get(&context, which),
                                 ValueRange(input), dimsArray(&context, {in}), dimsArray(&context, {out}));
  return Value::of(made(op.getOutput(), dims, x.lifted));
}

Value Elaborator::builtinReduce(CallArgs &args, StringRef name) {
  if (!args.check(1, 1, {"along"}))
    return Value::poison();
  Value v = args.eval(0);
  if (!asOperand(v, args.placed[0]->value->range, args.what()))
    return Value::poison();
  if (!v.is(Value::Kind::tensor))
    return fail(args.placed[0]->value->range, args.what() + " needs a tensor, not " + v.described());
  auto place = along(args, v.tensor);
  if (!place)
    return Value::poison();
  if (v.tensor.form == Tensor::Form::rule)
    return reduceRule(v.tensor, *place, name, args.range());
  return reduceTensor(v.tensor, *place, name, args.range());
}

Value Elaborator::builtinSoftmax(CallArgs &args) {
  if (!args.check(1, 1, {"along"}))
    return Value::poison();
  Value v = args.tensor(0);
  if (v.isPoison())
    return v;
  auto place = along(args, v.tensor);
  if (!place)
    return Value::poison();
  Tensor x = emitConvert(v.tensor, Elem::f32, args.range());
  mlir::Value input = materialise(x, args.range());
  Labels labels;
  Labels::List list = labels.give(x.dims);
  StringRef name = StringRef(list[*place]).split(':').first;
  SoftmaxOp op =
      SoftmaxOp::create(builder, at(args.range()), tensorType(x.dims, Elem::f32), builder.getStringAttr(name),
                        ValueRange(input), dimsArray(&context, {list}), dimsArray(&context, {list}));
  return Value::of(made(op.getOutput(), x.dims, x.lifted));
}

Value Elaborator::builtinDot(CallArgs &args) {
  if (!args.check(2, 2))
    return Value::poison();
  Value x = args.eval(0), y = args.eval(1);
  return dotOf(x, y, args.range());
}

/// The sum of the products along the last dimension.
Value Elaborator::dotOf(const Value &x, const Value &y, SMRange where) {
  bool tensors = x.is(Value::Kind::tensor) && y.is(Value::Kind::tensor);
  bool inClause = tensors && (x.tensor.form == Tensor::Form::rule || y.tensor.form == Tensor::Form::rule);
  if (tensors && !inClause) {
    DimsRef a = x.tensor.visible(), b = y.tensor.visible();
    Alignment alignment;
    bool shared = !a.empty() && !b.empty() && isSame(a.back(), b.back());
    if (shared && (x.tensor.form == Tensor::Form::ssa || y.tensor.form == Tensor::Form::ssa)) {
      if (!align({&x.tensor, &y.tensor}, where, "`dot`", alignment))
        return Value::poison();
      Dims dims(alignment.dims);
      dims.pop_back();
      return Value::of(emitContract(x.tensor, y.tensor, dims, alignment.lifted, where));
    }
  }
  Value product = apply(ScalarOp::multiply, {x, y}, where, "`dot`");
  if (!product.is(Value::Kind::tensor))
    return product;
  if (product.tensor.visible().empty()) // rows of one number
    return product;
  unsigned last = static_cast<unsigned>(product.tensor.dims.size() - 1);
  if (product.tensor.form == Tensor::Form::rule)
    return reduceRule(product.tensor, last, "sum", where);
  return reduceTensor(product.tensor, last, "sum", where);
}

/// The sum over the last dimension of `a`, which `b` has; other dimensions both have go side by side.
Value Elaborator::matmul(const Value &a, const Value &b, SMRange where) {
  Value left = a, right = b;
  bool ok = asOperand(left, where, "`@`");
  ok = asOperand(right, where, "`@`") && ok;
  if (!ok)
    return Value::poison();
  for (const Value *v : {&left, &right})
    if (!v->is(Value::Kind::tensor) || v->tensor.visible().empty())
      return fail(where, "`@` needs two tensors, not " + v->described());
  const Tensor &x = left.tensor, &y = right.tensor;
  DimRef summed = x.dims.back();
  if (x.form == Tensor::Form::rule || y.form == Tensor::Form::rule)
    return dotOf(left, right, where);
  int place = placeOf(y.visible(), summed);
  if (place < 0) {
    Report r = report(where, "`@` sums over the last dimension of its left side, `" +
                                 (summed->isNamed() ? summed->name : std::to_string(summed->size)) +
                                 "`, which the right side does not have");
    r.note("left " + text(x.visible())).note("right " + text(y.visible()));
    return Value::poison();
  }
  Dims visible(x.visible().drop_back());
  for (DimRef dim : y.visible()) {
    int other = placeOf(x.visible(), dim);
    if (other >= 0 && !dim->sameSize(*x.visible()[other]))
      return failSizes(where, "`@`: two sizes for `" + dim->name + "`", x.visible()[other], dim);
    if (other < 0)
      visible.push_back(dim);
  }
  Alignment lifted;
  Tensor u = x, v = y;
  u.dims.truncate(x.lifted);
  v.dims.truncate(y.lifted);
  align({&u, &v}, where, "`@`", lifted);
  Dims dims(lifted.dims);
  dims.append(visible.begin(), visible.end());
  return Value::of(emitContract(x, y, dims, lifted.lifted, where));
}

} // namespace attn
