// ElaborateClause.cpp: the clauses of attend: mask, score, sink.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each clause is evaluated once, with i, j, h, s, q, k as scalars and rows of its region. dot(q, k) is what the
// operation computes anyway: a score made of it needs no sum of its own. It is emitted as s * sqrt(D), and where that
// is all a score uses of s, both the product and the operation's scale are taken away.
#include "dialect/AttnOps.h"
#include "frontend/AttendBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace attn {

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

/// A clause while it is evaluated.
struct ClauseFiller {
  AttendBuilder &attend;
  Elaborator &e;
  const Argument *arg;
  StringRef kind;
  mlir::Block *block;
  Clause clause;
  Location loc;
  llvm::StringMap<Value> known;        ///< what the clause may name
  mlir::Value s, number, i;            ///< the region's arguments of these names; `number` is h of the operation
  llvm::SmallVector<Operation *> dots; ///< s * sqrt(D)
  double root;

  ClauseFiller(AttendBuilder &a, const Argument *argument, StringRef k, mlir::Block *b)
      : attend(a), e(a.e), arg(argument), kind(k), block(b), clause(&a.e.context, b, a.captures),
        loc(a.e.at(argument->range)), root(std::sqrt(static_cast<double>(a.rowQ->size))) {}

  Elem elem() const { return kind == "mask" ? Elem::i1 : Elem::f32; }
  void addArguments();
  void bindWalks();
  bool bindNames(Scope &scope);
  Value evaluate();
  mlir::Value asNumber(Value result);
  bool finishScore(Region &region);
};

void ClauseFiller::addArguments() {
  for (StringRef name : argumentsOf(kind)) {
    bool isRow = name == "q" || name == "k", isUnit = name == "q" ? attend.unitQ : attend.unitK;
    DimRef row = name == "q" ? attend.rowQ : attend.rowK;
    Type type = typeOf(name == "s" || isRow ? Elem::f32 : Elem::i32, &e.context);
    if (isRow)
      type = RankedTensorType::get({row->size}, type);
    mlir::Value value = block->addArgument(type, loc);
    known[name] = isRow ? e.settle(rowRule(clause, value, row, isUnit, name[0])) : e.scalar(value);
    if (name == "i" || name == "j")
      known[name].tensor.row = name[0];
    (name == "s" ? s : name == "h" ? number : name == "i" ? i : value) = value;
  }
  clause.fixedArgs = block->getNumArguments();
  clause.queries = attend.queries;
  clause.keys = attend.keys;
  clause.dot = [this](SMRange range) {
    Scalar factor{{}, {root, false}, Elem::f32};
    mlir::Value dot = emit(ScalarOp::multiply, clause.builder, e.at(range), {Scalar{s, {}, Elem::f32}, factor});
    dots.push_back(dot.getDefiningOp());
    return dot;
  };
}

/// A walked dimension's place is part of the head's number, or the query's.
void ClauseFiller::bindWalks() {
  auto whole = [](int64_t x) { return Scalar{{}, {static_cast<double>(x), true}, Elem::i32}; };
  Scalar head{number, {}, Elem::i32};
  int64_t inside = 1;
  for (size_t n = attend.heads.size(); n-- > 0;) {
    int64_t below = inside, size = attend.heads[n]->size;
    inside *= size;
    if (n < attend.outerLifted)
      clause.walked[attend.heads[n]] = [=, this](OpBuilder &b) -> mlir::Value {
        mlir::Value place = emit(ScalarOp::floorDivide, b, loc, {head, whole(below)});
        return emit(ScalarOp::modulo, b, loc, {Scalar{place, {}, Elem::i32}, whole(size)});
      };
  }
  if (placeOf(attend.walked, attend.queries) >= 0 && i)
    clause.walked[attend.queries] = [this](OpBuilder &) -> mlir::Value { return i; };
  if (!attend.outerLifted)
    return;
  int64_t own = attn::product(DimsRef(attend.heads).drop_front(attend.outerLifted));
  known["h"] = e.scalar(emit(ScalarOp::modulo, clause.builder, loc, {head, whole(own)}));
}

