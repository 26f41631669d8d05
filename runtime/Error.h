// The last error of a thread, as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime has no exceptions: what can fail returns bool (or a pointer) and has said why with fail(). Messages are
// lower case, without a full stop, with names in backticks; each is matched by a test.
#ifndef ATTN_RUNTIME_ERROR_H
#define ATTN_RUNTIME_ERROR_H
#include "runtime/Memory.h"

namespace attn {

// Keeps the message for lastError(); false, so that `return fail(…)` reads as it does.
[[gnu::format(printf, 1, 2)]] bool fail(const char *format, ...);
// The message of this thread's last failure; "" if there was none.
const char *lastError();

} // namespace attn
#endif
