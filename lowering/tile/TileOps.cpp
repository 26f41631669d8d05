// The tile dialect: registration, the type's text form, builders and verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

#include "lowering/tile/TileDialect.cpp.inc"
#include "lowering/tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "lowering/tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "lowering/tile/TileTypes.cpp.inc"
#define GET_OP_CLASSES
#include "lowering/tile/TileOps.cpp.inc"

using namespace mlir;
using namespace attn::tile;

void TileDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "lowering/tile/TileOps.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "lowering/tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "lowering/tile/TileAttrs.cpp.inc"
      >();
}

// ------------------------------------------------------------------------------------------------------------ the type

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(place); }, parser.getContext(), shape, element);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape())
    printer << size << 'x';
  printer << getElementType() << '>';
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "a tile has one or two dimensions, not " << shape.size();
  if (llvm::any_of(shape, [](int64_t size) { return size <= 0; }))
    return emitError() << "a tile's sizes are positive";
  if (!element.isF32() && !element.isInteger(32) && !element.isInteger(1) && !element.isBF16())
    return emitError() << "a tile holds f32, i32, i1 or bf16, not " << element;
  return success();
}

// ------------------------------------------------------------------------------------------------- sizes, mixed as
// given

static SmallVector<OpFoldResult> mixed(MLIRContext *context, ArrayRef<int64_t> fixed, ValueRange values) {
  return getMixedValues(fixed, values, context);
}

SmallVector<OpFoldResult> LoadOp::mixedStrides() {
  return mixed(getContext(), getStaticStrides(), getStrides());
}
SmallVector<OpFoldResult> LoadOp::mixedValid() {
  return mixed(getContext(), getStaticValid(), getValid());
}
SmallVector<OpFoldResult> StoreOp::mixedStrides() {
  return mixed(getContext(), getStaticStrides(), getStrides());
}
SmallVector<OpFoldResult> StoreOp::mixedValid() {
  return mixed(getContext(), getStaticValid(), getValid());
}
SmallVector<OpFoldResult> MapOp::mixedValid() {
  return mixed(getContext(), getStaticValid(), getValid());
}
SmallVector<OpFoldResult> ReduceOp::mixedValid() {
  return mixed(getContext(), getStaticValid(), getValid());
}
SmallVector<OpFoldResult> RoundOp::mixedValid() {
  return mixed(getContext(), getStaticValid(), getValid());
}
SmallVector<OpFoldResult> DotOp::mixedValid() {
  return mixed(getContext(), getStaticValid(), getValid());
}

namespace {
/// Sizes as operations keep them: constants beside values.
struct Sizes {
  SmallVector<int64_t> fixed;
  SmallVector<Value> values;

  explicit Sizes(ArrayRef<OpFoldResult> all) {
    for (OpFoldResult one : all) {
      std::optional<int64_t> constant = getConstantIntValue(one);
      fixed.push_back(constant ? *constant : ShapedType::kDynamic);
      if (!constant)
        values.push_back(cast<Value>(one));
    }
  }
};
} // namespace

// -------------------------------------------------------------------------------------------------------------
// builders

void LoadOp::build(OpBuilder &builder, OperationState &state, TileType type, Value base, ArrayRef<OpFoldResult> strides,
                   ArrayRef<OpFoldResult> valid, Value all) {
  Sizes s(strides), v(valid);
  build(builder, state, type, base, s.values, builder.getDenseI64ArrayAttr(s.fixed), v.values,
        builder.getDenseI64ArrayAttr(v.fixed), all);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value value, Value base, ArrayRef<OpFoldResult> strides,
                    ArrayRef<OpFoldResult> valid) {
  Sizes s(strides), v(valid);
  build(builder, state, value, base, s.values, builder.getDenseI64ArrayAttr(s.fixed), v.values,
        builder.getDenseI64ArrayAttr(v.fixed));
}

