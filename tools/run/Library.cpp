// Library.cpp - a compiled model, opened through the C interface that every user gets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Library.h"

#include "tools/run/Compile.h"
#include "tools/run/Failure.h"
#include <dlfcn.h>
#include <filesystem>

namespace fs = std::filesystem;

namespace attn::run {
namespace {

/// The source with what the model's folder answers filled in.
Source completed(Source source) {
  fs::path folder = source.model;
  if (!source.model.empty() && !fs::exists(folder))
    fail("there is no model `{}`", source.model);
  if (source.config.empty() && fs::exists(folder / "config.json"))
    source.config = (folder / "config.json").string();
  return source;
}

bool isLibrary(const std::string &file) {
  return file.ends_with(".so") || file.find(".so.") != std::string::npos;
}

} // namespace

Library::Library(const Source &source) {
  if (isLibrary(source.file) && !source.precision.empty())
    fail("--precision={}: `{}` is compiled already", source.precision, source.file);
  path = isLibrary(source.file) ? fs::absolute(source.file).string() : compiledLibrary(completed(source));
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    fail("cannot open the library: {}", dlerror());
#define ATTN_FUNCTION(name)                                                                                            \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, "attn_" #name));                                               \
  if (!name)                                                                                                           \
    fail("`{}` has no function attn_" #name ": it was not made by this attnc", path);
#include "tools/run/Functions.def"
#undef ATTN_FUNCTION
}

// A library stays loaded until the program ends: its threads and the buffers of its messages may outlive a model.
Library::~Library() = default;

Model::Model(const Source &source) : library(source) {
  handle =
      library.model_create_with(source.model.empty() ? nullptr : source.model.c_str(), source.strict ? ATTN_STRICT : 0);
  if (!handle)
    fail("{}", library.last_error());
  library.model_threads(handle, source.threads);
  for (int32_t i = 0; const char *note = library.model_note(handle, i); ++i)
    fmt::print(stderr, "attn-run: {}\n", note);
}

Model::~Model() {
  library.model_free(handle);
}

int32_t Model::find(const std::string &name) const {
  int32_t index = library.function_find(handle, name.c_str());
  if (index >= 0) {
    if (const char *missing = function(index).missing)
      fail("`{}` cannot be called: {}", name, missing);
    return index;
  }
  std::string names;
  for (int32_t i = 0; const attn_function *other = library.model_function(handle, i); ++i)
    names += fmt::format("{}`{}`", i ? ", " : "", other->name);
  fail("there is no exported function `{}`; there are {}", name, names.empty() ? "none" : names);
}

Sessions::Sessions(const Model &owner, int64_t count, int64_t capacity) : model(owner) {
  for (int64_t i = 0; i < count; ++i) {
    attn_session *session = model.library.session_create(model.handle, capacity);
    if (!session)
      fail("{}", model.library.last_error());
    handles.push_back(session);
  }
}

Sessions::~Sessions() {
  for (attn_session *session : handles)
    model.library.session_free(session);
}

} // namespace attn::run
