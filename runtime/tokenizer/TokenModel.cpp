// The third step of a tokenizer: which model it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/TokenModel.h"
#include "runtime/tokenizer/Components.h"

namespace attn {

void TokenModel::encode(Piece, Array<Token> &) const {}

TokenModel *readTokenModel(const JsonDocument &file, Json description, Vocabulary &vocabulary) {
  View type;
  Json vocab;
  if (!readType(file, "model", description, type))
    return nullptr;
  if (type != "WordPiece" && type != "BPE") {
    failUnknown(file, "model", type);
    return nullptr;
  }
  if (!file.readObject(description, "vocab", vocab) || !vocabulary.read(file, vocab))
    return nullptr;
  return type == "BPE" ? readBytePairs(file, description, vocabulary) : readWordPiece(file, description, vocabulary);
}

} // namespace attn
