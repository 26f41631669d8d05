// Running a function: values by name, operations one after the other, repeats as loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/interpreter/Interpreter.h"
#include "dialect/interpreter/Evaluate.h"
#include "dialect/interpreter/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace attn::interpreter {

std::string fillTurns(StringRef pattern, ArrayRef<int64_t> turns) {
  std::string text = pattern.str();
  for (size_t i = 0; i < turns.size(); ++i) {
    std::string hole = "{" + std::to_string(i) + "}";
    for (size_t at; (at = text.find(hole)) != std::string::npos;)
      text.replace(at, hole.size(), std::to_string(turns[i]));
  }
  return text;
}

FailureOr<const Tensor *> Interpreter::weight(WeightOp op, ArrayRef<int64_t> turns) {
  std::pair key(op.getOperation(), turns.vec());
  auto place = loaded.find(key);
  if (place == loaded.end()) {
    FailureOr<Tensor> numbers = provider(op, turns);
    if (failed(numbers))
      return failure();
    place = loaded.emplace(key, std::move(*numbers)).first;
  }
  return &place->second;
}

namespace {

/// One run of one function.
class Execution {
public:
  Execution(Interpreter &interpreterOf, std::map<std::string, int64_t> lengthsOf)
      : interpreter(interpreterOf), lengths(std::move(lengthsOf)) {}

  LogicalResult bindParameters(func::FuncOp function, ArrayRef<Tensor> inputs);
  LogicalResult runBlock(Block &block);
  const Tensor &tensor(Value value) { return tensors.at(value); }

private:
  LogicalResult runOperation(Operation *op);
  LogicalResult runTensorOperation(Operation *op);
  LogicalResult runScalar(Operation *op);
  LogicalResult runTable(Operation *op);
  LogicalResult runParam(ParamOp op);
  LogicalResult runLinear(LinearOp op);
  LogicalResult runRepeat(RepeatOp op);
  LogicalResult runTap(TapOp op);

  FailureOr<const Tensor *> findWeight(Operation *op, StringRef symbol, ValueRange turns);
  SmallVector<int64_t> numbersOf(ValueRange values);
  SmallVector<const Tensor *> tensorsOf(ValueRange values);
  FailureOr<Sizes> sizesOf(Operation *op, Type type, DimsAttr dims);
  double outside(Value value) { return scalars.at(value); }

  Interpreter &interpreter;
  std::map<std::string, int64_t> lengths;
  DenseMap<Value, Tensor> tensors;
  DenseMap<Value, double> scalars;
};

} // namespace

// ---- parameters and sizes

/// Sets or checks the length of a sequence dimension.
static LogicalResult bindLength(std::map<std::string, int64_t> &lengths, func::FuncOp function, unsigned parameter,
                                StringRef sequence, int64_t length) {
  auto [place, isNew] = lengths.try_emplace(sequence.str(), length);
  if (!isNew && place->second != length)
    return function.emitError() << "parameter " << parameter << " has " << length << " places along `" << sequence
                                << "`, another has " << place->second;
  return success();
}

LogicalResult Execution::bindParameters(func::FuncOp function, ArrayRef<Tensor> inputs) {
  assert(function.getNumArguments() == inputs.size() && "one input a parameter");
  for (unsigned i = 0; i < inputs.size(); ++i) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    auto dims = function.getArgAttrOfType<DimsAttr>(i, "attn.dims");
    assert(static_cast<size_t>(type.getRank()) == inputs[i].sizes.size() && "of the parameter's rank");
    for (auto [d, size] : llvm::enumerate(inputs[i].sizes)) {
      if (!type.isDynamicDim(d) && type.getDimSize(d) != size)
        return function.emitError() << "dimension " << d << " of parameter " << i << " has size " << type.getDimSize(d)
                                    << ", that of its input " << size;
      if (type.isDynamicDim(d) && dims && failed(bindLength(lengths, function, i, dims.sequence(d), size)))
        return failure();
    }
    tensors[function.getArgument(i)] = inputs[i];
  }
  return success();
}

FailureOr<Sizes> Execution::sizesOf(Operation *op, Type type, DimsAttr dims) {
  auto tensorType = cast<RankedTensorType>(type);
  Sizes sizes(tensorType.getShape());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!tensorType.isDynamicDim(i))
      continue;
    auto length = lengths.find(dims.sequence(i).str());
    if (length == lengths.end())
      return op->emitError() << "the length of sequence dimension `" << dims.sequence(i) << "` is not known";
    sizes[i] = length->second;
  }
  return sizes;
}

