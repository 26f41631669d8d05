// The tensors of the file that each weight slot is made of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/WeightBinding.h"
#include "runtime/Error.h"

namespace attn {
namespace {

Array<int64_t> copyOf(const Array<int64_t> &shape) {
  Array<int64_t> out;
  for (int64_t size : shape)
    out.push(size);
  return out;
}

Array<int64_t> withoutOnes(const Array<int64_t> &shape) {
  Array<int64_t> out;
  for (int64_t size : shape)
    if (size != 1)
      out.push(size);
  return out;
}

// The shape of one part as the text has it: its rows, then the other dimensions of the whole.
Array<int64_t> partShape(const WeightSpec &weight, size_t part) {
  Array<int64_t> shape = copyOf(weight.shape);
  if (!shape.empty())
    shape[0] = weight.rows[part];
  return shape;
}

Array<int64_t> lastFirst(const Array<int64_t> &shape) {
  Array<int64_t> out;
  for (size_t i = 0; i < shape.size(); ++i)
    out.push(shape[(i + shape.size() - 1) % shape.size()]);
  return out;
}

bool isReadable(View type) {
  return type == "F32" || type == "F16" || type == "BF16";
}

bool checkPart(const FileTensor &tensor, const WeightSpec &weight, size_t part) {
  Array<int64_t> shape = partShape(weight, part), expected = weight.inOut ? lastFirst(shape) : copyOf(shape);
  if (!fitsShape(tensor.shape, shape, weight.inOut))
    return fail("`%s`: tensor `%s` has shape %s, the model expects %s", tensor.file, tensor.name.c_str(),
                shapeText(tensor.shape).c_str(), shapeText(expected).c_str());
  return isReadable(tensor.type) || fail("`%s`: tensor `%s` has type %s, the model can read F32, F16 and BF16",
                                         tensor.file, tensor.name.c_str(), Text(tensor.type).c_str());
}

bool isIgnored(const Metadata &metadata, const FileTensor &tensor) {
  for (View glob : metadata.ignores)
    if (matchesGlob(glob, tensor.name.view()))
      return true;
  return false;
}

bool reportUnused(const Metadata &metadata, const Safetensors &file, const NameTable &used, bool strict, Notes &notes) {
  constexpr int shownAtMost = 5;
  Text list;
  int count = 0;
  for (size_t i = 0; i < file.size(); ++i) {
    if (used.find(file[i].name.view()) >= 0 || isIgnored(metadata, file[i]))
      continue;
    if (count++ < shownAtMost)
      list.format("%s`%s`", count > 1 ? ", " : "", file[i].name.c_str());
  }
  if (count == 0)
    return true;
  if (count > shownAtMost)
    list.format(" and %d more", count - shownAtMost);
  Text message;
  message.format("`%s`: the model does not use %s", file[0].file, list.c_str());
  if (strict)
    return fail("%s", message.c_str());
  notes.push(std::move(message));
  return true;
}

// The next turn, counting as an odometer does; false after the last.
bool advance(Array<int64_t> &turn, const Array<int64_t> &turns) {
  for (size_t i = turn.size(); i-- > 0; turn[i] = 0)
    if (++turn[i] < turns[i])
      return true;
  return false;
}

} // namespace

bool fitsShape(const Array<int64_t> &file, const Array<int64_t> &text, bool inOut) {
  Array<int64_t> left = withoutOnes(file), right = withoutOnes(inOut ? lastFirst(text) : copyOf(text));
  // The dimension that moved stands alone: joined with its new neighbour it would be another tensor.
  if (inOut && !text.empty() && text.back() != 1 && (left.empty() || left[0] != text.back()))
    return false;
  size_t next = 0;
  for (int64_t size : left) {
    int64_t product = 1;
    bool fits = true;
    do {
      fits = next < right.size() && !__builtin_mul_overflow(product, right[next], &product);
      ++next;
    } while (fits && product != 0 && product < size);
    if (!fits || product != size)
      return false;
  }
  return next == right.size();
}

bool WeightBinding::bind(const Metadata &metadata, const Safetensors &file, bool strict, Notes &notes) {
  WeightNames names(metadata, file);
  missing.resize(metadata.functions.size());
  for (size_t w = 0; w < metadata.weights.size(); ++w) {
    const Array<int64_t> &turns = metadata.weights[w].turns;
    Array<int64_t> turn;
    turn.resize(turns.size());
    for (int64_t left = metadata.weights[w].slots(); left > 0; --left, advance(turn, turns))
      if (!bindSlot(metadata, names, w, turn))
        return false;
  }
  NameTable used;
  for (BoundSlot &slot : slots) {
    for (int64_t function : metadata.weights[slot.weight].functions)
      slot.needed |= missing[static_cast<size_t>(function)].empty();
    for (const FileTensor *tensor : slot.parts)
      if (tensor)
        used.add(tensor->name.view(), 0);
  }
  return reportMissing(metadata, notes) && reportUnused(metadata, file, used, strict, notes);
}

bool WeightBinding::bindSlot(const Metadata &metadata, const WeightNames &names, size_t w,
                             const Array<int64_t> &turns) {
  const WeightSpec &weight = metadata.weights[w];
  BoundSlot slot;
  slot.weight = w;
  for (size_t p = 0; p < weight.parts.size(); ++p) {
    Text name = expandTurns(weight.parts[p], turns);
    const FileTensor *tensor;
    if (!names.resolve(name.view(), tensor) || (tensor && !checkPart(*tensor, weight, p)))
      return false;
    slot.parts.push(tensor);
    for (int64_t function : weight.functions) {
      Text &reason = missing[static_cast<size_t>(function)];
      if (!tensor && reason.empty())
        reason.format("the file has no tensor `%s`", name.c_str() + (name.view()[0] == '/'));
    }
  }
  slots.push(std::move(slot));
  return true;
}

// One note for all functions that are left out; an error if that is all of them.
bool WeightBinding::reportMissing(const Metadata &metadata, Notes &notes) const {
  Text list;
  size_t count = 0;
  for (size_t f = 0; f < missing.size(); ++f)
    if (!missing[f].empty())
      list.format("%s`%s` (%s)", count++ ? ", " : "", metadata.functions[f].signature.name, missing[f].c_str());
  if (count && count == missing.size())
    return fail("no function can be called: %s", list.c_str());
  if (count) {
    Text note;
    note.format("left out: %s", list.c_str());
    notes.push(std::move(note));
  }
  return true;
}

} // namespace attn
