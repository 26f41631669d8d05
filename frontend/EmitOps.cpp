// EmitOps.cpp: building operations of the attn dialect from tensors with dimensions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "frontend/Elaborator.h"
#include "frontend/Labels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace attn {

Location Elaborator::at(SMRange range) {
  if (!range.isValid())
    return UnknownLoc::get(&context);
  Place begin = diags.place(range.Start), end = diags.place(range.End);
  if (end.line != begin.line || end.column <= begin.column)
    return FileLineColLoc::get(&context, begin.file, begin.line, begin.column);
  return FileLineColRange::get(builder.getStringAttr(begin.file), begin.line, begin.column, end.column);
}

RankedTensorType Elaborator::tensorType(DimsRef dims, Elem elem) {
  llvm::SmallVector<int64_t> shape;
  for (DimRef dim : dims)
    shape.push_back(dim->isSequence() ? ShapedType::kDynamic : dim->size);
  return RankedTensorType::get(shape, typeOf(elem, &context));
}

Tensor Elaborator::made(mlir::Value value, Dims dims, unsigned lifted) {
  dimsOfValue[value] = dims;
  Tensor result;
  result.value = value;
  result.elem = elemOf(llvm::cast<RankedTensorType>(value.getType()).getElementType());
  result.dims = std::move(dims);
  result.lifted = lifted;
  return result;
}

/// One number for all places, if the data are so.
static bool isSplat(const ConstantData &data) {
  return llvm::all_of(data.values, [&](double v) { return v == data.values[0]; });
}

static DenseElementsAttr denseData(const ConstantData &data, RankedTensorType type, Elem elem) {
  size_t count = data.values.empty() ? 0 : isSplat(data) ? 1 : data.values.size();
  if (elem == Elem::f32) {
    llvm::SmallVector<float> values(data.values.begin(), data.values.begin() + count);
    return DenseElementsAttr::get(type, llvm::ArrayRef<float>(values));
  }
  if (elem == Elem::i32) {
    llvm::SmallVector<int32_t> values;
    for (size_t i = 0; i < count; ++i)
      values.push_back(static_cast<int32_t>(std::clamp<double>(data.values[i], INT32_MIN, INT32_MAX)));
    return DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(values));
  }
  llvm::SmallVector<bool> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(data.values[i] != 0);
  return DenseElementsAttr::get(type, llvm::ArrayRef<bool>(values));
}

mlir::Value Elaborator::materialise(const Tensor &t, SMRange where) {
  if (t.form == Tensor::Form::ssa)
    return t.value;
  RankedTensorType type = tensorType(t.dims, t.elem);
  fitsTensor(Value::of(t), where);
  return arith::ConstantOp::create(builder, at(where), type, denseData(*t.data, type, t.elem));
}

mlir::Value Elaborator::emitFill(double value, Elem elem, DimsRef dims, SMRange where) {
  if (elem == Elem::i32 && !fitsTensor(value, where))
    value = 0;
  Labels labels;
  Labels::List out = labels.give(dims);
  MapOp op = MapOp::create(builder, at(where), tensorType(dims, elem), ValueRange(), dimsArray(&context, {}),
                           dimsArray(&context, {out}));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  Scalar number{{}, {value, elem == Elem::i32}, elem};
  mlir::Value constant = convert(builder, at(where), number, elem);
  YieldOp::create(builder, at(where), ValueRange(constant));
  return op.getOutput();
}

/// One place of constant data.
static Tensor sliceConstant(const Tensor &x, unsigned place, int64_t offset) {
  Tensor result = x;
  int64_t inner = product(DimsRef(x.dims).drop_front(place + 1)), length = x.dims[place]->size;
  int64_t outer = product(DimsRef(x.dims).take_front(place));
  auto data = std::make_shared<ConstantData>();
  data->whole = x.data->whole;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      data->values.push_back(x.data->values[static_cast<size_t>((o * length + offset) * inner + i)]);
  result.dims.erase(result.dims.begin() + place);
  result.lifted -= place < x.lifted;
  result.data = std::move(data);
  return result;
}

/// `kept`: an interval of that dimension's size from `offset` on; without it one place, and the dimension is gone.
Tensor Elaborator::emitSlice(const Tensor &x, unsigned place, int64_t offset, DimRef kept, SMRange where) {
  if (x.form == Tensor::Form::constant && !kept)
    return sliceConstant(x, place, offset);
  mlir::Value input = materialise(x, where);
  Labels labels;
  Labels::List in = labels.give(x.dims), out = in;
  Dims dims = x.dims;
  unsigned lifted = x.lifted;
  if (kept) {
    dims[place] = kept;
    if (!isSame(kept, x.dims[place]) || !kept->sameSize(*x.dims[place]))
      out[place] = labels.give(kept);
  } else {
    dims.erase(dims.begin() + place);
    out.erase(out.begin() + place);
    lifted -= place < lifted;
  }
  StringRef along = StringRef(in[place]).split(':').first;
  SliceOp op = SliceOp::create(builder, at(where), tensorType(dims, x.elem), builder.getStringAttr(along),
                               builder.getI64IntegerAttr(offset), ValueRange(input), dimsArray(&context, {in}),
                               dimsArray(&context, {out}));
  return made(op.getOutput(), dims, lifted);
}

