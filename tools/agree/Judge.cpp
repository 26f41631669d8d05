// What is right and wrong about one function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/Judge.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cfloat>
#include <cmath>

using namespace mlir;

namespace attn::agree {

static const Course inOneCall = {"one call", {0}, false};
static const Course inSomeCalls = {"calls of 1, of 3 and of all other rows", {1, 3, 0}, true};
/// Judged by their bits alone.
static const Course inManyCalls[] = {{"calls of 7 rows", {7}, true}, {"calls of one row", {1}, true}};

FailureOr<Wanted> interpretBatch(interpreter::Interpreter &interpreter, func::FuncOp function, ArrayRef<Case> batch) {
  Wanted wanted;
  wanted.emplace_back(inOneCall, std::vector<Numbers>());
  if (!chunkedAlong(function).empty())
    wanted.emplace_back(inSomeCalls, std::vector<Numbers>());
  for (auto &[course, all] : wanted)
    for (const Case &each : batch) {
      auto numbers = interpretCourse(interpreter, function, each.sequence, course, each.session);
      if (failed(numbers))
        return failure();
      all.push_back(std::move(*numbers));
    }
  return wanted;
}

void Judge::report(const llvm::Twine &what, bool right) {
  wrong += !right;
  if (!right || !options.quiet)
    llvm::outs() << llvm::formatv("{0,-6}", right ? "right" : "WRONG") << function.getName() << ": " << what << "\n";
}

std::string Judge::lengthsOf(size_t b) const {
  std::string text;
  for (const auto &[name, length] : batch[b].sequence.lengths)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(length);
  return text;
}

// ---- numbers

/// The largest finite number of one result in the whole batch; `floor` where all that is left is what rounding made of
/// 0.
static double largestOf(const std::vector<Numbers> &results, size_t r, double floor) {
  double largest = floor;
  for (const Numbers &sequence : results)
    for (double number : sequence[r])
      if (std::isfinite(number))
        largest = std::fmax(largest, std::fabs(number));
  return largest;
}

void Judge::compare(const std::vector<double> &got, const std::vector<double> &wanted, double largest, size_t b,
                    Difference &worst) const {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i])))
      continue;
    if (got[i] == static_cast<float>(wanted[i])) // infinite where float32 ends
      continue;
    if (std::fabs(got[i]) < 2 * FLT_MIN && std::fabs(wanted[i]) < 2 * FLT_MIN) // may be 0: the end of normal numbers
      continue;
    double scale = options.pointwise ? std::fabs(wanted[i]) : largest;
    double off = std::fabs(got[i] - wanted[i]) / scale;
    if (!(off <= worst.relative)) // NaN too
      worst = {std::isnan(off) ? INFINITY : off, b, i, wanted[i], got[i]};
  }
}

void Judge::judgeNumbers(const Course &course, const std::vector<Numbers> &got, const std::vector<Numbers> &wanted) {
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    double largest = largestOf(wanted, r, options.floor);
    Difference worst;
    for (size_t b = 0; b < batch.size(); ++b)
      compare(got[b][r], wanted[b][r], largest, b, worst);
    std::string text = llvm::formatv("result {0}", r);
    if (course.chunks != inOneCall.chunks)
      text += " in " + course.name;
    text += llvm::formatv(": largest error {0:e2}", worst.relative);
    if (worst.relative > options.tolerance)
      text += llvm::formatv(", number {0} where {1} is {2:e9}, expected {3:e9}", worst.place, lengthsOf(worst.sequence),
                            worst.got, worst.wanted);
    report(text, worst.relative <= options.tolerance);
  }
}

void Judge::judgePasses(const Wanted &before, const Wanted &after) {
  for (auto [wanted, got] : llvm::zip(before, after))
    judgeNumbers(wanted.first, got.second, wanted.second);
}

std::vector<Numbers> Judge::numbersOf(ArrayRef<Run> runs) {
  std::vector<Numbers> all;
  for (const Run &run : runs) {
    Numbers &own = all.emplace_back();
    for (auto [r, bits] : llvm::enumerate(run.results))
      own.push_back(
          readNumbers(bits, cast<RankedTensorType>(function.getResultTypes()[r]).getElementType().isInteger()));
  }
  return all;
}

// ---- bits

std::vector<Run> Judge::start() const {
  std::vector<Run> runs;
  for (const Case &each : batch)
    runs.push_back({&each.sequence, each.memory, {}});
  return runs;
}

std::vector<Run> Judge::runTogether(const Compiled &compiled, const Course &course, Threads threads) {
  std::vector<Run> runs = start();
  if (std::string complaint = callCourse(compiled, runs, course, threads); !complaint.empty())
    report(complaint + " in " + course.name, false);
  return runs;
}

std::vector<Run> Judge::runAlone(const Compiled &compiled, const Course &course) {
  std::vector<Run> runs = start();
  for (Run &run : runs)
    if (std::string complaint = callCourse(compiled, run, course, {1, false}); !complaint.empty())
      report(complaint + " in " + course.name, false);
  return runs;
}

/// Results and sessions; where calls were several, those results that they make bit by bit.
bool Judge::sameBits(ArrayRef<Run> runs, ArrayRef<Run> whole, bool everyResult) {
  for (auto [run, other] : llvm::zip(runs, whole)) {
    if (!(run.session == other.session))
      return false;
    for (unsigned r = 0; r < function.getNumResults(); ++r)
      if ((everyResult || growsAlong(function, r)) && run.results[r] != other.results[r])
        return false;
  }
  return true;
}

/// Several calls, against one.
void Judge::judgeCourse(const Compiled &compiled, const Course &course, ArrayRef<Run> whole, bool everyWay) {
  std::vector<Run> together = runTogether(compiled, course, {1, false});
  report(course.name + ", same bits", sameBits(together, whole, false));
  if (!everyWay)
    return;
  report(course.name + ", two threads, tasks backwards, same bits",
         sameBits(runTogether(compiled, course, {2, true}), together, true));
  report(course.name + ", each sequence alone, same bits", sameBits(runAlone(compiled, course), together, true));
}

void Judge::judgeCompiled(const Compiled &compiled, const Wanted &wanted) {
  std::vector<Run> whole = runTogether(compiled, inOneCall, {1, false});
  report("two threads, tasks backwards, same bits", sameBits(runTogether(compiled, inOneCall, {2, true}), whole, true));
  std::string complaint = callCourse(compiled, {}, inOneCall, {1, false});
  report("no sequence at all" + (complaint.empty() ? "" : ": " + complaint), complaint.empty());
  report("each sequence alone, same bits", sameBits(runAlone(compiled, inOneCall), whole, true));
  judgeNumbers(inOneCall, numbersOf(whole), wanted[0].second);
  if (wanted.size() == 1)
    return;
  judgeCourse(compiled, inSomeCalls, whole, true);
  judgeNumbers(inSomeCalls, numbersOf(runTogether(compiled, inSomeCalls, {1, false})), wanted[1].second);
  for (const Course &course : inManyCalls)
    judgeCourse(compiled, course, whole, false);
}

} // namespace attn::agree
