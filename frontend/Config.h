// Config.h: config.json as the compiler sees it: values by path, and a record of which of them were read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A path is the list of keys from the root, `rope_scaling`, `factor`. Every look-up marks what it touched, so that in
// the end unreadKeys() can name what a model never asked about. Whole and real numbers are kept apart: 12 is an
// integer, 12.0 and 1e-5 are reals.
#ifndef ATTN_FRONTEND_CONFIG_H
#define ATTN_FRONTEND_CONFIG_H

#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace attn {

class Config {
public:
  enum class State { absent, null, present };
  struct Value {
    State state = State::absent;
    const llvm::json::Value *json = nullptr; ///< valid when present
  };
  using Path = std::vector<std::string>;

  /// Reads `path`, a file or a folder with a config.json; null after an error.
  static std::unique_ptr<Config> load(llvm::StringRef path, Diagnostics &diags);
  /// From text; `name` is shown in messages.
  static std::unique_ptr<Config> parse(llvm::StringRef name, llvm::StringRef text, Diagnostics &diags);

  /// Looks inside this object of the root from now on, if it is there (`config at "text_config"`).
  void enter(llvm::StringRef key);

  /// The value at a path, below what enter() chose. `absent` also when something on the way is no object; `null` when
  /// anything on the path is null. Marks it as read.
  Value lookup(const Path &path);
  /// Declares a key without effect here (`ignore "key"`).
  void ignore(llvm::StringRef key) { ignored.insert(key.str()); }

  /// Keys of the objects in use that nobody read, ignored or declared harmless by std/harmless-keys, as dotted paths,
  /// sorted.
  std::vector<std::string> unreadKeys() const;
  /// What was read and present, dotted path to value: the record that a library keeps.
  const std::map<std::string, llvm::json::Value> &usedValues() const { return used; }

  llvm::StringRef fileName() const { return name; }

private:
  std::string name, inside;
  llvm::json::Value root = nullptr;
  std::set<std::string> read, ignored;
  std::map<std::string, llvm::json::Value> used;
};

/// 12 is whole, 12.0 is not.
bool isWhole(const llvm::json::Value &number);

/// The lines of std/harmless-keys: globs of configuration keys that never change what a model computes.
llvm::StringRef harmlessKeys();

} // namespace attn

#endif // ATTN_FRONTEND_CONFIG_H