SmallVector<const Tensor *> Execution::tensorsOf(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) -> const Tensor * { return &tensors.at(value); });
}

SmallVector<int64_t> Execution::numbersOf(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return static_cast<int64_t>(scalars.at(value)); });
}

// ---- operations

LogicalResult Execution::runBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(runOperation(&op)))
      return failure();
  return success();
}

LogicalResult Execution::runOperation(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ParamOp param) { return runParam(param); })
      .Case([&](LinearOp linear) { return runLinear(linear); })
      .Case([&](RepeatOp repeat) { return runRepeat(repeat); })
      .Case([&](TapOp tap) { return runTap(tap); })
      .Case([&](AttendOp attend) {
        auto results = evaluateAttend(attend, tensorsOf(attend.getInputs()), [&](Value v) { return outside(v); });
        for (auto [value, result] : llvm::zip(attend.getOutputs(), results))
          tensors[value] = std::move(result);
        return success();
      })
      .Case<PosOp, MapOp, ReduceOp, ContractOp, SoftmaxOp, NormaliseOp, GatherOp, ReshapeOp, SliceOp, ConcatOp,
            PatchesOp>([&](auto) { return runTensorOperation(op); })
      .Default(
          [&](Operation *) { return isa<RankedTensorType>(op->getResultTypes()[0]) ? runTable(op) : runScalar(op); });
}

/// Numbers that stand in the program.
LogicalResult Execution::runTable(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto data = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!data)
    return op->emitError("the interpreter does not know this operation");
  Tensor table(data.getType().getShape());
  if (isa<FloatType>(data.getElementType()))
    llvm::transform(data.getValues<APFloat>(), table.numbers.begin(),
                    [](const APFloat &n) { return n.convertToDouble(); });
  else
    llvm::transform(data.getValues<APInt>(), table.numbers.begin(), [](const APInt &n) {
      return n.getBitWidth() == 1 ? static_cast<double>(n.getZExtValue()) : static_cast<double>(n.getSExtValue());
    });
  tensors[op->getResult(0)] = std::move(table);
  return success();
}

/// Operations with one result, made from their inputs alone.
LogicalResult Execution::runTensorOperation(Operation *op) {
  auto dims = cast<DimsAttr>(op->getAttrOfType<ArrayAttr>("out_dims")[0]);
  FailureOr<Sizes> sizes = sizesOf(op, op->getResultTypes()[0], dims);
  if (failed(sizes))
    return failure();
  auto inputs = tensorsOf(op->getOperands());
  auto lookUp = [&](Value value) { return outside(value); };
  tensors[op->getResult(0)] =
      llvm::TypeSwitch<Operation *, Tensor>(op)
          .Case([&](PosOp) { return evaluatePos(*sizes); })
          .Case([&](MapOp map) { return evaluateMap(map, inputs, *sizes, lookUp); })
          .Case([&](ReduceOp reduce) { return evaluateReduce(reduce, inputs, *sizes); })
          .Case([&](ContractOp contract) { return evaluateContract(contract, inputs, *sizes); })
          .Case([&](SoftmaxOp softmax) { return evaluateSoftmax(softmax, inputs, *sizes); })
          .Case([&](NormaliseOp normalise) { return evaluateNormalise(normalise, inputs, *sizes); })
          .Case([&](GatherOp gather) { return evaluateGather(gather, inputs, *sizes); })
          .Case([&](ReshapeOp reshape) { return evaluateReshape(reshape, inputs, *sizes); })
          .Case([&](SliceOp slice) { return evaluateSlice(slice, inputs, *sizes); })
          .Case([&](ConcatOp concat) { return evaluateConcat(concat, inputs, *sizes); })
          .Case([&](PatchesOp patches) { return evaluatePatches(patches, inputs, *sizes); });
  return success();
}

/// A tensor whose numbers stand in the program.
static Tensor constantTensor(DenseElementsAttr numbers) {
  Tensor tensor(numbers.getType().getShape());
  bool truth = numbers.getElementType().isInteger(1);
  size_t next = 0;
  if (isa<FloatType>(numbers.getElementType()))
    for (const llvm::APFloat &number : numbers.getValues<llvm::APFloat>())
      tensor.numbers[next++] = number.convertToDouble();
  else
    for (const llvm::APInt &number : numbers.getValues<llvm::APInt>())
      tensor.numbers[next++] =
          truth ? static_cast<double>(number.getZExtValue()) : static_cast<double>(number.getSExtValue());
  return tensor;
}

