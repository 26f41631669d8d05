// Weights.cpp: weight symbols, one for each name, shape and layout.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Weights.h"
#include "dialect/AttnOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace attn {

std::string symbolFor(StringRef pattern) {
  std::string base;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{')
      i = std::min(pattern.find('}', i), pattern.size() - 1);
    else if (isalnum(static_cast<unsigned char>(pattern[i])) || pattern[i] == '_')
      base += pattern[i];
    else if (!base.empty() && base.back() != '.' && pattern[i] != '/')
      base += '.';
  }
  if (base.empty() || isdigit(static_cast<unsigned char>(base[0])))
    base = "w" + base;
  return base;
}

bool Weights::isTaken(StringRef symbol) const {
  return llvm::any_of(weights, [&](const Weight &w) { return w.symbol == symbol; });
}

std::string Weights::freshSymbol(StringRef pattern) const {
  std::string base = symbolFor(pattern), symbol = base;
  for (unsigned n = 1; isTaken(symbol) || takenElsewhere(symbol); ++n)
    symbol = base + "_" + std::to_string(n);
  return symbol;
}

/// Of one weight: sizes and offsets reckoned from it stay far inside 64 bits.
static constexpr int64_t maxNumbers = int64_t(1) << 40;

std::optional<Weights::Use> Weights::bind(const Text &name, DimsRef dims, bool inFirst, SMRange where) {
  Use use;
  if (product(dims) > maxNumbers) {
    diags.error(where, "the weight `" + name.shown() + "` is " + text(dims) + " here, more than " +
                           std::to_string(maxNumbers) + " numbers");
    return std::nullopt;
  }
  if (name.hasBrace()) {
    diags.error(where, "the name of a weight has no braces, and this is `" + name.shown() + "`");
    return std::nullopt;
  }
  std::string pattern = name.pattern(use.turns);
  llvm::SmallVector<int64_t> shape, turns;
  for (DimRef dim : dims)
    shape.push_back(dim->size);
  for (const Turn *turn : use.turns)
    turns.push_back(turn->count);
  for (const Weight &weight : weights) {
    if (weight.pattern != pattern || weight.turns != turns)
      continue;
    if (weight.shape == shape && weight.inFirst == inFirst) {
      use.symbol = weight.symbol;
      return use;
    }
    if (product(weight.dims) != product(dims)) {
      diags
          .error(where, "the weight `" + name.shown() + "` is " + text(dims) + " here, " +
                            std::to_string(product(dims)) + " numbers")
          .note(weight.where,
                "and " + text(weight.dims) + " here, " + std::to_string(product(weight.dims)) + " numbers");
      return std::nullopt;
    }
  }
  use.symbol = freshSymbol(pattern);
  weights.push_back({use.symbol, pattern, shape, turns, inFirst, Dims(dims), where});
  return use;
}

void Weights::reset(size_t mark) {
  weights.resize(std::min(mark, weights.size()));
}

void Weights::emit(ModuleOp module) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  for (const Weight &weight : weights) {
    Place place = diags.place(weight.where.Start);
    Location loc = FileLineColLoc::get(builder.getContext(), place.file, place.line, place.column);
    auto type = RankedTensorType::get(weight.shape, builder.getF32Type());
    WeightOp::create(
        builder, loc, builder.getStringAttr(weight.symbol), builder.getStrArrayAttr({weight.pattern}),
        builder.getDenseI64ArrayAttr({}), builder.getDenseI64ArrayAttr(weight.turns),
        builder.getStringAttr(weight.inFirst ? "in_out" : "out_in"), TypeAttr::get(type),
        builder.getStringAttr(place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column)));
  }
}

} // namespace attn
