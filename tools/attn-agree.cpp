// attn-agree: the judge of compiled code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     attn-agree FILE.mlir --lengths=0,1,17,64
//
// Compiles every export of a module into this process and calls it with seeded weights and a ragged batch, one sequence
// of each length. It must
//   - agree with the interpreter, which computes in double, within --tolerance of the largest value of each result,
//   - give the same bits for all sequences in one call and for each alone,
//   - give the same bits with one thread and with two, whatever the order of tasks,
//   - take a call of no sequence at all, and weights in every type that a file may hold,
//   - touch nothing but its outputs and the scratch memory it asked for, both full of NaN before.
//
// The first sequence dimension of a function gets the lengths as they are given, each further one those a place on, so
// that queries and keys differ in number. With --passes=only nothing is compiled: the interpreter's results before and
// after the passes are compared; with --passes=none the module is compiled as it is written.
#include "dialect/AttnDialect.h"
#include "dialect/interpreter/Interpreter.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "tools/agree/Batch.h"
#include "tools/interpret/Random.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include <cfloat>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace attn;
using namespace attn::agree;
namespace cl = llvm::cl;

namespace {

enum class Passes { all, none, only };

cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"));
cl::list<int64_t> lengths("lengths", cl::desc("of the sequences"), cl::CommaSeparated);
cl::opt<uint64_t> seed("seed", cl::desc("of weights and inputs"), cl::init(1));
cl::opt<double> tolerance("tolerance", cl::desc("relative to the largest value"), cl::init(2e-6));
cl::opt<bool> pointwise("pointwise", cl::desc("relative to each value, not to the largest"));
cl::opt<double> floorOption("floor", cl::desc("the largest value counts as at least this"), cl::init(0));
cl::opt<std::string> mcpu("mcpu", cl::desc("the machine to compile for"), cl::init("native"));
cl::opt<bool> quiet("quiet", cl::desc("show only what is wrong"));
cl::opt<Passes> passes("passes", cl::desc("what runs before lowering"), cl::init(Passes::all),
                       cl::values(clEnumValN(Passes::all, "all", "the compiler's passes"),
                                  clEnumValN(Passes::none, "none", "nothing"),
                                  clEnumValN(Passes::only, "only", "the passes, but no lowering")));

LogicalResult runPasses(ModuleOp module) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  if (passes != Passes::none)
    buildPassPipeline(manager);
  if (passes != Passes::only)
    buildPlanPipeline(manager);
  return manager.run(module);
}

/// One sequence of each length.
FailureOr<std::vector<Sequence>> drawBatch(func::FuncOp function) {
  auto names = function->getAttrOfType<ArrayAttr>("attn.sequences");
  std::vector<Sequence> batch;
  for (size_t b = 0; b < lengths.size(); ++b) {
    std::map<std::string, int64_t> own;
    for (auto [s, name] : llvm::enumerate(names.getAsValueRange<StringAttr>()))
      own[name.str()] = lengths[(b + s) % lengths.size()];
    FailureOr<Sequence> sequence = drawSequence(function, own, b, seed);
    if (failed(sequence))
      return failure();
    batch.push_back(std::move(*sequence));
  }
  return batch;
}

/// What the interpreter makes of each sequence.
FailureOr<std::vector<std::vector<Tensor>>> interpret(ModuleOp module, func::FuncOp function,
                                                      const std::vector<Sequence> &batch) {
  interpreter::Interpreter interpreter(module, interpreter::drawWeights(seed));
  std::vector<std::vector<Tensor>> all;
  for (const Sequence &sequence : batch) {
    auto results = interpreter.run(function.getName(), sequence.inputs, sequence.lengths);
    if (failed(results))
      return failure();
    all.push_back(std::move(*results));
  }
  return all;
}

/// The largest difference, relative to the largest finite number of that result; infinite where one side is no number
/// or infinite and the other is not the same.
struct Difference {
  double relative = 0;
  size_t place = 0;
  double wanted = 0, got = 0;
};

