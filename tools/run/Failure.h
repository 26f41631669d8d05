// Failure.h - how a command of attn-run ends early.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_FAILURE_H
#define ATTN_TOOLS_RUN_FAILURE_H

#include <fmt/format.h>
#include <stdexcept>

namespace attn::run {

/// What the user has to be told; an empty text means that it has been said already. Caught by main: exit 1.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename... Args> [[noreturn]] void fail(fmt::format_string<Args...> text, Args &&...args) {
  throw Failure(fmt::format(text, std::forward<Args>(args)...));
}

} // namespace attn::run

#endif
