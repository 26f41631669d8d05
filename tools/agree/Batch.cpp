// Ragged batches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/Batch.h"
#include "dialect/AttnOps.h"
#include "tools/interpret/Random.h"
#include <cmath>

using namespace mlir;
using namespace attn::interpreter;

namespace attn::agree {

Sizes sizesIn(const Sequence &sequence, Type type, DimsAttr dims) {
  auto tensor = cast<RankedTensorType>(type);
  Sizes sizes(tensor.getShape());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (tensor.isDynamicDim(i))
      sizes[i] = sequence.lengths.at(dims.sequence(i).str());
  return sizes;
}

static constexpr double edges[] = {0.0,      -0.0,      1.0,   -1.0,  0.5,      -0.5,     1.5,      2.5,   -2.5,
                                   INFINITY, -INFINITY, NAN,   3.0,   -3.0,     10.0,     -10.0,    88.5,  89.5,
                                   -87.,     -90.,      127.5, 128.5, -126.5,   -151.0,   1e-8,     -1e-8, 1e-30,
                                   -1e-30,   1e-40,     1e30,  -1e30, 8388609., 0.999999, -1.000001};

/// Replaces the numbers of a tensor as `test.fill` asks.
static LogicalResult fill(func::FuncOp function, StringRef how, Tensor &tensor) {
  auto [word, rest] = how.split(' ');
  double amount = 0;
  if (word == "below")
    return success(); // heeded while drawing
  if (rest.getAsDouble(amount))
    return function.emitError() << "`test.fill = \"" << how << "\"` holds no number";
  int64_t rows = tensor.sizes.empty() ? 1 : tensor.sizes[0];
  size_t width = rows ? tensor.numbers.size() / rows : 0;
  for (size_t i = 0; i < tensor.numbers.size(); ++i) {
    size_t place = i / width;
    auto row = static_cast<double>(place);
    if (word == "ramp")
      tensor.numbers[i] = static_cast<float>(amount * row);
    else if (word == "same")
      tensor.numbers[i] = static_cast<float>(amount);
    else if (word == "edges")
      tensor.numbers[i] = static_cast<float>(edges[i % std::size(edges)]);
    else if (word == "poison" && row >= amount)
      tensor.numbers[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
    else if (word != "poison")
      return function.emitError() << "`test.fill = \"" << how << "\"` asks for nothing known";
  }
  return success();
}

FailureOr<Sequence> drawSequence(func::FuncOp function, const std::map<std::string, int64_t> &lengths, unsigned number,
                                 uint64_t seed) {
  Sequence sequence{lengths, {}};
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    auto how = function.getArgAttrOfType<StringAttr>(i, "test.fill");
    int64_t limit = 8;
    if (how && how.getValue().starts_with("below "))
      how.getValue().drop_front(6).getAsInteger(10, limit);
    std::string name = "input " + std::to_string(i) + " " + std::to_string(number);
    Tensor tensor = drawTensor(name, seed, sizesIn(sequence, type, function.getArgAttrOfType<DimsAttr>(i, "attn.dims")),
                               type.getElementType(), limit);
    if (how && failed(fill(function, how.getValue(), tensor)))
      return failure();
    sequence.inputs.push_back(std::move(tensor));
  }
  return sequence;
}

} // namespace attn::agree
