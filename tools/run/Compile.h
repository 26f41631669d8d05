// Compile.h - from a FILE.attn to the library that attnc makes of it, kept in a cache.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_COMPILE_H
#define ATTN_TOOLS_RUN_COMPILE_H

#include "tools/run/Library.h"

namespace attn::run {

/// The path of the compiled library. Runs attnc only if nothing that it would read has changed.
std::string compiledLibrary(const Source &source);

} // namespace attn::run

#endif
