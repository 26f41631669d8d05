// Which places of a padded batch are real.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_INTERPRET_PLACES_H
#define ATTN_TOOLS_INTERPRET_PLACES_H
#include "dialect/AttnDialect.h"
#include "dialect/interpreter/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include <map>
#include <string>
#include <vector>

namespace attn::interpreter {

/// The real places of a sequence dimension, for each sequence of the batch.
using Places = std::vector<std::vector<int64_t>>;

/// Those of each sequence dimension that is not whole.
using PlacesByName = std::map<std::string, Places>;

/// A mask [batch, length], not 0 where a place is real; or lengths [batch].
Places placesOfMask(const Tensor &mask);
Places placesOfLengths(const Tensor &lengths);

/// The numbers of sequence `b` of a padded batch, whose tensors have these dimensions and this type.
Tensor takeReal(const Tensor &batch, const PlacesByName &places, DimsAttr dims, mlir::RankedTensorType type, size_t b);

} // namespace attn::interpreter
#endif
