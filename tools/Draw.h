// Draw.h: the masks of a model's attentions as a picture.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_DRAW_H
#define ATTN_TOOLS_DRAW_H

#include "lowering/attend/Work.h"

namespace attn {

/// An SVG: for each attention the tiles that its kernel goes over, coloured by what it does with them, and the visible
/// pairs of those in which it evaluates the mask. Every length is known.
std::string drawMasks(llvm::ArrayRef<AttendTiling> attends, const Occasion &occasion);

} // namespace attn

#endif // ATTN_TOOLS_DRAW_H
