// Rules.cpp: numbers at places inside a clause of attend.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region of attend holds scalars only. What the text writes with rows and tables there, `dot(w, tanh(q + k))`,
// `table[b, h]`, is kept as a rule that emits the number at a place; a sum over a row becomes attn.fold of its rule.
#include "dialect/AttnOps.h"
#include "frontend/Elaborator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace attn {

/// The outer tensor as an argument of the region being filled.
mlir::Value Elaborator::capture(mlir::Value outer) {
  auto *at = llvm::find(clause->captures, outer);
  size_t index = static_cast<size_t>(at - clause->captures.begin());
  if (at == clause->captures.end())
    clause->captures.push_back(outer);
  for (size_t have = clause->block->getNumArguments() - clause->fixedArgs; have <= index; ++have) {
    mlir::Value captured = clause->captures[have];
    clause->block->addArgument(captured.getType(), captured.getLoc());
  }
  return clause->block->getArgument(clause->fixedArgs + static_cast<unsigned>(index));
}

/// The tensor as a rule over its visible dimensions; where it is walked, by the walk's own place.
Tensor Elaborator::toRule(const Tensor &t, SMRange where) {
  if (t.form == Tensor::Form::rule)
    return t;
  Tensor result;
  result.form = Tensor::Form::rule;
  result.elem = t.elem;
  result.dims = Dims(t.visible());
  Location loc = at(where);
  Type type = typeOf(t.elem, &context);
  for (DimRef dim : t.liftedDims())
    if (!clause->walked.count(dim)) {
      fail(where, "a clause of `attend` looks at a tensor that is walked along `" + dim->name +
                      "`, which neither queries nor keys are");
      result.rule = std::make_shared<const Rule>([this, loc, type](llvm::ArrayRef<mlir::Value>) -> mlir::Value {
        return arith::ConstantOp::create(clause->builder, loc, clause->builder.getZeroAttr(type));
      });
      return result;
    }
  mlir::Value outer = materialise(t, where);
  result.sources = {outer};
  Dims lifted(t.liftedDims());
  result.rule = std::make_shared<const Rule>([this, outer, loc, lifted, type](llvm::ArrayRef<mlir::Value> index) {
    llvm::SmallVector<mlir::Value> all;
    for (DimRef dim : lifted)
      all.push_back(clause->walked.lookup(dim)(clause->builder));
    all.append(index.begin(), index.end());
    mlir::Value tensor = capture(outer);
    return AtOp::create(clause->builder, loc, type, tensor, all).getResult();
  });
  return result;
}

/// What has no dimensions becomes its number.
Value Elaborator::settle(Tensor t) {
  if (!t.dims.empty() || t.form == Tensor::Form::ssa)
    return Value::of(std::move(t));
  if (t.form == Tensor::Form::constant) {
    double v = t.data->values[0];
    return t.elem == Elem::i1 ? Value::of(v != 0) : Value::of(v, t.data->whole);
  }
  Value number = scalar((*t.rule)({}));
  number.tensor.sources = t.sources;
  number.tensor.isLook = t.isLook;
  return number;
}

Value Elaborator::scalar(mlir::Value value) {
  Tensor t;
  t.form = Tensor::Form::rule;
  t.elem = elemOf(value.getType());
  t.rule = std::make_shared<const Rule>([value](llvm::ArrayRef<mlir::Value>) { return value; });
  return Value::of(std::move(t));
}

Value Elaborator::reduceRule(const Tensor &x, unsigned place, StringRef kind, SMRange where) {
  DimRef dim = x.dims[place];
  if (!isStatic(dim, where, "a sum in a clause of `attend`"))
    return Value::poison();
  if (x.row == 'p' && x.dims.size() == 1 && kind == "sum")
    return scalar(clause->dot(where));
  Tensor result;
  result.form = Tensor::Form::rule;
  result.dims = x.dims;
  result.dims.erase(result.dims.begin() + place);
  Location loc = at(where);
  bool isMean = kind == "mean";
  Reduction folds = isMean ? Reduction::sum : *symbolizeReduction(kind);
  result.rule = std::make_shared<const Rule>([this, inner = x.rule, place, loc, isMean, folds,
                                              count = dim->size](llvm::ArrayRef<mlir::Value> index) {
    OpBuilder &b = clause->builder;
    FoldOp op = FoldOp::create(b, loc, b.getF32Type(), b.getI64IntegerAttr(count), ReductionAttr::get(&context, folds));
    OpBuilder::InsertionGuard guard(b);
    mlir::Block *block = b.createBlock(&op.getBody(), {}, {b.getI32Type()}, {loc});
    llvm::SmallVector<mlir::Value> all(index);
    all.insert(all.begin() + place, block->getArgument(0));
    mlir::Value term = (*inner)(all);
    term = convert(b, loc, Scalar{term, {}, elemOf(term.getType())}, Elem::f32);
    YieldOp::create(b, loc, ValueRange(term));
    if (!isMean)
      return mlir::Value(op.getResult());
    b.setInsertionPointAfter(op);
    Scalar sum{op.getResult(), {}, Elem::f32}, n{{}, {static_cast<double>(count), false}, Elem::f32};
    return emit(ScalarOp::divide, b, loc, {sum, n});
  });
  return settle(std::move(result));
}

