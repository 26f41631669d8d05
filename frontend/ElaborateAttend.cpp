// ElaborateAttend.cpp: attend(q, k, v, clauses…).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operation wants q [T, heads.., D], k [S, heads.., D], v [S, heads.., N]. The text may leave out more: a single
// query, rows of one number, and whatever the call is walked along; the first gets a dimension of size one, the walked
// dimensions become heads (a walk along a sequence the queries of a single query).
//
// Each clause is evaluated once, with i, j, h, s, q, k as scalars and rows of its region. dot(q, k) is what the
// operation computes anyway: a score made of it needs no sum of its own.
#include "dialect/AttnOps.h"
#include "frontend/CallArgs.h"
#include "frontend/Labels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace attn {

struct AttendBuilder {
  Elaborator &e;
  CallArgs &args;
  Tensor q, k, v;
  DimRef queries = nullptr, keys = nullptr;
  Dims walked, heads; ///< q's heads: first what the call is walked along, then its own
  DimRef rowQ = nullptr, rowK = nullptr, rowV = nullptr;
  bool isSingle = false, unitQ = false, unitK = false, unitV = false;
  unsigned outerLifted = 0;
  llvm::SmallVector<mlir::Value> captures;
  Region score, mask, sink;
  double scale = 1;
  bool scored = false;

  SMRange where() const { return args.range(); }
  bool readRows();
  bool shapeInputs();
  bool shapeOne(Tensor &t, DimRef first, DimRef row, bool isUnit, bool isSingleRow);
  bool checkHeads(const Tensor &t, StringRef who, SMRange range);
  bool fill(const Argument *arg, Region &region, StringRef kind);
  void padCaptures();
  bool checkRows();
  Value finish();
};

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

// ------------------------------------------------------------------------------------------------------------- clauses

static llvm::SmallVector<StringRef> argumentsOf(StringRef kind) {
  if (kind == "score")
    return {"s", "i", "j", "h", "q", "k"};
  if (kind == "mask")
    return {"i", "j", "h"};
  return {"h"};
}

/// A row of q or k, an argument of the region.
static Tensor rowRule(Clause &clause, mlir::Value arg, DimRef row, bool isUnit, char which) {
  Tensor t;
  t.form = Tensor::Form::rule;
  t.row = which;
  if (!isUnit)
    t.dims = {row};
  Clause *c = &clause;
  t.rule = std::make_shared<const Rule>([c, arg, isUnit](llvm::ArrayRef<mlir::Value> index) {
    llvm::SmallVector<mlir::Value> at(index);
    if (isUnit)
      at.push_back(arith::ConstantOp::create(c->builder, arg.getLoc(), c->builder.getI32IntegerAttr(0)));
    return AtOp::create(c->builder, arg.getLoc(), c->builder.getF32Type(), arg, at).getResult();
  });
  return t;
}

