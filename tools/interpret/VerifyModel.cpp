// Runs what a verify.json says through the interpreter and compares with the reference's values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/interpret/VerifyModel.h"
#include "dialect/AttnDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/interpret/ModelFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace mlir;

namespace attn::interpreter {
namespace {

/// Which places of a sequence dimension are real, for each sequence of the batch.
using Places = std::vector<std::vector<int64_t>>;

llvm::Error complain(const llvm::Twine &what) {
  return llvm::createStringError(what);
}

class Verification {
public:
  Verification(ModuleOp moduleOf, const ModelFile &ioOf, WeightProvider weights, double toleranceOf)
      : module(moduleOf), io(ioOf), interpreter(moduleOf, std::move(weights)), tolerance(toleranceOf) {}

  llvm::Error runCall(const llvm::json::Object &call);
  llvm::Error finish();
  bool right = true;

private:
  llvm::Error readPlaces(const llvm::json::Object &call);
  llvm::Error readInputs(const llvm::json::Object &call, func::FuncOp function);
  llvm::Error runSequence(const llvm::json::Object &call, func::FuncOp function, size_t b);
  llvm::Error compareResults(const llvm::json::Object &call, func::FuncOp function);
  void compareTap(StringRef name, const Tensor &value);
  llvm::Expected<Tensor> readUsed(StringRef name);
  void report(StringRef name, const std::vector<double> &got, const std::vector<double> &wanted);

  ModuleOp module;
  const ModelFile &io;
  Interpreter interpreter;
  double tolerance;
  std::set<std::string> used;

