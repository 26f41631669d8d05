// Reads the JSON of attn_program.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler wrote it, so what is wrong here is a bug or a mismatch of versions; it is refused with a message all the
// same.
#include "runtime/Metadata.h"
#include "runtime/Error.h"

namespace attn {
namespace {

constexpr int64_t mostSlots = 1 << 24; // so that products of turns cannot overflow

// The product of turns; more than mostSlots if that is not a number of slots.
int64_t productOf(const Array<int64_t> &turns) {
  int64_t slots = 1;
  for (int64_t turn : turns)
    slots = turn < 0 || turn > mostSlots || slots * turn > mostSlots ? mostSlots + 1 : slots * turn;
  return slots;
}

bool checkFunctions(const JsonDocument &document, const Array<int64_t> &numbers, size_t functions) {
  for (int64_t number : numbers)
    if (number < 0 || number >= static_cast<int64_t>(functions))
      return document.wrong("functions", "numbers of functions");
  return true;
}

bool readRenames(const JsonDocument &document, Array<std::pair<View, View>> &out) {
  Json list;
  if (!document.readArray(document.root(), "renames", list, true))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    Json pair = json_array_get(list, i), from = json_array_get(pair, 0), to = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_string(from) || !json_is_string(to) || textOf(from).empty())
      return document.wrong("renames", "a list of pairs of texts");
    out.push({textOf(from), textOf(to)});
  }
  return true;
}

bool optionalTexts(const JsonDocument &document, Json object, const char *key, Array<View> &out) {
  return !find(object, key) || document.readTexts(object, key, out);
}

bool optionalIntegers(const JsonDocument &document, Json object, const char *key, Array<int64_t> &out) {
  return !find(object, key) || document.readIntegers(object, key, out);
}

// rows sum to dimension 0, one a part; a single part need not say them.
bool checkRows(const JsonDocument &document, WeightSpec &weight) {
  if (weight.rows.empty() && weight.parts.size() == 1)
    weight.rows.push(weight.shape.empty() ? 1 : weight.shape[0]);
  int64_t sum = 0;
  for (int64_t rows : weight.rows)
    sum += rows < 0 || rows > INT32_MAX ? int64_t(INT32_MAX) * 2 : rows;
  bool right = weight.rows.size() == weight.parts.size() && sum == (weight.shape.empty() ? 1 : weight.shape[0]);
  return right || document.wrong("rows", "one number a part, together dimension 0 of the shape");
}

bool readWeight(const JsonDocument &document, Json entry, size_t functions, WeightSpec &weight) {
  View stored;
  bool read = document.readText(entry, "symbol", weight.symbol) && document.readTexts(entry, "parts", weight.parts) &&
              optionalIntegers(document, entry, "rows", weight.rows) &&
              optionalIntegers(document, entry, "turns", weight.turns) &&
              document.readIntegers(entry, "shape", weight.shape) &&
              document.readText(entry, "stored", stored, "out_in") &&
              document.readInteger(entry, "packed_bytes", weight.packedBytes, 0) &&
              document.readIntegers(entry, "functions", weight.functions);
  if (!read)
    return false;
  weight.inOut = stored == "in_out";
  if (!weight.inOut && stored != "out_in")
    return document.wrong("stored", "`out_in` or `in_out`");
  int64_t elements = 1;
  for (int64_t size : weight.shape)
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements))
      return document.wrong("shape", "a shape");
  if (!checkFunctions(document, weight.functions, functions))
    return false;
  return (productOf(weight.turns) <= mostSlots || document.wrong("turns", "numbers of turns")) &&
         checkRows(document, weight);
}

