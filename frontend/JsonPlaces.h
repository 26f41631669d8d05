// JsonPlaces.h: what llvm::json does not tell about a JSON text: where values stand, doubled keys, how deep it nests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_JSONPLACES_H
#define ATTN_FRONTEND_JSONPLACES_H

#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace attn {

/// llvm::json recurses, so a hostile text is stopped before. The range is that of the bracket too many, or invalid.
llvm::SMRange findTooDeepJson(llvm::StringRef text, unsigned limit);

/// The places of all values reached through objects alone, by dotted path. `text` is valid JSON, in a buffer of
/// `diags`, where a key that an object has twice is an error.
llvm::StringMap<llvm::SMRange> findJsonPlaces(llvm::StringRef text, Diagnostics &diags);

} // namespace attn

#endif // ATTN_FRONTEND_JSONPLACES_H
