// What creating a model has to say though it succeeds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_NOTES_H
#define ATTN_RUNTIME_NOTES_H
#include "runtime/Memory.h"

namespace attn {
using Notes = Array<Text>;
} // namespace attn
#endif
