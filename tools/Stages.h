// Stages.h: the stages of a compilation, in order, and how a suffix asks for one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_STAGES_H
#define ATTN_TOOLS_STAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace attn {

enum class Stage { ast, attn, plan, tile, vector, llvm, assembly, object, library, header };

/// One row a stage: `--emit`, `--stop-after`, the names of dumps and of `--time` come from here.
struct StageInfo {
  Stage stage;
  const char *name;        // as --emit spells it
  const char *suffix;      // of an output that asks for it; "" for none
  const char *description; // for --help
};

llvm::ArrayRef<StageInfo> stages();
const StageInfo &info(Stage stage);
/// The stage that an output's name asks for; the library for an unknown suffix.
Stage stageFor(llvm::StringRef output);

} // namespace attn

#endif // ATTN_TOOLS_STAGES_H
