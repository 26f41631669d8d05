// Ragged batches and calls of compiled code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/Batch.h"
#include "dialect/AttnOps.h"
#include "tools/interpret/Random.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace attn::interpreter;

namespace attn::agree {

Sizes sizesIn(const Sequence &sequence, Type type, DimsAttr dims) {
  auto tensor = cast<RankedTensorType>(type);
  Sizes sizes(tensor.getShape());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (tensor.isDynamicDim(i))
      sizes[i] = sequence.lengths.at(dims.sequence(i).str());
  return sizes;
}

// ---- inputs

/// Replaces the numbers of a tensor as `test.fill` asks.
static LogicalResult fill(func::FuncOp function, StringRef how, Tensor &tensor) {
  auto [word, rest] = how.split(' ');
  double amount = 0;
  if (word == "below")
    return success(); // heeded while drawing
  if (rest.getAsDouble(amount))
    return function.emitError() << "`test.fill = \"" << how << "\"` holds no number";
  int64_t rows = tensor.sizes.empty() ? 1 : tensor.sizes[0];
  size_t width = rows ? tensor.numbers.size() / rows : 0;
  for (size_t i = 0; i < tensor.numbers.size(); ++i) {
    double row = static_cast<double>(i / width);
    if (word == "ramp")
      tensor.numbers[i] = static_cast<float>(amount * row);
    else if (word == "same")
      tensor.numbers[i] = static_cast<float>(amount);
    else if (word == "poison" && row >= amount)
      tensor.numbers[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
    else if (word != "poison")
      return function.emitError() << "`test.fill = \"" << how << "\"` asks for nothing known";
  }
  return success();
}

FailureOr<Sequence> drawSequence(func::FuncOp function, const std::map<std::string, int64_t> &lengths, unsigned number,
                                 uint64_t seed) {
  Sequence sequence{lengths, {}};
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    auto how = function.getArgAttrOfType<StringAttr>(i, "test.fill");
    int64_t limit = 8;
    if (how && how.getValue().starts_with("below "))
      how.getValue().drop_front(6).getAsInteger(10, limit);
    std::string name = "input " + std::to_string(i) + " " + std::to_string(number);
    Tensor tensor = drawTensor(name, seed, sizesIn(sequence, type, function.getArgAttrOfType<DimsAttr>(i, "attn.dims")),
                               type.getElementType(), limit);
    if (how && failed(fill(function, how.getValue(), tensor)))
      return failure();
    sequence.inputs.push_back(std::move(tensor));
  }
  return sequence;
}

// ---- memory

/// float32 or int32.
static void append(Bytes &bytes, const Tensor &tensor, bool whole) {
  size_t begin = bytes.size();
  bytes.resize(begin + 4 * tensor.numbers.size());
  for (size_t i = 0; i < tensor.numbers.size(); ++i) {
    auto real = static_cast<float>(tensor.numbers[i]);
    auto integer = whole ? static_cast<int32_t>(tensor.numbers[i]) : 0;
    std::memcpy(bytes.data() + begin + 4 * i, whole ? static_cast<void *>(&integer) : &real, 4);
  }
}

/// Aligned memory full of NaN, between two fences.
class Fenced {
public:
  explicit Fenced(size_t bytes) : size(bytes), memory(2 * fence + bytes + 64, static_cast<char>(0xff)) {
    auto at = reinterpret_cast<uintptr_t>(memory.data()) + fence;
    begin = reinterpret_cast<char *>((at + 63) / 64 * 64);
    for (char *p = memory.data(); p != begin; ++p)
      *p = mark;
    for (char *p = begin + size; p != memory.data() + memory.size(); ++p)
      *p = mark;
  }
  char *data() { return begin; }
  Bytes contents() const { return Bytes(begin, begin + size); }
  bool isIntact() const {
    for (const char *p = memory.data(); p != memory.data() + memory.size(); ++p)
      if ((p < begin || p >= begin + size) && *p != mark)
        return false;
    return true;
  }

private:
  static constexpr size_t fence = 4096;
  static constexpr char mark = 0x5a;
  size_t size;
  Bytes memory;
  char *begin;
};

// ---- weights

/// `part` as a file lays it out: its last dimension first where it is stored so.
static Bytes layOut(const Tensor &part, bool inOut) {
  Tensor laid = part;
  int64_t width = part.sizes.back(), rows = width ? static_cast<int64_t>(part.numbers.size()) / width : 0;
  for (int64_t r = 0; inOut && r < rows; ++r)
    for (int64_t k = 0; k < width; ++k)
      laid.numbers[k * rows + r] = part.numbers[r * width + k];
  Bytes bytes;
  append(bytes, laid, false);
  return bytes;
}

/// The memory of one slot: packed by the generated function, or the weight as it is.
static Bytes packSlot(WeightOp op, ArrayRef<int64_t> turns, attn_pack *pack, int64_t packedBytes, uint64_t seed) {
  std::vector<Bytes> parts;
  std::vector<const void *> pointers;
  for (size_t p = 0; p < op.getParts().size(); ++p)
    parts.push_back(layOut(drawPart(op, p, turns, seed), pack && op.getStored() == "in_out"));
  for (const Bytes &part : parts)
    pointers.push_back(part.data());
  if (pack) {
    Fenced packed(packedBytes);
    pack(packed.data(), pointers.data(), ATTN_F32);
    return packed.isIntact() ? packed.contents() : Bytes();
  }
  Bytes whole;
  for (const Bytes &part : parts)
    whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

std::vector<Bytes> packWeights(ModuleOp planned, const CompiledModule &compiled, uint64_t seed) {
  std::vector<Bytes> slots;
  for (auto [i, entry] : llvm::enumerate(*compiled.metadata().getArray("weights"))) {
    const llvm::json::Object &weight = *entry.getAsObject();
    auto op = planned.lookupSymbol<WeightOp>(*weight.getString("symbol"));
    attn_pack *pack = compiled.program().packs[i];
    Sizes counts(op.getTurns()), index(counts.size(), 0);
    for (int64_t turn = 0; turn < countElements(counts); ++turn) {
      int64_t rest = turn;
      for (size_t d = counts.size(); d-- > 0; rest /= counts[d])
        index[d] = rest % counts[d];
      slots.push_back(packSlot(op, index, pack, *weight.getInteger("packed_bytes"), seed));
    }
  }
  return slots;
}

// ---- calls

/// offsets[s][b]: where sequence b begins along sequence dimension s.
static std::vector<std::vector<int64_t>> offsetsOf(func::FuncOp function, ArrayRef<const Sequence *> sequences) {
  std::vector<std::vector<int64_t>> all;
  for (StringRef name : function->getAttrOfType<ArrayAttr>("attn.sequences").getAsValueRange<StringAttr>()) {
    std::vector<int64_t> offsets = {0};
    for (const Sequence *sequence : sequences)
      offsets.push_back(offsets.back() + sequence->lengths.at(name.str()));
    all.push_back(std::move(offsets));
  }
  return all;
}

template <class To, class From> static std::vector<To> addresses(From &all) {
  std::vector<To> result;
  for (auto &each : all)
    result.push_back(each.data());
  return result;
}

CallResult callCompiled(const CompiledModule &compiled, size_t index, func::FuncOp function,
                        ArrayRef<const Sequence *> sequences, const std::vector<Bytes> &weights, Threads threads) {
  auto offsets = offsetsOf(function, sequences);
  std::vector<Bytes> inputs(function.getNumArguments());
  for (const Sequence *sequence : sequences)
    for (size_t i = 0; i < inputs.size(); ++i)
      append(inputs[i], sequence->inputs[i],
             cast<RankedTensorType>(function.getArgumentTypes()[i]).getElementType().isInteger());
  std::vector<Bytes> untouched = inputs;
  std::vector<Fenced> outputs;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    int64_t count = 0;
    for (const Sequence *sequence : sequences)
      count += countElements(
          sizesIn(*sequence, function.getResultTypes()[r], function.getResultAttrOfType<DimsAttr>(r, "attn.dims")));
    outputs.emplace_back(4 * count);
  }
  auto offsetTable = addresses<const int64_t *>(offsets);
  auto inputTable = addresses<const void *>(inputs);
  auto outputTable = addresses<void *>(outputs);
  auto weightTable = addresses<const void *>(weights);
  attn_call call{static_cast<int64_t>(sequences.size()),
                 offsetTable.data(),
                 inputTable.data(),
                 outputTable.data(),
                 weightTable.data(),
                 nullptr,
                 0,
                 &threads,
                 nullptr};
  CallResult result;
  attn_entry *entry = compiled.program().entries[index];
  if (entry(&call) != 0)
    result.complaint = "could not say how much scratch memory it needs";
  Fenced arena(call.arena_bytes);
  call.arena = arena.data();
  if (entry(&call) != 0)
    result.complaint = "failed";
  if (!arena.isIntact())
    result.complaint = "wrote outside of its scratch memory";
  if (inputs != untouched)
    result.complaint = "changed its inputs";
  for (Fenced &output : outputs) {
    if (!output.isIntact())
      result.complaint = "wrote outside of its outputs";
    result.outputs.push_back(output.contents());
  }
  return result;
}

} // namespace attn::agree
