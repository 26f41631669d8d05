// A sequence in one call or in several.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/Course.h"
#include "dialect/AttnOps.h"
#include "dialect/Exports.h"

using namespace mlir;
using namespace attn::interpreter;

namespace attn::agree {

std::string chunkedAlong(func::FuncOp function) {
  for (StringRef name : {"attn.cached", "test.chunks"})
    if (auto along = function->getAttrOfType<StringAttr>(name))
      return along.str();
  return "";
}

/// The places of the dimensions that are as long as a sequence.
static SmallVector<size_t> placesAlong(Type type, DimsAttr dims, StringRef sequence) {
  SmallVector<size_t> places;
  for (size_t d = 0; d < dims.size(); ++d)
    if (cast<RankedTensorType>(type).isDynamicDim(d) && dims.sequence(d) == sequence)
      places.push_back(d);
  return places;
}

std::optional<size_t> growsAlong(func::FuncOp function, unsigned result) {
  SmallVector<size_t> places =
      placesAlong(function.getResultTypes()[result], function.getResultAttrOfType<DimsAttr>(result, "attn.dims"),
                  chunkedAlong(function));
  if (places.size() != 1 || function.getResultAttr(result, "test.varies"))
    return std::nullopt;
  return places[0];
}

// ---- parting

/// Places begin … end - 1 of one dimension.
static Tensor cut(const Tensor &tensor, size_t along, int64_t begin, int64_t end) {
  Sizes sizes = tensor.sizes, strides = computeStrides(tensor.sizes);
  sizes[along] = end - begin;
  Tensor part(sizes);
  size_t next = 0;
  walk(sizes, {strides},
       [&](ArrayRef<int64_t> offsets) { part.numbers[next++] = tensor.numbers[begin * strides[along] + offsets[0]]; });
  return part;
}

/// Rows begin … end - 1 along one sequence of everything.
static void cutAlong(func::FuncOp function, Sequence &sequence, const std::string &along, int64_t begin, int64_t end) {
  auto length = sequence.lengths.find(along);
  if (length == sequence.lengths.end())
    return;
  length->second = end - begin;
  for (auto [i, input] : llvm::enumerate(sequence.inputs))
    for (size_t d :
         placesAlong(function.getArgumentTypes()[i], function.getArgAttrOfType<DimsAttr>(i, "attn.dims"), along))
      input = cut(input, d, begin, end);
}

std::vector<Sequence> part(func::FuncOp function, const Sequence &whole, const Course &course) {
  std::string along = chunkedAlong(function);
  auto found = whole.lengths.find(along);
  int64_t length = found == whole.lengths.end() ? 0 : found->second;
  SmallVector<StringRef> kept = keptSequences(function);
  std::vector<Sequence> calls;
  for (int64_t begin = 0; calls.empty() || begin < length;) {
    int64_t rows = course.chunks[std::min(calls.size(), course.chunks.size() - 1)];
    int64_t end = rows ? std::min(begin + rows, length) : length;
    Sequence call = whole;
    cutAlong(function, call, along, begin, end);
    for (StringRef name : kept)
      if (!calls.empty())
        cutAlong(function, call, name.str(), 0, 0);
    calls.push_back(std::move(call));
    begin = end;
  }
  return calls;
}

/// `test.carry`: the number of the result of the call before that a parameter gets; -1 without.
static int64_t carriedInto(func::FuncOp function, unsigned parameter) {
  auto carry = function.getArgAttrOfType<IntegerAttr>(parameter, "test.carry");
  return carry ? carry.getInt() : -1;
}

// ---- joining

/// Puts pieces end to end along one dimension; an element is `unit` numbers.
template <class Piece>
static Piece join(ArrayRef<Piece> pieces, ArrayRef<Sizes> sizes, std::optional<size_t> along, size_t unit) {
  if (!along)
    return pieces.back();
  Piece whole;
  int64_t outer = countElements(ArrayRef(sizes[0]).take_front(*along));
  for (int64_t o = 0; o < outer; ++o)
    for (auto [piece, size] : llvm::zip(pieces, sizes)) {
      auto inner = static_cast<int64_t>(unit) * countElements(ArrayRef(size).drop_front(*along));
      whole.insert(whole.end(), piece.begin() + o * inner, piece.begin() + (o + 1) * inner);
    }
  return whole;
}

/// `given[c][r]`: result r of call c.
template <class Piece>
static std::vector<Piece> joinResults(func::FuncOp function, ArrayRef<Sequence> calls,
                                      ArrayRef<std::vector<Piece>> given, size_t unit) {
  std::vector<Piece> joined;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    std::vector<Piece> pieces;
    std::vector<Sizes> sizes;
    for (auto [call, results] : llvm::zip(calls, given)) {
      pieces.push_back(results[r]);
      sizes.push_back(
          sizesIn(call, function.getResultTypes()[r], function.getResultAttrOfType<DimsAttr>(r, "attn.dims")));
    }
    joined.push_back(join<Piece>(pieces, sizes, growsAlong(function, r), unit));
  }
  return joined;
}

