// Weights.h: the weights a model binds, each once, as symbols of the module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_FRONTEND_WEIGHTS_H
#define ATTN_FRONTEND_WEIGHTS_H

#include "frontend/Diagnostics.h"
#include "frontend/Values.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace attn {

/// A pattern of names without `{0}` and the root's slash, fit for a symbol:
/// `encoder.layer.attention.self.query.weight`.
std::string symbolFor(StringRef pattern);

class Weights {
public:
  Weights(Diagnostics &d, std::function<bool(StringRef)> isTaken) : diags(d), takenElsewhere(std::move(isTaken)) {}

  struct Use {
    std::string symbol;
    llvm::SmallVector<const Turn *> turns;
  };
  /// The symbol for the tensor `name` of the file with these dimensions; one for each name, shape and layout. An error
  /// when the same tensor was bound with another number of elements.
  std::optional<Use> bind(const Text &name, DimsRef dims, bool inFirst, SMRange where);

  /// For trying an elaboration and taking it back.
  size_t mark() const { return weights.size(); }
  void reset(size_t mark);

  bool isTaken(StringRef symbol) const;
  /// Writes the symbols at the head of the module.
  void emit(mlir::ModuleOp module);

private:
  struct Weight {
    std::string symbol, pattern;
    llvm::SmallVector<int64_t> shape, turns;
    bool inFirst;
    Dims dims;
    SMRange where;
  };
  std::string freshSymbol(StringRef pattern) const;

  Diagnostics &diags;
  std::function<bool(StringRef)> takenElsewhere;
  std::vector<Weight> weights;
};

} // namespace attn

#endif // ATTN_FRONTEND_WEIGHTS_H
