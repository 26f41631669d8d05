// attn-interpret: runs functions of the attn dialect, one sequence, naively, in double.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     attn-interpret FILE.mlir --fn=f --arg='x=[[1, 2]]' --arg='ids=[0, 3]'     prints the results
//     attn-interpret FILE.mlir --test            runs every function whose arguments and results carry their numbers:
//
//         func.func @f(%x: tensor<2xf32> {attn.dims = #attn.dims<[E]>, test.value = "[1, 2]"})
//             -> (tensor<f32> {attn.dims = #attn.dims<[]>, test.expect = "3"})
//
//         Lists, `test.value = ["[1, 2]", "[3, 4]"]`, hold one entry a call: the function is called that often, in one
//         session (a single text stands for every call, "" for nothing said). Functions of one `test.session = "name"`
//         share it, in the order of the file; it is made for `test.capacity = 8` rows where its first function says so.
//
//     attn-interpret FILE.mlir --verify=FOLDER   runs the calls of FOLDER/verify.json, compares with the reference's
//     values
//
// A weight's numbers are its own `test.value`, else random ones of --seed. An argument that has no numbers is random
// too where all its sizes are static.
#include "dialect/AttnDialect.h"
#include "dialect/AttnOps.h"
#include "dialect/interpreter/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "tools/interpret/Literals.h"
#include "tools/interpret/Random.h"
#include "tools/interpret/VerifyModel.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::interpreter;
namespace cl = llvm::cl;

static cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"));
static cl::opt<std::string> functionName("fn", cl::desc("the function to run"));
static cl::list<std::string> arguments("arg", cl::desc("NAME=NUMBERS for a parameter"));
static cl::opt<bool> test("test", cl::desc("run every function that carries its numbers, compare the results"));
static cl::opt<std::string> verify("verify", cl::desc("run the calls of FOLDER/verify.json, compare the results"),
                                   cl::value_desc("FOLDER"));
static cl::opt<bool> forget("forget", cl::desc("with --verify: forget the caches after every greedy step"));
static cl::opt<uint64_t> seed("seed", cl::desc("of random weights and inputs"), cl::init(1));
static cl::opt<double> tolerance("tolerance", cl::desc("relative to the largest number"), cl::init(1e-6));

static StringRef parameterName(func::FuncOp function, unsigned i) {
  auto name = function.getArgAttrOfType<StringAttr>(i, "attn.name");
  return name ? name.getValue() : "";
}

/// Numbers that are written somewhere for this tensor; says why they cannot be read.
static FailureOr<Tensor> readNumbers(Operation *op, StringRef text, Type type) {
  llvm::Expected<Tensor> tensor = parseLiteral(text, cast<RankedTensorType>(type));
  if (!tensor)
    return op->emitError() << llvm::toString(tensor.takeError());
  return *tensor;
}

static FailureOr<Tensor> weightNumbers(WeightOp op, ArrayRef<int64_t> turns) {
  if (auto value = op->getAttrOfType<StringAttr>("test.value"))
    return readNumbers(op, value.getValue(), op.getType());
  return drawWeights(seed)(op, turns);
}

/// How often a test calls the function: as often as its lists have entries.
static FailureOr<size_t> countCalls(func::FuncOp function) {
  size_t calls = 1;
  bool counted = false;
  auto count = [&](Attribute attribute) {
    auto list = dyn_cast_or_null<ArrayAttr>(attribute);
    if (!list || (counted && list.size() == calls))
      return success();
    if (counted)
      return LogicalResult(function.emitError() << "lists for " << calls << " calls and for " << list.size());
    counted = true;
    calls = list.size();
    return success();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(count(function.getArgAttr(i, "test.value"))))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(count(function.getResultAttr(i, "test.expect"))))
      return failure();
  return calls;
}

/// What a text, or a list of one text a call, says of that call; nothing where it is empty.
static StringRef textFor(Attribute attribute, size_t call) {
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    attribute = list[call];
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : "";
}

static FailureOr<Tensor> argumentNumbers(func::FuncOp function, unsigned i, size_t call) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
  StringRef name = parameterName(function, i);
  for (StringRef given : arguments)
    if (!name.empty() && given.consume_front(name) && given.consume_front("="))
      return readNumbers(function, given, type);
  if (StringRef value = textFor(function.getArgAttr(i, "test.value"), call); !value.empty())
    return readNumbers(function, value, type);
  if (!type.hasStaticShape())
    return function.emitError() << "parameter " << i << " (`" << name << "`) has no numbers";
  return drawTensor("argument " + std::to_string(i), seed, type.getShape(), type.getElementType(), 8);
}

static FailureOr<std::vector<Tensor>> runFunction(Interpreter &interpreter, func::FuncOp function, size_t call,
                                                  Session &session) {
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    FailureOr<Tensor> input = argumentNumbers(function, i, call);
    if (failed(input))
      return failure();
    inputs.push_back(std::move(*input));
  }
  return interpreter.run(function.getName(), inputs, {}, &session);
}

