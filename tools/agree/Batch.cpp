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

static constexpr double edges[] = {0.0,      -0.0,      1.0,   -1.0,  0.5,      -0.5,     1.5,      2.5,   -2.5,
                                   INFINITY, -INFINITY, NAN,   3.0,   -3.0,     10.0,     -10.0,    88.5,  89.5,
                                   -87.,     -90.,      127.5, 128.5, -126.5,   -151.0,   1e-8,     -1e-8, 1e-30,
                                   -1e-30,   1e-40,     1e30,  -1e30, 8388609., 0.999999, -1.000001};

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
    size_t place = i / width;
    auto row = static_cast<double>(place);
    if (word == "ramp")
      tensor.numbers[i] = static_cast<float>(amount * row);
    else if (word == "same")
      tensor.numbers[i] = static_cast<float>(amount);
    else if (word == "edges")
      tensor.numbers[i] = static_cast<float>(edges[i % std::size(edges)]);
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
    begin = memory.data() + fence;
    begin += -reinterpret_cast<uintptr_t>(begin) % 64;
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

/// What the generated function makes of parts of one type; nothing if it wrote elsewhere.
static Bytes packParts(attn_pack *pack, const std::vector<Bytes> &parts, int32_t type, int64_t packedBytes) {
  std::vector<const void *> pointers;
  pointers.reserve(parts.size());
  for (const Bytes &part : parts)
    pointers.push_back(part.data());
  Fenced packed(packedBytes);
  pack(packed.data(), pointers.data(), type);
  return packed.isIntact() ? packed.contents() : Bytes();
}

/// Calls `visit` for each weight slot in order.
static void forEachSlot(ModuleOp planned, const CompiledModule &compiled,
                        llvm::function_ref<void(WeightOp, ArrayRef<int64_t>, attn_pack *, int64_t)> visit) {
  for (auto [i, entry] : llvm::enumerate(*compiled.metadata().getArray("weights"))) {
    const llvm::json::Object &weight = *entry.getAsObject();
    auto op = planned.lookupSymbol<WeightOp>(*weight.getString("symbol"));
    Sizes counts(op.getTurns()), index(counts.size(), 0);
    for (int64_t turn = 0; turn < countElements(counts); ++turn) {
      int64_t rest = turn;
      for (size_t d = counts.size(); d-- > 0; rest /= counts[d])
        index[d] = rest % counts[d];
      visit(op, index, compiled.program().packs[i], *weight.getInteger("packed_bytes"));
    }
  }
}

std::vector<Bytes> packWeights(ModuleOp planned, const CompiledModule &compiled, uint64_t seed) {
  std::vector<Bytes> slots;
  forEachSlot(planned, compiled, [&](WeightOp op, ArrayRef<int64_t> turns, attn_pack *pack, int64_t bytes) {
    std::vector<Bytes> parts;
    for (size_t p = 0; p < op.getParts().size(); ++p)
      parts.push_back(layOut(drawPart(op, p, turns, seed), pack && op.getStored() == "in_out"));
    Bytes whole;
    for (const Bytes &part : parts)
      whole.insert(whole.end(), part.begin(), part.end());
    slots.push_back(pack ? packParts(pack, parts, ATTN_F32, bytes) : whole);
  });
  return slots;
}

/// The numbers of a part cut to 16 bits, and the same as float32. `half`: float16, of numbers that both can hold.
static std::pair<Bytes, Bytes> cutTo16(const Bytes &part, bool half) {
  Bytes cut, same;
  for (size_t at = 0; at < part.size(); at += 4) {
    uint32_t bits;
    std::memcpy(&bits, part.data() + at, 4);
    bits &= 0xffff0000; // 7 bits of fraction, which bfloat16 holds, and float16 too
    uint32_t exponent = (bits >> 23) & 255;
    if (half && (exponent < 113 || exponent > 142))
      bits = exponent = 0; // neither normal in float16 nor wanted here
    uint16_t small =
        half ? (bits >> 16 & 0x8000) | (exponent ? (exponent - 112) << 10 | (bits >> 13 & 0x3ff) : 0) : bits >> 16;
    same.insert(same.end(), reinterpret_cast<char *>(&bits), reinterpret_cast<char *>(&bits) + 4);
    cut.insert(cut.end(), reinterpret_cast<char *>(&small), reinterpret_cast<char *>(&small) + 2);
  }
  return {cut, same};
}

bool packsEveryType(ModuleOp planned, const CompiledModule &compiled, uint64_t seed) {
  bool right = true;
  forEachSlot(planned, compiled, [&](WeightOp op, ArrayRef<int64_t> turns, attn_pack *pack, int64_t bytes) {
    for (bool half : {false, true}) {
      std::vector<Bytes> small, same;
      for (size_t p = 0; pack && p < op.getParts().size(); ++p) {
        auto [cut, full] = cutTo16(layOut(drawPart(op, p, turns, seed), op.getStored() == "in_out"), half);
        small.push_back(cut);
        same.push_back(full);
      }
      if (pack) {
        Bytes packed = packParts(pack, small, half ? ATTN_F16 : ATTN_BF16, bytes);
        right &= !packed.empty() && packed == packParts(pack, same, ATTN_F32, bytes);
      }
    }
  });
  return right;
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
  result.reserve(all.size());
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
