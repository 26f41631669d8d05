// Occasions.h: --length and --lookup of attnc: for which lengths attentions are explained and drawn.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_OCCASIONS_H
#define ATTN_TOOLS_OCCASIONS_H

#include "frontend/Diagnostics.h"
#include "lowering/attend/Work.h"

namespace attn {

/// `4096`, `T=1,S=4096`, `T=1,past=4095`. False if the text is none of it.
bool parseLengths(llvm::StringRef text, Occasion &occasion);
/// `doc=0,0,1`, or with counts `doc=0*512,1*300`.
bool parseLookup(llvm::StringRef text, Occasion &occasion);

/// Whether all that an occasion names is in the module, and whether tables are as long as they have to be. Reports what
/// is not.
bool checkOccasion(mlir::ModuleOp planned, llvm::ArrayRef<AttendTiling> attends, const Occasion &occasion,
                   Diagnostics &diags);

} // namespace attn

#endif // ATTN_TOOLS_OCCASIONS_H
