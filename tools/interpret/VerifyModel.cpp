// Runs what a verify.json says through the interpreter and compares with the reference's values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/interpret/VerifyModel.h"
#include "dialect/AttnDialect.h"
#include "dialect/Exports.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/interpret/ModelFile.h"
#include "tools/interpret/Places.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace mlir;

namespace attn::interpreter {
namespace {

llvm::Error complain(const llvm::Twine &what) {
  return llvm::createStringError(what);
}

/// A result that stays for later calls: one tensor a sequence, and the places of its dimensions that are not whole.
struct Kept {
  std::vector<Tensor> tensors;
  std::vector<std::optional<Places>> places;
};

/// Decoding token by token: what verify.json says and what the steps gave.
struct Greedy {
  Tensor tokens;
  int64_t prompt = 0; // how many of them the first step gets
  unsigned parameter = 0;
  std::vector<double> cached, uncached, chosen;
};

class Verification {
public:
  Verification(ModuleOp moduleOf, const ModelFile &ioOf, WeightProvider weights, const VerifyOptions &optionsOf)
      : module(moduleOf), io(ioOf), interpreter(moduleOf, std::move(weights)), options(optionsOf) {}

  llvm::Error runCall(const llvm::json::Object &call);
  llvm::Error finish();
  bool right = true;

private:
  llvm::Error readPlaces(const llvm::json::Object &call);
  llvm::Error readInputs(const llvm::json::Object &call);
  llvm::Error readKept(unsigned parameter, StringRef name);
  llvm::Error readTensor(unsigned parameter, StringRef name);
  void beginSessions();
  llvm::Error runBatch(const llvm::json::Object &call);
  llvm::Error compareResults(const llvm::json::Object &call);
  void keepResults(const llvm::json::Value &names);
  llvm::Error decodeGreedily(const llvm::json::Object &call);
  llvm::Error runSteps(Greedy &greedy);
  llvm::Expected<std::vector<double>> nextLogits(ArrayRef<Tensor> given, Session &session);
  void compareTap(StringRef name, const Tensor &value);
  llvm::Expected<Tensor> readUsed(StringRef name);
  llvm::Expected<Tensor> readUsed(const llvm::json::Object &call, StringRef key);
  void report(const llvm::Twine &name, const std::vector<double> &got, const std::vector<double> &wanted);

  DimsAttr dimsOf(unsigned parameter) { return function.getArgAttrOfType<DimsAttr>(parameter, "attn.dims"); }
  RankedTensorType typeOf(unsigned parameter) { return cast<RankedTensorType>(function.getArgumentTypes()[parameter]); }
  StringRef nameOf(unsigned parameter) {
    auto name = function.getArgAttrOfType<StringAttr>(parameter, "attn.name");
    return name ? name.getValue() : "?";
  }

  ModuleOp module;
  const ModelFile &io;
  Interpreter interpreter;
  VerifyOptions options;
  std::set<std::string> used;
  std::map<std::string, Kept> kept;
  std::vector<Session> sessions; // one a sequence of the batch; of the call before where it kept a result

  // of the call that runs
  func::FuncOp function;
  PlacesByName places;
  std::vector<std::vector<Tensor>> inputs;  // of each sequence
  std::vector<std::vector<Tensor>> results; // of each sequence
};

llvm::Expected<Tensor> Verification::readUsed(StringRef name) {
  used.insert(name.str());
  return io.read(name);
}

llvm::Expected<Tensor> Verification::readUsed(const llvm::json::Object &call, StringRef key) {
  std::optional<StringRef> name = call.getString(key);
  if (!name)
    return complain("a greedy call has no `" + key + "`");
  return readUsed(*name);
}

// ---- inputs

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
      places[dimension.str()] = StringRef(key) == "real" ? placesOfMask(*tensor) : placesOfLengths(*tensor);
    }
  }
  return llvm::Error::success();
}

llvm::Error Verification::readKept(unsigned parameter, StringRef name) {
  auto found = kept.find(name.str());
  if (found == kept.end())
    return complain("no earlier call kept `" + name + "`");
  if (found->second.places.size() != static_cast<size_t>(typeOf(parameter).getRank()))
    return complain("what was kept as `" + name + "` is no value for parameter `" + nameOf(parameter) + "`");
  inputs.resize(found->second.tensors.size(), std::vector<Tensor>(function.getNumArguments()));
  for (auto [own, tensor] : llvm::zip(inputs, found->second.tensors))
    own[parameter] = tensor;
  for (auto [d, own] : llvm::enumerate(found->second.places))
    if (own && typeOf(parameter).isDynamicDim(d))
      places.try_emplace(dimsOf(parameter).sequence(d).str(), *own);
  return llvm::Error::success();
}

