// A kernel that visits every element of a tensor in runs: the loops that the generic operations share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of an operation agree by name. The first one spans the space: the kernel loops over its dimensions, the
// last of them left to the body as one run of `count` elements, which the body handles in tiles. Tensors that lack a
// dimension stand still along it. Where all tensors are uniform or rows of the batch, the loops go over the rows of the
// whole batch at once; else over each sequence. Neighbouring dimensions that lie without gaps in all tensors become
// one.
#ifndef ATTN_LOWERING_NEST_H
#define ATTN_LOWERING_NEST_H

#include "lowering/Kernel.h"
#include "llvm/ADT/StringMap.h"

namespace attn {

/// Where the loops stand, as their body sees it.
struct Run {
  Kernel &kernel;
  Ir &ir;
  llvm::SmallVector<Local> tensors;     // as given; pointers at the first element of the run
  llvm::StringRef along;                // the dimension of the run; empty if the space has none
  mlir::Value first, count;             // where in that dimension, how many
  mlir::Value sequence;                 // null where rows of the whole batch are visited
  llvm::StringMap<mlir::Value> indices; // of the outer dimensions that stand alone

  /// The step of tensor `n` along the run: 0 if it lacks the dimension.
  mlir::Value step(size_t n);
  bool standsStill(size_t n) { return tensors[n].find(along) < 0; }
  /// Handles the run in tiles of `width` elements, `valid` of which count, beginning at element `at` of the run.
  void chunks(std::function<void(mlir::Value at, int64_t width, mlir::OpFoldResult valid)> body);
  /// The same with values carried along.
  llvm::SmallVector<mlir::Value>
  chunks(mlir::ValueRange carried,
         std::function<llvm::SmallVector<mlir::Value>(mlir::Value at, int64_t width, mlir::OpFoldResult valid,
                                                      mlir::ValueRange carried)>
             body);
  /// A tile of tensor `n` along the run.
  mlir::Value load(size_t n, mlir::Value at, int64_t width, mlir::OpFoldResult valid);
  void store(mlir::Value tile, size_t n, mlir::Value at, mlir::OpFoldResult valid);
  /// Copies the run of tensor `from` to tensor 0.
  void copy(size_t from);
};

struct NestOptions {
  /// The run goes along this dimension, whole, whatever lies closest.
  llvm::StringRef along = {};
  /// The body asks for places in the sequence (`first`, `indices`): no loop over the rows of all sequences, nothing
  /// joined.
  bool positions = false;
};

void buildNest(Emitter &emitter, llvm::StringRef name, llvm::ArrayRef<View> views, std::function<void(Run &)> body,
               const NestOptions &options = {});

/// A constant as an attribute, anything else as it is.
mlir::OpFoldResult folded(mlir::Value number);

} // namespace attn
#endif