// ---- running

FailureOr<Numbers> interpretCourse(Interpreter &interpreter, func::FuncOp function, const Sequence &whole,
                                   const Course &course, Session session) {
  std::vector<Sequence> calls = part(function, whole, course);
  std::vector<Numbers> given;
  std::vector<Tensor> before;
  for (Sequence &call : calls) {
    for (unsigned i = 0; i < call.inputs.size() && !before.empty(); ++i)
      if (int64_t result = carriedInto(function, i); result >= 0)
        call.inputs[i] = before[result];
    auto results = interpreter.run(function.getName(), call.inputs, call.lengths, &session);
    if (failed(results))
      return failure();
    Numbers &numbers = given.emplace_back();
    for (const Tensor &tensor : *results)
      numbers.push_back(tensor.numbers);
    before = std::move(*results);
  }
  return joinResults<std::vector<double>>(function, calls, given, 1);
}

namespace {

/// A run under way.
struct Progress {
  Run &run;
  std::vector<Sequence> calls;
  size_t begins; // with which step
  std::vector<Bits> given;

  bool isIn(size_t step) const { return step >= begins && step < begins + calls.size(); }
};

} // namespace

/// Puts the results of the call before where the next one wants them.
static void carry(func::FuncOp function, Progress &progress) {
  if (progress.given.empty())
    return;
  Sequence &call = progress.calls[progress.given.size()];
  for (unsigned i = 0; i < call.inputs.size(); ++i)
    if (int64_t result = carriedInto(function, i); result >= 0)
      call.inputs[i].numbers =
          readNumbers(progress.given.back()[result],
                      cast<RankedTensorType>(function.getResultTypes()[result]).getElementType().isInteger());
}

/// One call with all runs that are in this step.
static std::string callStep(const Compiled &compiled, std::vector<Progress> &all, size_t step, Threads threads) {
  std::vector<Progress *> active;
  std::vector<const Sequence *> sequences;
  std::vector<SessionMemory *> sessions;
  for (Progress &progress : all)
    if (progress.isIn(step)) {
      carry(compiled.function, progress);
      active.push_back(&progress);
      sequences.push_back(&progress.calls[step - progress.begins]);
      sessions.push_back(&progress.run.session);
    }
  CallResult result =
      callCompiled(compiled.module, compiled.index, compiled.function, sequences, sessions, compiled.weights, threads);
  for (auto [progress, outputs] : llvm::zip(active, result.outputs))
    progress->given.push_back(std::move(outputs));
  return result.complaint;
}

std::string callCourse(const Compiled &compiled, MutableArrayRef<Run> runs, const Course &course, Threads threads) {
  std::vector<Progress> all;
  size_t steps = 1; // a call of no sequence is one too
  for (auto [b, run] : llvm::enumerate(runs)) {
    all.push_back({run, part(compiled.function, *run.whole, course), course.staggered ? b % 3 : 0, {}});
    steps = std::max(steps, all.back().begins + all.back().calls.size());
  }
  std::string complaint;
  for (size_t step = 0; step < steps; ++step)
    if (std::string wrong = callStep(compiled, all, step, threads); !wrong.empty())
      complaint = wrong;
  for (Progress &progress : all)
    progress.run.results = joinResults<Bytes>(compiled.function, progress.calls, progress.given, 4);
  return complaint;
}

} // namespace attn::agree
