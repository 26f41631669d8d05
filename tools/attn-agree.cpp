// attn-agree: the judge of compiled code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     attn-agree FILE.mlir --lengths=0,1,17,64
//
// Compiles every export of a module into this process and calls it with seeded weights and a ragged batch, one sequence
// of each length. It must
//   - agree with the interpreter, which computes in double, within --tolerance of the largest value of each result,
//   - give the same bits for all sequences in one call and for each alone,
//   - give the same bits whether the rows of a sequence that it caches come in one call or in several, with sessions of
//     other lengths in the same calls (tools/agree/Course.h says how rows are parted; `test.after` on a function names
//     one to call before in every session),
//   - give the same bits with one thread and with two, whatever the order of tasks,
//   - take a call of no sequence at all, and weights in every type that a file may hold,
//   - touch nothing but its outputs, the scratch memory it asked for and the rows that it adds to sessions, all full of
//     NaN before.
//
// The first sequence dimension of a function gets the lengths as they are given, each further one those a place on, so
// that queries and keys differ in number. With --passes=only nothing is compiled: the interpreter's results before and
// after the passes are compared; with --passes=none the module is compiled as it is written.
#include "dialect/AttnDialect.h"
#include "dialect/AttnOps.h"
#include "dialect/interpreter/Interpreter.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "tools/agree/Judge.h"
#include "tools/agree/Weights.h"
#include "tools/interpret/Random.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::agree;
using attn::interpreter::Session;
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
cl::opt<std::string> precisionOption("precision", cl::desc("f32 or bf16, as attnc's"), cl::init("f32"));
cl::opt<bool> nanToZero("nan-to-zero",
                        cl::desc("0 is right where the interpreter has NaN: softmax over nothing by hand"));
cl::opt<AttentionForm> attention("attention", cl::desc("the form of attentions, as attnc's"),
                                 cl::values(clEnumValN(AttentionForm::automatic, "auto", "as the compiler chooses"),
                                            clEnumValN(AttentionForm::online, "online", "never split"),
                                            clEnumValN(AttentionForm::split, "split", "split where it can be")));
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

/// Compiled code and where it came from.
struct Program {
  ModuleOp module;                          // as it is written
  ModuleOp transformed;                     // after the passes
  std::unique_ptr<CompiledModule> compiled; // null with --passes=only
  std::vector<Bytes> weights;
};

SmallVector<func::FuncOp> exportsOf(ModuleOp module) {
  return llvm::filter_to_vector(module.getOps<func::FuncOp>(),
                                [](func::FuncOp function) { return function->hasAttr("attn.export"); });
}

/// The lengths of sequence `b`: the first dimension gets them as given, each further one those a place on. What is kept
/// must be given once, by the first call of a session.
std::map<std::string, int64_t> lengthsFor(func::FuncOp function, size_t b, const Session &session) {
  std::map<std::string, int64_t> own;
  for (auto [s, name] :
       llvm::enumerate(function->getAttrOfType<ArrayAttr>("attn.sequences").getAsValueRange<StringAttr>()))
    own[name.str()] = lengths[(b + s) % lengths.size()];
  function.walk([&](OnceOp op) {
    int64_t &length = own[op.inDims(0).sequence(0).str()];
    bool filled = llvm::any_of(session.rows, [&](const auto &place) { return place.first.first == op.getState(); });
    length = filled ? 0 : std::max<int64_t>(length, 1);
  });
  return own;
}

/// Calls a function in the session of a case that begins, with all its rows.
LogicalResult callBefore(Program &program, interpreter::Interpreter &interpreter, func::FuncOp before, size_t index,
                         size_t b, Case &each) {
  auto sequence = drawSequence(before, lengthsFor(before, b, each.session), 1000 + b, seed);
  if (failed(sequence) || failed(interpreter.run(before.getName(), sequence->inputs, sequence->lengths, &each.session)))
    return failure();
  if (!program.compiled)
    return success();
  Run run = {&*sequence, each.memory, {}};
  callCourse({*program.compiled, index, before, program.weights}, run, {"one call", {0}}, {1, false});
  each.memory = run.session;
  return success();
}

