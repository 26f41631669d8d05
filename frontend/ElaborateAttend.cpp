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
  if (!placeWalks())
    return false;
  outerLifted = static_cast<unsigned>(heads.size());
  DimsRef own = qd.drop_front(isSingle ? 0 : 1);
  if (!unitQ)
    own = own.drop_back();
  heads.append(own.begin(), own.end());
  for (DimRef head : heads)
    if (!e.isStatic(head, where(), "the number of heads"))
      return false;
  matchUnnamed(k);
  matchUnnamed(v);
  return checkHeads(k, "keys", args.placed[1]->value->range) && checkHeads(v, "values", args.placed[2]->value->range);
}

/// What the call is walked along: heads, or the queries.
bool AttendBuilder::placeWalks() {
  DimsRef qd = q.visible();
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
  return true;
}

/// Heads without a name match the queries' by place, from the right; where only one of two has a name, it wins.
void AttendBuilder::matchUnnamed(Tensor &t) {
  size_t own = heads.size() - outerLifted, count = t.visible().size() < 2 ? 0 : t.visible().size() - 2;
  for (size_t fromRight = 1; fromRight <= count && fromRight <= own; ++fromRight) {
    DimRef &theirs = t.dims[t.dims.size() - 1 - fromRight], &ours = heads[heads.size() - fromRight];
    bool both = theirs->isNamed() && ours->isNamed();
    if (both || placeOf(heads, theirs) >= 0 || !theirs->sameSize(*ours))
      continue;
    if (theirs->isNamed()) {
      q.dims[static_cast<size_t>(placeOf(q.dims, ours))] = theirs;
      ours = theirs;
    } else {
      theirs = ours;
    }
  }
}

