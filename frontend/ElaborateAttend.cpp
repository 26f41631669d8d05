// ElaborateAttend.cpp: attend(q, k, v, clauses…).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operation wants q [T, heads.., D], k [S, heads.., D], v [S, heads.., N]. The text may leave out more: a single
// query, rows of one number, and whatever the call is walked along; the first gets a dimension of size one, the walked
// dimensions become heads (a walk along a sequence the queries of a single query).
// Its clauses are in ElaborateClause.cpp.
#include "dialect/AttnOps.h"
#include "frontend/AttendBuilder.h"
#include "frontend/Labels.h"
#include <cmath>

using namespace mlir;

namespace attn {

// -------------------------------------------------------------------------------------------------------------- shapes

bool AttendBuilder::readRows() {
  Tensor *tensors[] = {&q, &k, &v};
  for (size_t i = 0; i < 3; ++i) {
    Value value = args.tensor(i);
    if (value.isPoison())
      return false;
    if (value.tensor.visible().empty()) {
      e.fail(args.placed[i]->value->range, "`attend` needs rows here, and this is one number");
      return false;
    }
    *tensors[i] = e.emitConvert(value.tensor, Elem::f32, where());
  }
  DimsRef kd = k.visible(), qd = q.visible(), vd = v.visible();
  isSingle = kd.size() > 1 && placeOf(kd.drop_front(), qd[0]) >= 0;
  keys = kd[0];
  if (!keys->sameSize(*vd[0])) {
    e.failSizes(where(), "keys and values differ in number", keys, vd[0]);
    return false;
  }
  unitQ = !isSingle && qd.size() == 1;
  unitK = kd.size() == 1;
  unitV = vd.size() == 1;
  rowQ = unitQ ? e.table.unnamed(1) : qd.back();
  rowK = unitK ? e.table.unnamed(1) : kd.back();
  rowV = unitV ? e.table.unnamed(1) : vd.back();
  for (auto [row, i] : {std::pair(rowQ, 0), {rowK, 1}, {rowV, 2}})
    if (!e.isStatic(row, args.placed[i]->value->range, "the width of a row"))
      return false;
  // What the call is walked along: heads, or the queries.
  for (const Tensor *t : {&q, &k, &v})
    for (DimRef dim : t->liftedDims())
      if (placeOf(walked, dim) < 0)
        walked.push_back(dim);
  llvm::stable_sort(walked,
                    [](DimRef a, DimRef b) { return std::pair(a->level, a->rank) < std::pair(b->level, b->rank); });
  if (isSingle) {
    auto onlyQ = [&](DimRef d) { return placeOf(k.liftedDims(), d) < 0 && placeOf(v.liftedDims(), d) < 0; };
    for (DimRef dim : walked)
      if (onlyQ(dim) && (!queries || dim->isSequence()))
        queries = dim;
    if (!queries)
      queries = e.table.unnamed(1);
  } else {
    queries = qd[0];
  }
  for (DimRef dim : walked) {
    if (dim == queries)
      continue;
    if (dim->isSequence()) {
      e.fail(where(), "`attend` with keys that are walked along a sequence is not in this edition of the compiler yet");
      return false;
    }
    heads.push_back(dim);
  }
  outerLifted = static_cast<unsigned>(heads.size());
  DimsRef own = qd.drop_front(isSingle ? 0 : 1);
  if (!unitQ)
    own = own.drop_back();
  heads.append(own.begin(), own.end());
  for (DimRef head : heads)
    if (!e.isStatic(head, where(), "the number of heads"))
      return false;
  return checkHeads(k, "keys", args.placed[1]->value->range) && checkHeads(v, "values", args.placed[2]->value->range);
}

bool AttendBuilder::checkHeads(const Tensor &t, StringRef who, SMRange range) {
  DimsRef dims = t.visible().drop_front();
  if (!dims.empty())
    dims = dims.drop_back();
  for (DimRef dim : dims) {
    int place = placeOf(heads, dim);
    if (place < 0) {
      Report r = e.report(range, "the " + who + " have `" + (dim->isNamed() ? dim->name : std::to_string(dim->size)) +
                                     "`, which the queries do not have");
      r.note("queries " + text(q.visible())).note(who + " " + text(t.visible()));
      return false;
    }
    if (!heads[place]->sameSize(*dim)) {
      e.failSizes(range, "two sizes for `" + dim->name + "`", heads[place], dim);
      return false;
    }
  }
  return true;
}

/// `[first, walked heads, own heads, row]`, with ones where the text has none.
bool AttendBuilder::shapeOne(Tensor &t, DimRef first, DimRef row, bool isUnit, bool isSingleRow) {
  Dims dims;
  dims.push_back(first);
  for (DimRef dim : t.liftedDims())
    if (dim != first)
      dims.push_back(dim);
  DimsRef rest = t.visible().drop_front(isSingleRow ? 0 : 1);
  dims.append(rest.begin(), rest.end());
  if (isUnit)
    dims.push_back(row);
  if (dims.size() != t.dims.size())
    t = e.emitReshape(t, dims, 0, where());
  else
    t = e.emitMove(t, dims, 0, where());
  return true;
}

bool AttendBuilder::shapeInputs() {
  // Every head is the query's.
  Dims all(q.liftedDims());
  for (DimRef dim : walked)
    if (placeOf(all, dim) < 0)
      all.push_back(dim);
  if (all.size() != q.lifted) {
    unsigned lifted = static_cast<unsigned>(all.size());
    all.append(q.visible().begin(), q.visible().end());
    q = e.emitBroadcast(q, all, lifted, where());
  }
  return shapeOne(q, queries, rowQ, unitQ, isSingle) && shapeOne(k, keys, rowK, unitK, false) &&
         shapeOne(v, keys, rowV, unitV, false);
}

// --------------------------------------------------------------------------------------------------------------- build

static std::optional<Weigh> weigherOf(const Argument *arg) {
  if (!arg)
    return Weigh::softmax;
  auto *name = llvm::dyn_cast<NameExpr>(arg->value);
  return name ? symbolizeWeigh(name->name) : std::nullopt;
}

Value AttendBuilder::finish() {
  const Argument *weighArg = args.named("weigh");
  auto weigh = weigherOf(weighArg);
  if (!weigh)
    return e.fail(weighArg->value->range, "`weigh` is one of softmax, softmax1, sigmoid, ratio");
  bool withWeights = false;
  if (const Argument *arg = args.named("weights")) {
    auto wanted = e.truth(args.evalNamed("weights"), arg->value->range, "`weights`");
    if (!wanted)
      return Value::poison();
    withWeights = *wanted;
  }
  Dims resultDims{queries}, weightDims{queries};
  resultDims.append(heads.begin(), heads.end());
  weightDims.append(heads.begin(), heads.end());
  resultDims.push_back(rowV);
  for (size_t n = 0; n < resultDims.size(); ++n)
    for (size_t m = 0; m < n; ++m)
      if (resultDims[n]->isNamed() && isSame(resultDims[n], resultDims[m]))
        return e.fail(where(), "`attend` would give a tensor with `" + resultDims[n]->name + "` twice");
  Labels labels;
  llvm::SmallVector<std::pair<DimRef, std::string>> given;
  auto labelOf = [&](DimRef dim) {
    for (auto &[other, label] : given)
      if (isSame(other, dim) && other->sameSize(*dim))
        return label;
    given.emplace_back(dim, labels.give(dim));
    return given.back().second;
  };
  auto labelsOf = [&](DimsRef dims) {
    Labels::List list;
    for (DimRef dim : dims)
      list.push_back(labelOf(dim));
    return list;
  };
  Labels::List out = labelsOf(resultDims);
  // Keys are another dimension than the queries, also where both are rows of one sequence.
  std::string keyLabel = isSame(keys, queries) ? labels.giveNamed("S", keys) : labelOf(keys);
  Labels::List inQ = labelsOf(q.dims), inK = labelsOf(DimsRef(k.dims).drop_front()),
               inV = labelsOf(DimsRef(v.dims).drop_front());
  inK.insert(inK.begin(), keyLabel);
  inV.insert(inV.begin(), keyLabel);
  llvm::SmallVector<Labels::List> in{inQ, inK, inV}, outs{out};
  llvm::SmallVector<mlir::Value> inputs;
  for (const Tensor *t : {&q, &k, &v})
    inputs.push_back(e.materialise(*t, where()));
  for (mlir::Value captured : captures) {
    Labels::List list;
    auto type = llvm::cast<RankedTensorType>(captured.getType());
    DimsAttr made = e.labelsOfValue(captured);
    for (int64_t n = 0; n < type.getRank(); ++n) {
      DimRef dim = type.isDynamicDim(static_cast<unsigned>(n))
                       ? e.table.sequence("", made ? made.sequence(static_cast<size_t>(n)) : "", {})
                       : e.table.unnamed(type.getDimSize(static_cast<unsigned>(n)));
      list.push_back(labels.give(dim));
    }
    in.push_back(list);
    inputs.push_back(captured);
  }
  llvm::SmallVector<Type> types{e.tensorType(resultDims, Elem::f32)};
  DimRef keysOut = isSame(keys, queries) ? e.table.renamed(keys, "", {}) : keys;
  if (withWeights) {
    Labels::List list(out.begin(), out.end() - 1);
    list.push_back(keyLabel);
    outs.push_back(list);
    weightDims.push_back(keysOut);
    types.push_back(e.tensorType(weightDims, Elem::f32));
  }
  OpBuilder &b = e.builder;
  UnitAttr yes = withWeights ? b.getUnitAttr() : UnitAttr();
  AttendOp op = AttendOp::create(b, e.at(where()), types, WeighAttr::get(&e.context, *weigh), b.getF64FloatAttr(scale),
                                 yes, UnitAttr(), inputs, dimsArray(&e.context, in), dimsArray(&e.context, outs));
  op.getScore().takeBody(score);
  op.getMask().takeBody(mask);
  op.getSink().takeBody(sink);
  // Back to the text's shape: walked dimensions first, no ones that the text does not have.
  auto restore = [&](mlir::Value value, Dims have, bool dropsRow) {
    Tensor t = e.made(value, have, 0);
    Dims wanted;
    for (DimRef dim : walked)
      wanted.push_back(dim);
    unsigned lifted = static_cast<unsigned>(wanted.size());
    if (!isSingle)
      wanted.push_back(queries);
    wanted.append(heads.begin() + outerLifted, heads.end());
    if (!dropsRow)
      wanted.push_back(have.back());
    if (wanted.size() == have.size())
      return Value::of(e.emitMove(t, wanted, lifted, where()));
    return Value::of(e.emitReshape(t, wanted, lifted, where()));
  };
  Value y = restore(op.getOutputs()[0], resultDims, unitV);
  if (!withWeights)
    return y;
  return Value::of(std::vector<Value>{y, restore(op.getOutputs()[1], weightDims, false)});
}

Value Elaborator::builtinAttend(CallArgs &args) {
  if (clause)
    return fail(args.range(), "`attend` cannot stand in a clause of `attend`");
  if (!args.check(3, 3, {"mask", "score", "sink", "weigh", "weights"}))
    return Value::poison();
  for (StringRef plain : {"weigh", "weights"})
    if (const Argument *arg = args.named(plain); arg && arg->hasBinders)
      return fail(arg->range, "`" + plain + "` binds no names");
  AttendBuilder attend{*this, args};
  if (!attend.readRows() || !attend.shapeInputs())
    return Value::poison();
  const Argument *score = args.named("score"), *mask = args.named("mask"), *sink = args.named("sink");
  bool ok = !score || attend.fill(score, attend.score, "score");
  ok = (!mask || attend.fill(mask, attend.mask, "mask")) && ok;
  ok = (!sink || attend.fill(sink, attend.sink, "sink")) && ok;
  if (!ok || isStopping())
    return Value::poison();
  if (!attend.scored) {
    if (!attend.checkRows())
      return Value::poison();
    attend.scale = 1 / std::sqrt(static_cast<double>(attend.rowQ->size));
  }
  attend.padCaptures();
  return attend.finish();
}

} // namespace attn
