// A tokenizer, as tokenizer.json describes it: text to ids and back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     text ─ added tokens ─ normalizer ─ pre-tokenizer ─ model ─ post-processor ─► ids         ids ─ decoder ─► text
//
// Each step is a file of this folder. A description that holds anything unknown is refused. `truncation` and `padding`
// are not applied: how much of a text to give to a model is the caller's choice, and nothing here is ever padded.
#ifndef ATTN_RUNTIME_TOKENIZER_TOKENIZER_H
#define ATTN_RUNTIME_TOKENIZER_TOKENIZER_H
#include "runtime/attn.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/Decoder.h"
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/PostProcessor.h"
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/TokenModel.h"

struct attn_tokenizer : attn::Heap {
  bool open(const char *path);
  bool parse(attn::View text, attn::View source);
  // The tokens of one text or (second not null) of two.
  bool encode(attn::View text, const attn::View *second, bool special, attn::Array<attn::Token> &out) const;
  bool decode(const int32_t *ids, int64_t n, bool special, attn::Text &out) const;

  attn::Vocabulary vocabulary;

private:
  bool read();
  bool encodeText(attn::View text, attn::Array<attn::Token> &out) const;
  bool encodeGap(attn::Piece gap, attn::Array<attn::Token> &out) const;

  attn::JsonDocument file; // owns the texts
  attn::AddedTokens added;
  attn::Owned<attn::Normalizer> normalizer;
  attn::Owned<attn::PreTokenizer> preTokenizer;
  attn::Owned<attn::TokenModel> model;
  attn::PostProcessor postProcessor;
  attn::Owned<attn::Decoder> decoder;
};
#endif
