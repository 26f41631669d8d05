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

WeightProvider drawWeights(uint64_t seed) {
  return [seed](WeightOp op, ArrayRef<int64_t> turns) -> mlir::FailureOr<Tensor> {
    auto type = cast<mlir::RankedTensorType>(op.getType());
    std::string name = op.getSymName().str();
    for (int64_t turn : turns)
      name += "." + std::to_string(turn);
    Tensor tensor = drawTensor(name, seed, type.getShape(), type.getElementType(), 8);
    double width = type.getRank() ? static_cast<double>(type.getShape().back()) : 1;
    if (type.getRank() > 1)
      for (double &number : tensor.numbers)
        number = static_cast<float>(number / std::sqrt(width));
    return tensor;
  };
}

} // namespace attn::interpreter
