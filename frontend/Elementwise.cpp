// Elementwise.cpp: functions of numbers applied to tensors place by place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands match by name; dimensions without a name match by place from the right, and where a named one meets an
// unnamed one the name wins. One operand has all the dimensions of the result, so that a wrong name cannot turn a sum
// into an outer product. Numbers fold; what holds a place of a clause becomes a rule; the rest is one attn.map each,
// which passes fuse.
#include "dialect/AttnOps.h"
#include "frontend/Elaborator.h"
#include "frontend/Labels.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cmath>

using namespace mlir;

namespace attn {

// ------------------------------------------------------------------------------------------------------------ matching

/// Lifted dimensions of all operands, in the order of the calls that walk them.
static Dims unionOfLifted(llvm::ArrayRef<const Tensor *> tensors) {
  Dims result;
  for (const Tensor *t : tensors)
    for (DimRef dim : t->liftedDims())
      if (placeOf(result, dim) < 0)
        result.push_back(dim);
  llvm::stable_sort(result,
                    [](DimRef a, DimRef b) { return std::pair(a->level, a->rank) < std::pair(b->level, b->rank); });
  return result;
}

static bool allNamedIn(DimsRef dims, DimsRef big) {
  return llvm::all_of(dims, [&](DimRef d) { return d->isNamed() && placeOf(big, d) >= 0; });
}

/// The operand whose visible dimensions are the result's: the first with the most.
static const Tensor *biggest(llvm::ArrayRef<const Tensor *> tensors) {
  const Tensor *big = tensors[0];
  for (const Tensor *t : tensors)
    if (t->visible().size() > big->visible().size())
      big = t;
  return big;
}

namespace {

/// Places of one operand's visible dimensions in those of the result, which may gain names.
struct Matching {
  Dims &result;
  DimRef wrongHere = nullptr, wrongThere = nullptr; ///< two sizes for one
  llvm::SmallVector<unsigned, 4> places;

