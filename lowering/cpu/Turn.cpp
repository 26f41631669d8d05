// Turning a matrix over: the function that all kernels of a module share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/Turn.h"
#include "lowering/cpu/SharedFunction.h"
#include "lowering/cpu/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace attn::cpu {
namespace {

struct Turn {
  Ir &ir;
  Vectors vectors;
  Value from, fromLane, to, toRow, rows, lanes, ahead, aheadRow, aheadLines;

  void blocks();
  void prefetch(Value lane, Value row, Value count);
  void block(Value row, Value lane, bool whole);
  void exchange(SmallVector<Value> &square);
};

} // namespace

/// Transposes a square of vectors: at each step the upper right and lower left parts of all blocks of twice the size
/// change places.
void Turn::exchange(SmallVector<Value> &square) {
  int64_t width = vectors.lanes;
  for (int64_t part = 1; part < width; part *= 2)
    for (int64_t i = 0; i < width; ++i) {
      if (i & part)
        continue;
      SmallVector<int64_t> upper, lower; // lanes of the pair: those of the second begin at `width`
      for (int64_t l = 0; l < width; ++l) {
        upper.push_back(l & part ? width + l - part : l);
        lower.push_back(l & part ? width + l : l + part);
      }
      Value a = square[i], b = square[i + part];
      square[i] = vector::ShuffleOp::create(ir, ir.loc, a, b, upper);
      square[i + part] = vector::ShuffleOp::create(ir, ir.loc, a, b, lower);
    }
}

void Turn::block(Value row, Value lane, bool whole) {
  int64_t width = vectors.lanes;
  Value rowMask, laneMask, none;
  if (!whole) {
    rowMask = vectors.below(ir.sub(rows, row));
    laneMask = vectors.below(ir.sub(lanes, lane));
    none = vectors.below(ir.constant(0));
  }
  SmallVector<Value> square;
  for (int64_t l = 0; l < width; ++l) {
    Value number = ir.add(lane, ir.constant(l));
    Value place = ir.address(from, ir.f32(), ir.add(ir.mul(number, fromLane), row)), mask;
    if (!whole)
      mask = arith::SelectOp::create(ir, ir.loc, ir.less(number, lanes), rowMask, none);
    square.push_back(vectors.load(ir.f32(), place, mask));
  }
  exchange(square);
  for (int64_t r = 0; r < width; ++r) {
    Value number = ir.add(row, ir.constant(r));
    Value place = ir.address(to, ir.f32(), ir.add(ir.mul(number, toRow), lane));
    if (whole)
      vectors.store(square[r], place);
    else
      ir.when(ir.less(number, rows), [&] { vectors.store(square[r], place, laneMask); });
  }
}

/// The block's share of what is to be asked for.
void Turn::prefetch(Value lane, Value row, Value count) {
  constexpr int64_t numbersOfLine = 16;
  Value first = ir.add(lane, ir.mul(ir.div(row, ir.constant(vectors.lanes)), count));
  ir.loop(count, [&](Value n) {
    Value begin = ir.address(ahead, ir.f32(), ir.mul(ir.add(first, n), aheadRow));
    ir.loop(aheadLines, [&](Value line) {
      Value place = ir.address(begin, ir.f32(), ir.mul(line, ir.constant(numbersOfLine)));
      LLVM::Prefetch::create(ir, ir.loc, place, /*rw=*/0, /*hint=*/2, /*cache=*/1);
    });
  });
}

void Turn::blocks() {
  Value step = ir.constant(vectors.lanes);
  Value blocksOfLanes = ir.ceilDiv(rows, step), rowsOfBlock = ir.ceilDiv(step, ir.max(blocksOfLanes, ir.constant(1)));
  Value none = ir.less(aheadLines, ir.constant(1));
  rowsOfBlock = arith::SelectOp::create(ir, ir.loc, none, ir.constant(0), rowsOfBlock);
  ir.loop(ir.constant(0), lanes, step, [&](Value lane) {
    Value lanesFit = ir.less(ir.add(lane, ir.constant(vectors.lanes - 1)), lanes);
    ir.loop(ir.constant(0), rows, step, [&](Value row) {
      prefetch(lane, row, rowsOfBlock);
      Value rowsFit = ir.less(ir.add(row, ir.constant(vectors.lanes - 1)), rows);
      Value whole = arith::AndIOp::create(ir, ir.loc, lanesFit, rowsFit);
      auto choose = scf::IfOp::create(ir, ir.loc, whole, /*withElseRegion=*/true);
      ir.setInsertionPoint(choose.thenBlock()->getTerminator());
      block(row, lane, true);
      ir.setInsertionPoint(choose.elseBlock()->getTerminator());
      block(row, lane, false);
      ir.setInsertionPointAfter(choose);
    });
  });
}

LLVM::LLVMFuncOp turnFunction(ModuleOp module, const Target &target) {
  return sharedFunction(module, "attn_turn", "pnpnnnpnn", [&](Ir &ir, ValueRange a) {
    Turn{ir, Vectors(ir, target.lanes), a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]}.blocks();
  });
}

} // namespace attn::cpu