bool readPlace(const JsonDocument &document, Json entry, size_t functions, StateSpec &place) {
  View kind, type;
  Array<int64_t> row;
  bool read = document.readText(entry, "symbol", place.symbol) && document.readText(entry, "kind", kind) &&
              optionalIntegers(document, entry, "turns", place.turns) && document.readIntegers(entry, "row", row) &&
              document.readText(entry, "type", type) && document.readIntegers(entry, "functions", place.functions);
  if (!read)
    return false;
  place.once = kind == "once";
  if (!place.once && kind != "cache")
    return document.wrong("kind", "`cache` or `once`");
  if (type != "f32" && type != "i32" && type != "bf16")
    return document.wrong("type", "`f32`, `i32` or `bf16`");
  place.rowBytes = type == "bf16" ? 2 : 4;
  for (int64_t size : row)
    if (size < 0 || __builtin_mul_overflow(place.rowBytes, size, &place.rowBytes))
      return document.wrong("row", "a shape");
  return (productOf(place.turns) <= mostSlots || document.wrong("turns", "numbers of turns")) &&
         checkFunctions(document, place.functions, functions);
}

// The number of the sequence dimension that stands under "cached" or "sequence"; it has no other part yet.
bool readSequence(const JsonDocument &document, Json object, const char *key, FunctionSpec &function, int32_t kind,
                  size_t &number) {
  View name;
  if (!document.readText(object, key, name))
    return false;
  for (number = 0; number < function.sequences.size(); ++number)
    if (function.sequences[number] == name && function.kinds[number] == ATTN_PLAIN) {
      function.kinds[number] = kind;
      return true;
    }
  return document.wrong(key, "a sequence dimension of the function, named once");
}

// Reads "cached" and "kept".
bool readKeeping(const JsonDocument &document, Json entry, const Array<StateSpec> &state, FunctionSpec &function) {
  function.kinds.resize(function.sequences.size());
  if (find(entry, "cached")) {
    size_t number;
    if (!readSequence(document, entry, "cached", function, ATTN_CACHED, number))
      return false;
    function.cached = static_cast<int32_t>(number);
  }
  Json list;
  if (!document.readArray(entry, "kept", list, true))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    KeptSpec kept;
    Json item = json_array_get(list, i);
    if (!readSequence(document, item, "sequence", function, ATTN_KEPT, kept.sequence) ||
        !document.readIntegers(item, "state", kept.state))
      return false;
    if (kept.state.empty())
      return document.wrong("state", "numbers of places of the kind `once`");
    for (int64_t place : kept.state)
      if (place < 0 || place >= static_cast<int64_t>(state.size()) || !state[static_cast<size_t>(place)].once)
        return document.wrong("state", "numbers of places of the kind `once`");
    function.kept.push(std::move(kept));
  }
  return true;
}

// Reads "dims" (and "dim_names") of a parameter or a result.
bool readDims(const JsonDocument &document, Json entry, FunctionSpec &function, attn_value &value) {
  Json list, names;
  if (!document.readArray(entry, "dims", list) || !document.readArray(entry, "dim_names", names, true))
    return false;
  Array<attn_dim> dims;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    Json item = json_array_get(list, i), name = json_array_get(names, i);
    attn_dim dim = {json_is_string(name) ? json_string_value(name) : "", 0};
    if (json_is_integer(item) && json_integer_value(item) >= 0)
      dim.size = json_integer_value(item);
    for (size_t s = 0; s < function.sequences.size(); ++s)
      if (json_is_string(item) && textOf(item) == function.sequences[s])
        dim = {function.sequences[s], -1 - static_cast<int64_t>(s)};
    if (json_is_string(item) ? dim.size == 0 : !json_is_integer(item) || json_integer_value(item) < 0)
      return document.wrong("dims", "a list of sizes and names of sequence dimensions");
    dims.push(dim);
  }
  value.rank = static_cast<int32_t>(dims.size());
  value.dims = dims.data();
  function.dims.push(std::move(dims));
  return true;
}

bool readValue(const JsonDocument &document, Json entry, FunctionSpec &function, Array<attn_value> &out) {
  attn_value value = {};
  View name, type;
  if (!document.readText(entry, "name", name, "") || !document.readText(entry, "type", type) ||
      !document.readInteger(entry, "limit", value.limit, 0) || !readDims(document, entry, function, value))
    return false;
  value.name = name.data();
  value.type = type == "i32" ? ATTN_INT32 : ATTN_FLOAT32;
  if (type != "i32" && type != "f32")
    return document.wrong("type", "`f32` or `i32`");
  Json otherwise = find(entry, "default");
  value.has_default = otherwise != nullptr;
  value.default_number = json_number_value(otherwise);
  if (otherwise && !json_is_number(otherwise))
    return document.wrong("default", "a number");
  out.push(value);
  return true;
}