bool AttendBuilder::fill(const Argument *arg, Region &region, StringRef kind) {
  MLIRContext *context = &e.context;
  Location loc = e.at(arg->range);
  mlir::Block *block = new mlir::Block;
  region.push_back(block);
  Clause clause(context, block, captures);
  e.clause = &clause;
  llvm::StringMap<Value> known;
  mlir::Value s, number, i;
  for (StringRef name : argumentsOf(kind)) {
    bool isRow = name == "q" || name == "k";
    Type type = name == "s" ? typeOf(Elem::f32, context) : typeOf(Elem::i32, context);
    DimRef row = name == "q" ? rowQ : rowK;
    if (isRow)
      type = RankedTensorType::get({row->size}, typeOf(Elem::f32, context));
    mlir::Value value = block->addArgument(type, loc);
    if (isRow) {
      bool isUnit = name == "q" ? unitQ : unitK;
      known[name] = e.settle(rowRule(clause, value, row, isUnit, name[0]));
    } else {
      known[name] = e.scalar(value);
    }
    if (name == "s")
      s = value;
    if (name == "h")
      number = value;
    if (name == "i")
      i = value;
  }
  clause.fixedArgs = block->getNumArguments();
  // A walked dimension's place is part of the head's number, or the query's.
  int64_t inside = 1;
  for (size_t n = heads.size(); n-- > 0;) {
    int64_t below = inside, size = heads[n]->size;
    inside *= size;
    if (n >= outerLifted)
      continue;
    clause.walked[heads[n]] = [=](OpBuilder &b) -> mlir::Value {
      auto whole = [](int64_t x) { return Scalar{{}, {static_cast<double>(x), true}, Elem::i32}; };
      mlir::Value place = emit(ScalarOp::floorDivide, b, loc, {Scalar{number, {}, Elem::i32}, whole(below)});
      return emit(ScalarOp::modulo, b, loc, {Scalar{place, {}, Elem::i32}, whole(size)});
    };
  }
  if (placeOf(walked, queries) >= 0 && i)
    clause.walked[queries] = [i](OpBuilder &) -> mlir::Value { return i; };
  if (outerLifted) {
    int64_t own = attn::product(DimsRef(heads).drop_front(outerLifted));
    Scalar count{{}, {static_cast<double>(own), true}, Elem::i32};
    known["h"] = e.scalar(emit(ScalarOp::modulo, clause.builder, loc, {Scalar{number, {}, Elem::i32}, count}));
  }
  double root = std::sqrt(static_cast<double>(rowQ->size));
  llvm::SmallVector<Operation *> dots;
  clause.dot = [&](SMRange range) {
    // Undone below where `s` itself is not used.
    Scalar factor{{}, {root, false}, Elem::f32};
    mlir::Value dot = emit(ScalarOp::multiply, clause.builder, e.at(range), {Scalar{s, {}, Elem::f32}, factor});
    dots.push_back(dot.getDefiningOp());
    return dot;
  };
  Scope scope;
  scope.kind = Scope::Kind::clause;
  scope.outer = e.frame.scope;
  bool ok = true;
  if (arg->hasBinders) {
    for (const Ident &binder : arg->binders) {
      auto it = known.find(binder.text);
      if (it == known.end()) {
        Report r = e.report(binder.range, "`" + binder.text + "` is nothing that `" + kind + "` binds");
        std::string all;
        for (StringRef name : argumentsOf(kind))
          all += (all.empty() ? "`" : ", `") + name.str() + "`";
        r.note("it binds " + all);
        ok = false;
      } else {
        scope.names[binder.text] = it->second;
      }
    }
  } else {
    clause.names = known;
  }
  e.frame.scope = &scope;
  Value result = ok ? e.eval(arg->value) : Value::poison();
  e.frame.scope = scope.outer;
  Elem elem = kind == "mask" ? Elem::i1 : Elem::f32;
  bool isTrue = result.is(Value::Kind::boolean);
  if (ok && !result.isPoison() && (isTrue || result.is(Value::Kind::tensor)) &&
      (elem == Elem::i1) != (isTrue || result.tensor.elem == Elem::i1)) {
    e.fail(arg->value->range, elem == Elem::i1 ? "a mask is a truth value: which keys are visible"
                                               : "`" + kind + "` is a number, not a truth value");
    ok = false;
  }
  if (ok && !isTrue)
    ok = e.asOperand(result, arg->value->range, ("`" + kind + "`").str());
  mlir::Value yielded;
  if (ok && result.is(Value::Kind::tensor)) {
    Tensor rule = e.toRule(result.tensor, arg->value->range);
    if (!rule.dims.empty()) {
      e.report(arg->value->range, "`" + kind + "` must give one number, and this is " + text(rule.dims))
          .note("`sum` or `dot` sums over what is left");
      ok = false;
    } else {
      yielded = (*rule.rule)({});
      yielded = convert(clause.builder, loc, Scalar{yielded, {}, elemOf(yielded.getType())}, elem);
    }
  } else if (ok) {
    double n = isTrue ? result.boolean : result.number;
    yielded = convert(clause.builder, loc, Scalar{{}, {n, isTrue}, elem}, elem);
  }
  e.clause = nullptr;
  if (!ok || result.isPoison()) {
    region.getBlocks().clear();
    return false;
  }
  if (isTrue && result.boolean) { // everything is visible
    region.getBlocks().clear();
    return true;
  }
  YieldOp::create(clause.builder, loc, ValueRange(yielded));
  if (kind != "score")
    return true;
  scored = true;
  size_t uses = static_cast<size_t>(std::distance(s.use_begin(), s.use_end()));
  scale = 1 / root;
  if (uses == dots.size() && !dots.empty()) { // only dot(q, k): without the scale
    scale = 1;
    for (Operation *dot : dots) {
      dot->getResult(0).replaceAllUsesWith(s);
      Operation *factor = dot->getOperand(1).getDefiningOp();
      dot->erase();
      if (factor && factor->use_empty())
        factor->erase();
    }
  }
  if (!s.use_empty() && !checkRows())
    return false;
  if (s.use_empty())
    scale = 1;
  // Unused literals and rows stay out.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  if (block->getTerminator()->getOperand(0) == s) {
    region.getBlocks().clear();
    captures.clear();
  }
  return true;
}

/// q . k needs rows of one length.
bool AttendBuilder::checkRows() {
  if (rowQ->size == rowK->size)
    return true;
  e.failSizes(where(), "the rows of queries and keys differ in length, and the score is their product", rowQ, rowK);
  return false;
}

/// Every region gets every captured tensor.
void AttendBuilder::padCaptures() {
  std::pair<Region *, size_t> regions[] = {{&score, 6}, {&mask, 3}, {&sink, 1}};
  for (auto [region, fixed] : regions) {
    if (region->empty())
      continue;
    mlir::Block &block = region->front();
    for (size_t have = block.getNumArguments() - fixed; have < captures.size(); ++have)
      block.addArgument(captures[have].getType(), captures[have].getLoc());
  }
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
