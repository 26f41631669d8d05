// Which tensor of the file a name of the text means.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     weights { optional prefix "bert.", rename "gamma" "weight" }       "ln.weight"  finds  bert.ln.gamma
//
// Renames are applied to the file's names; prefixes are tried in order in front of the text's, and a name found under
// two of them is an error. A name that begins with "/" is looked for at the root of the file first.
#ifndef ATTN_RUNTIME_WEIGHT_NAMES_H
#define ATTN_RUNTIME_WEIGHT_NAMES_H
#include "runtime/Metadata.h"
#include "runtime/Safetensors.h"

namespace attn {

class WeightNames {
public:
  WeightNames(const Metadata &metadata, const Safetensors &file);

  // `found` is null if the file has no such tensor. Fails where the name is ambiguous.
  bool resolve(View name, const FileTensor *&found) const;

private:
  bool lookUp(View name, const FileTensor *&found) const;

  const Metadata &metadata;
  const Safetensors &file;
  Array<Text> renamed;  // the file's names as the text calls them
  Array<int64_t> twins; // for each tensor another one of the same renamed name, or -1
  NameTable table;
};

// "layer.{0}" and [3] give "layer.3".
Text expandTurns(View name, const Array<int64_t> &turns);
// `*` stands for any bytes, `?` for one.
bool matchesGlob(View glob, View name);

} // namespace attn
#endif
