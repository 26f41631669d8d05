// Config.h: config.json as the compiler sees it: values by path, and a record of which of them were read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A path is the list of keys from the root: `rope_scaling`, `factor`. Every look-up marks what it touched, so that in
// the end unreadKeys() can name what a model never asked about. The file is one of the sources of the Diagnostics, so a
// message can show the line of a value: diags.error(…).note(config.place(path), "`hidden_size` is 384 here").
#ifndef ATTN_FRONTEND_CONFIG_H
#define ATTN_FRONTEND_CONFIG_H

#include "frontend/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace attn {

class Config {
public:
  enum class State { absent, null, present };
  struct Value {
    State state = State::absent;
    const llvm::json::Value *json = nullptr; ///< not null when present
    explicit operator bool() const { return state == State::present; }
  };
  using Path = std::vector<std::string>;

  /// Reads `path`, a file or a folder with a config.json; null after an error.
  static std::unique_ptr<Config> load(llvm::StringRef path, Diagnostics &diags);
  /// From text; `name` is shown in messages.
  static std::unique_ptr<Config> parse(llvm::StringRef name, llvm::StringRef text, Diagnostics &diags);

  /// Looks inside this object of the root from now on, if it is there (`config at "text_config"`).
  void enter(llvm::StringRef key);

  /// The value at a path, below what enter() chose. `absent` also when something on the way is no object; `null` when
  /// anything on the path is null. Marks exactly this value as read: of an object, not what it holds.
  Value lookup(const Path &path);
  /// Marks everything below a path as read, as `count` of an object does.
  void markAll(const Path &path) { readWhole.insert(join(path)); }
  /// Declares a key without effect here (`ignore "key"`).
  void ignore(llvm::StringRef key) { readWhole.insert(key.str()); }

  /// Dotted paths of what nobody read, ignored or declared harmless in std/harmless-keys, sorted. Nulls, which mean
  /// "not set", are left out; an object that nobody looked at is named once.
  std::vector<std::string> unreadKeys() const;
  /// What was read and present, dotted path to value (objects left out): the record that a library keeps.
  const std::map<std::string, llvm::json::Value> &usedValues() const { return used; }

  /// Where the value at a path stands in the file; invalid if it is not there.
  llvm::SMRange place(const Path &path) const;
  llvm::StringRef fileName() const { return name; }

private:
  const llvm::json::Object &object() const;
  void addUnread(const llvm::json::Object &object, const std::string &prefix, std::vector<std::string> &list) const;
  static std::string join(const Path &path);

  std::string name, inside;
  llvm::json::Value root = nullptr;
  llvm::StringMap<llvm::SMRange> places; ///< by dotted path from the root
  std::set<std::string> read, readWhole;
  std::map<std::string, llvm::json::Value> used;
};

/// The number of values in a list or object; nothing for other values.
std::optional<int64_t> count(const llvm::json::Value &value);

/// The lines of std/harmless-keys: globs of configuration keys that never change what a model computes.
llvm::StringRef harmlessKeys();

} // namespace attn

#endif // ATTN_FRONTEND_CONFIG_H
