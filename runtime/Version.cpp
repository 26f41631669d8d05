// The two questions that need no model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Error.h"
#include "runtime/abi.h"
#include "runtime/attn.h"

uint32_t attn_abi_version(void) {
  return ATTN_ABI_VERSION;
}
const char *attn_last_error(void) {
  return attn::lastError();
}
