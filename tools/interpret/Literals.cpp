// Tensors as text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/interpret/Literals.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace llvm;

namespace attn::interpreter {

namespace {

class LiteralReader {
public:
  LiteralReader(StringRef textOf, Tensor &tensorOf, ArrayRef<int64_t> shapeOf)
      : text(textOf), tensor(tensorOf), shape(shapeOf) {}

  Error read() {
    tensor.sizes.assign(shape.begin(), shape.end());
    if (Error error = readLevel(0))
      return error;
    if (!text.ltrim().empty())
      return complain("text behind the tensor");
    for (int64_t &size : tensor.sizes)
      size = std::max<int64_t>(size, 0); // below an empty list nothing says how long
    assert(tensor.numbers.size() == static_cast<size_t>(countElements(tensor.sizes)) && "each level was counted");
    return Error::success();
  }

private:
  Error complain(const Twine &what) const {
    return createStringError(what + " at `" + text.ltrim().take_front(20) + "`");
  }

  bool skip(char wanted) {
    text = text.ltrim();
    return text.consume_front(StringRef(&wanted, 1));
  }

  Error readLevel(size_t depth) {
    if (depth == shape.size())
      return readNumber();
    if (!skip('['))
      return complain("expected `[`");
    int64_t count = 0;
    while (!skip(']')) {
      if (count++ && !skip(','))
        return complain("expected `,` or `]`");
      if (Error error = readLevel(depth + 1))
        return error;
    }
    int64_t &size = tensor.sizes[depth];
    if (size >= 0 && size != count)
      return complain(Twine(count) + " entries where " + Twine(size) + " belong");
    size = count;
    return Error::success();
  }

  Error readNumber() {
    text = text.ltrim();
    std::string word = text.take_until([](char c) { return c == ',' || c == ']' || c == ' ' || c == '\n'; }).str();
    char *end = nullptr;
    double number = std::strtod(word.c_str(), &end);
    if (word.empty() || *end)
      return complain("expected a number");
    text = text.drop_front(word.size());
    tensor.numbers.push_back(number);
    return Error::success();
  }

  StringRef text;
  Tensor &tensor;
  ArrayRef<int64_t> shape;
};

} // namespace

Expected<Tensor> parseLiteral(StringRef text, mlir::RankedTensorType type) {
  Tensor tensor;
  Sizes shape;
  for (int64_t size : type.getShape())
    shape.push_back(mlir::ShapedType::isDynamic(size) ? -1 : size);
  if (Error error = LiteralReader(text, tensor, shape).read())
    return std::move(error);
  return tensor;
}

static void printLevel(const Tensor &tensor, size_t depth, size_t &next, raw_ostream &out) {
  if (depth == tensor.sizes.size()) {
    double number = tensor.numbers[next++];
    if (std::isnan(number))
      out << "nan"; // without its sign
    else
      out << format("%.6g", number == 0 ? 0.0 : number);
    return;
  }
  out << '[';
  for (int64_t i = 0; i < tensor.sizes[depth]; ++i) {
    out << (i ? ", " : "");
    printLevel(tensor, depth + 1, next, out);
  }
  out << ']';
}

void printLiteral(const Tensor &tensor, raw_ostream &out) {
  size_t next = 0;
  printLevel(tensor, 0, next, out);
}

} // namespace attn::interpreter
