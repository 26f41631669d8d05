// Text.h - a model's tokenizer: texts to ids, and ids to text while they still come.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_TEXT_H
#define ATTN_TOOLS_RUN_TEXT_H

#include "tools/run/Library.h"
#include <span>

namespace attn::run {

/// The ids of a text, with what the tokenizer's template adds.
std::vector<int32_t> idsOf(const Model &model, const std::string &text);

/// The text of ids that come one by one, in whole characters: what a token begins is held back until another ends it.
class GrowingText {
public:
  /// `prompt`: ids in front of those to come, whose text is not part of it.
  GrowingText(const Model &owner, std::span<const int32_t> prompt);

  /// What became certain with this id.
  std::string add(int32_t id);
  /// What was held back; the whole text on a line of its own if the decoder changed what it had said.
  std::string end();

private:
  /// The text behind the prompt's.
  std::string whole() const;
  std::string beyond(const std::string &text);

  const Model &model;
  std::vector<int32_t> ids;
  std::string prefix; // the prompt's text
  std::string told;
};

} // namespace attn::run

#endif