void MapOp::build(OpBuilder &builder, OperationState &state, TileType type, ValueRange inputs, ArrayRef<int64_t> along,
                  ArrayRef<OpFoldResult> valid,
                  function_ref<Value(OpBuilder &, Location, ValueRange, ValueRange)> body) {
  Sizes v(valid);
  state.addOperands(inputs);
  state.addOperands(v.values);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.along = builder.getDenseI64ArrayAttr(along);
  properties.static_valid = builder.getDenseI64ArrayAttr(v.fixed);
  properties.operandSegmentSizes = {static_cast<int32_t>(inputs.size()), static_cast<int32_t>(v.values.size())};
  state.addTypes(type);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  for (int64_t d = 0; d < type.getRank(); ++d)
    block->addArgument(builder.getI32Type(), state.location);
  for (Value input : inputs)
    block->addArgument(cast<TileType>(input.getType()).getElementType(), state.location);
  ValueRange arguments = block->getArguments();
  Value result =
      body(builder, state.location, arguments.take_front(type.getRank()), arguments.drop_front(type.getRank()));
  YieldOp::create(builder, state.location, result);
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, Reduction kind, Value input, int64_t along,
                     ArrayRef<OpFoldResult> valid, bool ordered, Value from) {
  Sizes v(valid);
  auto type = cast<TileType>(input.getType());
  Type result = type.getElementType();
  if (type.getRank() == 2)
    result = TileType::get(builder.getContext(), {type.dim(1 - along)}, type.getElementType());
  build(builder, state, result, kind, input, along, ordered, from, v.values, v.fixed);
}

void RoundOp::build(OpBuilder &builder, OperationState &state, Value input, int64_t along,
                    ArrayRef<OpFoldResult> valid) {
  Sizes v(valid);
  auto result = TileType::get(builder.getContext(), cast<TileType>(input.getType()).getShape(), builder.getBF16Type());
  build(builder, state, result, input, along, v.values, v.fixed);
}

void DotOp::build(OpBuilder &builder, OperationState &state, Form form, Value a, Value b, Value acc, Value guard,
                  ArrayRef<OpFoldResult> valid, bool few) {
  Sizes v(valid);
  auto left = cast<TileType>(a.getType()), right = cast<TileType>(b.getType());
  auto result =
      TileType::get(builder.getContext(), {left.dim(0), right.dim(form == Form::kn ? 1 : 0)}, builder.getF32Type());
  build(builder, state, result, form, a, b, acc, guard, few, v.values, v.fixed);
}

// ------------------------------------------------------------------------------------------------------------
// verifiers

/// `sizes` has one entry a dimension of `type`, and the constant ones of `valid` do not exceed it.
static LogicalResult checkSizes(Operation *op, ArrayRef<int64_t> sizes, size_t rank, const char *what) {
  if (sizes.size() == rank)
    return success();
  return op->emitOpError() << "has " << sizes.size() << " of `" << what << "`, expected " << rank;
}

static LogicalResult checkValid(Operation *op, ArrayRef<int64_t> valid, ArrayRef<int64_t> shape) {
  if (failed(checkSizes(op, valid, shape.size(), "valid")))
    return failure();
  for (auto [count, size] : llvm::zip(valid, shape))
    if (!ShapedType::isDynamic(count) && count > size)
      return op->emitOpError() << "`valid` " << count << " exceeds the tile's " << size;
  return success();
}

LogicalResult LoadOp::verify() {
  TileType type = getType();
  if (failed(checkSizes(*this, getStaticStrides(), type.getRank(), "strides")))
    return failure();
  return checkValid(*this, getStaticValid(), type.getShape());
}

LogicalResult StoreOp::verify() {
  TileType type = getValue().getType();
  if (failed(checkSizes(*this, getStaticStrides(), type.getRank(), "strides")))
    return failure();
  return checkValid(*this, getStaticValid(), type.getShape());
}

LogicalResult FillOp::verify() {
  if (getScalar().getType() != getType().getElementType())
    return emitOpError() << "fills " << getType() << " with " << getScalar().getType();
  return success();
}

static LogicalResult checkInput(MapOp map, size_t n) {
  auto type = cast<TileType>(map.getInputs()[n].getType());
  int64_t along = map.inputAlong(n);
  TileType result = map.getType();
  if (along == -1 && type.getShape() != result.getShape())
    return map.emitOpError() << "input " << n << " has the shape of " << type << ", not of the result " << result;
  if (along >= 0 && (type.getRank() != 1 || along >= result.getRank() || type.dim(0) != result.dim(along)))
    return map.emitOpError() << "input " << n << " of type " << type << " does not lie along dimension " << along
                             << " of " << result;
  return success();
}

