// What lies in a model's folder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ModelFiles.h"
#include "runtime/Error.h"

namespace attn {
namespace {

Text join(const Text &folder, View name) {
  return std::move(folder.copy().append('/').append(name));
}

// The value at the end of a path of keys, or null.
Json follow(Json object, View path) {
  for (size_t dot; object && (dot = path.find('.')) != View::npos; path.remove_prefix(dot + 1))
    object = find(object, Text(View(path.data(), dot)).c_str());
  return object ? find(object, Text(path).c_str()) : nullptr;
}

} // namespace

bool ModelFiles::open(const char *path, const Metadata &metadata, Notes &notes) {
  if (!path)
    return metadata.weights.empty() || fail("model `%s` has weights: it needs a folder", Text(metadata.model).c_str());
  bool isOneFile = !isFolder(path) && isFile(path);
  const char *slash = strrchr(path, '/');
  if (isOneFile)
    folder.append(slash ? View(path, static_cast<size_t>(slash - path)) : View("."));
  else
    folder.append(path);
  if (!isOneFile && !isFolder(path))
    return fail("`%s`: there is no such folder or file", path);
  return openConfig(!isOneFile, metadata, notes) && openWeights(isOneFile ? path : nullptr, metadata);
}

bool ModelFiles::openWeights(const char *path, const Metadata &metadata) {
  if (path)
    return weights.openFile(path);
  Text single = join(folder, "model.safetensors"), index = join(folder, "model.safetensors.index.json");
  if (isFile(single.c_str()))
    return weights.openFile(single.c_str());
  if (isFile(index.c_str()))
    return weights.openIndex(index.c_str());
  return metadata.weights.empty() ||
         fail("`%s`: holds neither `model.safetensors` nor `model.safetensors.index.json`", folder.c_str());
}

bool ModelFiles::openConfig(bool required, const Metadata &metadata, Notes &notes) const {
  if (!metadata.config || json_object_size(metadata.config) == 0)
    return true;
  Text path = join(folder, "config.json");
  if (!required && !isFile(path.c_str())) {
    notes.push(std::move(Text().format("`%s`: not there, so that the configuration was not compared", path.c_str())));
    return true;
  }
  JsonDocument config;
  return config.parseFile(path.c_str()) && checkConfig(config, metadata.config);
}

bool checkConfig(const JsonDocument &config, Json used) {
  const char *key;
  json_t *expected;
  json_object_foreach(const_cast<json_t *>(used), key, expected) {
    Json actual = follow(config.root(), key);
    bool same = json_is_null(expected) || !actual ? json_is_null(expected) && !actual : sameValue(actual, expected);
    if (!same)
      return fail("`%s`: `%s` is %s, the library was compiled for %s", config.source(), key, shown(actual).c_str(),
                  shown(expected).c_str());
  }
  return true;
}

} // namespace attn
