// What is right and wrong about one function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_AGREE_JUDGE_H
#define ATTN_TOOLS_AGREE_JUDGE_H
#include "tools/agree/Course.h"

namespace attn::agree {

struct JudgeOptions {
  double tolerance; // of the largest value of a result
  bool pointwise;   // of each value instead
  double floor;     // the largest value counts as at least this
  bool quiet;       // show only what is wrong
};

/// One sequence of the batch and the session in which it begins.
struct Case {
  Sequence sequence;
  interpreter::Session session;
  SessionMemory memory;
};

/// All rows in one call, and (where the function may be called so) in several: what each course gives of each case.
using Wanted = std::vector<std::pair<Course, std::vector<Numbers>>>;

/// What the interpreter makes of a batch, in one call and in several.
mlir::FailureOr<Wanted> interpretBatch(interpreter::Interpreter &interpreter, mlir::func::FuncOp function,
                                       llvm::ArrayRef<Case> batch);

/// Judges one function; counts what is wrong.
class Judge {
public:
  Judge(mlir::func::FuncOp functionOf, llvm::ArrayRef<Case> batchOf, const JudgeOptions &optionsOf)
      : function(functionOf), batch(batchOf), options(optionsOf) {}

  void judgePasses(const Wanted &before, const Wanted &after);
  void judgeCompiled(const Compiled &compiled, const Wanted &wanted);
  int wrong = 0;

private:
  /// The largest difference, relative to the largest finite number of that result; infinite where one side is no number
  /// or infinite and the other is not the same.
  struct Difference {
    double relative = 0;
    size_t sequence = 0, place = 0;
    double wanted = 0, got = 0;
  };

  void report(const llvm::Twine &what, bool right);
  std::vector<Run> start() const;
  std::vector<Run> runTogether(const Compiled &compiled, const Course &course, Threads threads);
  std::vector<Run> runAlone(const Compiled &compiled, const Course &course);
  void judgeCourse(const Compiled &compiled, const Course &course, llvm::ArrayRef<Run> whole, bool everyWay);
  bool sameBits(llvm::ArrayRef<Run> runs, llvm::ArrayRef<Run> whole, bool everyResult);
  void judgeNumbers(const Course &course, const std::vector<Numbers> &got, const std::vector<Numbers> &wanted);
  void compare(const std::vector<double> &got, const std::vector<double> &wanted, double largest, size_t b,
               Difference &worst) const;
  std::vector<Numbers> numbersOf(llvm::ArrayRef<Run> runs);
  std::string lengthsOf(size_t b) const;

  mlir::func::FuncOp function;
  llvm::ArrayRef<Case> batch;
  JudgeOptions options;
};

} // namespace attn::agree
#endif
