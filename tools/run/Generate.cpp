// Generate.cpp - attn-run generate: continues texts, the most likely token again and again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All texts go through the model side by side, each in its session: as long as something of its prompt is left a text
// gives a piece of that, then one token a call, until it has ended. What comes out for one does not depend on the
// others. A single text is shown as it comes; several are shown one after the other, when all have ended.
#include "tools/run/Commands.h"
#include "tools/run/Decoder.h"
#include "tools/run/Failure.h"
#include "tools/run/Json.h"
#include "tools/run/Text.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>

namespace fs = std::filesystem;

namespace attn::run {
namespace {

/// Tokens of prompts that one call takes: enough for full speed, few enough to keep their logits small.
constexpr size_t tokensAtOnce = 256;

/// What config.json and generation_config.json say about the tokens that begin and end.
class TokenConfig {
public:
  explicit TokenConfig(const std::string &model) {
    fs::path folder = model;
    if (!fs::is_directory(folder))
      folder = folder.parent_path();
    for (const char *name : {"config.json", "generation_config.json"}) // the second one wins
      if (!model.empty() && fs::exists(folder / name))
        read((folder / name).string());
  }

  std::set<int32_t> ends;
  int32_t start = -1;

private:
  static int32_t idOf(const json_t *value, const std::string &path, const char *key) {
    json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
    if (id < 0 || id > INT32_MAX)
      fail("`{}`: `{}` should be an id or a list of ids", path, key);
    return int32_t(id);
  }

  void read(const std::string &path) {
    Json root = readJson(path);
    const char *endKey = "eos_token_id";
    const char *startKey = "decoder_start_token_id";
    json_t *end = json_object_get(root.get(), endKey);
    if (end && !json_is_null(end)) {
      ends.clear();
      for (size_t i = 0; i < (json_is_array(end) ? json_array_size(end) : 1); ++i)
        ends.insert(idOf(json_is_array(end) ? json_array_get(end, i) : end, path, endKey));
    }
    json_t *first = json_object_get(root.get(), startKey);
    if (first && !json_is_null(first))
      start = idOf(first, path, startKey);
  }
};

enum class Ending { none, token, maxTokens, capacity, positions };

/// A text that is being continued.
struct Item {
  Stream stream;
  size_t prompt = 0; // tokens that the stream began with
  Ending ending = Ending::none;
  std::optional<GrowingText> text;
  std::string out; // what came, as it is shown
  std::vector<int32_t> came() const { return {stream.ids.begin() + int64_t(prompt), stream.ids.end()}; }
};

class Generator {
public:
  Generator(const Source &source, const GenerateOptions &chosen)
      : options(chosen), model(source), decoder(model, chosen.function), config(source.model),
        shown(chosen.texts.size() + chosen.ids.size() == 1 && !chosen.json) {
    config.ends.insert(options.ends.begin(), options.ends.end());
    if (options.start >= 0)
      config.start = options.start;
  }

  void run();
  void print() const;

private:
  void checkOptions() const;
  void addItem(std::vector<int32_t> ids, bool asText);
  void take(Item &item, std::span<const float> logits);
  Ending endingOf(const Item &item) const;
  void show(Item &item, const std::string &more) const;
  void report(size_t number) const;