/// A tensor indexed by j reaches as far as the keys do, one indexed by i as far as the queries. Whether rows of this
/// call do where the queries are the cached ones is known when the export is done.
bool Elaborator::reaches(const Tensor &base, llvm::ArrayRef<Value> indices, SMRange where) {
  for (size_t n = 0; n < indices.size(); ++n) {
    DimRef dim = base.visible()[n];
    char number = indices[n].is(Value::Kind::tensor) ? indices[n].tensor.row : char(0);
    bool byKey = number == 'j';
    if (!dim->isSequence() || (!byKey && number != 'i'))
      continue;
    DimRef rows = byKey ? clause->keys : clause->queries;
    if (dim->sameSize(*rows)) {
      if (!byKey)
        rowLookups.emplace_back(where, dim);
      continue;
    }
    if (!byKey && (!rows->isSequence() || isAllRowsOf(dim, rows)))
      continue;
    Report r =
        report(where, llvm::Twine("a tensor indexed by `") + (byKey ? "j" : "i") + "` must reach as far as the " +
                          (byKey ? "keys" : "queries") + " do, and this is " + text(base.visible()));
    r.note((byKey ? "the keys are along " : "the queries are along ") + described(rows));
    if (isAllRowsOf(rows, dim))
      r.note("`cache(…)` has the rows of the calls before as well");
    return false;
  }
  return true;
}

Value Elaborator::indexRule(const Tensor &base, llvm::ArrayRef<Value> indices, SMRange where) {
  struct Index {
    std::shared_ptr<const Rule> rule;
    llvm::SmallVector<unsigned, 4> places;
    Folded number;
  };
  if (base.form != Tensor::Form::rule && !reaches(base, indices, where))
    return Value::poison();
  llvm::SmallVector<Tensor> tensors;
  for (const Value &index : indices)
    if (index.is(Value::Kind::tensor))
      tensors.push_back(toRule(index.tensor, where));
  llvm::SmallVector<const Tensor *> pointers;
  for (const Tensor &t : tensors)
    pointers.push_back(&t);
  Alignment aligned;
  if (!pointers.empty() && !align(pointers, where, "indices", aligned))
    return Value::poison();
  llvm::SmallVector<Index> list;
  size_t which = 0;
  for (const Value &index : indices) {
    Index one;
    if (index.is(Value::Kind::tensor)) {
      one.rule = tensors[which].rule;
      one.places = aligned.places[which++];
    } else {
      one.number = {index.number, true};
    }
    list.push_back(std::move(one));
  }
  Tensor looked = toRule(base, where), result;
  result.form = Tensor::Form::rule;
  result.elem = base.elem;
  result.sources = looked.sources;
  result.isLook = looked.isLook;
  result.dims = aligned.dims;
  size_t own = aligned.dims.size();
  result.dims.append(looked.dims.begin() + static_cast<ptrdiff_t>(indices.size()), looked.dims.end());
  Location loc = at(where);
  result.rule =
      std::make_shared<const Rule>([this, list, own, loc, inner = looked.rule](llvm::ArrayRef<mlir::Value> place) {
        llvm::SmallVector<mlir::Value> all;
        for (const Index &index : list) {
          llvm::SmallVector<mlir::Value> indexPlace;
          for (unsigned k : index.places)
            indexPlace.push_back(place[k]);
          Scalar scalar{index.rule ? (*index.rule)(indexPlace) : mlir::Value(), index.number, Elem::i32};
          all.push_back(convert(clause->builder, loc, scalar, Elem::i32));
        }
        all.append(place.begin() + static_cast<ptrdiff_t>(own), place.end());
        return (*inner)(all);
      });
  return settle(std::move(result));
}

} // namespace attn