  bool pair(DimRef dim, size_t place) {
    DimRef &other = result[place];
    bool namesDiffer = dim->isNamed() && other->isNamed() && !isSame(dim, other);
    if (namesDiffer)
      return false;
    if (!dim->sameSize(*other)) {
      wrongHere = dim;
      wrongThere = other;
      return false;
    }
    if (!other->isNamed() && dim->isNamed() && placeOf(result, dim) < 0)
      other = dim;
    places.push_back(static_cast<unsigned>(place));
    return true;
  }
  bool match(DimsRef dims) {
    bool byName = allNamedIn(dims, result);
    size_t pad = result.size() - dims.size();
    for (size_t i = 0; i < dims.size(); ++i)
      if (!pair(dims[i], byName ? placeOf(result, dims[i]) : pad + i))
        return false;
    return true;
  }
};

} // namespace

bool Elaborator::align(llvm::ArrayRef<const Tensor *> tensors, SMRange where, StringRef what, Alignment &a,
                       bool covering) {
  Dims lifted = unionOfLifted(tensors);
  a.lifted = lifted.size();
  const Tensor *big = biggest(tensors);
  Dims visible(big->visible().begin(), big->visible().end());
  a.places.clear();
  for (const Tensor *t : tensors) {
    Matching matching{visible, nullptr, nullptr, {}};
    if (!matching.match(t->visible())) {
      if (matching.wrongHere) {
        DimRef here = matching.wrongHere, there = matching.wrongThere;
        std::string name = here->isNamed() ? here->name : there->name;
        failSizes(where, name.empty() ? what + ": sizes differ" : what + ": two sizes for `" + name + "`", there, here);
        return false;
      }
      Report r = report(where, what + ": neither side has all the dimensions of the other");
      r.note("one has " + text(visible)).note("the other " + text(t->visible()));
      r.note("sum over a shared dimension with `@`, or give a dimension its other name with `as`");
      return false;
    }
    auto &places = a.places.emplace_back();
    for (DimRef dim : t->liftedDims())
      places.push_back(static_cast<unsigned>(placeOf(lifted, dim)));
    for (unsigned place : matching.places)
      places.push_back(place + a.lifted);
  }
  a.dims = lifted;
  a.dims.append(visible.begin(), visible.end());
  return true;
}

// -------------------------------------------------------------------------------------------------------------
// operands

bool Elaborator::asOperand(Value &v, SMRange where, StringRef what) {
  switch (v.kind) {
  case Value::Kind::poison:
    return false;
  case Value::Kind::turn:
    v = needNumber(v.turn, where, what);
    return false;
  case Value::Kind::dim:
    if (!isStatic(v.dim, where, what))
      return false;
    v = Value::integer(v.dim->size);
    return true;
  case Value::Kind::number:
  case Value::Kind::boolean:
  case Value::Kind::tensor:
    return true;
  default:
    fail(where, what + " needs a number or a tensor, not " + v.described());
    return false;
  }
}

static Folded foldedOf(const Value &v) {
  if (v.is(Value::Kind::boolean))
    return {v.boolean ? 1.0 : 0.0, true};
  return {v.number, v.whole};
}

static Elem elemOfValue(const Value &v) {
  if (v.is(Value::Kind::tensor))
    return v.tensor.elem;
  return v.is(Value::Kind::boolean) ? Elem::i1 : v.whole ? Elem::i32 : Elem::f32;
}

static bool givesTruth(ScalarOp op, llvm::ArrayRef<Value> args) {
  if (isLogical(op) || isComparison(op))
    return true;
  return op == ScalarOp::select && args[1].is(Value::Kind::boolean) && args[2].is(Value::Kind::boolean);
}

static Value valueOf(Folded folded, bool isTruth) {
  return isTruth ? Value::of(folded.value != 0) : Value::of(folded.value, folded.whole);
}

bool Elaborator::fitsTensor(double number, SMRange where) {
  if (number >= INT32_MIN && number <= INT32_MAX)
    return true;
  report(where, numberText(number) + " does not fit in the 32 bits of a whole number of a tensor")
      .note("they hold -2147483648 to 2147483647; written with a point it is a float32 number");
  return false;
}

bool Elaborator::fitsTensor(const Value &value, SMRange where) {
  if (value.is(Value::Kind::number))
    return !value.whole || fitsTensor(value.number, where);
  if (!value.is(Value::Kind::tensor) || value.tensor.form != Tensor::Form::constant || value.tensor.elem != Elem::i32)
    return true;
  return llvm::all_of(value.tensor.data->values, [&](double number) { return fitsTensor(number, where); });
}

/// What the operation computes with: its operands are brought to this.
static Elem commonElem(ScalarOp op, llvm::ArrayRef<Value> args) {
  llvm::SmallVector<Elem, 3> elems;
  for (const Value &arg : args)
    elems.push_back(elemOfValue(arg));
  if (!isComparison(op))
    return resultElem(op, elems);
  return llvm::is_contained(elems, Elem::f32) ? Elem::f32 : Elem::i32;
}

Value Elaborator::apply(ScalarOp op, llvm::ArrayRef<Value> given, SMRange where, StringRef what) {
  llvm::SmallVector<Value, 0> args(given);
  llvm::SmallVector<const Tensor *, 3> tensors;
  bool ok = true;
  for (size_t i = 0; i < args.size(); ++i) {
    ok = asOperand(args[i], where, what) && ok;
    bool truth = elemOfValue(args[i]) == Elem::i1;
    bool wantsTruth = isLogical(op) || (op == ScalarOp::select && i == 0);
    if (ok && wantsTruth && !truth) {
      fail(where, what + " needs a truth value, not " + args[i].described());
      ok = false;
    } else if (ok && truth && !wantsTruth && op != ScalarOp::select && op != ScalarOp::equal &&
               op != ScalarOp::notEqual) {
      report(where, what + " needs numbers, not truth values").note("`select(c, 1, 0)` makes numbers of truth values");
      ok = false;
    }
  }
  if (!ok)
    return Value::poison();
  if (op == ScalarOp::equal || op == ScalarOp::notEqual)
    for (Value &arg : args)
      if (arg.is(Value::Kind::tensor) && !requireWholeParameters(arg.tensor, false))
        return Value::poison();
  bool inClause = llvm::any_of(
      args, [](const Value &v) { return v.is(Value::Kind::tensor) && v.tensor.form == Tensor::Form::rule; });
  for (Value &arg : args) {
    if (!arg.is(Value::Kind::tensor))
      continue;
    if (inClause)
      arg.tensor = toRule(arg.tensor, where);
    tensors.push_back(&arg.tensor);
  }
  if (tensors.empty()) {
    llvm::SmallVector<Folded, 3> numbers;
    for (const Value &arg : args)
      numbers.push_back(foldedOf(arg));
    return valueOf(fold(op, numbers), givesTruth(op, args));
  }
  Alignment alignment;
  if (!align(tensors, where, what, alignment))
    return Value::poison();
  auto isForm = [](Tensor::Form form) { return [form](const Tensor *t) { return t->form == form; }; };
  if (llvm::all_of(tensors, isForm(Tensor::Form::constant)))
    return applyConstant(op, args, alignment);
  bool whole = commonElem(op, args) == Elem::i32;
  for (Value &arg : args) {
    if (whole && !fitsTensor(arg, where))
      return Value::poison();
    bool isData = arg.is(Value::Kind::tensor) && arg.tensor.form == Tensor::Form::constant;
    if (!whole && isData && arg.tensor.elem == Elem::i32)
      arg.tensor.elem = Elem::f32;
  }
  if (inClause)
    return applyRule(op, args, alignment, where);
  return applyMap(op, args, alignment, where);
}

// ------------------------------------------------------------------------------------------------------- three ways
// out

Value Elaborator::applyConstant(ScalarOp op, llvm::ArrayRef<Value> args, const Alignment &a) {
  auto data = std::make_shared<ConstantData>();
  size_t count = static_cast<size_t>(product(a.dims));
  data->values.reserve(count);
  data->whole = true;
  llvm::SmallVector<int64_t> index(a.dims.size(), 0);
  llvm::SmallVector<Folded, 3> numbers;
  for (size_t n = 0; n < count; ++n) {
    numbers.clear();
    size_t which = 0;
    for (const Value &arg : args) {
      if (!arg.is(Value::Kind::tensor)) {
        numbers.push_back(foldedOf(arg));
        continue;
      }
      size_t offset = 0;
      const auto &places = a.places[which++];
      for (size_t k = 0; k < places.size(); ++k)
        offset = offset * arg.tensor.dims[k]->size + index[places[k]];
      numbers.push_back({arg.tensor.data->values[offset], arg.tensor.data->whole});
    }
    Folded folded = fold(op, numbers);
    data->values.push_back(folded.value);
    data->whole = data->whole && folded.whole;
    for (size_t d = a.dims.size(); d-- > 0 && ++index[d] == a.dims[d]->size;)
      index[d] = 0;
  }
  Tensor result;
  result.form = Tensor::Form::constant;
  result.dims = a.dims;
  result.lifted = a.lifted;
  result.elem = isLogical(op) || isComparison(op) ? Elem::i1 : data->whole ? Elem::i32 : Elem::f32;
  result.data = std::move(data);
  return Value::of(std::move(result));
}

Value Elaborator::applyRule(ScalarOp op, llvm::ArrayRef<Value> args, const Alignment &a, SMRange where) {
  struct Operand {
    std::shared_ptr<const Rule> rule;
    llvm::SmallVector<unsigned, 4> places;
    Folded number;
    Elem elem;
  };
  llvm::SmallVector<Operand, 3> operands;
  llvm::SmallVector<Elem, 3> elems;
  size_t which = 0;
  Tensor result;
  for (const Value &arg : args) {
    Operand operand;
    operand.elem = elemOfValue(arg);
    if (arg.is(Value::Kind::tensor)) {
      operand.rule = arg.tensor.rule;
      result.sources.append(arg.tensor.sources.begin(), arg.tensor.sources.end());
      operand.places = a.places[which++];
    } else {
      operand.number = foldedOf(arg);
    }
    elems.push_back(operand.elem);
    operands.push_back(std::move(operand));
  }
  auto row = [&](size_t i) { return args[i].is(Value::Kind::tensor) ? args[i].tensor.row : char(0); };
  if (op == ScalarOp::multiply && ((row(0) == 'q' && row(1) == 'k') || (row(0) == 'k' && row(1) == 'q')))
    result.row = 'p';
  Location loc = at(where);
  result.form = Tensor::Form::rule;
  result.isLook = false;
  result.dims = a.dims;
  result.lifted = a.lifted;
  result.elem = resultElem(op, elems);
  result.rule = std::make_shared<const Rule>([this, op, operands, loc](llvm::ArrayRef<mlir::Value> index) {
    llvm::SmallVector<Scalar, 3> scalars;
    for (const auto &operand : operands) {
      Scalar scalar{{}, operand.number, operand.elem};
      if (operand.rule) {
        llvm::SmallVector<mlir::Value, 4> own;
        for (unsigned place : operand.places)
          own.push_back(index[place]);
        scalar.value = (*operand.rule)(own);
        scalar.elem = elemOf(scalar.value.getType());
      }
      scalars.push_back(scalar);
    }
    return emit(op, clause->builder, loc, scalars);
  });
  return settle(std::move(result));
}

Value Elaborator::applyMap(ScalarOp op, llvm::ArrayRef<Value> args, const Alignment &a, SMRange where) {
  Labels labels;
  Labels::List out = labels.give(a.dims);
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<Labels::List> in;
  Region body;
  mlir::Block *block = new mlir::Block;
  body.push_back(block);
  llvm::SmallVector<Scalar, 3> scalars;
  size_t which = 0;
  for (const Value &arg : args) {
    Scalar scalar{{}, {}, elemOfValue(arg)};
    if (arg.is(Value::Kind::tensor)) {
      inputs.push_back(materialise(arg.tensor, where));
      in.push_back(pick(out, a.places[which++]));
      scalar.value = block->addArgument(typeOf(arg.tensor.elem, &context), at(where));
    } else {
      scalar.number = foldedOf(arg);
    }
    scalars.push_back(scalar);
  }
  OpBuilder inner(&context);
  inner.setInsertionPointToStart(block);
  mlir::Value result = emit(op, inner, at(where), scalars);
  YieldOp::create(inner, at(where), ValueRange(result));
  MapOp map = MapOp::create(builder, at(where), tensorType(a.dims, elemOf(result.getType())), inputs,
                            dimsArray(&context, in), dimsArray(&context, {out}));
  map.getBody().takeBody(body);
  return Value::of(made(map.getOutput(), a.dims, a.lifted));
}

// ------------------------------------------------------------------------------------------------------ whole numbers

/// The tensors that `value` is a mere look at (deep: or is computed from, place by place).
void Elaborator::findSources(mlir::Value value, bool deep, llvm::SmallPtrSetImpl<mlir::Value> &seen) const {
  if (!seen.insert(value).second)
    return;
  if (mlir::Value outer = outsideOf.lookup(value))
    findSources(outer, deep, seen);
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  if (llvm::isa<GatherOp>(op))
    return findSources(op->getOperand(0), deep, seen);
  bool looks = llvm::isa<ReshapeOp, SliceOp, ConcatOp, CacheOp, OnceOp>(op);
  bool copies = llvm::isa<MapOp>(op) && llvm::hasSingleElement(op->getRegion(0).front());
  if (looks || copies || (deep && llvm::isa<MapOp>(op)))
    for (mlir::Value input : op->getOperands())
      findSources(input, deep, seen);
}

bool Elaborator::requireWholeParameters(const Tensor &t, bool deep) {
  if (t.form == Tensor::Form::constant || t.elem != Elem::f32)
    return true;
  llvm::SmallPtrSet<mlir::Value, 8> seen;
  if (t.form == Tensor::Form::ssa)
    findSources(t.value, deep, seen);
  else if (deep || t.isLook)
    for (mlir::Value source : t.sources)
      findSources(source, deep, seen);
  for (auto &[value, name] : parameters)
    if (seen.contains(value) && intParameters.insert(name).second)
      stopForInts = true;
  return !stopForInts;
}

Value Elaborator::asWhole(Value v, SMRange where) {
  if (!asOperand(v, where, "an index"))
    return Value::poison();
  if (!v.is(Value::Kind::tensor) || v.tensor.elem == Elem::i32)
    return v;
  if (v.tensor.elem == Elem::i1)
    return fail(where, "an index is a number, not a truth value");
  Tensor &t = v.tensor;
  if (!requireWholeParameters(t, true))
    return Value::poison();
  if (t.form == Tensor::Form::constant) {
    for (double x : t.data->values)
      if (x != std::floor(x))
        return fail(where, "an index is a whole number, not " + numberText(x));
    t.elem = Elem::i32;
    return v;
  }
  if (t.form == Tensor::Form::ssa)
    return Value::of(emitConvert(t, Elem::i32, where));
  Location loc = at(where);
  auto rule = std::make_shared<const Rule>([this, inner = t.rule, loc](llvm::ArrayRef<mlir::Value> index) {
    mlir::Value value = (*inner)(index);
    return convert(clause->builder, loc, Scalar{value, {}, elemOf(value.getType())}, Elem::i32);
  });
  t.rule = rule;
  t.elem = Elem::i32;
  return settle(t);
}

} // namespace attn