bool readValues(const JsonDocument &document, Json entry, const char *key, FunctionSpec &function,
                Array<attn_value> &out) {
  Json list;
  if (!document.readArray(entry, key, list))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i)
    if (!readValue(document, json_array_get(list, i), function, out))
      return false;
  return true;
}

bool readFunction(const JsonDocument &document, Json entry, const Array<StateSpec> &state, FunctionSpec &function) {
  View name;
  Array<View> sequences, taps;
  if (!document.readText(entry, "name", name) || !document.readTexts(entry, "sequences", sequences) ||
      !optionalIntegers(document, entry, "longest", function.longest) || !optionalTexts(document, entry, "taps", taps))
    return false;
  for (View sequence : sequences)
    function.sequences.push(sequence.data());
  if (function.longest.size() > sequences.size())
    return document.wrong("longest", "at most one number a sequence dimension");
  function.longest.resize(sequences.size());
  function.taps = taps.size();
  if (!readKeeping(document, entry, state, function) ||
      !readValues(document, entry, "params", function, function.params) ||
      !readValues(document, entry, "results", function, function.results))
    return false;
  attn_function &signature = function.signature;
  signature.name = name.data();
  signature.sequences = static_cast<int32_t>(function.sequences.size());
  signature.params = static_cast<int32_t>(function.params.size());
  signature.results = static_cast<int32_t>(function.results.size());
  signature.sequence_names = function.sequences.data();
  signature.sequence_kinds = function.kinds.data();
  signature.sequence_limits = function.longest.data();
  signature.param = function.params.data();
  signature.result = function.results.data();
  return true;
}

} // namespace

int64_t WeightSpec::slots() const {
  return productOf(turns);
}

int64_t StateSpec::slots() const {
  return productOf(turns);
}

int64_t Metadata::slots() const {
  int64_t sum = 0;
  for (const WeightSpec &weight : weights)
    sum += weight.slots();
  return sum;
}

bool Metadata::readState() {
  Json list;
  if (!document.readArray(document.root(), "state", list, true))
    return false;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    StateSpec place;
    place.firstSlot = stateSlots();
    if (!readPlace(document, json_array_get(list, i), functions.size(), place))
      return false;
    state.push(std::move(place));
  }
  return stateSlots() <= mostSlots || document.wrong("turns", "numbers of turns");
}

bool Metadata::read(const attn_program &program) {
  if (program.abi_version != ATTN_ABI_VERSION)
    return fail("the generated code is of version %u of the runtime's contract, this runtime is of version %d",
                program.abi_version, ATTN_ABI_VERSION);
  Json functionList, weightList;
  if (!document.parse(program.metadata, "metadata"))
    return false;
  Json root = document.root();
  if (!document.readText(root, "model", model, "") || !document.readText(root, "tokenizer", tokenizer, "") ||
      !optionalTexts(document, root, "features", features) || !optionalTexts(document, root, "prefixes", prefixes) ||
      !optionalTexts(document, root, "ignores", ignores) || !optionalTexts(document, root, "counts", counts) ||
      !readRenames(document, renames) || !document.readObject(root, "config", config, true) ||
      !document.readArray(root, "functions", functionList) || !document.readArray(root, "weights", weightList))
    return false;
  if (prefixes.empty())
    prefixes.push("");
  functions.resize(json_array_size(functionList));
  if (!readState())
    return false;
  for (size_t i = 0; i < functions.size(); ++i)
    if (!readFunction(document, json_array_get(functionList, i), state, functions[i]))
      return false;
  if (functions.size() != program.functions)
    return document.wrong("functions", "as many as the program has");
  weights.resize(json_array_size(weightList));
  for (size_t i = 0; i < weights.size(); ++i)
    if (!readWeight(document, json_array_get(weightList, i), functions.size(), weights[i]))
      return false;
  return slots() <= mostSlots || document.wrong("turns", "numbers of turns");
}

} // namespace attn
