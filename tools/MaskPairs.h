// MaskPairs.h: the mask of an attention for one pair of a query and a key, as far as it can be known when compiling.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_MASKPAIRS_H
#define ATTN_TOOLS_MASKPAIRS_H

#include "dialect/interpreter/Scalars.h"
#include "lowering/attend/Work.h"

namespace attn {

enum class Visibility { Hidden, Visible, Unknown };

class MaskPairs {
public:
  MaskPairs(AttendOp op, const Occasion &occasion);
  Visibility at(int64_t query, int64_t key, int64_t head);

private:
  /// A number; or one that nobody knows, which equals another of the same origin (0: nothing is known of it).
  struct Number {
    double value = 0;
    bool known = true;
    int64_t origin = 0;
  };
  struct Step {
    mlir::Operation *op;
    interpreter::Function function; // null for attn.at
    llvm::SmallVector<unsigned, 3> operands;
    unsigned result;
  };
  unsigned slotOf(mlir::Value value);
  Number compute(const Step &step);
  Number look(const Step &step);
  Number unknown(const Step &step);

  AttendOp op;
  OccasionData data;
  llvm::DenseMap<mlir::Value, unsigned> places;
  std::vector<Number> slots;
  std::vector<Step> steps;
  unsigned arguments[3], result;
};

} // namespace attn

#endif // ATTN_TOOLS_MASKPAIRS_H