/// Names of the list are names; without a list they are for the functions called here.
bool ClauseFiller::bindNames(Scope &scope) {
  if (!arg->hasBinders) {
    clause.names = known;
    return true;
  }
  for (const Ident &binder : arg->binders) {
    auto it = known.find(binder.text);
    if (scope.names.contains(binder.text)) {
      e.fail(binder.range, "`" + kind + "` binds `" + binder.text + "` twice");
      return false;
    }
    if (it != known.end()) {
      scope.names[binder.text] = it->second;
      continue;
    }
    std::string all;
    for (StringRef name : argumentsOf(kind))
      all += (all.empty() ? "`" : ", `") + name.str() + "`";
    e.report(binder.range, "`" + binder.text + "` is nothing that `" + kind + "` binds").note("it binds " + all);
    return false;
  }
  return true;
}

Value ClauseFiller::evaluate() {
  Scope scope;
  scope.kind = Scope::Kind::clause;
  scope.outer = e.frame.scope;
  if (!bindNames(scope))
    return Value::poison();
  e.frame.scope = &scope;
  Value result = e.eval(arg->value);
  e.frame.scope = scope.outer;
  return result;
}

/// What the region yields; null after an error.
mlir::Value ClauseFiller::asNumber(Value result) {
  SMRange where = arg->value->range;
  if (!e.asOperand(result, where, ("`" + kind + "`").str()))
    return {};
  bool isTensor = result.is(Value::Kind::tensor), isTruth = result.is(Value::Kind::boolean);
  isTruth = isTruth || (isTensor && result.tensor.elem == Elem::i1);
  if (isTruth != (elem() == Elem::i1)) {
    e.fail(where, isTruth ? "`" + kind + "` is a number, not a truth value"
                          : llvm::Twine("a mask is a truth value: which keys are visible"));
    return {};
  }
  if (!isTensor) {
    Folded folded{isTruth ? double(result.boolean) : result.number, isTruth};
    return convert(clause.builder, loc, Scalar{{}, folded, elem()}, elem());
  }
  Tensor rule = e.toRule(result.tensor, where);
  if (!rule.dims.empty()) {
    e.report(where, "`" + kind + "` must give one number, and this is " + text(rule.dims))
        .note("`sum` or `dot` sums over what is left");
    return {};
  }
  mlir::Value value = (*rule.rule)({});
  return convert(clause.builder, loc, Scalar{value, {}, elemOf(value.getType())}, elem());
}

/// Takes sqrt(D) away where s is not used but for dot(q, k), and the region where it is s itself.
bool ClauseFiller::finishScore(Region &region) {
  attend.scored = true;
  attend.scale = 1 / root;
  size_t uses = static_cast<size_t>(std::distance(s.use_begin(), s.use_end()));
  if (uses == dots.size() && !dots.empty()) {
    attend.scale = 1;
    for (Operation *dot : dots)
      dot->getResult(0).replaceAllUsesWith(s);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  if (s.use_empty())
    attend.scale = 1;
  else if (!attend.checkRows())
    return false;
  if (block->getTerminator()->getOperand(0) == s) {
    region.getBlocks().clear();
    attend.captures.clear();
  }
  return true;
}

bool AttendBuilder::fill(const Argument *arg, Region &region, StringRef kind) {
  mlir::Block *block = new mlir::Block;
  region.push_back(block);
  ClauseFiller filler(*this, arg, kind, block);
  e.clause = &filler.clause;
  filler.addArguments();
  filler.bindWalks();
  Value result = filler.evaluate();
  bool everywhere = kind == "mask" && result.is(Value::Kind::boolean) && result.boolean;
  mlir::Value yielded = everywhere || result.isPoison() ? mlir::Value() : filler.asNumber(result);
  e.clause = nullptr;
  if (!yielded) {
    region.getBlocks().clear();
    return everywhere;
  }
  YieldOp::create(filler.clause.builder, filler.loc, ValueRange(yielded));
  return kind != "score" || filler.finishScore(region);
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

} // namespace attn
