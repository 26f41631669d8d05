// The forms of attention that the command line can ask for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_ATTENTIONFORM_H
#define ATTN_LOWERING_ATTENTIONFORM_H

namespace attn {

/// `automatic`: the compiler and the call decide. lowering/attend/Strategy.h says what the others are.
enum class AttentionForm { automatic, online, split };

} // namespace attn
#endif