llvm::Error Verification::readTensor(unsigned parameter, StringRef name) {
  llvm::Expected<Tensor> tensor = readUsed(name);
  if (!tensor)
    return tensor.takeError();
  RankedTensorType type = typeOf(parameter);
  if (tensor->sizes.size() != static_cast<size_t>(type.getRank()) + 1)
    return complain("tensor `" + name + "` is no batch for parameter `" + nameOf(parameter) + "`");
  inputs.resize(tensor->sizes[0], std::vector<Tensor>(function.getNumArguments()));
  for (auto [b, own] : llvm::enumerate(inputs))
    own[parameter] = takeReal(*tensor, places, dimsOf(parameter), type, b);
  return llvm::Error::success();
}

/// The greedy parameter has no input: it gets its tokens step by step.
llvm::Error Verification::readInputs(const llvm::json::Object &call) {
  inputs.clear();
  const llvm::json::Object *given = call.getObject("inputs");
  std::optional<StringRef> greedy = call.getString("greedy");
  for (bool fromKept : {true, false}) // which knows the places of its sequences
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      std::optional<StringRef> name = given ? given->getString(nameOf(i)) : std::nullopt;
      if (!name && greedy == nameOf(i))
        continue;
      if (!name)
        return complain("parameter `" + nameOf(i) + "` gets nothing");
      if (name->consume_front("$") != fromKept)
        continue;
      if (llvm::Error error = fromKept ? readKept(i, *name) : readTensor(i, *name))
        return error;
    }
  if (inputs.empty())
    inputs.emplace_back(function.getNumArguments());
  return llvm::Error::success();
}

/// One session a sequence, for as many rows as the longest sequence has.
void Verification::beginSessions() {
  if (sessions.size() != inputs.size()) {
    sessions.assign(inputs.size(), {});
    for (Session &session : sessions)
      session.capacity = 0;
  }
  for (auto [session, own] : llvm::zip(sessions, inputs))
    for (const Tensor &input : own)
      for (int64_t size : input.sizes)
        session.capacity = std::max(session.capacity, session.past + size);
}

// ---- calls

llvm::Error Verification::runBatch(const llvm::json::Object &call) {
  results.clear();
  std::optional<StringRef> probes = call.getString("probes");
  for (auto [b, own] : llvm::enumerate(inputs)) {
    interpreter.onTap({});
    if (probes && b == 0)
      interpreter.onTap([this, prefix = probes->str()](StringRef name, const Tensor &value) {
        if (name.starts_with(prefix) && io.has(name))
          compareTap(name, value);
      });
    FailureOr<std::vector<Tensor>> run = interpreter.run(function.getName(), own, {}, &sessions[b]);
    if (failed(run))
      return complain("the interpreter failed in `" + function.getName() + "`");
    results.push_back(std::move(*run));
  }
  interpreter.onTap({});
  return llvm::Error::success();
}

void Verification::compareTap(StringRef name, const Tensor &value) {
  llvm::Expected<Tensor> wanted = readUsed(name);
  if (wanted)
    report(name, value.numbers, wanted->numbers);
  else
    llvm::consumeError(wanted.takeError());
}

llvm::Error Verification::compareResults(const llvm::json::Object &call) {
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

/// `keep`: one name, or one a result.
void Verification::keepResults(const llvm::json::Value &names) {
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    const llvm::json::Array *list = names.getAsArray();
    std::optional<StringRef> name;
    if (list && r < list->size())
      name = (*list)[r].getAsString();
    else if (!list && r == 0)
      name = names.getAsString();
    if (!name)
      continue;
    Kept &result = kept[name->str()] = {};
    for (const std::vector<Tensor> &own : results)
      result.tensors.push_back(own[r]);
    auto dims = function.getResultAttrOfType<DimsAttr>(r, "attn.dims");
    for (size_t d = 0; d < dims.size(); ++d) {
      auto found = cast<RankedTensorType>(function.getResultTypes()[r]).isDynamicDim(d)
                       ? places.find(dims.sequence(d).str())
                       : places.end();
      result.places.push_back(found == places.end() ? std::nullopt : std::optional(found->second));
    }
  }
}

void Verification::report(const llvm::Twine &what, const std::vector<double> &got, const std::vector<double> &wanted) {
  std::string name = what.str();
  double largest = 0, off = 0;
  for (size_t i = 0; i < wanted.size() && i < got.size(); ++i) {
    largest = std::fmax(largest, std::fabs(wanted[i]));
    off = std::fmax(off, std::isnan(got[i]) ? INFINITY : std::fabs(got[i] - wanted[i]));
  }
  double allowed = options.tolerance * (StringRef(name).starts_with("padded.") ? 5 : 1);
  bool fine = got.size() == wanted.size() && !wanted.empty() && off <= allowed * largest;
  right &= fine;
  llvm::outs() << llvm::formatv("{0} {1} {2} values, largest error {3:e2}\n", fine ? "right" : "WRONG", name,
                                wanted.size(), largest > 0 ? off / largest : off);
}

// ---- greedy decoding

/// What a later step gives of an input: nothing of what is kept.
Tensor withoutKept(const Tensor &input, RankedTensorType type, DimsAttr dims, ArrayRef<StringRef> keeps) {
  Sizes sizes = input.sizes;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (type.isDynamicDim(d) && llvm::is_contained(keeps, dims.sequence(d)))
      sizes[d] = 0;
  return sizes == input.sizes ? input : Tensor(sizes);
}