  // of the call that runs
  std::map<std::string, Places> places;
  std::vector<Tensor> batch;                // one a parameter, the sequences along the first dimension
  std::vector<std::vector<Tensor>> results; // of each sequence
};

llvm::Expected<Tensor> Verification::readUsed(StringRef name) {
  used.insert(name.str());
  return io.read(name);
}

/// `real`: masks; `lengths`: how many from the front.
llvm::Error Verification::readPlaces(const llvm::json::Object &call) {
  places.clear();
  for (const char *key : {"real", "lengths"}) {
    const llvm::json::Object *entries = call.getObject(key);
    if (!entries)
      continue;
    for (const auto &[dimension, name] : *entries) {
      llvm::Expected<Tensor> tensor = readUsed(*name.getAsString());
      if (!tensor)
        return tensor.takeError();
      Places &all = places[dimension.str()];
      int64_t row = StringRef(key) == "real" ? tensor->sizes[1] : 1;
      for (int64_t b = 0; b < tensor->sizes[0]; ++b) {
        std::vector<int64_t> &own = all.emplace_back();
        int64_t end = StringRef(key) == "real" ? row : static_cast<int64_t>(tensor->numbers[b]);
        for (int64_t t = 0; t < end; ++t)
          if (row == 1 || tensor->numbers[b * row + t] != 0)
            own.push_back(t);
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error Verification::readInputs(const llvm::json::Object &call, func::FuncOp function) {
  batch.clear();
  const llvm::json::Object *inputs = call.getObject("inputs");
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto parameter = function.getArgAttrOfType<StringAttr>(i, "attn.name");
    std::optional<StringRef> name = inputs && parameter ? inputs->getString(parameter.getValue()) : std::nullopt;
    if (!name)
      return complain("parameter `" + (parameter ? parameter.getValue() : StringRef("?")) + "` gets nothing");
    llvm::Expected<Tensor> tensor = readUsed(*name);
    if (!tensor)
      return tensor.takeError();
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (tensor->sizes.size() != static_cast<size_t>(type.getRank()) + 1)
      return complain("tensor `" + *name + "` is no batch for parameter `" + parameter.getValue() + "`");
    batch.push_back(std::move(*tensor));
  }
  return llvm::Error::success();
}

/// For each dimension of a tensor of sequence `b`, the places of a padded one that are real.
std::vector<std::vector<int64_t>> realPlaces(const std::map<std::string, Places> &places, DimsAttr dims,
                                             RankedTensorType type, ArrayRef<int64_t> padded, size_t b) {
  std::vector<std::vector<int64_t>> all;
  for (size_t i = 0; i < padded.size(); ++i) {
    auto given = type.isDynamicDim(i) ? places.find(dims.sequence(i).str()) : places.end();
    std::vector<int64_t> own;
    for (int64_t t = 0; given == places.end() && t < padded[i]; ++t)
      own.push_back(t);
    all.push_back(given == places.end() ? own : given->second[b]);
  }
  return all;
}

/// The numbers of sequence `b` of a padded batch.
Tensor takeReal(const Tensor &batch, const std::map<std::string, Places> &places, DimsAttr dims, RankedTensorType type,
                size_t b) {
  Sizes padded(ArrayRef(batch.sizes).drop_front());
  auto real = realPlaces(places, dims, type, padded, b);
  Sizes sizes, strides = computeStrides(padded);
  for (const auto &own : real)
    sizes.push_back(static_cast<int64_t>(own.size()));
  Tensor tensor(sizes);
  Sizes own = computeStrides(sizes);
  for (size_t n = 0; n < tensor.numbers.size(); ++n) {
    size_t at = b * countElements(padded), rest = n;
    for (size_t i = 0; i < sizes.size(); ++i) {
      at += real[i][rest / own[i]] * strides[i];
      rest %= own[i];
    }
    tensor.numbers[n] = batch.numbers[at];
  }
  return tensor;
}

llvm::Error Verification::runSequence(const llvm::json::Object &call, func::FuncOp function, size_t b) {
  std::vector<Tensor> inputs;
  inputs.reserve(function.getNumArguments());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    inputs.push_back(takeReal(batch[i], places, function.getArgAttrOfType<DimsAttr>(i, "attn.dims"),
                              cast<RankedTensorType>(function.getArgumentTypes()[i]), b));
  std::optional<StringRef> probes = call.getString("probes");
  interpreter.onTap({});
  if (probes && b == 0)
    interpreter.onTap([this, prefix = probes->str()](StringRef name, const Tensor &value) {
      if (name.starts_with(prefix) && io.has(name))
        compareTap(name, value);
    });
  FailureOr<std::vector<Tensor>> run = interpreter.run(function.getName(), inputs);
  if (failed(run))
    return complain("the interpreter failed in `" + function.getName() + "`");
  results.push_back(std::move(*run));
  return llvm::Error::success();
}

void Verification::compareTap(StringRef name, const Tensor &value) {
  llvm::Expected<Tensor> wanted = readUsed(name);
  if (wanted)
    report(name, value.numbers, wanted->numbers);
  else
    llvm::consumeError(wanted.takeError());
}

llvm::Error Verification::compareResults(const llvm::json::Object &call, func::FuncOp function) {
  const llvm::json::Array *outputs = call.getArray("outputs");
  for (size_t r = 0; outputs && r < outputs->size(); ++r) {
    std::optional<StringRef> name = (*outputs)[r].getAsString();
    if (!name)
      continue;
    llvm::Expected<Tensor> wanted = readUsed(*name);
    if (!wanted)
      return wanted.takeError();
    std::vector<double> got, real;
    for (size_t b = 0; b < results.size(); ++b) {
      Tensor own = takeReal(*wanted, places, function.getResultAttrOfType<DimsAttr>(r, "attn.dims"),
                            cast<RankedTensorType>(function.getResultTypes()[r]), b);
      real.insert(real.end(), own.numbers.begin(), own.numbers.end());
      got.insert(got.end(), results[b][r].numbers.begin(), results[b][r].numbers.end());
    }
    report(*name, got, real);
  }
  return llvm::Error::success();
}

void Verification::report(StringRef name, const std::vector<double> &got, const std::vector<double> &wanted) {
  double largest = 0, off = 0;
  for (size_t i = 0; i < wanted.size() && i < got.size(); ++i) {
    largest = std::fmax(largest, std::fabs(wanted[i]));
    off = std::fmax(off, std::isnan(got[i]) ? INFINITY : std::fabs(got[i] - wanted[i]));
  }
  double allowed = tolerance * (name.starts_with("padded.") ? 5 : 1);
  bool fine = got.size() == wanted.size() && !wanted.empty() && off <= allowed * largest;
  right &= fine;
  llvm::outs() << llvm::formatv("{0} {1} {2} values, largest error {3:e2}\n", fine ? "right" : "WRONG", name,
                                wanted.size(), largest > 0 ? off / largest : off);
}

llvm::Error Verification::runCall(const llvm::json::Object &call) {
  for (const char *key : {"greedy", "keep"})
    if (call.get(key))
      return complain(llvm::Twine("`") + key + "` needs caches, which the dialect does not have yet");
  std::optional<StringRef> name = call.getString("fn");
  auto function = name ? module.lookupSymbol<func::FuncOp>(*name) : func::FuncOp();
  if (!function)
    return complain("no function `" + (name ? *name : StringRef("?")) + "`");
  results.clear();
  if (llvm::Error error = readPlaces(call))
    return error;
  if (llvm::Error error = readInputs(call, function))
    return error;
  for (int64_t b = 0; b < (batch.empty() ? 1 : batch[0].sizes[0]); ++b)
    if (llvm::Error error = runSequence(call, function, b))
      return error;
  return compareResults(call, function);
}

llvm::Error Verification::finish() {
  for (const std::string &name : io.names())
    if (!used.contains(name))
      return complain("tensor `" + name + "` was neither consumed nor compared");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<bool> verifyModel(ModuleOp module, const std::string &folder, double tolerance) {
  auto text = llvm::MemoryBuffer::getFile(folder + "/verify.json");
  if (!text)
    return complain("cannot read `" + folder + "/verify.json`");
  llvm::Expected<llvm::json::Value> verify = llvm::json::parse((*text)->getBuffer());
  if (!verify)
    return verify.takeError();
  auto io = ModelFile::open(folder + "/io.safetensors");
  if (!io)
    return io.takeError();
  WeightProvider weights;
  std::unique_ptr<ModelFile> model;
  if (llvm::sys::fs::exists(folder + "/model.safetensors")) {
    auto opened = ModelFile::open(folder + "/model.safetensors");
    if (!opened)
      return opened.takeError();
    model = std::move(*opened);
    weights = model->weights(module);
  }
  Verification verification(module, **io, weights, tolerance);
  const llvm::json::Array *calls = verify->getAsObject() ? verify->getAsObject()->getArray("calls") : nullptr;
  if (!calls)
    return complain("`" + folder + "/verify.json` has no calls");
  for (const llvm::json::Value &call : *calls)
    if (llvm::Error error = verification.runCall(*call.getAsObject()))
      return std::move(error);
  if (llvm::Error error = verification.finish())
    return std::move(error);
  return verification.right;
}

} // namespace attn::interpreter
