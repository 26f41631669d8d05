// Config.cpp: reading, looking up and accounting of configuration values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Config.h"
#include "frontend/JsonPlaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace attn {

namespace {

constexpr unsigned maxDepth = 100;

SMRange at(StringRef text, size_t offset) {
  offset = std::min(offset, text.size());
  return {SMLoc::getFromPointer(text.data() + offset), SMLoc::getFromPointer(text.data() + offset)};
}

/// llvm::json says `[3:7, byte=42]: Expected …`: the place is turned into ours.
void reportBadJson(Error error, StringRef text, Diagnostics &diags) {
  handleAllErrors(std::move(error), [&](const json::ParseError &bad) {
    std::string message = bad.message();
    StringRef rest = message;
    size_t offset = 0;
    rest.consume_front(rest.split("byte=").first);
    if (rest.consume_front("byte="))
      rest.consumeInteger(10, offset);
    rest.consume_front("]: ");
    if (rest.starts_with("Expected") && offset > 0 && offset < text.size())
      --offset; // it stands behind the character that it did not expect
    diags.error(at(text, offset), "bad JSON: " + rest.take_front().lower() + rest.drop_front());
  });
}

bool isHarmless(StringRef path) {
  SmallVector<StringRef> lines;
  harmlessKeys().split(lines, '\n', -1, /*KeepEmpty=*/false);
  StringRef key = path.rsplit('.').second.empty() ? path : path.rsplit('.').second;
  for (StringRef line : lines) {
    StringRef glob = line.split('#').first.trim();
    Expected<GlobPattern> pattern = GlobPattern::create(glob);
    if (!pattern)
      consumeError(pattern.takeError());
    else if (!glob.empty() && (pattern->match(key) || pattern->match(path)))
      return true;
  }
  return false;
}

} // namespace

std::unique_ptr<Config> Config::load(StringRef path, Diagnostics &diags) {
  SmallString<256> file(path);
  if (sys::fs::is_directory(path))
    sys::path::append(file, "config.json");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(file);
  if (!buffer) {
    diags.error("cannot read `" + file + "`: " + StringRef(buffer.getError().message()).lower());
    return nullptr;
  }
  return parse(file, (*buffer)->getBuffer(), diags);
}

std::unique_ptr<Config> Config::parse(StringRef name, StringRef content, Diagnostics &diags) {
  StringRef text = diags.addFile(name, content);
  SMRange deep = findTooDeepJson(text, maxDepth);
  if (deep.isValid()) {
    diags.error(deep, "nested too deeply, more than " + Twine(maxDepth) + " levels");
    return nullptr;
  }
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    reportBadJson(value.takeError(), text, diags);
    return nullptr;
  }
  if (!value->getAsObject()) {
    diags.error(at(text, 0), "a configuration is an object `{ … }`");
    return nullptr;
  }
  unsigned errorsBefore = diags.errorCount();
  auto config = std::make_unique<Config>();
  config->name = name.str();
  config->root = std::move(*value);
  config->places = findJsonPlaces(text, diags);
  return diags.errorCount() == errorsBefore ? std::move(config) : nullptr;
}

void Config::enter(StringRef key) {
  if (root.getAsObject()->getObject(key))
    inside = key.str();
}

const json::Object &Config::object() const {
  const json::Object &all = *root.getAsObject();
  return inside.empty() ? all : *all.getObject(inside);
}

std::string Config::join(const Path &path) {
  return llvm::join(path, ".");
}

Config::Value Config::lookup(const Path &path) {
  const json::Object *object = &this->object();
  const json::Value *value = nullptr;
  std::string dotted;
  for (const std::string &key : path) {
    dotted += (dotted.empty() ? "" : ".") + key;
    read.insert(dotted);
    value = object ? object->get(key) : nullptr;
    if (!value)
      return {};
    if (value->getAsNull())
      return {State::null, nullptr};
    object = value->getAsObject();
  }
  if (!object)
    used.insert_or_assign(dotted, *value);
  return {State::present, value};
}

SMRange Config::place(const Path &path) const {
  return places.lookup(inside.empty() ? join(path) : inside + "." + join(path));
}

std::vector<std::string> Config::unreadKeys() const {
  std::vector<std::string> list;
  addUnread(object(), "", list);
  llvm::sort(list);
  return list;
}

void Config::addUnread(const json::Object &object, const std::string &prefix, std::vector<std::string> &list) const {
  for (const auto &[key, value] : object) {
    std::string path = prefix + key.str();
    if (value.getAsNull() || readWhole.count(path) || isHarmless(path))
      continue;
    const json::Object *inner = value.getAsObject();
    if (!read.count(path))
      list.push_back(path);
    else if (inner)
      addUnread(*inner, path + ".", list);
  }
}

std::optional<int64_t> count(const json::Value &value) {
  if (auto *array = value.getAsArray())
    return array->size();
  if (auto *object = value.getAsObject())
    return object->size();
  return std::nullopt;
}

} // namespace attn
