// What generated code says of itself: the JSON of attn_program, read (docs/metadata.md).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_METADATA_H
#define ATTN_RUNTIME_METADATA_H
#include "runtime/Json.h"
#include "runtime/abi.h"
#include "runtime/attn.h"

namespace attn {

// A weight symbol. With turns [6] it stands for six weights in six consecutive slots of attn_call.weights.
struct WeightSpec {
  View symbol;
  Array<View> parts;        // names in the file, joined along dimension 0; {0} … are the numbers of the turns
  Array<int64_t> rows;      // the size of dimension 0 of each part
  Array<int64_t> turns;     // how many turns each enclosing repeat has
  Array<int64_t> shape;     // of the whole
  Array<int64_t> functions; // who uses it
  bool inOut = false;       // the file has the last dimension first
  int64_t packedBytes = 0;  // what attn_pack fills; 0: the weight stays plain float32

  int64_t slots() const;
};

// Places of a session under one symbol. With turns [12] they are twelve consecutive slots of attn_call.state.
struct StateSpec {
  View symbol;
  bool once = false; // filled by one call; else a cache, to which every call adds rows
  Array<int64_t> turns;
  Array<int64_t> functions; // who uses it
  int64_t firstSlot = 0;
  int64_t rowBytes = 0;

  int64_t slots() const;
};

// The places of kind once that a function fills along one of its sequences, by their number in Metadata::state.
struct KeptSpec {
  size_t sequence = 0;
  Array<int64_t> state;
};

// A function's signature, and what owns the arrays that it points to.
struct FunctionSpec {
  attn_function signature = {};
  Array<const char *> sequences;
  Array<int32_t> kinds;   // ATTN_PLAIN, ATTN_CACHED, ATTN_KEPT
  Array<int64_t> longest; // the most rows of each sequence dimension; 0: any
  int32_t cached = -1;    // the sequence along which it caches; -1: it caches nothing
  Array<KeptSpec> kept;   // in the order of attn_call.kept
  Array<attn_value> params, results;
  Array<Array<attn_dim>> dims;
  size_t taps = 0;
};

struct Metadata {
  JsonDocument document; // owns all texts
  View model, tokenizer;
  Array<View> features, prefixes, ignores;
  Array<View> counts;                   // names of the attentions that count
  Array<std::pair<View, View>> renames; // part of a name in the file, what the text calls it
  Json config = nullptr;                // null: none was read
  Array<WeightSpec> weights;
  Array<StateSpec> state;
  Array<FunctionSpec> functions;

  // Fails on a program of another ABI version and on metadata that contradicts itself or the program.
  bool read(const attn_program &program);
  int64_t slots() const;
  int64_t stateSlots() const { return state.empty() ? 0 : state.back().firstSlot + state.back().slots(); }

private:
  bool readState();
};

} // namespace attn
#endif
