// What lies in a model's folder: found, opened, compared with what the library was compiled for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_MODEL_FILES_H
#define ATTN_RUNTIME_MODEL_FILES_H
#include "runtime/Metadata.h"
#include "runtime/Notes.h"
#include "runtime/Safetensors.h"

namespace attn {

struct ModelFiles {
  Text folder; // "" if the model was created from nothing
  Safetensors weights;

  // `path`: a folder, a .safetensors file, or null.
  bool open(const char *path, const Metadata &metadata, Notes &notes);

private:
  bool openWeights(const char *path, const Metadata &metadata);
  bool openConfig(bool required, const Metadata &metadata, Notes &notes) const;
};

// Every value of `used`, keyed by the path to it ("rope.theta"; null: absent), is the same in the configuration.
bool checkConfig(const JsonDocument &config, Json used);

} // namespace attn
#endif
