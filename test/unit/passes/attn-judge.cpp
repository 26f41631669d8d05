// attn-judge: interprets every function of a file before and after passes, on random inputs; the results must agree.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     attn-judge FILE.mlir --passes='attn-simplify,attn-fuse-epilogues'
//
// The file may be split by `// -----`. A parameter without `attn.dims` is called what its first reader calls it.
// Weights are drawn for each tensor of the file, so that a joint or retyped symbol holds the same numbers as before.
// Each function runs with several lengths of its sequences, an empty one among them.
#include "dialect/AttnDialect.h"
#include "dialect/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/Passes.h"
#include "tools/interpret/Random.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::interpreter;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::Required);
static cl::opt<bool> nanToZero("nan-to-zero", cl::desc("0 is right where NaN was before: softmax over nothing"));
static cl::opt<std::string> passes("passes", cl::desc("the pipeline to judge"), cl::Required);

/// The numbers of one tensor of the file, in the type's order: rows, then the other dimensions of the weight.
static std::vector<double> drawPart(WeightOp op, StringRef part, int64_t rows, ArrayRef<int64_t> turns) {
  Sizes sizes(op.getType().getShape());
  if (!sizes.empty())
    sizes[0] = rows;
  Tensor stored = drawTensor(fillTurns(part, turns), 1, sizes, op.getType().getElementType(), 8);
  if (op.getStored() != "in_out")
    return stored.numbers;
  int64_t last = sizes.back(), others = countElements(sizes) / std::max<int64_t>(last, 1);
  std::vector<double> numbers(stored.numbers.size());
  for (int64_t i = 0; i < others; ++i)
    for (int64_t j = 0; j < last; ++j)
      numbers[i * last + j] = stored.numbers[j * others + i];
  return numbers;
}

static FailureOr<Tensor> drawWeight(WeightOp op, ArrayRef<int64_t> turns) {
  Tensor tensor(op.getType().getShape());
  tensor.numbers.clear();
  for (auto [i, part] : llvm::enumerate(op.getParts().getAsValueRange<StringAttr>())) {
    int64_t rows = !op.getRows().empty() ? op.getRows()[i] : tensor.sizes.empty() ? 1 : tensor.sizes[0];
    llvm::append_range(tensor.numbers, drawPart(op, part, rows, turns));
  }
  return tensor;
}

/// Gives parameters the names that their first readers call their dimensions.
static void nameParameters(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    for (OpOperand &use : argument.getUses()) {
      auto inputs = use.getOwner()->getAttrOfType<ArrayAttr>("in_dims");
      if (!inputs || function.getArgAttr(argument.getArgNumber(), "attn.dims"))
        continue;
      unsigned first = use.getOwner()->getNumOperands() - inputs.size();
      if (use.getOperandNumber() >= first)
        function.setArgAttr(argument.getArgNumber(), "attn.dims", inputs[use.getOperandNumber() - first]);
    }
}

/// Random inputs; `lengths` grows by the sequences that come up.
static std::vector<Tensor> drawInputs(func::FuncOp function, unsigned round, std::map<std::string, int64_t> &lengths) {
  constexpr int64_t choices[][4] = {{5, 3, 7, 2}, {1, 1, 4, 1}, {0, 6, 0, 3}, {6, 0, 1, 5}};
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type)
      return {};
    auto dims = function.getArgAttrOfType<DimsAttr>(i, "attn.dims");
    Sizes sizes(type.getShape());
    for (size_t d = 0; d < sizes.size(); ++d)
      if (type.isDynamicDim(d)) {
        std::string name = dims ? dims.sequence(d).str() : "";
        sizes[d] = lengths.try_emplace(name, choices[round][lengths.size() % 4]).first->second;
      }
    inputs.push_back(drawTensor("argument " + std::to_string(i), round, sizes, type.getElementType(), 4));
  }
  return inputs;
}

static bool agree(const Tensor &after, const Tensor &before) {
  double largest = 1;
  for (double number : before.numbers)
    if (std::isfinite(number))
      largest = std::fmax(largest, std::fabs(number));
  if (after.sizes != before.sizes)
    return false;
  for (auto [a, b] : llvm::zip(after.numbers, before.numbers))
    if (!(a == b || (std::isnan(b) && (std::isnan(a) || (nanToZero && a == 0))) || std::fabs(a - b) <= 1e-6 * largest))
      return false;
  return true;
}

/// One function on one set of inputs.
static bool judgeOnce(Interpreter &before, Interpreter &after, func::FuncOp function, unsigned round) {
  std::map<std::string, int64_t> lengths;
  std::vector<Tensor> inputs = drawInputs(function, round, lengths);
  FailureOr<std::vector<Tensor>> wanted = before.run(function.getName(), inputs, lengths);
  FailureOr<std::vector<Tensor>> got = after.run(function.getName(), inputs, lengths);
  if (failed(wanted) || failed(got) || wanted->size() != got->size())
    return false;
  for (auto [i, pair] : llvm::enumerate(llvm::zip(*got, *wanted)))
    if (!agree(std::get<0>(pair), std::get<1>(pair))) {
      function.emitError("result ") << i << " differs in round " << round;
      return false;
    }
  return true;
}

static bool judge(ModuleOp original, unsigned &judged) {
  original.walk(nameParameters);
  OwningOpRef<ModuleOp> changed = original.clone();
  PassManager manager(original.getContext());
  if (failed(parsePassPipeline(passes, manager)) || failed(manager.run(*changed)))
    return false;
  bool right = true;
  for (auto function : original.getOps<func::FuncOp>()) {
    if (llvm::any_of(function.getArgumentTypes(), [](Type type) { return !isa<RankedTensorType>(type); }))
      continue; // a turn: only inside a repeat can it be interpreted
    Interpreter before(original, drawWeight), after(*changed, drawWeight);
    for (unsigned round = 0; round < 4; ++round)
      right &= judgeOnce(before, after, function, round);
    ++judged;
  }
  return right;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerPasses();
  cl::ParseCommandLineOptions(argc, argv, "the interpreter before and after passes\n");
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file);
  if (!buffer) {
    llvm::errs() << "error: cannot read `" << file << "`\n";
    return 1;
  }
  DialectRegistry registry;
  registry.insert<AttnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  MLIRContext context(registry);
  SmallVector<StringRef> chunks;
  (*buffer)->getBuffer().split(chunks, "// -----");
  unsigned judged = 0;
  bool right = true;
  for (StringRef chunk : chunks) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(chunk, &context, file);
    right &= module && judge(*module, judged);
  }
  llvm::outs() << judged << " functions judged\n";
  return right && judged ? 0 : 1;
}