Tensor tokensFrom(const Tensor &tokens, int64_t begin, int64_t end) {
  Tensor part(end - begin);
  std::copy_n(tokens.numbers.begin() + begin, end - begin, part.numbers.begin());
  return part;
}

std::vector<double> lastRow(const Tensor &logits) {
  int64_t width = logits.sizes.back();
  return {logits.numbers.end() - width, logits.numbers.end()};
}

int64_t placeOfLargest(const std::vector<double> &numbers) {
  return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
}

/// The last row of the first result.
llvm::Expected<std::vector<double>> Verification::nextLogits(ArrayRef<Tensor> given, Session &session) {
  FailureOr<std::vector<Tensor>> run = interpreter.run(function.getName(), given, {}, &session);
  if (failed(run))
    return complain("the interpreter failed in `" + function.getName() + "`");
  return lastRow(run->front());
}

/// Every step runs twice: in the session, which gets the tokens that it has not seen, and in a new one, which gets all.
llvm::Error Verification::runSteps(Greedy &greedy) {
  const std::vector<Tensor> &given = inputs[0];
  SmallVector<StringRef> keeps = keptSequences(function);
  auto count = static_cast<int64_t>(greedy.tokens.numbers.size());
  Session &session = sessions[0];
  session.capacity = std::max(session.capacity, count);
  for (int64_t length = greedy.prompt, fed = 0; length < count; fed = length++) {
    std::vector<Tensor> step = given, whole = given;
    for (unsigned i = 0; fed && i < given.size(); ++i)
      if (i != greedy.parameter)
        step[i] = withoutKept(given[i], typeOf(i), dimsOf(i), keeps);
    step[greedy.parameter] = tokensFrom(greedy.tokens, fed, length);
    whole[greedy.parameter] = tokensFrom(greedy.tokens, 0, length);
    Session fresh;
    fresh.capacity = session.capacity;
    llvm::Expected<std::vector<double>> cached = nextLogits(step, session), uncached = nextLogits(whole, fresh);
    if (!cached || !uncached)
      return llvm::joinErrors(cached.takeError(), uncached.takeError());
    llvm::append_range(greedy.cached, *cached);
    llvm::append_range(greedy.uncached, *uncached);
    greedy.chosen.push_back(static_cast<double>(placeOfLargest(*cached)));
    if (options.forget)
      session.past = 0;
  }
  return llvm::Error::success();
}

/// The largest of a step's logits must be at the next token, and they must be those recorded and those without caches.
llvm::Error Verification::decodeGreedily(const llvm::json::Object &call) {
  llvm::Expected<Tensor> tokens = readUsed(call, "tokens");
  if (!tokens)
    return tokens.takeError();
  llvm::Expected<Tensor> logits = readUsed(call, "logits");
  if (!logits)
    return logits.takeError();
  Greedy greedy;
  greedy.tokens = *tokens;
  greedy.prompt = call.getInteger("prompt").value_or(0);
  while (greedy.parameter < function.getNumArguments() && nameOf(greedy.parameter) != *call.getString("greedy"))
    ++greedy.parameter;
  if (greedy.parameter == function.getNumArguments() || inputs.size() != 1 || greedy.prompt < 1)
    return complain("`" + function.getName() + "` cannot decode as verify.json says");
  if (llvm::Error error = runSteps(greedy))
    return error;
  std::string name = call.getString("logits")->str();
  report(name, greedy.cached, logits->numbers);
  report(name + " with and without caches,", greedy.cached, greedy.uncached);
  auto next = tokens->numbers.begin() + std::min<int64_t>(greedy.prompt, tokens->numbers.size());
  report(*call.getString("tokens"), greedy.chosen, {next, tokens->numbers.end()});
  return llvm::Error::success();
}

// ---- all calls

llvm::Error Verification::runCall(const llvm::json::Object &call) {
  std::optional<StringRef> name = call.getString("fn");
  function = name ? module.lookupSymbol<func::FuncOp>(*name) : func::FuncOp();
  if (!function)
    return complain("no function `" + (name ? *name : StringRef("?")) + "`");
  if (llvm::Error error = readPlaces(call))
    return error;
  if (llvm::Error error = readInputs(call))
    return error;
  beginSessions();
  if (call.get("greedy")) {
    if (llvm::Error error = decodeGreedily(call))
      return error;
  } else {
    if (llvm::Error error = runBatch(call))
      return error;
    if (llvm::Error error = compareResults(call))
      return error;
  }
  if (const llvm::json::Value *names = call.get("keep"))
    keepResults(*names);
  else
    sessions.clear();
  return llvm::Error::success();
}

llvm::Error Verification::finish() {
  for (const std::string &name : io.names())
    if (!used.contains(name))
      return complain("tensor `" + name + "` was neither consumed nor compared");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<bool> verifyModel(ModuleOp module, const std::string &folder, const VerifyOptions &options) {
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
  Verification verification(module, **io, weights, options);
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
