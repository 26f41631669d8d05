// BuiltinPlaces.cpp: `x[i]`, concat, roll: what moves and chooses places of tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "frontend/CallArgs.h"
#include "frontend/Labels.h"

using namespace mlir;

namespace attn {

// ------------------------------------------------------------------------------------------------------------- indices

static bool isRule(const Value &v) {
  return v.is(Value::Kind::tensor) && v.tensor.form == Tensor::Form::rule;
}

Value Elaborator::indexTensor(const Tensor &base, llvm::ArrayRef<Value> given, const IndexExpr &e) {
  if (given.size() > base.visible().size())
    return fail(e.range, llvm::Twine(given.size()) + " indices for " + text(base.visible()));
  llvm::SmallVector<Value, 0> indices;
  for (size_t i = 0; i < given.size(); ++i) {
    indices.push_back(asWhole(given[i], e.indices[i]->range));
    if (indices.back().isPoison())
      return Value::poison();
    DimRef dim = base.visible()[i];
    auto check = [&](double n) {
      bool inside = n >= 0 && (dim->isSequence() || n < static_cast<double>(dim->size));
      if (!inside) {
        Report r = report(e.indices[i]->range, "index " + numberText(n) + " is outside " + described(dim));
        noteOrigin(r, dim);
      }
      return inside;
    };
    if (indices.back().is(Value::Kind::number)) {
      auto n = wholeNumber(indices.back(), e.indices[i]->range, "an index");
      if (!n || !check(static_cast<double>(*n)))
        return Value::poison();
    } else if (indices.back().is(Value::Kind::boolean)) {
      return fail(e.indices[i]->range, "an index is a number, not a truth value");
    } else if (indices.back().tensor.form == Tensor::Form::constant) {
      for (double n : indices.back().tensor.data->values)
        if (!check(n))
          return Value::poison();
    }
  }
  if (base.form == Tensor::Form::rule || llvm::any_of(indices, isRule))
    return indexRule(base, indices, e.range);
  // Fixed places first: what is left is looked up.
  Tensor x = base;
  llvm::SmallVector<Value, 0> open;
  unsigned place = base.lifted;
  for (const Value &index : indices) {
    if (index.is(Value::Kind::number)) {
      x = emitSlice(x, place, static_cast<int64_t>(index.number), nullptr, e.range);
    } else {
      open.push_back(index);
      ++place;
    }
  }
  return open.empty() ? settle(x) : gather(x, open, e.range);
}

/// Rows of `base` by number. Where `base` is walked, its own number along each walked dimension is an index too.
Value Elaborator::gather(const Tensor &base, llvm::ArrayRef<Value> indices, SMRange where) {
  llvm::SmallVector<Tensor> all;
  for (DimRef dim : base.liftedDims()) {
    if (dim->isSequence())
      return fail(where,
                  "looking up in a tensor that is walked along a sequence is not in this edition of the compiler "
                  "yet");
    Tensor own;
    own.form = Tensor::Form::constant;
    own.elem = Elem::i32;
    own.dims = {dim};
    own.lifted = 1;
    auto data = std::make_shared<ConstantData>();
    for (int64_t i = 0; i < dim->size; ++i)
      data->values.push_back(static_cast<double>(i));
    own.data = std::move(data);
    all.push_back(own);
  }
  for (const Value &index : indices)
    all.push_back(index.tensor);
  llvm::SmallVector<const Tensor *> pointers;
  for (const Tensor &t : all)
    pointers.push_back(&t);
  Alignment aligned;
  if (!align(pointers, where, "indices", aligned))
    return Value::poison();
  // The operation lists the dimensions of the indices in the order of their first appearance.
  llvm::SmallVector<unsigned> order;
  for (const auto &places : aligned.places)
    for (unsigned place : places)
      if (!llvm::is_contained(order, place))
        order.push_back(place);
  Dims listed, wanted(aligned.dims);
  for (unsigned place : order)
    listed.push_back(aligned.dims[place]);
  DimsRef rest = DimsRef(base.dims).drop_front(base.lifted + indices.size());
  for (DimRef dim : rest)
    if (dim->isNamed() && placeOf(wanted, dim) >= 0)
      return fail(where, "this look-up would give a tensor with `" + dim->name + "` twice");
  listed.append(rest.begin(), rest.end());
  wanted.append(rest.begin(), rest.end());
  Labels labels;
  Labels::List out = labels.give(listed), tableLabels;
  for (DimRef dim : DimsRef(base.dims).take_front(base.lifted + indices.size()))
    tableLabels.push_back(labels.give(dim));
  tableLabels.append(out.end() - static_cast<ptrdiff_t>(rest.size()), out.end());
  llvm::SmallVector<Labels::List> in{tableLabels};
  llvm::SmallVector<mlir::Value> inputs{materialise(base, where)};
  for (size_t i = 0; i < all.size(); ++i) {
    Labels::List list;
    for (unsigned place : aligned.places[i])
      list.push_back(out[static_cast<size_t>(llvm::find(order, place) - order.begin())]);
    in.push_back(list);
    inputs.push_back(materialise(all[i], where));
  }
  GatherOp op = GatherOp::create(builder, at(where), tensorType(listed, base.elem), inputs, dimsArray(&context, in),
                                 dimsArray(&context, {out}));
  return Value::of(emitMove(made(op.getOutput(), listed, aligned.lifted), wanted, aligned.lifted, where));
}

// --------------------------------------------------------------------------------------------------------- end to end

/// The dimension each part is joined along, by rule 11.
std::optional<llvm::SmallVector<unsigned>> Elaborator::joinedPlaces(CallArgs &args, llvm::ArrayRef<Tensor> parts) {
  llvm::SmallVector<unsigned> places;
  if (args.named("along")) {
    for (const Tensor &part : parts) {
      auto place = along(args, part);
      if (!place)
        return std::nullopt;
      places.push_back(*place);
    }
    return places;
  }
  bool lastDiffer = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].visible().empty()) {
      fail(args.range(), "`concat` joins tensors, and this is one number");
      return std::nullopt;
    }
    DimRef last = parts[i].dims.back();
    lastDiffer = lastDiffer && last->isNamed();
    for (size_t j = 0; j < i; ++j)
      lastDiffer = lastDiffer && !isSame(last, parts[j].dims.back());
  }
  for (const Tensor &part : parts)
    places.push_back(lastDiffer ? static_cast<unsigned>(part.dims.size() - 1) : part.lifted);
  bool unclear = false;
  for (size_t i = 0; i < parts.size() && !lastDiffer; ++i)
    for (size_t j = 0; j < i; ++j)
      unclear = unclear ||
                (parts[i].dims[places[i]]->isNamed() && isSame(parts[i].dims[places[i]], parts[j].dims[places[j]]));
  if (unclear) {
    Report r = report(args.range(), "`concat` cannot tell which dimension to join");
    for (const Tensor &part : parts)
      r.note("a part is " + text(part.visible()));
    r.note("say it: `concat(…, along: D)`");
    return std::nullopt;
  }
  return places;
}

