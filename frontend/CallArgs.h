// CallArgs.h: the arguments of a call of a built-in function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_CALLARGS_H
#define ATTN_FRONTEND_CALLARGS_H

#include "frontend/Elaborator.h"

namespace attn {

struct CallArgs {
  Elaborator &e;
  const CallExpr &call;
  llvm::SmallVector<const Argument *, 4> placed;

  CallArgs(Elaborator &elaborator, const CallExpr &c) : e(elaborator), call(c) {
    for (const Argument &arg : c.args)
      if (!arg.name)
        placed.push_back(&arg);
  }
  StringRef name() const { return call.callee.text; }
  SMRange range() const { return call.callRange; }
  std::string what() const { return "`" + call.callee.text.str() + "`"; }
  size_t size() const { return placed.size(); }
  const Argument *named(StringRef wanted) const {
    for (const Argument &arg : call.args)
      if (arg.name && arg.name.text == wanted)
        return &arg;
    return nullptr;
  }

  /// Reports a wrong number of arguments by place, or a name that is not one of these.
  bool check(size_t least, size_t most, llvm::ArrayRef<StringRef> names = {});
  Value eval(size_t i) { return e.eval(placed[i]->value); }
  Value evalNamed(StringRef wanted) { return e.eval(named(wanted)->value); }
  /// Argument i as a tensor that is not in a clause; poison after an error.
  Value tensor(size_t i);
  /// The dimensions written from argument i on, each static.
  bool dims(size_t from, Dims &result);
  /// Where names of weights stand: the path around, and `at` of this call.
  std::optional<Text> path();
  /// `{path}.{argument i}`
  std::optional<Text> weightName(size_t i);
};

} // namespace attn

#endif // ATTN_FRONTEND_CALLARGS_H
