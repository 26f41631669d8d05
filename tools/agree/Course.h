// A sequence in one call or in several: how its rows are parted, and how what the calls give is put together again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function that caches may be given the rows of its cached sequence bit by bit; one that does not but carries its
// state from call to call, along the sequence that it names as `test.chunks`. An argument `test.carry = N` gets result
// N of the call before, from the second call on. A sequence that the function keeps in `once` places is given to the
// first call alone, everything else to each.
#ifndef ATTN_TOOLS_AGREE_COURSE_H
#define ATTN_TOOLS_AGREE_COURSE_H
#include "dialect/interpreter/Interpreter.h"
#include "tools/agree/Call.h"

namespace attn::agree {

/// How many rows each call gets; the last number for all further ones too, 0 for all that are left.
struct Course {
  std::string name;
  std::vector<int64_t> chunks;
  /// Sequence b begins b % 3 calls late, so that sessions of several lengths meet.
  bool staggered = false;
};

/// The sequence whose rows may come bit by bit; "" if none.
std::string chunkedAlong(mlir::func::FuncOp function);
/// The place of the one dimension of a result along which it grows with the chunks; nothing if it has none, has
/// several, or says that what it holds depends on the calls (`test.varies`).
std::optional<size_t> growsAlong(mlir::func::FuncOp function, unsigned result);

/// The calls of a sequence.
std::vector<Sequence> part(mlir::func::FuncOp function, const Sequence &whole, const Course &course);

/// The results of all calls: joined where they grow, else those of the last.
using Numbers = std::vector<std::vector<double>>; // one a result
using Bits = std::vector<Bytes>;

/// What the interpreter makes of a sequence in a session.
mlir::FailureOr<Numbers> interpretCourse(interpreter::Interpreter &interpreter, mlir::func::FuncOp function,
                                         const Sequence &whole, const Course &course, interpreter::Session session);

/// A compiled function and what its calls need.
struct Compiled {
  const CompiledModule &module;
  size_t index;
  mlir::func::FuncOp function;
  const std::vector<Bytes> &weights;
};

/// A sequence, its session (which goes on), and what its calls gave.
struct Run {
  const Sequence *whole;
  SessionMemory session;
  Bits results;
};

/// Runs sequences together; returns what a call did that it must not do, or "".
std::string callCourse(const Compiled &compiled, llvm::MutableArrayRef<Run> runs, const Course &course,
                       Threads threads);

} // namespace attn::agree
#endif
