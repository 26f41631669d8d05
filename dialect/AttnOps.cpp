// The operations of the attn dialect; their verifiers are in Verify*.cpp, their folds in Folds.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "dialect/TensorSyntax.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "dialect/AttnOps.cpp.inc"
