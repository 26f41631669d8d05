// Library.h - a compiled model, opened through the C interface that every user gets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_LIBRARY_H
#define ATTN_TOOLS_RUN_LIBRARY_H

#include "runtime/attn.h"
#include <cstdint>
#include <string>
#include <vector>

namespace attn::run {

/// What the command line says about the model to run.
struct Source {
  std::string file;   // .attn, or a library
  std::string model;  // folder or .safetensors; "" for none
  std::string config; // file or folder; "": the model's, if it has one
  std::string mcpu = "native";
  std::string precision; // as attnc's; "": attnc's own
  bool strict = false;
  bool probe = false; // compile with taps
  bool count = false; // compile with counters, and show them at the end
  int32_t threads = 0;
};

/// The functions of attn.h, found by name in a library.
struct Library {
  explicit Library(const Source &source);
  Library(const Library &) = delete;
  ~Library();

  std::string path;
#define ATTN_FUNCTION(name) decltype(&attn_##name) name = nullptr;
#include "tools/run/Functions.def"
#undef ATTN_FUNCTION

private:
  void *handle = nullptr;
};

/// A model of a library; its warnings went to stderr.
struct Model {
  explicit Model(const Source &source);
  Model(const Model &) = delete;
  ~Model();

  /// The number of an exported function that can be called; fails with the names there are.
  int32_t find(const std::string &name) const;
  const attn_function &function(int32_t index) const { return *library.model_function(handle, index); }

  Library library;
  attn_model *handle = nullptr;
};

/// Under --count: what each attention has done in all calls so far, as a table on stderr.
void printCounts(const Source &source, const Model &model);

/// Sessions of a model, ended with this.
struct Sessions {
  Sessions(const Model &model, int64_t count, int64_t capacity);
  Sessions(const Sessions &) = delete;
  ~Sessions();

  const Model &model;
  std::vector<attn_session *> handles;
};

} // namespace attn::run

#endif
