// One call of compiled code with a ragged batch, each sequence in its session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/Call.h"
#include <cstring>

using namespace mlir;

namespace attn::agree {

template <class To, class From> static std::vector<To> addresses(From &all) {
  std::vector<To> result;
  result.reserve(all.size());
  for (auto &each : all)
    result.push_back(each.data());
  return result;
}

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

static std::vector<Bytes> packInputs(func::FuncOp function, ArrayRef<const Sequence *> sequences) {
  std::vector<Bytes> inputs(function.getNumArguments());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].reserve(4); // never null
    for (const Sequence *sequence : sequences)
      append(inputs[i], sequence->inputs[i],
             cast<RankedTensorType>(function.getArgumentTypes()[i]).getElementType().isInteger());
  }
  return inputs;
}

/// How many bytes one result of one sequence has.
static size_t resultBytes(func::FuncOp function, unsigned r, const Sequence &sequence) {
  Sizes sizes = sizesIn(sequence, function.getResultTypes()[r], function.getResultAttrOfType<DimsAttr>(r, "attn.dims"));
  return 4 * interpreter::countElements(sizes);
}

namespace {

/// The sessions' part of a call: numbers and rows.
class State {
public:
  State(const CompiledModule &compiledOf, const FunctionState &functionOf, ArrayRef<const Sequence *> sequencesOf,
        ArrayRef<SessionMemory *> sessionsOf)
      : compiled(compiledOf), function(functionOf), sequences(sequencesOf), sessions(sessionsOf) {
    readNumbers();
    layOutRows();
  }
  void enter(attn_call &call);
  /// What the call did to rows that it must not touch; the sessions take their new rows.
  std::string finish();

private:
  void readNumbers();
  void layOutRows();
  int64_t given(size_t b, StringRef sequence) const { return sequences[b]->lengths.at(sequence.str()); }
  int64_t rowsOf(size_t b, size_t slot) const {
    return static_cast<int64_t>(sessions[b]->slots[slot].size()) / compiled.slots()[slot].rowBytes;
  }
  /// The rows that a slot has after the call.
  int64_t rowsAfter(size_t b, size_t slot) const;
  /// Whether this call fills the slot, a `once`.
  bool fills(size_t b, size_t slot) const;

  const CompiledModule &compiled;
  const FunctionState &function;
  ArrayRef<const Sequence *> sequences;
  ArrayRef<SessionMemory *> sessions;
  std::vector<int64_t> past, capacity;
  std::vector<std::vector<int64_t>> kept; // of each kept sequence: one a session
  std::vector<std::vector<Fenced>> rooms; // of each slot: one a session
  std::vector<std::vector<char *>> rows;  // where they begin
  std::vector<const int64_t *> keptTable; // what the call points at
  std::vector<char *const *> rowsTable;
};

} // namespace

bool State::fills(size_t b, size_t slot) const {
  for (const KeptSequence &along : function.kept)
    if (llvm::is_contained(along.slots, slot))
      return given(b, along.name) > 0;
  return false;
}

int64_t State::rowsAfter(size_t b, size_t slot) const {
  if (compiled.slots()[slot].cache && !function.cached.empty())
    return sessions[b]->past + given(b, function.cached);
  for (const KeptSequence &along : function.kept)
    if (fills(b, slot) && llvm::is_contained(along.slots, slot))
      return given(b, along.name);
  return rowsOf(b, slot);
}

void State::readNumbers() {
  for (SessionMemory *session : sessions) {
    past.push_back(function.cached.empty() ? 0 : session->past);
    capacity.push_back(session->capacity);
  }
  for (const KeptSequence &along : function.kept) {
    std::vector<int64_t> &own = kept.emplace_back();
    for (size_t b = 0; b < sessions.size(); ++b)
      own.push_back(rowsAfter(b, along.slots.front()));
  }
}

