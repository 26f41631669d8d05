// Tensors of a safetensors file, mapped and checked.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Safetensors.h"
#include "runtime/Error.h"
#include <algorithm>

namespace attn {
namespace {

constexpr uint64_t longestHeader = 100'000'000;

struct ElementType {
  View name;
  int bits;
};

constexpr ElementType elementTypes[] = {
    {"BOOL", 8}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
    {"U16", 16}, {"F16", 16}, {"BF16", 16}, {"I32", 32},    {"U32", 32},    {"F32", 32},    {"I64", 64},
    {"U64", 64}, {"F64", 64}, {"C64", 64},  {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},
};

int bitsOf(View type) {
  for (const ElementType &known : elementTypes)
    if (known.name == type)
      return known.bits;
  return 0;
}

Text folderOf(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? Text(View(path, static_cast<size_t>(slash - path))) : Text(".");
}

} // namespace

int64_t FileTensor::elements() const {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

Text shapeText(const Array<int64_t> &shape) {
  Text text("[");
  for (size_t i = 0; i < shape.size(); ++i)
    text.format(i ? ", %lld" : "%lld", static_cast<long long>(shape[i]));
  return std::move(text.append("]"));
}

const FileTensor *Safetensors::find(View name) const {
  int64_t i = names.find(name);
  return i < 0 ? nullptr : &tensors[static_cast<size_t>(i)];
}

bool Safetensors::openFile(const char *path) {
  Owned<Shard> shard(new Shard);
  shard->path.append(path);
  if (!shard->file.open(path))
    return false;
  shards.push(std::move(shard));
  return readHeader(*shards.back());
}

bool Safetensors::readHeader(const Shard &shard) {
  const char *path = shard.path.c_str();
  View bytes = shard.file.bytes();
  if (bytes.size() < 8)
    return fail("`%s`: not a safetensors file: %zu bytes cannot hold a header", path, bytes.size());
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i)
    length |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  if (length > longestHeader)
    return fail("`%s`: not a safetensors file: a header of %llu bytes is longer than the format allows", path,
                static_cast<unsigned long long>(length));
  if (length > bytes.size() - 8)
    return fail("`%s`: truncated: the header should have %llu bytes, the file has %zu after its length", path,
                static_cast<unsigned long long>(length), bytes.size() - 8);
  JsonDocument header;
  if (!header.parse(View(bytes.data() + 8, length), path))
    return false;
  View data(bytes.data() + 8 + length, bytes.size() - 8 - length);
  size_t first = tensors.size();
  const char *name;
  json_t *entry;
  json_object_foreach(const_cast<json_t *>(header.root()), name,
                      entry) if (!readEntry(header, name, entry, data)) return false;
  for (size_t i = first; i < tensors.size(); ++i) {
    tensors[i].file = path;
    if (!names.add(tensors[i].name.view(), static_cast<int64_t>(i)))
      return fail("`%s`: tensor `%s` is already in `%s`", path, tensors[i].name.c_str(),
                  find(tensors[i].name.view())->file);
  }
  return checkOverlaps(first, path);
}

bool Safetensors::readEntry(const JsonDocument &header, const char *name, Json entry, View data) {
  const char *path = header.source();
  if (View(name) == "__metadata__")
    return json_is_object(entry) || fail("`%s`: `__metadata__` should be an object", path);
  if (!json_is_object(entry))
    return fail("`%s`: the header's entry of tensor `%s` should be an object", path, name);
  FileTensor tensor;
  tensor.name.append(name);
  Array<int64_t> range;
  View type;
  if (!header.readText(entry, "dtype", type) || !header.readIntegers(entry, "shape", tensor.shape) ||
      !header.readIntegers(entry, "data_offsets", range))
    return fail("%s (tensor `%s`)", Text(lastError()).c_str(), name);
  for (const ElementType &known : elementTypes)
    if (known.name == type)
      tensor.type = known.name;
  int64_t bits = bitsOf(type);
  if (!bits)
    return fail("`%s`: tensor `%s` has the unknown type `%.*s`", path, name, static_cast<int>(type.size()),
                type.data());
  for (int64_t size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(bits, size, &bits))
      return fail("`%s`: tensor `%s` has the impossible shape %s", path, name, shapeText(tensor.shape).c_str());
  if (range.size() != 2 || range[0] < 0 || range[0] > range[1])
    return fail("`%s`: tensor `%s` has the impossible data offsets %s", path, name, shapeText(range).c_str());
  if (static_cast<uint64_t>(range[1]) > data.size())
    return fail("`%s`: truncated: tensor `%s` ends at byte %lld of the data, which has %zu", path, name,
                static_cast<long long>(range[1]), data.size());
  if (bits % 8 || bits / 8 != range[1] - range[0])
    return fail("`%s`: tensor `%s` of type %.*s and shape %s cannot have %lld bytes", path, name,
                static_cast<int>(type.size()), type.data(), shapeText(tensor.shape).c_str(),
                static_cast<long long>(range[1] - range[0]));
  tensor.bytes = View(data.data() + range[0], static_cast<size_t>(range[1] - range[0]));
  tensors.push(std::move(tensor));
  return true;
}

bool Safetensors::checkOverlaps(size_t first, const char *path) const {
  Array<size_t> order;
  for (size_t i = first; i < tensors.size(); ++i)
    if (!tensors[i].bytes.empty())
      order.push(i);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return tensors[a].bytes.data() < tensors[b].bytes.data(); });
  for (size_t i = 1; i < order.size(); ++i) {
    const FileTensor &before = tensors[order[i - 1]], &after = tensors[order[i]];
    if (before.bytes.data() + before.bytes.size() > after.bytes.data())
      return fail("`%s`: tensors `%s` and `%s` overlap", path, before.name.c_str(), after.name.c_str());
  }
  return true;
}

bool Safetensors::openIndex(const char *path) {
  JsonDocument index;
  Json map;
  if (!index.parseFile(path) || !index.readObject(index.root(), "weight_map", map))
    return false;
  Text folder = folderOf(path);
  NameTable opened;
  const char *name;
  json_t *file;
  json_object_foreach(const_cast<json_t *>(map), name, file) {
    if (!json_is_string(file))
      return fail("`%s`: the file of tensor `%s` should be a text", path, name);
    View shard = textOf(file);
    if (shard.empty() || shard.find('/') != View::npos || shard.find('\0') != View::npos)
      return fail("`%s`: tensor `%s` is in `%.*s`, which is not the name of a file beside it", path, name,
                  static_cast<int>(shard.size()), shard.data());
    if (opened.add(shard, 0) && !openShard(folder, shard))
      return false;
  }
  return checkIndex(index, map, folder);
}

bool Safetensors::openShard(const Text &folder, View name) {
  Text path = folder.copy();
  path.append('/').append(name);
  return openFile(path.c_str());
}

// Every tensor of the index is in the shard that it names.
bool Safetensors::checkIndex(const JsonDocument &index, Json map, const Text &folder) const {
  const char *name;
  json_t *file;
  json_object_foreach(const_cast<json_t *>(map), name, file) {
    Text path = folder.copy();
    path.append('/').append(textOf(file));
    const FileTensor *tensor = find(name);
    if (!tensor || path.view() != tensor->file)
      return fail("`%s`: tensor `%s` is not in `%s`", index.source(), name, path.c_str());
  }
  return true;
}

} // namespace attn
