// ElaborateCalls.cpp: calls of functions written in the language; every call is inlined.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parameter declared x[E] takes any tensor that ends so. Leading dimensions it did not ask for are walked: inside the
// body they are lifted, invisible, and carried along by every operation; at the end they stand in front again. All
// arguments share the walked dimensions of one name.
#include "frontend/Elaborator.h"

namespace attn {

static constexpr unsigned maxDepth = 64;

std::pair<const FnDecl *, Home *> Elaborator::findFunction(StringRef name) {
  for (Home *home = frame.home; home; home = home->outer)
    if (auto it = home->functions.find(name); it != home->functions.end())
      return it->second;
  return {nullptr, nullptr};
}

Value Elaborator::evalCall(const CallExpr &e) {
  if (inConfig && e.callee.text != "count")
    return fail(e.callee.range, "entries of `config` call no functions but `count`; use `let`");
  if (auto [fn, home] = findFunction(e.callee.text); fn)
    return callFunction(*fn, home, &e, e.callRange);
  bool found = false;
  Value value = callBuiltin(e, found);
  if (found)
    return value;
  if (lookup(e.callee.text))
    return fail(e.callee.range, "`" + e.callee.text + "` is a value, not a function");
  return fail(e.callee.range, "unknown function `" + e.callee.text + "`" + suggestion(e.callee.text, true));
}

/// A dimension given as an argument stays that dimension.
Value Elaborator::evalArgument(const Expr *e) {
  auto *name = llvm::dyn_cast<NameExpr>(e);
  if (!name || inConfig || !isupper(static_cast<unsigned char>(name->name[0])))
    return eval(e);
  Value *value = lookup(name->name);
  if (value && value->is(Value::Kind::number))
    if (DimRef dim = value->whole && value->number >= 0 ? dimOf(*value, name->name, e->range) : nullptr)
      return Value::of(dim);
  return eval(e);
}

bool Elaborator::collectArguments(const FnDecl &fn, Home *home, const CallExpr *call, SMRange where,
                                  llvm::StringMap<Value> &values) {
  size_t place = 0;
  bool ok = true;
  for (const Argument &arg : call ? call->args : ArrayRef<Argument>()) {
    const Parameter *param = nullptr;
    if (!arg.name) {
      if (place == fn.params.size()) {
        report(arg.range, "`" + fn.name.text + "` takes " + llvm::Twine(fn.params.size()) + " arguments")
            .note(fn.name.range, "it is declared here");
        return false;
      }
      param = &fn.params[place++];
    } else {
      for (const Parameter &p : fn.params)
        if (p.name.text == arg.name.text)
          param = &p;
      if (!param) {
        report(arg.name.range, "`" + fn.name.text + "` has no parameter `" + arg.name.text + "`")
            .note(fn.name.range, "it is declared here");
        return false;
      }
      if (arg.hasBinders) {
        fail(arg.range, "only a clause of `attend` binds names");
        return false;
      }
    }
    if (values.contains(param->name.text)) {
      fail(arg.range, "`" + param->name.text + "` of `" + fn.name.text + "` is given twice");
      return false;
    }
    Value value = evalArgument(arg.value);
    if (value.is(Value::Kind::unit))
      value = fail(arg.value->range, "this has no value");
    ok = ok && !value.isPoison();
    values[param->name.text] = std::move(value);
  }
  for (const Parameter &param : fn.params) {
    if (values.contains(param.name.text))
      continue;
    auto fill = clause ? clause->names.find(param.name.text) : llvm::StringMap<Value>::iterator();
    if (clause && fill != clause->names.end()) {
      values[param.name.text] = fill->second;
    } else if (param.defaultValue) {
      Frame saved = frame;
      Scope scope;
      frame.home = home;
      frame.scope = &scope;
      values[param.name.text] = evalArgument(param.defaultValue);
      frame = saved;
    } else {
      report(where, "`" + param.name.text + "` of `" + fn.name.text + "` is not given")
          .note(param.range, "it is declared here");
      ok = false;
    }
  }
  return ok;
}

/// Takes the first `extra` visible dimensions out of sight: a dimension that another argument has too is walked once.
bool Elaborator::walk(Tensor &t, size_t extra, Walk &walk, SMRange where) {
  for (size_t i = 0; i < extra; ++i) {
    DimRef &dim = t.dims[t.lifted + i];
    int known = placeOf(walk.outside, dim);
    if (known >= 0 && !walk.outside[known]->sameSize(*dim)) {
      failSizes(where, "two sizes for `" + dim->name + "`, which this call walks", walk.outside[known], dim);
      return false;
    }
    if (known < 0) {
      walk.outside.push_back(dim);
      walk.inside.push_back(table.lifted(dim, frame.depth, static_cast<unsigned>(walk.inside.size())));
    }
    dim = known < 0 ? walk.inside.back() : walk.inside[known];
  }
  t.lifted += extra;
  // Walked dimensions of several arguments stand in one order.
  Dims order(t.liftedDims());
  llvm::stable_sort(order,
                    [](DimRef a, DimRef b) { return std::pair(a->level, a->rank) < std::pair(b->level, b->rank); });
  order.append(t.visible().begin(), t.visible().end());
  t = emitMove(t, order, t.lifted, where);
  return true;
}

/// Binds or checks dimension `i` of those that the parameter asks for.
bool Elaborator::bindDimension(const Parameter &param, size_t i, Tensor &t, SMRange where, StringRef who) {
  const Expr *expr = param.shape.dims[i];
  DimRef &actual = t.dims[t.lifted + i];
  bool ok = true;
  DimRef declared = shapeDim(expr, ok);
  if (!ok)
    return false;
  if (declared && !declared->sameSize(*actual)) {
    failSizes(where, who + " ends in " + text(t.visible()) + ", which does not fit", declared, actual);
    return false;
  }
  StringRef name = declared ? StringRef(declared->name) : llvm::cast<NameExpr>(expr)->name;
  if (!actual->isNamed() && !name.empty()) {
    DimRef named = declared ? declared : table.renamed(actual, name, {expr->range, ""});
    if (placeOf(t.dims, named) < 0)
      actual = named;
  }
  if (!declared)
    frame.scope->names[name] = Value::of(actual);
  return true;
}

/// Binds the capitals of the signature and checks the rest; `frame` is the callee's.
bool Elaborator::bindShape(const FnDecl &fn, const Parameter &param, Value &value, SMRange where, Walk &walked) {
  std::string who = ("`" + param.name.text + "` of `" + fn.name.text + "`").str();
  if (!asOperand(value, where, who))
    return false;
  size_t wanted = param.shape.dims.size();
  bool isTensor = value.is(Value::Kind::tensor);
  if (!isTensor && wanted == 0)
    return true;
  if (!isTensor || value.tensor.visible().size() < wanted) {
    std::string have = isTensor ? text(value.tensor.visible()) : value.described();
    report(where, who + " has " + llvm::Twine(wanted) + (wanted == 1 ? " dimension" : " dimensions") +
                      ", and is given " + have)
        .note(param.range, "it is declared here");
    return false;
  }
  Tensor &t = value.tensor;
  size_t extra = t.visible().size() - wanted;
  if (extra && t.form == Tensor::Form::rule) {
    fail(where, who + " cannot be walked in a clause of `attend`");
    return false;
  }
  if (!walk(t, extra, walked, where))
    return false;
  for (size_t i = 0; i < wanted; ++i)
    if (!bindDimension(param, i, t, where, who))
      return false;
  return true;
}

/// A default that is a number stands for a whole tensor.
bool Elaborator::fillDefault(const Parameter &param, Value &value, SMRange where) {
  if (!value.is(Value::Kind::number) || param.shape.dims.empty())
    return true;
  Dims dims;
  for (const Expr *e : param.shape.dims) {
    DimRef dim = boundDim(e, "a default");
    if (!dim)
      return false;
    dims.push_back(dim);
  }
  value = Value::of(made(emitFill(value.number, value.whole ? Elem::i32 : Elem::f32, dims, where), dims, 0));
  return true;
}

/// Names of the parameters in the callee's scope; first those without a shape, which shapes may name.
bool Elaborator::bindParameters(const FnDecl &fn, llvm::StringMap<Value> &values, SMRange where, Walk &walked) {
  auto isTaken = [](const Parameter &p, const Value &v) { // as it is, or filled below
    return v.is(Value::Kind::none) || (p.defaultValue && !v.is(Value::Kind::tensor));
  };
  for (const Parameter &param : fn.params) {
    if (param.hasShape)
      continue;
    Value value = values[param.name.text];
    bool isSmall = !isupper(static_cast<unsigned char>(param.name.text[0]));
    if (value.is(Value::Kind::dim) && isSmall && !value.dim->isSequence())
      value = Value::integer(value.dim->size);
    frame.scope->names[param.name.text] = value;
  }
  for (const Parameter &param : fn.params)
    if (Value &value = values[param.name.text]; param.hasShape && !isTaken(param, value))
      if (!bindShape(fn, param, value, where, walked))
        return false;
  for (const Parameter &param : fn.params) {
    if (!param.hasShape)
      continue;
    Value &value = values[param.name.text];
    if (isTaken(param, value) && !fillDefault(param, value, where))
      return false;
    frame.scope->names[param.name.text] = value;
  }
  return true;
}

Value Elaborator::callFunction(const FnDecl &fn, Home *home, const CallExpr *call, SMRange where) {
  for (const Frame *f = &frame; f; f = f->caller)
    if (f->fn == &fn)
      return fail(where, "`" + fn.name.text + "` calls itself: functions cannot recurse");
  if (frame.depth >= maxDepth)
    return fail(where,
                "calls are nested more than " + llvm::Twine(maxDepth) + " deep at this one of `" + fn.name.text + "`");
  llvm::StringMap<Value> values;
  if (!collectArguments(fn, home, call, where, values) || isStopping())
    return Value::poison();
  Text path = frame.path;
  if (call && call->at) {
    auto moved = evalText(call->at, "a path");
    if (!moved)
      return Value::poison();
    path = joined(path, *moved);
  }
  Frame caller = frame;
  Scope scope;
  frame = {home, &scope, path, &fn, &caller, where, caller.depth + 1};
  Walk walked;
  Value result;
  // What a clause offers is for the functions called in it, not for those that they call.
  llvm::StringMap<Value> offered;
  if (clause)
    std::swap(offered, clause->names);
  if (bindParameters(fn, values, where, walked)) {
    result = evalBlock(*fn.body, true);
    if (!result.isPoison() && !isStopping())
      result = checkResults(fn, result, where);
  }
  if (clause)
    std::swap(offered, clause->names);
  frame = caller;
  return result.isPoison() ? result : putBack(std::move(result), walked.inside, where);
}

/// The walked dimensions stand in front again, all of them.
Value Elaborator::putBack(Value result, DimsRef walked, SMRange where) {
  if (walked.empty())
    return result;
  if (result.is(Value::Kind::tuple)) {
    std::vector<Value> elements;
    for (const Value &element : *result.elements)
      elements.push_back(putBack(element, walked, where));
    return Value::of(std::move(elements));
  }
  if (!result.is(Value::Kind::tensor))
    return result;
  Tensor t = result.tensor;
  Dims outer;
  for (DimRef dim : t.liftedDims())
    if (placeOf(walked, dim) < 0)
      outer.push_back(dim);
  Dims all(outer);
  all.append(walked.begin(), walked.end());
  all.append(t.visible().begin(), t.visible().end());
  if (all.size() != t.dims.size())
    t = emitBroadcast(t, all, static_cast<unsigned>(outer.size() + walked.size()), where);
  else
    t = emitMove(t, all, t.lifted, where);
  t.lifted = static_cast<unsigned>(outer.size());
  for (size_t i = 0; i < walked.size(); ++i)
    t.dims[outer.size() + i] = walked[i]->lifted;
  for (size_t i = 0; i < t.dims.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (t.dims[i]->isNamed() && isSame(t.dims[i], t.dims[j]))
        return fail(where, "walking `" + t.dims[i]->name + "` gives a result that has it already: " + text(t.dims));
  return Value::of(std::move(t));
}

// ------------------------------------------------------------------------------------------------------------- results

Value Elaborator::checkResult(const FnDecl &fn, const Result &declared, Value value, SMRange where) {
  if (!asOperand(value, where, "a result"))
    return Value::poison();
  size_t wanted = declared.shape.dims.size();
  if (!value.is(Value::Kind::tensor)) {
    if (wanted == 0)
      return value;
    report(declared.shape.range, "`" + fn.name.text + "` gives " + value.described() + ", not a tensor");
    return Value::poison();
  }
  if (value.tensor.form == Tensor::Form::rule)
    return value;
  DimsRef have = value.tensor.visible();
  if (have.size() != wanted) {
    report(declared.shape.range, "`" + fn.name.text + "` gives " + text(have) + ", and " + llvm::Twine(wanted) +
                                     (wanted == 1 ? " dimension is" : " dimensions are") + " declared");
    return Value::poison();
  }
  for (size_t i = 0; i < wanted; ++i) {
    const Expr *expr = declared.shape.dims[i];
    DimRef &actual = value.tensor.dims[value.tensor.lifted + i];
    bool ok = true;
    DimRef want = shapeDim(expr, ok);
    if (!ok)
      return Value::poison();
    if (!want) {
      StringRef name = llvm::cast<NameExpr>(expr)->name;
      if (!actual->isNamed())
        actual = table.renamed(actual, name, {expr->range, ""});
      frame.scope->names[name] = Value::of(actual);
      continue;
    }
    bool elsewhere = want->isNamed() && !isSame(want, actual) && placeOf(value.tensor.visible(), want) >= 0;
    if (elsewhere) {
      Report r = report(declared.shape.range, "`" + fn.name.text + "` gives " + text(value.tensor.visible()) +
                                                  ", in another order than declared");
      r.note("`as` brings dimensions into an order");
      return Value::poison();
    }
    if (!want->sameSize(*actual))
      return failSizes(expr->range,
                       "`" + fn.name.text + "` gives " + text(value.tensor.visible()) +
                           ", which is not what is declared",
                       want, actual);
    if (!actual->isNamed() && want->isNamed())
      actual = want;
  }
  return value;
}

Value Elaborator::checkResults(const FnDecl &fn, Value result, SMRange where) {
  if (!fn.hasResults)
    return result;
  size_t have = result.is(Value::Kind::tuple) ? result.elements->size() : 1;
  if (have != fn.results.size()) {
    report(fn.name.range, "`" + fn.name.text + "` gives " + llvm::Twine(have) + (have == 1 ? " result" : " results") +
                              ", and declares " + llvm::Twine(fn.results.size()));
    return Value::poison();
  }
  if (!result.is(Value::Kind::tuple))
    return checkResult(fn, fn.results[0], std::move(result), where);
  std::vector<Value> elements;
  for (size_t i = 0; i < have; ++i) {
    elements.push_back(checkResult(fn, fn.results[i], (*result.elements)[i], where));
    if (elements.back().isPoison())
      return Value::poison();
  }
  return Value::of(std::move(elements));
}

} // namespace attn
