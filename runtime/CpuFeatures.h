// Whether this processor has what the library was compiled for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_CPU_FEATURES_H
#define ATTN_RUNTIME_CPU_FEATURES_H
#include "runtime/Notes.h"

namespace attn {

enum class Presence { absent, present, unknown };

// By LLVM's name, "avx512f"; what the operating system does not keep for a process counts as absent. The kernel is
// asked for the registers of AMX where these are in question.
Presence presenceOf(View feature);
// Fails on the first feature that is absent; notes those it cannot ask for.
bool checkFeatures(const Array<View> &features, Notes &notes);

} // namespace attn
#endif