/// A session with room for some rows more than its sequence has; where a function says so (`test.after`), another has
/// been called in it before.
FailureOr<Case> beginCase(Program &program, interpreter::Interpreter &interpreter, func::FuncOp function, size_t b) {
  Case each;
  each.session.capacity = each.memory.capacity =
      2 * *std::max_element(lengths.begin(), lengths.end()) + 1 + 7 * static_cast<int64_t>(b);
  if (program.compiled)
    each.memory.slots.resize(program.compiled->slots().size());
  if (auto after = function->getAttrOfType<StringAttr>("test.after"))
    for (auto [index, before] : llvm::enumerate(exportsOf(program.module)))
      if (before.getName() == after.getValue() && failed(callBefore(program, interpreter, before, index, b, each)))
        return failure();
  auto sequence = drawSequence(function, lengthsFor(function, b, each.session), b, seed);
  if (failed(sequence))
    return failure();
  each.sequence = std::move(*sequence);
  return each;
}

/// What recognition changes: a row without a visible key is 0, where the arithmetic written out gives NaN.
void replaceNaN(Wanted &wanted) {
  for (auto &course : wanted)
    for (Numbers &results : course.second)
      for (std::vector<double> &result : results)
        for (double &number : result)
          if (std::isnan(number))
            number = 0;
}

FailureOr<int> judgeFunction(Program &program, func::FuncOp function, size_t index) {
  interpreter::Interpreter interpreter(program.module, interpreter::drawWeights(seed));
  std::vector<Case> batch;
  for (size_t b = 0; b < lengths.size(); ++b) {
    FailureOr<Case> each = beginCase(program, interpreter, function, b);
    if (failed(each))
      return failure();
    batch.push_back(std::move(*each));
  }
  FailureOr<Wanted> wanted = interpretBatch(interpreter, function, batch);
  if (failed(wanted))
    return failure();
  if (nanToZero)
    replaceNaN(*wanted);
  Judge judge(function, batch, {tolerance, pointwise, floorOption, quiet});
  if (program.compiled) {
    judge.judgeCompiled({*program.compiled, index, function, program.weights}, *wanted);
    return judge.wrong;
  }
  interpreter::Interpreter other(program.transformed, interpreter::drawWeights(seed));
  FailureOr<Wanted> after = interpretBatch(other, function, batch);
  if (failed(after))
    return failure();
  judge.judgePasses(*wanted, *after);
  return judge.wrong;
}

/// Compiles, interprets, judges; the number of things that are wrong, or failure where it did not come to that.
FailureOr<int> judgeModule(ModuleOp module, StringRef folder) {
  OwningOpRef<ModuleOp> transformed = module.clone();
  if (failed(runPasses(*transformed)))
    return failure();
  std::optional<Target> target = findTarget(mcpu);
  if (!target)
    return module.emitError() << "there is no machine `" << mcpu << "`";
  std::optional<Precision> precision = findPrecision(precisionOption);
  if (!precision)
    return module.emitError() << "there is no precision `" << precisionOption << "`";
  Program program{module, *transformed, nullptr, {}};
  int wrong = 0;
  if (passes != Passes::only) {
    auto made =
        CompiledModule::compile(*transformed, *target, {.precision = *precision, .attention = attention}, folder);
    if (failed(made))
      return failure();
    program.compiled = std::move(*made);
    program.weights = packWeights(*transformed, *program.compiled, seed);
    if (!packsEveryType(*transformed, *program.compiled, seed)) {
      llvm::outs() << "WRONG weights in float16 or bfloat16 are packed otherwise than in float32\n";
      ++wrong;
    }
  }
  for (auto [index, function] : llvm::enumerate(exportsOf(module))) {
    FailureOr<int> more = judgeFunction(program, function, index);
    if (failed(more))
      return failure();
    wrong += *more;
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
