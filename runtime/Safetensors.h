// Tensors of a safetensors file, mapped and checked.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file is 8 bytes N (little endian), N bytes of JSON, then data:
//
//     {"__metadata__": {"any": "text"}, "wte.weight": {"dtype": "F32", "shape": [50257, 768], "data_offsets": [0,
//     154389504]}}
//
// Everything in it may be hostile. Checked here: the header fits and is at most 100 MB, is JSON without a name given
// twice, each type is one of the format's, each shape times the size of its type is exactly its range of bytes, in 64
// bits without overflow, each range lies in the file, no two overlap. Holes between ranges do no harm and are accepted.
#ifndef ATTN_RUNTIME_SAFETENSORS_H
#define ATTN_RUNTIME_SAFETENSORS_H
#include "runtime/Json.h"
#include "runtime/MappedFile.h"
#include "runtime/NameTable.h"

namespace attn {

struct FileTensor {
  Text name;
  View type; // as the file spells it, "BF16"
  Array<int64_t> shape;
  View bytes;
  const char *file = ""; // for messages

  int64_t elements() const;
};

class Safetensors {
public:
  // Reads one file, or all shards that an index (model.safetensors.index.json) names.
  bool openFile(const char *path);
  bool openIndex(const char *path);

  size_t size() const { return tensors.size(); }
  const FileTensor &operator[](size_t i) const { return tensors[i]; }
  // The tensor under that name, or null.
  const FileTensor *find(View name) const;

private:
  struct Shard : Heap {
    Text path;
    MappedFile file;
  };
  bool readHeader(const Shard &shard);
  bool readEntry(const JsonDocument &header, const char *name, Json entry, View data);
  bool checkOverlaps(size_t first, const char *path) const;
  bool openShard(const Text &folder, View name);
  bool checkIndex(const JsonDocument &index, Json map, const Text &folder) const;

  Array<Owned<Shard>> shards;
  Array<FileTensor> tensors;
  NameTable names;
};

// "[2, 3]"
Text shapeText(const Array<int64_t> &shape);

} // namespace attn
#endif