LogicalResult Execution::runScalar(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto numbers = dyn_cast<DenseElementsAttr>(constant.getValue())) {
      tensors[constant.getResult()] = constantTensor(numbers);
      return success();
    }
  Function function = findFunction(op);
  if (!function)
    return op->emitError("the interpreter does not know this operation");
  double operands[3] = {};
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    operands[i] = scalars.at(operand);
  scalars[op->getResult(0)] = function(operands);
  return success();
}

FailureOr<const Tensor *> Execution::findWeight(Operation *op, StringRef symbol, ValueRange turns) {
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(op, StringAttr::get(op->getContext(), symbol));
  return interpreter.weight(weight, numbersOf(turns));
}

LogicalResult Execution::runParam(ParamOp op) {
  FailureOr<const Tensor *> weight = findWeight(op, op.getWeight(), op.getTurns());
  if (failed(weight))
    return failure();
  tensors[op.getOutput()] = **weight;
  return success();
}

LogicalResult Execution::runLinear(LinearOp op) {
  FailureOr<const Tensor *> weight = findWeight(op, op.getWeight(), op.getTurns());
  FailureOr<Sizes> sizes = sizesOf(op, op.getOutput().getType(), op.outDims());
  if (failed(weight) || failed(sizes))
    return failure();
  tensors[op.getOutput()] =
      evaluateLinear(op, **weight, tensorsOf(op.getInputs()), *sizes, [&](Value value) { return outside(value); });
  return success();
}

LogicalResult Execution::runTap(TapOp op) {
  if (interpreter.tapHandler())
    interpreter.tapHandler()(fillTurns(op.getName(), numbersOf(op.getTurns())), tensors.at(op.getInputs()[0]));
  return success();
}

/// Puts `turn` at number `place` of a stack of `count`.
static void stack(Tensor &whole, const Tensor &turn, int64_t place, int64_t count) {
  if (place == 0) {
    Sizes sizes = {count};
    sizes.append(turn.sizes);
    whole = Tensor(sizes);
  }
  std::copy(turn.numbers.begin(), turn.numbers.end(), whole.numbers.begin() + place * turn.numbers.size());
}

LogicalResult Execution::runRepeat(RepeatOp op) {
  Block &block = op.getBody().front();
  auto lower = static_cast<int64_t>(op.getLower()), count = static_cast<int64_t>(op.getUpper()) - lower;
  size_t carried = op.getInputs().size();
  std::vector<Tensor> values;
  for (const Tensor *input : tensorsOf(op.getInputs()))
    values.push_back(*input);
  for (size_t i = carried; i < op.getNumResults(); ++i) { // stacks of no turn
    FailureOr<Sizes> sizes = sizesOf(op, op.getResult(i).getType(), op.outDims(i));
    if (failed(sizes))
      return failure();
    values.emplace_back(*sizes);
  }
  for (int64_t turn = 0; turn < count; ++turn) {
    scalars[op.turn()] = static_cast<double>(lower + turn);
    for (size_t i = 0; i < carried; ++i)
      tensors[block.getArgument(i + 1)] = std::move(values[i]);
    if (failed(runBlock(block)))
      return failure();
    for (auto [i, yielded] : llvm::enumerate(block.getTerminator()->getOperands())) {
      if (i < carried)
        values[i] = tensors.at(yielded);
      else
        stack(values[i], tensors.at(yielded), turn, count);
    }
  }
  for (auto [result, value] : llvm::zip(op.getResults(), values))
    tensors[result] = std::move(value);
  return success();
}

// ---- functions

FailureOr<std::vector<Tensor>> Interpreter::run(StringRef name, ArrayRef<Tensor> inputs,
                                                const std::map<std::string, int64_t> &lengths) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return module.emitError() << "no function `" << name << "`";
  Execution execution(*this, lengths);
  if (failed(execution.bindParameters(function, inputs)) || failed(execution.runBlock(function.front())))
    return failure();
  std::vector<Tensor> results;
  for (Value value : function.front().getTerminator()->getOperands())
    results.push_back(execution.tensor(value));
  return results;
}

} // namespace attn::interpreter
