// JsonPlaces.cpp: a walk over a JSON text with a stack of open brackets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys are compared as they are written, escapes included.
#include "frontend/JsonPlaces.h"
#include <cmath>
#include <vector>

using namespace llvm;

namespace attn {

namespace {

SMRange rangeOf(StringRef slice) {
  return {SMLoc::getFromPointer(slice.begin()), SMLoc::getFromPointer(slice.end())};
}

/// The token at the front of `text`: a string with its quotes, a bracket, `,` or `:`, or a run of other characters.
StringRef nextToken(StringRef text) {
  text = text.ltrim(" \t\r\n");
  if (text.empty())
    return text;
  if (text[0] == '"') {
    size_t i = 1;
    while (i < text.size() && text[i] != '"')
      i += text[i] == '\\' ? 2 : 1;
    return text.take_front(i + 1);
  }
  size_t length = text.find_first_of("{}[],:\" \t\r\n");
  return text.take_front(length == 0 ? 1 : length);
}

/// One open object or list, or the place of the root.
struct Level {
  bool isObject = false;
  std::string prefix;          ///< of its keys: `rope_scaling.`
  StringMap<SMRange> keys;     ///< seen so far
  std::string path;            ///< of the value to come; empty inside lists
  const char *begin = nullptr; ///< of the bracket
};

class Walk {
public:
  Walk(StringRef source, Diagnostics &diagnostics) : text(source), diags(diagnostics) {}

  StringMap<SMRange> run() {
    for (StringRef token = nextToken(text); !token.empty(); token = take(token))
      visit(token);
    return std::move(places);
  }

private:
  StringRef take(StringRef token) {
    size_t end = token.end() - text.begin();
    return nextToken(text.drop_front(std::min(end, text.size())));
  }
  void visit(StringRef token) {
    if (token == "{" || token == "[")
      return open(token);
    if ((token == "}" || token == "]") && !levels.empty())
      return close(token);
    if (token == "," || token == ":" || levels.empty())
      return;
    Level &level = levels.back();
    if (level.isObject && level.path.empty())
      return key(level, token);
    if (double number; !token.getAsDouble(number) && std::isinf(number))
      diags.error(rangeOf(token), "the number " + token + " is larger than any that can be computed with");
    place(level, rangeOf(token));
  }
  void open(StringRef token) {
    Level level;
    level.isObject = token == "{" && (levels.empty() || !levels.back().path.empty());
    level.begin = token.begin();
    if (level.isObject && !levels.empty())
      level.prefix = levels.back().path + ".";
    levels.push_back(std::move(level));
  }
  void close(StringRef token) {
    SMRange whole = {SMLoc::getFromPointer(levels.back().begin), SMLoc::getFromPointer(token.end())};
    levels.pop_back();
    if (!levels.empty())
      place(levels.back(), whole);
  }
  void key(Level &level, StringRef token) {
    StringRef name = token.drop_front().drop_back();
    auto [known, isNew] = level.keys.try_emplace(name, rangeOf(token));
    if (!isNew)
      diags.error(rangeOf(token), "the key `" + name + "` is there twice").note(known->second, "the first one is here");
    level.path = level.prefix + name.str();
  }
  void place(Level &level, SMRange range) {
    if (!level.path.empty())
      places[level.path] = range;
    level.path.clear();
  }

  StringRef text;
  Diagnostics &diags;
  std::vector<Level> levels;
  StringMap<SMRange> places;
};

} // namespace

SMRange findTooDeepJson(StringRef text, unsigned limit) {
  unsigned depth = 0;
  for (StringRef token = nextToken(text); !token.empty(); token = nextToken(text)) {
    if (token == "{" || token == "[")
      if (++depth > limit)
        return rangeOf(token);
    if ((token == "}" || token == "]") && depth > 0)
      --depth;
    text = text.drop_front(std::min<size_t>(token.end() - text.begin(), text.size()));
  }
  return {};
}

StringMap<SMRange> findJsonPlaces(StringRef text, Diagnostics &diags) {
  return Walk(text, diags).run();
}

} // namespace attn