/// How many heads of the queries would share one of the keys.
static void noteGroups(Report &r, int64_t ours, int64_t theirs, StringRef who) {
  if (ours == 1)
    return;
  std::string numbers = std::to_string(ours) + " heads of queries, " + std::to_string(theirs) + " of " + who.str();
  if (theirs == 0 || ours % theirs != 0)
    r.note(numbers + ": they do not divide into groups");
  else if (ours != theirs)
    r.note(numbers + ": groups of " + llvm::Twine(ours / theirs) + " are a dimension of their own, `q as [T,G,R,D]`");
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
      noteGroups(r, attn::product(DimsRef(heads).drop_front(outerLifted)), attn::product(dims), who);
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

bool AttendBuilder::readOptions() {
  const Argument *weighArg = args.named("weigh");
  auto chosen = weigherOf(weighArg);
  if (!chosen) {
    e.fail(weighArg->value->range, "`weigh` is one of softmax, softmax1, sigmoid, ratio");
    return false;
  }
  weigh = *chosen;
  const Argument *sink = args.named("sink");
  if (sink && weigh != Weigh::softmax && weigh != Weigh::softmax1) {
    e.report(sink->value->range,
             "a sink takes its share of a softmax, and this `attend` weighs by `" + stringifyWeigh(weigh).str() + "`")
        .note("`sink` goes with `weigh: softmax` and `weigh: softmax1`");
    return false;
  }
  const Argument *weightsArg = args.named("weights");
  if (!weightsArg)
    return true;
  auto wanted = e.truth(args.evalNamed("weights"), weightsArg->value->range, "`weights`");
  withWeights = wanted.value_or(false);
  return wanted.has_value();
}

namespace {

/// Labels of the operands and results: a dimension has one label wherever it stands.
struct AttendLabels {
  Labels labels;
  llvm::SmallVector<std::pair<DimRef, std::string>> given;
  llvm::SmallVector<Labels::List> in, out;

  std::string of(DimRef dim) {
    for (auto &[other, label] : given)
      if (isSame(other, dim) && other->sameSize(*dim))
        return label;
    given.emplace_back(dim, labels.give(dim));
    return given.back().second;
  }
  Labels::List of(DimsRef dims) {
    Labels::List list;
    for (DimRef dim : dims)
      list.push_back(of(dim));
    return list;
  }
  Labels::List of(llvm::StringRef first, DimsRef rest) {
    Labels::List list = of(rest);
    list.insert(list.begin(), first.str());
    return list;
  }
};

} // namespace

/// The places of a captured tensor are numbers there: its labels are its own.
Labels::List AttendBuilder::captureLabels(mlir::Value captured, Labels &labels) {
  Labels::List list;
  auto type = llvm::cast<RankedTensorType>(captured.getType());
  DimsAttr made = e.labelsOfValue(captured);
  for (unsigned n = 0; n < static_cast<unsigned>(type.getRank()); ++n) {
    bool isOpen = type.isDynamicDim(n);
    StringRef sequence = isOpen && made ? made.sequence(n) : "";
    list.push_back(labels.give(isOpen ? e.table.sequence("", sequence, {}) : e.table.unnamed(type.getDimSize(n))));
  }
  return list;
}

/// Back to the text's shape: walked dimensions first, no ones that the text does not have.
Value AttendBuilder::restore(mlir::Value value, const Dims &have, bool dropsRow) {
  Tensor t = e.made(value, have, 0);
  Dims wanted(walked);
  unsigned lifted = static_cast<unsigned>(wanted.size());
  if (!isSingle)
    wanted.push_back(queries);
  wanted.append(heads.begin() + outerLifted, heads.end());
  if (!dropsRow)
    wanted.push_back(have.back());
  bool same = wanted.size() == have.size();
  return Value::of(same ? e.emitMove(t, wanted, lifted, where()) : e.emitReshape(t, wanted, lifted, where()));
}

Value AttendBuilder::finish() {
  Dims rows{queries};
  rows.append(heads.begin(), heads.end());
  Dims resultDims(rows), weightDims(rows);
  resultDims.push_back(rowV);
  weightDims.push_back(isSame(keys, queries) ? e.table.renamed(keys, "", {}) : keys);
  for (size_t n = 0; n < resultDims.size(); ++n)
    if (resultDims[n]->isNamed() && placeOf(DimsRef(resultDims).take_front(n), resultDims[n]) >= 0)
      return e.fail(where(), "`attend` would give a tensor with `" + resultDims[n]->name + "` twice");
  AttendLabels names;
  names.out.push_back(names.of(resultDims));
  // Keys are another dimension than the queries, also where both are rows of one sequence.
  std::string keyLabel = isSame(keys, queries) ? names.labels.giveNamed("S", keys) : names.of(keys);
  names.in = {names.of(q.dims), names.of(keyLabel, DimsRef(k.dims).drop_front()),
              names.of(keyLabel, DimsRef(v.dims).drop_front())};
  llvm::SmallVector<mlir::Value> inputs;
  for (const Tensor *t : {&q, &k, &v})
    inputs.push_back(e.materialise(*t, where()));
  for (mlir::Value captured : captures) {
    names.in.push_back(captureLabels(captured, names.labels));
    inputs.push_back(captured);
  }
  llvm::SmallVector<Type> types{e.tensorType(resultDims, Elem::f32)};
  if (withWeights) {
    names.out.push_back(names.of(rows));
    names.out.back().push_back(keyLabel);
    types.push_back(e.tensorType(weightDims, Elem::f32));
  }
  OpBuilder &b = e.builder;
  UnitAttr yes = withWeights ? b.getUnitAttr() : UnitAttr();
  AttendOp op =
      AttendOp::create(b, e.at(where()), types, WeighAttr::get(&e.context, weigh), b.getF64FloatAttr(scale), yes,
                       UnitAttr(), inputs, dimsArray(&e.context, names.in), dimsArray(&e.context, names.out));
  op.getScore().takeBody(score);
  op.getMask().takeBody(mask);
  op.getSink().takeBody(sink);
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
  if (!attend.readOptions())
    return Value::poison();
  attend.padCaptures();
  return attend.finish();
}

} // namespace attn