Value Elaborator::builtinConcat(CallArgs &args) {
  if (!args.check(2, 100, {"along"}))
    return Value::poison();
  llvm::SmallVector<Tensor> parts;
  for (size_t i = 0; i < args.size(); ++i) {
    Value v = args.tensor(i);
    if (v.isPoison())
      return v;
    parts.push_back(v.tensor);
  }
  auto places = joinedPlaces(args, parts);
  return places ? concat(parts, *places, args.range()) : Value::poison();
}

Value Elaborator::concat(llvm::ArrayRef<Tensor> parts, llvm::ArrayRef<unsigned> places, SMRange where) {
  Dims joints;
  size_t big = 0;
  bool allWhole = llvm::all_of(parts, [](const Tensor &t) { return t.elem == Elem::i32; });
  for (size_t i = 0; i < parts.size(); ++i) {
    DimRef joint = parts[i].dims[places[i]];
    if (!isStatic(joint, where, "what `concat` joins"))
      return Value::poison();
    joints.push_back(joint);
    if (parts[i].dims.size() > parts[big].dims.size())
      big = i;
  }
  const Tensor &model = parts[big];
  unsigned joined = places[big];
  DimRef whole = table.joined(joints, {where, ""});
  Labels labels;
  std::string along = labels.give(whole);
  Labels::List out;
  for (size_t k = 0; k < model.dims.size(); ++k)
    out.push_back(k == joined ? along : labels.give(model.dims[k]));
  llvm::SmallVector<Labels::List> in;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<StringRef> jointNames;
  std::deque<std::string> names;
  for (size_t i = 0; i < parts.size(); ++i) {
    Labels::List list;
    for (size_t k = 0; k < parts[i].dims.size(); ++k) {
      DimRef dim = parts[i].dims[k];
      if (k == places[i]) {
        list.push_back(labels.give(dim));
        names.push_back(list.back());
        continue;
      }
      int place = placeOf(model.dims, dim);
      int fromRight = static_cast<int>(model.dims.size()) - static_cast<int>(parts[i].dims.size() - k);
      if (place < 0 && fromRight >= 0 && fromRight != static_cast<int>(joined) &&
          (!dim->isNamed() || !model.dims[fromRight]->isNamed()))
        place = fromRight;
      if (place < 0 || !model.dims[place]->sameSize(*dim)) {
        report(where, "`concat`: " + text(parts[i].visible()) + " and " + text(model.visible()) +
                          " differ beside what is joined");
        return Value::poison();
      }
      list.push_back(out[place]);
    }
    in.push_back(list);
    Tensor part = allWhole ? parts[i] : emitConvert(parts[i], Elem::f32, where);
    inputs.push_back(materialise(part, where));
  }
  for (const std::string &name : names)
    jointNames.push_back(name);
  Dims dims(model.dims);
  dims[joined] = whole;
  ConcatOp op = ConcatOp::create(builder, at(where), tensorType(dims, allWhole ? Elem::i32 : Elem::f32),
                                 builder.getStringAttr(along), builder.getStrArrayAttr(jointNames), inputs,
                                 dimsArray(&context, in), dimsArray(&context, {out}));
  return Value::of(made(op.getOutput(), dims, model.lifted));
}

/// Places move by n, the last ones come round to the front.
Value Elaborator::builtinRoll(CallArgs &args) {
  if (!args.check(2, 2, {"along"}))
    return Value::poison();
  Value v = args.tensor(0);
  auto n = wholeNumber(args.eval(1), args.placed[1]->value->range, "how far to roll");
  if (v.isPoison() || !n)
    return Value::poison();
  auto place = along(args, v.tensor);
  if (!place || !isStatic(v.tensor.dims[*place], args.range(), "the dimension that rolls"))
    return Value::poison();
  DimRef dim = v.tensor.dims[*place];
  int64_t shift = dim->size ? ((*n % dim->size) + dim->size) % dim->size : 0;
  if (shift == 0)
    return v;
  Tensor back = emitSlice(v.tensor, *place, dim->size - shift, table.unnamed(shift), args.range());
  Tensor front = emitSlice(v.tensor, *place, 0, table.unnamed(dim->size - shift), args.range());
  Value rolled = concat({back, front}, {*place, *place}, args.range());
  if (rolled.is(Value::Kind::tensor))
    rolled.tensor.dims[*place] = dim;
  return rolled;
}

} // namespace attn