/// The largest finite number of one result in the whole batch.
double largestOf(const std::vector<std::vector<Tensor>> &results, size_t r) {
  double largest = floorOption; // where all that is left is what rounding made of 0
  for (const std::vector<Tensor> &sequence : results)
    for (double number : sequence[r].numbers)
      if (std::isfinite(number))
        largest = std::fmax(largest, std::fabs(number));
  return largest;
}

Difference compare(const std::vector<double> &got, const std::vector<double> &wanted, double largest) {
  Difference worst;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i])))
      continue;
    if (got[i] == static_cast<float>(wanted[i])) // infinite where float32 ends
      continue;
    if (std::fabs(got[i]) < 2 * FLT_MIN && std::fabs(wanted[i]) < 2 * FLT_MIN) // may be 0: the end of normal numbers
      continue;
    double scale = pointwise ? std::fabs(wanted[i]) : largest;
    double off = std::fabs(got[i] - wanted[i]) / scale;
    if (!(off <= worst.relative)) // NaN too
      worst = {std::isnan(off) ? INFINITY : off, i, wanted[i], got[i]};
  }
  return worst;
}

std::vector<double> numbersOf(const Bytes &bytes, size_t begin, size_t count, bool whole) {
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const char *at = bytes.data() + 4 * (begin + i);
    float real;
    int32_t integer;
    std::memcpy(&real, at, 4);
    std::memcpy(&integer, at, 4);
    numbers[i] = whole ? integer : real;
  }
  return numbers;
}

/// Judges one function; counts what is wrong.
class Judge {
public:
  Judge(func::FuncOp functionOf, const std::vector<Sequence> &batchOf) : function(functionOf), batch(batchOf) {
    for (const Sequence &sequence : batch)
      all.push_back(&sequence);
  }

  void judgePasses(const std::vector<std::vector<Tensor>> &before, const std::vector<std::vector<Tensor>> &after);
  void judgeCompiled(const CompiledModule &compiled, size_t index, const std::vector<Bytes> &weights,
                     const std::vector<std::vector<Tensor>> &wanted);
  int wrong = 0;

private:
  void report(const llvm::Twine &what, bool right) {
    wrong += !right;
    if (!right || !quiet)
      llvm::outs() << llvm::formatv("{0,-6}", right ? "right" : "WRONG") << function.getName() << ": " << what << "\n";
  }
  void reportDifference(size_t r, size_t b, const Difference &difference) {
    if (!(difference.relative > worst[r].second.relative))
      return;
    worst[r] = {b, difference};
  }
  void finishDifferences();
  std::string lengthsOf(size_t b) const;

  func::FuncOp function;
  const std::vector<Sequence> &batch;
  std::vector<const Sequence *> all;
  std::map<size_t, std::pair<size_t, Difference>> worst; // of each result
};

std::string Judge::lengthsOf(size_t b) const {
  std::string text;
  for (const auto &[name, length] : batch[b].lengths)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(length);
  return text;
}

void Judge::finishDifferences() {
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    auto [b, difference] = worst[r];
    std::string text = llvm::formatv("result {0}: largest error {1:e2}", r, difference.relative);
    if (difference.relative > tolerance)
      text += llvm::formatv(", number {0} where {1} is {2:e9}, expected {3:e9}", difference.place, lengthsOf(b),
                            difference.got, difference.wanted);
    report(text, difference.relative <= tolerance);
  }
}

void Judge::judgePasses(const std::vector<std::vector<Tensor>> &before, const std::vector<std::vector<Tensor>> &after) {
  for (size_t b = 0; b < batch.size(); ++b)
    for (size_t r = 0; r < before[b].size(); ++r)
      reportDifference(r, b, compare(after[b][r].numbers, before[b][r].numbers, largestOf(before, r)));
  finishDifferences();
}

