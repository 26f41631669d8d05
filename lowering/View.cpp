// Where a tensor lies: finding dimensions by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/View.h"
#include "llvm/ADT/STLExtras.h"

namespace attn {

static int placeOf(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef name) {
  auto found = llvm::find(names, name);
  return found == names.end() ? -1 : int(found - names.begin());
}

int View::find(llvm::StringRef name) const {
  return placeOf(names, name);
}
int Local::find(llvm::StringRef name) const {
  return placeOf(names, name);
}

} // namespace attn
