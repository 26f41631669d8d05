// Decoders: WordPiece; ByteLevel is in ByteLevel.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenizer/Decoder.h"
#include "runtime/Error.h"
#include "runtime/tokenizer/ByteLevel.h"
#include "runtime/tokenizer/Components.h"

namespace attn {
namespace {

// Joins what begins with the prefix to the token before, puts a space before all others, and takes some spaces out
// again.
class WordPieceDecoder : public Decoder {
public:
  bool read(const JsonDocument &file, Json description);
  void decode(const Array<View> &tokens, Text &out) const override;

private:
  View prefix;
  bool cleanup = true;
};

bool WordPieceDecoder::read(const JsonDocument &file, Json description) {
  constexpr View keys[] = {"type", "prefix", "cleanup"};
  return checkKeys(file, "decoder", description, keys) && file.readText(description, "prefix", prefix, "##") &&
         file.readBool(description, "cleanup", cleanup, true);
}

void replaceAll(Text &text, View from, View to) {
  size_t at = text.view().find(from);
  if (at == View::npos)
    return;
  Text out;
  View rest = text.view();
  for (; at != View::npos; at = rest.find(from)) {
    out.append(View(rest.data(), at)).append(to);
    rest.remove_prefix(at + from.size());
  }
  out.append(rest);
  text = std::move(out);
}

// Within one token, in this order, as the reference does it.
void cleanUp(Text &token) {
  constexpr View replacements[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &replacement : replacements)
    replaceAll(token, replacement[0], replacement[1]);
}

void WordPieceDecoder::decode(const Array<View> &tokens, Text &out) const {
  for (size_t i = 0; i < tokens.size(); ++i) {
    View text = tokens[i];
    Text token;
    if (i && text.starts_with(prefix))
      text.remove_prefix(prefix.size());
    else if (i)
      token.append(' ');
    token.append(text);
    if (cleanup)
      cleanUp(token);
    out.append(token.view());
  }
}

} // namespace

void Decoder::decode(const Array<View> &tokens, Text &out) const {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i)
      out.append(' ');
    out.append(tokens[i]);
  }
}

Decoder *readDecoder(const JsonDocument &file, Json description) {
  View type;
  if (!description)
    return new Decoder;
  if (!readType(file, "decoder", description, type))
    return nullptr;
  if (type == "WordPiece") {
    Owned<WordPieceDecoder> made(new WordPieceDecoder);
    return made->read(file, description) ? made.release() : nullptr;
  }
  if (type == "ByteLevel")
    return readByteLevelDecoder(file, description);
  failUnknown(file, "decoder", type);
  return nullptr;
}

} // namespace attn
