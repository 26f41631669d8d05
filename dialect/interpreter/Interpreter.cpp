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
  Execution(Interpreter &interpreterOf, std::map<std::string, int64_t> lengthsOf, Session &sessionOf)
      : interpreter(interpreterOf), lengths(std::move(lengthsOf)), session(sessionOf) {}

  LogicalResult runFunction(func::FuncOp function, ArrayRef<Tensor> inputs);
  const Tensor &tensor(Value value) { return tensors.at(value); }

private:
  LogicalResult bindParameters(func::FuncOp function, ArrayRef<Tensor> inputs);
  LogicalResult runBlock(Block &block);
  LogicalResult runOperation(Operation *op);
  LogicalResult runTensorOperation(Operation *op);
  LogicalResult runScalar(Operation *op);
  LogicalResult runTable(Operation *op);
  LogicalResult runParam(ParamOp op);
  LogicalResult runLinear(LinearOp op);
  LogicalResult runAttend(AttendOp op);
  LogicalResult runRepeat(RepeatOp op);
  LogicalResult runScan(ScanOp op);
  LogicalResult runTurns(Operation *op, OperandRange carried, ArrayRef<BlockArgument> arguments, int64_t count,
                         llvm::function_ref<void(int64_t turn)> enter);
  LogicalResult runTap(TapOp op);

  FailureOr<const Tensor *> findWeight(Operation *op, StringRef symbol, ValueRange turns);
  SmallVector<int64_t> numbersOf(ValueRange values);
  SmallVector<const Tensor *> tensorsOf(ValueRange values);
  FailureOr<Sizes> sizesOf(Operation *op, Type type, DimsAttr dims);
  double outside(Value value) { return scalars.at(value); }

  Interpreter &interpreter;
  std::map<std::string, int64_t> lengths;
  SessionCall session;
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
      .Case([&](ScanOp scan) { return runScan(scan); })
      .Case([&](AttendOp attend) { return runAttend(attend); })
      .Case([&](SessionOp op) {
        tensors[op.getOutput()] = Tensor({}, static_cast<double>(session.number(op.getNumber())));
        return success();
      })
      .Case([&](CacheOp op) {
        tensors[op.getOutput()] = session.cache(op, numbersOf(op.getTurns()), tensors.at(op.getInputs()[0]));
        return success();
      })
      .Case([&](OnceOp op) {
        tensors[op.getOutput()] = session.once(op, numbersOf(op.getTurns()), tensors.at(op.getInputs()[0]));
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
          .Case([&](PosOp) { return evaluatePos(*sizes, session.firstRow(dims.sequence(0))); })
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

/// Runs a block `count` times. `arguments` get the carried values; `enter` sets the block's others before each turn.
LogicalResult Execution::runTurns(Operation *op, OperandRange carried, ArrayRef<BlockArgument> arguments, int64_t count,
                                  llvm::function_ref<void(int64_t turn)> enter) {
  Block &block = op->getRegion(0).front();
  auto dims = op->getAttrOfType<ArrayAttr>("out_dims");
  std::vector<Tensor> values;
  for (const Tensor *input : tensorsOf(carried))
    values.push_back(*input);
  for (size_t i = carried.size(); i < op->getNumResults(); ++i) { // stacks of no turn
    FailureOr<Sizes> sizes = sizesOf(op, op->getResultTypes()[i], cast<DimsAttr>(dims[i]));
    if (failed(sizes))
      return failure();
    values.emplace_back(*sizes);
  }
  for (int64_t turn = 0; turn < count; ++turn) {
    enter(turn);
    for (auto [argument, value] : llvm::zip(arguments, values))
      tensors[argument] = std::move(value);
    if (failed(runBlock(block)))
      return failure();
    for (auto [i, yielded] : llvm::enumerate(block.getTerminator()->getOperands())) {
      if (i < carried.size())
        values[i] = tensors.at(yielded);
      else
        stack(values[i], tensors.at(yielded), turn, count);
    }
  }
  for (auto [result, value] : llvm::zip(op->getResults(), values))
    tensors[result] = std::move(value);
  return success();
}

LogicalResult Execution::runRepeat(RepeatOp op) {
  auto lower = static_cast<int64_t>(op.getLower()), count = static_cast<int64_t>(op.getUpper()) - lower;
  return runTurns(op, op.getInputs(), op.getBody().getArguments().drop_front(), count,
                  [&](int64_t turn) { scalars[op.turn()] = static_cast<double>(lower + turn); });
}

/// Row `number` along the first dimension.
static Tensor rowOf(const Tensor &tensor, int64_t number) {
  Tensor row(ArrayRef(tensor.sizes).drop_front());
  auto begin = tensor.numbers.begin() + number * static_cast<int64_t>(row.numbers.size());
  std::copy_n(begin, row.numbers.size(), row.numbers.begin());
  return row;
}

LogicalResult Execution::runScan(ScanOp op) {
  size_t sources = op.getSources();
  int64_t count = tensors.at(op.getInputs()[0]).sizes[0];
  return runTurns(op, op.carried(), op.getBody().getArguments().drop_front(sources), count, [&](int64_t turn) {
    for (size_t i = 0; i < sources; ++i)
      tensors[op.getBody().getArgument(i)] = rowOf(tensors.at(op.getInputs()[i]), turn);
  });
}

LogicalResult Execution::runAttend(AttendOp op) {
  auto queries = cast<RankedTensorType>(op.query().getType());
  int64_t first = queries.isDynamicDim(0) ? session.firstRow(op.inDims(0).sequence(0)) : 0;
  auto results = evaluateAttend(op, tensorsOf(op.getInputs()), first, [&](Value value) { return outside(value); });
  for (auto [value, result] : llvm::zip(op.getOutputs(), results))
    tensors[value] = std::move(result);
  return success();
}

// ---- functions

LogicalResult Execution::runFunction(func::FuncOp function, ArrayRef<Tensor> inputs) {
  if (failed(bindParameters(function, inputs)) || failed(session.begin(function, lengths)) ||
      failed(runBlock(function.front())))
    return failure();
  session.finish();
  return success();
}

FailureOr<std::vector<Tensor>> Interpreter::run(StringRef name, ArrayRef<Tensor> inputs,
                                                const std::map<std::string, int64_t> &lengths, Session *session) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return module.emitError() << "no function `" << name << "`";
  Session own;
  Execution execution(*this, lengths, session ? *session : own);
  if (failed(execution.runFunction(function, inputs)))
    return failure();
  std::vector<Tensor> results;
  for (Value value : function.front().getTerminator()->getOperands())
    results.push_back(execution.tensor(value));
  return results;
}

} // namespace attn::interpreter