  const GenerateOptions &options;
  Model model;
  Decoder decoder;
  TokenConfig config;
  bool shown; // at once
  std::vector<Item> items;
};

std::vector<int32_t> parseIds(const std::string &text) {
  std::istringstream words(text);
  std::vector<int32_t> ids;
  for (std::string word; words >> word;) {
    size_t digits = word.find_first_not_of("0123456789") == std::string::npos ? word.size() : 0;
    int64_t id = digits && digits < 11 ? std::stoll(word) : -1;
    if (id < 0 || id > INT32_MAX)
      fail("`{}` is not an id", word);
    ids.push_back(int32_t(id));
  }
  return ids;
}

/// Options that could change nothing are mistakes.
void Generator::checkOptions() const {
  if (options.start >= 0 && !decoder.hasSource())
    fail("--start={}: `{}` has no source, its texts begin as they are given", options.start, decoder.signature().name);
  for (int32_t id : options.ends)
    if (id >= decoder.tokens())
      fail("--end={}: the tokens of `{}` are 0 .. {}", id, decoder.signature().name, decoder.tokens() - 1);
}

void Generator::addItem(std::vector<int32_t> ids, bool asText) {
  size_t number = items.size() + 1;
  if (ids.empty())
    fail("text {} has no tokens to begin with", number);
  std::vector<int32_t> source;
  if (decoder.hasSource()) {
    if (config.start < 0)
      fail("config.json has no `decoder_start_token_id`: say with --start=ID what `{}` begins with",
           decoder.signature().name);
    source = std::exchange(ids, std::vector<int32_t>{config.start});
  }
  int64_t prompt = int64_t(ids.size());
  int64_t positions = decoder.positions();
  if (positions && prompt > positions)
    fail("text {} has {} tokens, the model has positions for {}", number, prompt, positions);
  if (options.capacity && prompt > options.capacity)
    fail("text {} has {} tokens, --capacity={} has no room for them", number, prompt, options.capacity);
  int64_t needed = prompt + options.maxTokens;
  if (positions)
    needed = std::min(needed, positions);
  Item &item = items.emplace_back();
  item.prompt = ids.size();
  if (asText)
    item.text.emplace(model, ids);
  item.stream = decoder.start(std::move(ids), std::move(source), options.capacity ? options.capacity : needed);
  if (options.maxTokens == 0)
    item.ending = Ending::maxTokens;
}

/// Why an item that got a token goes no further. That token need not fit the session: nothing comes behind it.
Ending Generator::endingOf(const Item &item) const {
  int64_t held = int64_t(item.stream.ids.size());
  if (held - int64_t(item.prompt) >= options.maxTokens)
    return Ending::maxTokens;
  if (options.capacity && held > options.capacity)
    return Ending::capacity;
  if (decoder.positions() && held > decoder.positions())
    return Ending::positions;
  return Ending::none;
}

void Generator::show(Item &item, const std::string &more) const {
  item.out += more;
  if (!shown)
    return;
  fmt::print("{}", more);
  flushResults();
}

/// The next token, from the logits of the last one.
void Generator::take(Item &item, std::span<const float> logits) {
  int32_t id = largest(logits);
  if (config.ends.contains(id)) {
    item.ending = Ending::token;
  } else {
    bool first = item.stream.ids.size() == item.prompt;
    item.stream.ids.push_back(id);
    show(item, item.text ? item.text->add(id) : fmt::format("{}{}", first ? "" : " ", id));
    item.ending = endingOf(item);
  }
  if (item.ending != Ending::none && item.text)
    show(item, item.text->end());
}

void Generator::report(size_t number) const {
  const Item &item = items[number];
  std::string who = items.size() > 1 ? fmt::format("text {}: ", number + 1) : "";
  size_t came = item.stream.ids.size() - item.prompt;
  if (item.ending == Ending::capacity)
    fmt::print(stderr, "attn-run: {}stopped after {} tokens: the session is full (--capacity={})\n", who, came,
               options.capacity);
  if (item.ending == Ending::positions)
    fmt::print(stderr, "attn-run: {}stopped after {} tokens: the model has positions for {}\n", who, came,
               decoder.positions());
}

void Generator::run() {
  checkOptions();
  for (const std::string &text : options.texts)
    addItem(idsOf(model, text == "-" ? readText("-") : text), true);
  for (const std::string &ids : options.ids)
    addItem(parseIds(ids == "-" ? readText("-") : ids), false);
  if (items.empty())
    fail("no text to continue: give --text=TEXT or --ids=\"1 2 3\"");
  Feeding feeding(decoder);
  for (;;) {
    std::vector<Item *> going;
    std::vector<Stream *> streams;
    for (Item &item : items)
      if (item.ending == Ending::none) {
        going.push_back(&item);
        streams.push_back(&item.stream);
      }
    if (going.empty())
      break;
    feeding.feed(streams, std::max<size_t>(tokensAtOnce / streams.size(), 1));
    for (size_t i = 0; i < going.size(); ++i)
      if (streams[i]->fed == streams[i]->ids.size())
        take(*going[i], feeding.logits(i));
  }
  if (shown) {
    fmt::print("\n");
    flushResults();
  }
  for (size_t i = 0; i < items.size(); ++i)
    report(i);
}

const char *nameOf(Ending ending) {
  switch (ending) {
  case Ending::token:
    return "end token";
  case Ending::capacity:
    return "capacity";
  case Ending::positions:
    return "positions";
  default:
    return "max tokens";
  }
}

void Generator::print() const {
  if (shown)
    return;
  Json list(json_array());
  for (size_t i = 0; i < items.size(); ++i) {
    const Item &item = items[i];
    if (!options.json) {
      fmt::print("[{}]\n{}\n", i + 1, item.out);
      continue;
    }
    json_t *ids = json_array();
    for (int32_t id : item.came())
      json_array_append_new(ids, json_integer(id));
    json_t *entry = json_pack("{s:o, s:s}", "ids", ids, "ended", nameOf(item.ending));
    if (item.text)
      json_object_set_new(entry, "text", json_stringn(item.out.data(), item.out.size()));
    json_array_append_new(list.get(), entry);
  }
  if (!options.json)
    return;
  char *text = json_dumps(list.get(), JSON_PRESERVE_ORDER);
  fmt::print("{}\n", text);
  std::free(text);
}

} // namespace

int generate(const Source &source, const GenerateOptions &options) {
  Generator generator(source, options);
  generator.run();
  generator.print();
  return 0;
}

} // namespace attn::run
