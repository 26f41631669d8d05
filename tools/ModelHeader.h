// ModelHeader.h: the part of model.h that is about one model: numbers of its functions, and C functions that call them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_MODELHEADER_H
#define ATTN_TOOLS_MODELHEADER_H

#include "llvm/Support/JSON.h"
#include <string>

namespace attn {

/// From the metadata of a library (docs/metadata.md), to stand behind the text of attn.h, which is `interface`.
std::string headerOfModel(const llvm::json::Object &metadata, llvm::StringRef interface);

} // namespace attn

#endif // ATTN_TOOLS_MODELHEADER_H
