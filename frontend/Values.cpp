// Values.cpp: values of expressions and how they are shown.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Values.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstdio>

namespace attn {

void Text::append(StringRef plain) {
  if (plain.empty())
    return;
  if (!pieces.empty() && !pieces.back().turn)
    pieces.back().text += plain.str();
  else
    pieces.push_back({plain.str(), nullptr});
}

void Text::append(const Text &other) {
  for (const Piece &piece : other.pieces) {
    if (piece.turn)
      append(piece.turn);
    else
      append(piece.text);
  }
}

bool Text::isPlain() const {
  return llvm::none_of(pieces, [](const Piece &p) { return p.turn != nullptr; });
}

bool Text::hasBrace() const {
  return llvm::any_of(pieces, [](const Piece &p) { return p.text.find_first_of("{}") != std::string::npos; });
}

std::string Text::pattern(llvm::SmallVectorImpl<const Turn *> &turns) const {
  std::string result;
  for (const Piece &piece : pieces) {
    if (!piece.turn) {
      result += piece.text;
      continue;
    }
    auto *at = llvm::find(turns, piece.turn);
    size_t index = static_cast<size_t>(at - turns.begin());
    if (at == turns.end())
      turns.push_back(piece.turn);
    result += "{" + std::to_string(index) + "}";
  }
  return result;
}

std::string Text::shown() const {
  std::string result;
  for (const Piece &piece : pieces)
    result += piece.turn ? "{" + piece.turn->name.str() + "}" : piece.text;
  return result;
}

Value Value::of(bool b) {
  Value v = of(Kind::boolean);
  v.boolean = b;
  return v;
}

Value Value::of(double n, bool whole) {
  Value v = of(Kind::number);
  v.number = n;
  v.whole = whole;
  return v;
}

Value Value::of(Text t) {
  Value v = of(Kind::string);
  v.text = std::move(t);
  return v;
}

Value Value::of(DimRef d) {
  Value v = of(Kind::dim);
  v.dim = d;
  return v;
}

Value Value::of(Tensor t) {
  Value v = of(Kind::tensor);
  v.tensor = std::move(t);
  return v;
}

Value Value::of(const Turn *t) {
  Value v = of(Kind::turn);
  v.turn = t;
  return v;
}

Value Value::of(std::vector<Value> elements) {
  Value v = of(Kind::tuple);
  v.elements = std::make_shared<std::vector<Value>>(std::move(elements));
  return v;
}

std::string numberText(double value) {
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  if (value == std::floor(value) && std::fabs(value) < 1e15)
    return std::to_string(static_cast<int64_t>(value));
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

std::string Value::described() const {
  switch (kind) {
  case Kind::poison:
  case Kind::unit:
    return "nothing";
  case Kind::none:
    return "`none`";
  case Kind::boolean:
    return boolean ? "`true`" : "`false`";
  case Kind::number:
    return "the number " + numberText(number);
  case Kind::string:
    return "the string \"" + text.shown() + "\"";
  case Kind::config:
    return config.json->kind() == llvm::json::Value::Array ? "a list of config.json" : "an object of config.json";
  case Kind::dim:
    return "the dimension " + attn::described(dim);
  case Kind::tensor:
    return tensor.visible().empty() ? "a number of the model" : "a tensor " + attn::text(tensor.visible());
  case Kind::tuple:
    return std::to_string(elements->size()) + " values";
  case Kind::turn:
    return "the number of a turn";
  }
  return "";
}

} // namespace attn