void Judge::judgeCompiled(const CompiledModule &compiled, size_t index, const std::vector<Bytes> &weights,
                          const std::vector<std::vector<Tensor>> &wanted) {
  auto call = [&](ArrayRef<const Sequence *> sequences, Threads threads) {
    CallResult result = callCompiled(compiled, index, function, sequences, weights, threads);
    if (!result.complaint.empty())
      report(result.complaint, false);
    return result.outputs;
  };
  std::vector<Bytes> together = call(all, {1, false});
  report("two threads, tasks backwards, same bits", call(all, {2, true}) == together);

  std::vector<Bytes> none = call({}, {1, false});
  report("no sequence at all", llvm::all_of(none, [](const Bytes &bytes) { return bytes.empty(); }));

  std::vector<Bytes> apart(together.size());
  for (const Sequence *sequence : all) {
    std::vector<Bytes> one = call(sequence, {1, false});
    for (size_t r = 0; r < one.size(); ++r)
      apart[r].insert(apart[r].end(), one[r].begin(), one[r].end());
  }
  report("each sequence alone, same bits", apart == together);

  for (size_t r = 0; r < together.size(); ++r) {
    bool whole = cast<RankedTensorType>(function.getResultTypes()[r]).getElementType().isInteger();
    double largest = largestOf(wanted, r);
    size_t begin = 0;
    for (size_t b = 0; b < batch.size(); ++b) {
      const std::vector<double> &expected = wanted[b][r].numbers;
      reportDifference(r, b, compare(numbersOf(together[r], begin, expected.size(), whole), expected, largest));
      begin += expected.size();
    }
  }
  finishDifferences();
}

/// Compiles, interprets, judges; the number of things that are wrong, or failure where it did not come to that.
FailureOr<int> judgeModule(ModuleOp module, StringRef folder) {
  OwningOpRef<ModuleOp> transformed = module.clone();
  if (failed(runPasses(*transformed)))
    return failure();
  std::optional<Target> target = findTarget(mcpu);
  if (!target)
    return module.emitError() << "there is no machine `" << mcpu << "`";
  std::unique_ptr<CompiledModule> compiled;
  std::vector<Bytes> weights;
  if (passes != Passes::only) {
    auto made = CompiledModule::compile(*transformed, *target, folder);
    if (failed(made))
      return failure();
    compiled = std::move(*made);
    weights = packWeights(*transformed, *compiled, seed);
  }
  int wrong = 0;
  if (compiled && !packsEveryType(*transformed, *compiled, seed)) {
    llvm::outs() << "WRONG weights in float16 or bfloat16 are packed otherwise than in float32\n";
    ++wrong;
  }
  size_t index = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("attn.export"))
      continue;
    auto batch = drawBatch(function);
    if (failed(batch))
      return failure();
    auto wanted = interpret(module, function, *batch);
    if (failed(wanted))
      return failure();
    Judge judge(function, *batch);
    if (compiled) {
      judge.judgeCompiled(*compiled, index++, weights, *wanted);
    } else {
      auto after = interpret(*transformed, function, *batch);
      if (failed(after))
        return failure();
      judge.judgePasses(*wanted, *after);
    }
    wrong += judge.wrong;
  }
  return wrong;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "the judge of compiled code\n");
  if (lengths.empty())
    for (int64_t length : {0, 1, 17, 64, 3})
      lengths.push_back(length);
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<AttnDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return 1;
  SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("attn-agree", folder)) {
    llvm::errs() << "error: no folder for the object\n";
    return 1;
  }
  llvm::scope_exit remove([&] {
    if (llvm::sys::fs::remove_directories(folder))
      llvm::errs() << "warning: `" << folder << "` stays behind\n";
  });
  FailureOr<int> wrong = judgeModule(*module, folder);
  if (succeeded(wrong) && !*wrong && quiet)
    return 0;
  if (succeeded(wrong))
    llvm::outs() << (*wrong ? std::to_string(*wrong) + " wrong\n" : "all right\n");
  return failed(wrong) || *wrong ? 1 : 0;
}
