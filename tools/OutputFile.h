// OutputFile.h: a result that appears whole or not at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text or object is gathered in memory, written beside the target under a scratch name, and renamed onto it. `-` is
// standard output. Nothing is left behind after an error.
#ifndef ATTN_TOOLS_OUTPUTFILE_H
#define ATTN_TOOLS_OUTPUTFILE_H

#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace attn {

/// False after an error, which is reported. `executable` for shared libraries.
bool writeOutput(llvm::StringRef path, llvm::StringRef contents, Diagnostics &diags, bool executable = false);

} // namespace attn

#endif // ATTN_TOOLS_OUTPUTFILE_H
