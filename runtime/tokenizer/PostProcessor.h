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
  // White space at the ends of tokens does not count as theirs: the tokens' spans get shorter. For the tokens of one
  // text; nothing happens where the description does not ask for it.
  void trim(View text, const Vocabulary &vocabulary, Array<Token> &tokens) const;
  // `texts` are the tokens of A and, if `two`, of B.
  void apply(const Array<Token> (&texts)[2], bool two, bool special, Array<Token> &out) const;

private:
  struct Part {
    int text; // 0: A, 1: B, -1: the special tokens `ids`
    int32_t type;
    Array<int32_t> ids;
  };
  bool readOne(const JsonDocument &file, Json description, const Vocabulary &vocabulary);
  bool readSequence(const JsonDocument &file, Json description, const Vocabulary &vocabulary);
  bool readByteLevel(const JsonDocument &file, Json description);
  bool readTemplates(const JsonDocument &file, Json description, const Vocabulary &vocabulary);
  bool readTemplate(const JsonDocument &file, Json description, const char *key, const Vocabulary &vocabulary,
                    Array<Part> &out);
  bool readPart(const JsonDocument &file, Json entry, Json specials, const Vocabulary &vocabulary, Array<Part> &out);
  bool readEnds(const JsonDocument &file, Json description, const Vocabulary &vocabulary, int32_t (&ids)[2]);
  bool readBert(const JsonDocument &file, Json description, const Vocabulary &vocabulary);
  bool readRoberta(const JsonDocument &file, Json description, const Vocabulary &vocabulary);
  void setTemplates(const int32_t (&ids)[2], int between, int32_t secondType);

  Array<Part> templates[2]; // for one text, for two
  bool hasTemplate = false; // that tokenizer.json gives
  bool trims = false;       // spans
  bool firstSpace = true;   // the space before a text's first token was put there, so it has no byte
};

} // namespace attn
#endif