/// Room for the rows after the call, in some sessions for more; behind the rows held all is NaN.
void State::layOutRows() {
  for (size_t slot = 0; slot < compiled.slots().size(); ++slot) {
    std::vector<Fenced> &own = rooms.emplace_back();
    for (size_t b = 0; b < sessions.size(); ++b) {
      const Bytes &held = sessions[b]->slots[slot];
      int64_t spare = (static_cast<int64_t>(b) + sessions[b]->past) % 2 ? 67 : 0;
      Fenced &room = own.emplace_back((rowsAfter(b, slot) + spare) * compiled.slots()[slot].rowBytes);
      if (!fills(b, slot))
        std::copy(held.begin(), held.end(), room.data());
    }
    rows.push_back(addresses<char *>(own));
  }
  keptTable = addresses<const int64_t *>(kept);
  rowsTable = addresses<char *const *>(rows);
}

void State::enter(attn_call &call) {
  call.past = past.data();
  call.capacity = capacity.data();
  call.kept = keptTable.data();
  call.state = rowsTable.data();
}

std::string State::finish() {
  std::string complaint;
  for (size_t b = 0; b < sessions.size(); ++b) {
    for (size_t slot = 0; slot < rooms.size(); ++slot) {
      Bytes &held = sessions[b]->slots[slot];
      ArrayRef<char> room = rooms[slot][b].view();
      if (!rooms[slot][b].isIntact())
        complaint = "wrote outside of the rows of a session";
      if (!fills(b, slot) && room.take_front(held.size()) != ArrayRef(held))
        complaint = "changed rows that a session held";
      size_t end = rowsAfter(b, slot) * compiled.slots()[slot].rowBytes;
      if (llvm::any_of(room.drop_front(end), [](char byte) { return byte != static_cast<char>(0xff); }))
        complaint = "wrote behind the rows of a session";
      held.assign(room.begin(), room.begin() + end);
    }
    if (!function.cached.empty())
      sessions[b]->past += given(b, function.cached);
  }
  return complaint;
}

ATTN_CALLS_GENERATED CallResult callCompiled(const CompiledModule &compiled, size_t index, func::FuncOp function,
                                             ArrayRef<const Sequence *> sequences, ArrayRef<SessionMemory *> sessions,
                                             const std::vector<Bytes> &weights, Threads threads) {
  auto offsets = offsetsOf(function, sequences);
  std::vector<Bytes> inputs = packInputs(function, sequences), untouched = inputs;
  std::vector<Fenced> outputs;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    size_t bytes = 0;
    for (const Sequence *sequence : sequences)
      bytes += resultBytes(function, r, *sequence);
    outputs.emplace_back(bytes);
  }
  State state(compiled, compiled.stateOf(index), sequences, sessions);
  auto offsetTable = addresses<const int64_t *>(offsets);
  auto inputTable = addresses<const void *>(inputs);
  auto outputTable = addresses<void *>(outputs);
  auto weightTable = addresses<const void *>(weights);
  attn_call call{};
  call.sequences = static_cast<int64_t>(sequences.size());
  call.offsets = offsetTable.data();
  call.inputs = inputTable.data();
  call.outputs = outputTable.data();
  call.weights = weightTable.data();
  call.pool = &threads;
  state.enter(call);

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
  for (Fenced &output : outputs)
    if (!output.isIntact())
      result.complaint = "wrote outside of its outputs";
  if (std::string complaint = state.finish(); !complaint.empty())
    result.complaint = complaint;

  std::vector<size_t> begin(outputs.size(), 0);
  for (const Sequence *sequence : sequences) {
    std::vector<Bytes> &own = result.outputs.emplace_back();
    for (unsigned r = 0; r < outputs.size(); ++r) {
      size_t bytes = resultBytes(function, r, *sequence);
      own.emplace_back(outputs[r].data() + begin[r], outputs[r].data() + begin[r] + bytes);
      begin[r] += bytes;
    }
  }
  return result;
}

} // namespace attn::agree
