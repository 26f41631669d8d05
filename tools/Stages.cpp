// Stages.cpp: the stages of a compilation, in order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Stages.h"

namespace attn {

static constexpr StageInfo table[] = {
    {Stage::ast, "ast", ".ast", "the syntax tree"},
    {Stage::attn, "attn", ".mlir", "the attn dialect, as the text says it"},
    {Stage::plan, "plan", "", "the attn dialect, fused, with its memory"},
    {Stage::tile, "tile", "", "entries and kernels over tiles"},
    {Stage::vector, "vector", "", "loops over vectors of the machine"},
    {Stage::llvm, "llvm", ".ll", "LLVM's language"},
    {Stage::assembly, "asm", ".s", "assembly"},
    {Stage::object, "obj", ".o", "an object file, to be linked with libattnrt.a"},
    {Stage::library, "lib", ".so", "a shared library (or, named .a, an archive) and model.h beside it"},
    {Stage::header, "header", ".h", "model.h alone"},
};

llvm::ArrayRef<StageInfo> stages() {
  return table;
}

const StageInfo &info(Stage stage) {
  return table[size_t(stage)];
}

Stage stageFor(llvm::StringRef output) {
  for (const StageInfo &row : table)
    if (*row.suffix && output.ends_with(row.suffix))
      return row.stage;
  return Stage::library;
}

} // namespace attn