/// The output's dimensions that are in the input under one name keep it; the others are regrouped in order.
Tensor Elaborator::emitReshape(const Tensor &x, Dims dims, unsigned lifted, SMRange where) {
  mlir::Value input = materialise(x, where);
  Labels labels;
  Labels::List in = labels.give(x.dims), out;
  for (DimRef dim : dims) {
    int place = placeOf(x.dims, dim);
    bool same = place >= 0 && dim->sameSize(*x.dims[place]);
    out.push_back(same ? in[place] : labels.give(dim));
  }
  ReshapeOp op = ReshapeOp::create(builder, at(where), tensorType(dims, x.elem), ValueRange(input),
                                   dimsArray(&context, {in}), dimsArray(&context, {out}));
  return made(op.getOutput(), std::move(dims), lifted);
}

/// The same dimensions in another order.
Tensor Elaborator::emitMove(const Tensor &x, Dims dims, unsigned lifted, SMRange where) {
  bool moves = false;
  for (size_t i = 0; i < dims.size(); ++i)
    moves |= !isSame(dims[i], x.dims[i]);
  if (moves)
    return emitReshape(x, std::move(dims), lifted, where);
  Tensor result = x;
  result.lifted = lifted;
  return result;
}

/// `x` repeated along the dimensions it lacks.
Tensor Elaborator::emitBroadcast(const Tensor &x, Dims dims, unsigned lifted, SMRange where) {
  mlir::Value input = materialise(x, where);
  Labels labels;
  Labels::List out = labels.give(dims), in;
  for (DimRef dim : x.dims)
    in.push_back(out[placeOf(dims, dim)]);
  MapOp op = MapOp::create(builder, at(where), tensorType(dims, x.elem), ValueRange(input), dimsArray(&context, {in}),
                           dimsArray(&context, {out}));
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block *block = builder.createBlock(&op.getBody(), {}, {typeOf(x.elem, &context)}, {at(where)});
  YieldOp::create(builder, at(where), ValueRange(block->getArgument(0)));
  return made(op.getOutput(), std::move(dims), lifted);
}

Tensor Elaborator::emitConvert(const Tensor &x, Elem elem, SMRange where) {
  if (x.elem == elem)
    return x;
  if (x.form == Tensor::Form::constant && elem == Elem::f32) {
    Tensor result = x;
    result.elem = elem;
    return result;
  }
  mlir::Value input = materialise(x, where);
  Labels labels;
  Labels::List list = labels.give(x.dims);
  MapOp op = MapOp::create(builder, at(where), tensorType(x.dims, elem), ValueRange(input), dimsArray(&context, {list}),
                           dimsArray(&context, {list}));
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block *block = builder.createBlock(&op.getBody(), {}, {typeOf(x.elem, &context)}, {at(where)});
  mlir::Value result = convert(builder, at(where), Scalar{block->getArgument(0), {}, x.elem}, elem);
  YieldOp::create(builder, at(where), ValueRange(result));
  return made(op.getOutput(), x.dims, x.lifted);
}

/// The product of a and b summed over what `dims` lacks. Dimensions are the same by name.
Tensor Elaborator::emitContract(const Tensor &a, const Tensor &b, Dims dims, unsigned lifted, SMRange where) {
  Tensor x = emitConvert(a, Elem::f32, where), y = emitConvert(b, Elem::f32, where);
  mlir::Value lhs = materialise(x, where), rhs = materialise(y, where);
  Labels labels;
  Labels::List inA = labels.give(x.dims), inB, out;
  for (DimRef dim : y.dims) {
    int place = placeOf(x.dims, dim);
    inB.push_back(place >= 0 ? inA[place] : labels.give(dim));
  }
  for (DimRef dim : dims) {
    int place = placeOf(x.dims, dim);
    out.push_back(place >= 0 ? inA[place] : inB[placeOf(y.dims, dim)]);
  }
  ContractOp op = ContractOp::create(builder, at(where), tensorType(dims, Elem::f32), ValueRange{lhs, rhs},
                                     dimsArray(&context, {inA, inB}), dimsArray(&context, {out}));
  return made(op.getOutput(), std::move(dims), lifted);
}

DimsAttr Elaborator::labelsOfValue(mlir::Value value) {
  auto known = dimsOfValue.find(value);
  if (known == dimsOfValue.end())
    return {};
  Labels labels;
  return dimsAttr(&context, labels.give(DimsRef(known->second)));
}

} // namespace attn
