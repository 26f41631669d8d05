// What a session keeps from call to call, and what one call sees of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/interpreter/Session.h"
#include "dialect/AttnOps.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace attn::interpreter {

const Tensor *SessionCall::find(StringRef symbol) const {
  auto found = session.rows.lower_bound({symbol.str(), {}});
  return found != session.rows.end() && found->first.first == symbol ? &found->second : nullptr;
}

static FailureOr<int64_t> lengthAlong(Operation *op, StringRef sequence,
                                      const std::map<std::string, int64_t> &lengths) {
  auto length = lengths.find(sequence.str());
  if (length == lengths.end())
    return op->emitError() << "the length of sequence dimension `" << sequence << "` is not known";
  return length->second;
}

LogicalResult SessionCall::beginCached(func::FuncOp function, std::map<std::string, int64_t> &lengths) {
  FailureOr<int64_t> length = lengthAlong(function, cached, lengths);
  if (failed(length))
    return failure();
  added = *length;
  if (session.past + added > session.capacity)
    return function.emitError() << "a session for " << session.capacity << " rows holds " << session.past
                                << ", this call gives " << added << " more along `" << cached << "`";
  lengths[allRows(cached)] = session.past + added;
  WalkResult walked = function.walk([&](CacheOp op) {
    const Tensor *rows = find(op.getState());
    int64_t count = rows ? rows->sizes[0] : 0;
    if (count >= session.past)
      return WalkResult::advance();
    op.emitError() << "`" << op.getState() << "` holds " << count << " rows of a session of " << session.past;
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult SessionCall::begin(func::FuncOp function, std::map<std::string, int64_t> &lengths) {
  if (auto along = function->getAttrOfType<StringAttr>("attn.cached")) {
    caches = true;
    cached = along.str();
    if (failed(beginCached(function, lengths)))
      return failure();
  }
  WalkResult walked = function.walk(
      [&](OnceOp op) { return failed(beginOnce(op, lengths)) ? WalkResult::interrupt() : WalkResult::advance(); });
  return failure(walked.wasInterrupted());
}

LogicalResult SessionCall::beginOnce(OnceOp op, std::map<std::string, int64_t> &lengths) {
  StringRef along = op.inDims(0).sequence(0);
  FailureOr<int64_t> given = lengthAlong(op, along, lengths);
  if (failed(given))
    return failure();
  const Tensor *filled = find(op.getState());
  if (filled && *given)
    return op.emitError() << "this call gives " << *given << " rows along `" << along << "`, but " << filled->sizes[0]
                          << " are kept already";
  if (!filled && !*given)
    return op.emitError() << "this call gives no rows along `" << along << "`, and none are kept";
  int64_t kept = filled ? filled->sizes[0] : *given;
  auto [place, isNew] = lengths.try_emplace(keptRows(along), kept);
  if (place->second != kept)
    return op.emitError() << kept << " rows are kept along `" << along << "` here, in another place " << place->second;
  return success();
}

int64_t SessionCall::number(SessionNumber which) const {
  return which == SessionNumber::past ? firstRow(cached) : session.capacity;
}

const Tensor &SessionCall::cache(CacheOp op, ArrayRef<int64_t> turns, const Tensor &given) {
  Session::Place place(op.getState().str(), turns.vec());
  Tensor &all = changed[place];
  auto before = session.rows.find(place);
  all = given;
  all.sizes[0] += session.past;
  if (before == session.rows.end())
    return all;
  size_t width = countElements(ArrayRef(given.sizes).drop_front());
  auto begin = before->second.numbers.begin();
  all.numbers.insert(all.numbers.begin(), begin, begin + session.past * width);
  return all;
}

const Tensor &SessionCall::once(OnceOp op, ArrayRef<int64_t> turns, const Tensor &given) {
  Session::Place place(op.getState().str(), turns.vec());
  if (given.sizes[0])
    return changed[place] = given;
  return session.rows.at(place);
}

void SessionCall::finish() {
  for (auto &[place, rows] : changed)
    session.rows[place] = std::move(rows);
  session.past += added;
}

} // namespace attn::interpreter
