// Counters of tiles and bytes, under --count: a task sums in memory of its own and hands the sums over at its end.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Program.h"
#include "lowering/attend/AttendLowering.h"
#include "runtime/abi.h"

using namespace mlir;

namespace attn {

void AttendLowering::startCounting() {
  if (!emitter.program.options.count)
    return;
  OpBuilder::InsertionGuard guard(ir);
  ir.setInsertionPointToStart(&kernel.function().getBody().front());
  counts = LLVM::AllocaOp::create(ir, ir.loc, ir.ptr(), ir.i64(), ir.constant(ATTN_COUNTS), 8);
  for (int64_t i = 0; i < ATTN_COUNTS; ++i)
    ir.store(ir.constant(0), counts, ir.constant(i));
}

void AttendLowering::tally(Counter counter, Value amount) {
  if (!counts)
    return;
  Value place = ir.constant(counter);
  ir.store(ir.add(ir.load(ir.i64(), counts, place), amount), counts, place);
}

/// So many rows of so many numbers of a tensor have been read.
void AttendLowering::tallyRows(const View &tensor, Value read, int64_t numbers) {
  int64_t bytes = tensor.element.getIntOrFloatBitWidth() / 8;
  tally(Bytes, ir.mul(read, ir.constant(numbers * bytes)));
}

void AttendLowering::endCounting() {
  if (!counts)
    return;
  Program &program = emitter.program;
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ir.getContext()), {ir.ptr(), ir.i64(), ir.ptr()});
  auto add = program.runtime("attn_rt_count", type);
  LLVM::CallOp::create(ir, ir.loc, add, ValueRange{kernel.call, ir.constant(int64_t(program.counts.size())), counts});
  if (part == Part::Whole) // it is lowered last
    program.counts.push_back(attendName(op));
}

} // namespace attn
