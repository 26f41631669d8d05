// LibraryFile.h: from an object file to what a C program links: libNAME.so or libNAME.a, and model.h beside it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime archive, its header and the list of what a library shows lie in ../lib of the running program.
// All results are made in a scratch folder and renamed into place at the end: after an error nothing is left.
#ifndef ATTN_TOOLS_LIBRARYFILE_H
#define ATTN_TOOLS_LIBRARYFILE_H

#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace attn {

/// The text of model.h: attn.h and the numbers and signatures of the model's functions, which `metadata`
/// (docs/metadata.md) lists. Empty after an error, which is reported.
std::string headerOf(llvm::StringRef metadata, Diagnostics &diags);

/// Writes the library at `path` (an archive if it ends in .a, else a shared library) and model.h in the same folder.
/// False after an error, which is reported.
bool writeLibrary(llvm::StringRef path, llvm::StringRef object, llvm::StringRef metadata, Diagnostics &diags);

} // namespace attn

#endif // ATTN_TOOLS_LIBRARYFILE_H