static bool agree(const Tensor &got, const Tensor &wanted) {
  double largest = 0;
  for (double number : wanted.numbers)
    if (std::isfinite(number))
      largest = std::fmax(largest, std::fabs(number));
  if (got.sizes != wanted.sizes)
    return false;
  for (auto [a, b] : llvm::zip(got.numbers, wanted.numbers)) {
    bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!same && !(std::fabs(a - b) <= tolerance * largest))
      return false;
  }
  return true;
}

/// Runs one call; says which result is not what it should be.
static LogicalResult testCall(Interpreter &interpreter, func::FuncOp function, size_t call, Session &session) {
  auto results = runFunction(interpreter, function, call, session);
  if (failed(results))
    return failure();
  for (auto [i, result] : llvm::enumerate(*results)) {
    StringRef expected = textFor(function.getResultAttr(i, "test.expect"), call);
    if (expected.empty())
      continue;
    auto wanted = readNumbers(function, expected, function.getResultTypes()[i]);
    if (failed(wanted))
      return failure();
    if (agree(result, *wanted))
      continue;
    llvm::outs() << function.getName() << ": result " << i << " of call " << call << " is wrong\n  expected ";
    printLiteral(*wanted, llvm::outs());
    llvm::outs() << "\n  got      ";
    printLiteral(result, llvm::outs());
    llvm::outs() << "\n";
    return failure();
  }
  return success();
}

/// The session of a function's calls: the one that it names, else a new one.
static Session &sessionOf(func::FuncOp function, std::map<std::string, Session> &sessions) {
  auto name = function->getAttrOfType<StringAttr>("test.session");
  if (!name)
    sessions.erase("");
  auto [place, isNew] = sessions.try_emplace(name ? name.str() : "");
  if (auto capacity = function->getAttrOfType<IntegerAttr>("test.capacity"); isNew && capacity)
    place->second.capacity = capacity.getInt();
  return place->second;
}

/// Whether any result says what it should be, and all that do are right.
static FailureOr<bool> testFunction(Interpreter &interpreter, func::FuncOp function,
                                    std::map<std::string, Session> &sessions) {
  bool expects = false;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    expects |= static_cast<bool>(function.getResultAttr(i, "test.expect"));
  if (!expects)
    return false;
  FailureOr<size_t> calls = countCalls(function);
  if (failed(calls))
    return failure();
  Session &session = sessionOf(function, sessions);
  for (size_t call = 0; call < *calls; ++call)
    if (failed(testCall(interpreter, function, call, session)))
      return failure();
  llvm::outs() << function.getName() << ": right\n";
  return true;
}

static int testAll(Interpreter &interpreter, ModuleOp module) {
  int tested = 0, wrong = 0;
  std::map<std::string, Session> sessions;
  module.walk([&](func::FuncOp function) {
    auto result = testFunction(interpreter, function, sessions);
    wrong += failed(result);
    tested += succeeded(result) && *result;
  });
  llvm::outs() << tested << " right, " << wrong << " wrong\n";
  if (tested + wrong == 0)
    llvm::errs() << "error: no result says what it should be\n";
  return tested == 0 || wrong ? 1 : 0;
}

static int runOne(Interpreter &interpreter, ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(functionName);
  if (!function) {
    llvm::errs() << "error: no function `" << functionName << "`\n";
    return 1;
  }
  interpreter.onTap([](StringRef name, const Tensor &value) {
    llvm::outs() << "tap " << name << " = ";
    printLiteral(value, llvm::outs());
    llvm::outs() << "\n";
  });
  Session session;
  auto results = runFunction(interpreter, function, 0, session);
  if (failed(results))
    return 1;
  for (const Tensor &result : *results) {
    printLiteral(result, llvm::outs());
    llvm::outs() << "\n";
  }
  return 0;
}

/// float32 references agree to 2e-5 (docs/verify.md), unless the command line says otherwise.
static int verifyFolder(ModuleOp module) {
  double allowed = tolerance.getNumOccurrences() ? tolerance : 2e-5;
  llvm::Expected<bool> right = verifyModel(module, verify, {allowed, forget});
  if (!right)
    llvm::errs() << "error: " << llvm::toString(right.takeError()) << "\n";
  return right && *right ? 0 : 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "runs the attn dialect, naively, in double\n");
  DialectRegistry registry;
  registry.insert<AttnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return 1;
  Interpreter interpreter(*module, weightNumbers);
  if (test)
    return testAll(interpreter, *module);
  if (!verify.empty())
    return verifyFolder(*module);
  if (functionName.empty()) {
    llvm::errs() << "error: none of --fn, --test, --verify\n";
    return 2;
  }
  return runOne(interpreter, *module);
}
