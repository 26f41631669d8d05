// The fourth step of a tokenizer: the tokens of one text or of two get the special tokens around them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_TOKENIZER_POST_PROCESSOR_H
#define ATTN_RUNTIME_TOKENIZER_POST_PROCESSOR_H
#include "runtime/tokenizer/TokenModel.h"

namespace attn {

// What tokenizer.json calls TemplateProcessing: [CLS] A [SEP], and for two texts [CLS] A [SEP] B [SEP]. Without a
// template, A and then B.
class PostProcessor {
public:
  PostProcessor();
  bool read(const JsonDocument &file, Json description, const Vocabulary &vocabulary);
  // `texts` are the tokens of A and, if `two`, of B.
  void apply(const Array<Token> (&texts)[2], bool two, bool special, Array<Token> &out) const;

private:
  struct Part {
    int text; // 0: A, 1: B, -1: the special tokens `ids`
    int32_t type;
    Array<int32_t> ids;
  };
  bool readTemplate(const JsonDocument &file, Json description, const char *key, const Vocabulary &vocabulary,
                    Array<Part> &out);
  bool readPart(const JsonDocument &file, Json entry, Json specials, const Vocabulary &vocabulary, Array<Part> &out);
  bool readBert(const JsonDocument &file, Json description, const Vocabulary &vocabulary);

  Array<Part> templates[2]; // for one text, for two
};

} // namespace attn
#endif
