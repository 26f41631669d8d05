// Seeded random weights and inputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/interpret/Random.h"
#include "dialect/AttnOps.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <numbers>

using namespace llvm;

namespace attn::interpreter {

namespace {

/// splitmix64 (Steele, Lea, Flood 2014): the same numbers everywhere, unlike the distributions of <random>.
class Generator {
public:
  Generator(StringRef name, uint64_t seed) : state(seed) {
    for (char c : name)
      state = next() ^ static_cast<unsigned char>(c);
  }
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  uint64_t state;
};

} // namespace

/// So that products of some tens to hundreds of numbers stay near 1, whatever the shape that passes give a weight.
static constexpr double weightScale = 0.125;

Tensor drawTensor(StringRef name, uint64_t seed, ArrayRef<int64_t> sizes, mlir::Type element, int64_t limit) {
  Generator generator(name, seed);
  Tensor tensor(sizes);
  for (double &number : tensor.numbers) {
    if (element.isF32())
      number = static_cast<float>(generator.normal());
    else
      number = static_cast<double>(generator.next() % static_cast<uint64_t>(element.isInteger(1) ? 2 : limit));
  }
  return tensor;
}

Tensor drawPart(WeightOp op, size_t part, ArrayRef<int64_t> turns, uint64_t seed) {
  auto type = cast<mlir::RankedTensorType>(op.getType());
  Sizes sizes(type.getShape());
  if (!op.getRows().empty())
    sizes[0] = op.getRows()[part];
  std::string name = fillTurns(cast<mlir::StringAttr>(op.getParts()[part]).getValue(), turns);
  Tensor tensor = drawTensor(name, seed, sizes, type.getElementType(), 8);
  for (double &number : tensor.numbers)
    number = static_cast<float>(number * weightScale);
  return tensor;
}

WeightProvider drawWeights(uint64_t seed) {
  return [seed](WeightOp op, ArrayRef<int64_t> turns) -> mlir::FailureOr<Tensor> {
    Tensor whole(cast<mlir::RankedTensorType>(op.getType()).getShape());
    auto next = whole.numbers.begin();
    for (size_t part = 0; part < op.getParts().size(); ++part) {
      Tensor tensor = drawPart(op, part, turns, seed);
      next = std::copy(tensor.numbers.begin(), tensor.numbers.end(), next);
    }
    return whole;
  };
}

} // namespace attn::interpreter