LogicalResult MapOp::verify() {
  TileType result = getType();
  if (failed(checkValid(*this, getStaticValid(), result.getShape())))
    return failure();
  if (!getAlong().empty() && getAlong().size() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " inputs and " << getAlong().size() << " of `along`";
  Block &body = getBody().front();
  if (body.getNumArguments() != result.getRank() + getInputs().size())
    return emitOpError() << "its region takes " << body.getNumArguments() << " values, expected "
                         << result.getRank() + getInputs().size();
  for (size_t n = 0; n < getInputs().size(); ++n) {
    if (failed(checkInput(*this, n)))
      return failure();
    if (body.getArgument(result.getRank() + n).getType() != cast<TileType>(getInputs()[n].getType()).getElementType())
      return emitOpError() << "argument of its region for input " << n << " has another type";
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValue().getType() != result.getElementType())
    return emitOpError() << "its region does not yield " << result.getElementType();
  return success();
}

LogicalResult ReduceOp::verify() {
  TileType type = getInput().getType();
  if (failed(checkValid(*this, getStaticValid(), type.getShape())))
    return failure();
  int64_t along = getAlong();
  if (along < 0 || along >= type.getRank())
    return emitOpError() << "has no dimension " << along << " in " << type;
  if (getOrdered() && (getKind() != Reduction::sum || !type.getElementType().isF32() || type.getRank() != 2))
    return emitOpError() << "is ordered, but no sum of f32 along one of two dimensions";
  Type expected = type.getElementType();
  if (type.getRank() == 2)
    expected = TileType::get(getContext(), {type.dim(1 - along)}, type.getElementType());
  if (getResult().getType() != expected)
    return emitOpError() << "gives " << getResult().getType() << ", expected " << expected;
  if (getFrom() && (!getOrdered() || getFrom().getType() != expected))
    return emitOpError() << "begins with " << getFrom().getType() << ", expected an ordered sum and " << expected;
  return success();
}

LogicalResult RoundOp::verify() {
  TileType from = getInput().getType(), to = getType();
  if (failed(checkValid(*this, getStaticValid(), from.getShape())))
    return failure();
  bool real = from.getElementType().isF32() || from.getElementType().isBF16();
  if (from.getRank() != 2 || from.getShape() != to.getShape() || !real || !to.getElementType().isBF16())
    return emitOpError() << "rounds a tile of two dimensions of f32 to bf16, not " << from << " to " << to;
  if (int64_t along = getAlong(); along < 0 || along > 1)
    return emitOpError() << "has no dimension " << along << " in " << from;
  for (Operation *user : (*this)->getUsers())
    if (!isa<DotOp>(user))
      return emitOpError() << "is read by `" << user->getName() << "`, only products take it";
  return success();
}

LogicalResult PackedOp::verify() {
  if (getType().getRank() != 2 || !getType().getElementType().isBF16())
    return emitOpError() << "is a tile of two dimensions of bf16, not " << getType();
  return success();
}

/// Whether an operand of bf16 was rounded for sums over its dimension `along`.
static bool isRoundedAlong(Value operand, int64_t along) {
  if (operand.getDefiningOp<PackedOp>())
    return along == 0;
  auto round = operand.getDefiningOp<RoundOp>();
  return round && static_cast<int64_t>(round.getAlong()) == along;
}

LogicalResult DotOp::verify() {
  TileType a = getA().getType(), b = getB().getType(), result = getType();
  if (a.getRank() != 2 || b.getRank() != 2 || result.getRank() != 2)
    return emitOpError() << "multiplies tiles of two dimensions";
  bool rounded = a.getElementType().isBF16(), kn = getForm() == Form::kn;
  if (a.getElementType() != b.getElementType() || (!rounded && !a.getElementType().isF32()) ||
      !result.getElementType().isF32())
    return emitOpError() << "multiplies f32, or bf16, and gives f32";
  if (rounded && (!isRoundedAlong(getA(), 1) || !isRoundedAlong(getB(), kn ? 0 : 1)))
    return emitOpError() << "multiplies tiles of bf16 that are not rounded along the dimension it sums over";
  int64_t m = a.dim(0), k = a.dim(1), n = b.dim(kn ? 1 : 0);
  if (b.dim(kn ? 0 : 1) != k || result.dim(0) != m || result.dim(1) != n)
    return emitOpError() << "shapes do not fit: " << a << ", " << b << " -> " << result;
  if (getAcc() && getAcc().getType() != result)
    return emitOpError() << "adds to " << getAcc().getType() << ", expected " << result;
  return checkValid(*this, getStaticValid(), {m, n, k});
}

LogicalResult AtOp::verify() {
  TileType type = getTile().getType();
  if (static_cast<int64_t>(getIndices().size()) != type.getRank())
    return emitOpError() << "has " << getIndices().size() << " indices for " << type;
  if (getResult().getType() != type.getElementType())
    return emitOpError() << "gives " << getResult().getType() << ", expected " << type.getElementType();
  return success();
}
