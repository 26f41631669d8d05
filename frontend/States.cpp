// States.cpp: places of the session, one symbol for each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/States.h"
#include "dialect/AttnOps.h"
#include "frontend/ScalarOps.h"
#include "frontend/Weights.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace attn {

bool States::isTaken(StringRef symbol) const {
  return llvm::any_of(states, [&](const State &s) { return s.symbol == symbol; });
}

/// `h.{0}.attn` and `k` make `h.attn.k`.
std::string States::freshSymbol(StringRef pattern, StringRef label) const {
  std::string base = symbolFor((pattern + "." + label).str()), symbol = base;
  for (unsigned n = 1; isTaken(symbol) || takenElsewhere(symbol); ++n)
    symbol = base + "_" + std::to_string(n);
  return symbol;
}

static bool isSamePlace(const States::State &a, const States::State &b) {
  return a.where.Start == b.where.Start && a.pattern == b.pattern && a.turns == b.turns && a.certain == b.certain;
}

static bool isSameRow(const States::State &a, const States::State &b) {
  return a.elem == b.elem && a.row.size() == b.row.size() && llvm::all_of(llvm::zip(a.row, b.row), [](auto both) {
           return std::get<0>(both)->size == std::get<1>(both)->size;
         });
}

States::Found States::find(State state, const Text &path, llvm::ArrayRef<TurnInForce> turns, StringRef label,
                           Calls calls) {
  Found found{nullptr, {}, nullptr, true};
  for (const TurnInForce &turn : turns) {
    if (turn.open) {
      found.turns.push_back(turn.open);
      state.turns.push_back(turn.open->count);
    } else {
      state.certain.push_back(turn.number);
    }
  }
  llvm::SmallVector<const Turn *> order(found.turns);
  state.pattern = path.pattern(order);
  state.shown = path.shown();
  auto known = llvm::find_if(states, [&](const State &other) { return isSamePlace(other, state); });
  size_t index = static_cast<size_t>(known - states.begin());
  if (known == states.end()) {
    state.symbol = freshSymbol(state.pattern, label);
    states.push_back(std::move(state));
  } else {
    found.fits = isSameRow(*known, state);
    for (const Reached &other : reached)
      if (other.state == index)
        found.before = &other.calls;
  }
  found.state = &states[index];
  if (!found.before)
    reached.push_back({index, std::move(calls)});
  return found;
}

void States::reset(Mark mark) {
  states.resize(std::min(mark.states, states.size()));
  reached.resize(std::min(mark.reached, reached.size()));
}

// ------------------------------------------------------------------------------------------------------------- exports

bool States::caches() const {
  return llvm::any_of(reached, [&](const Reached &r) { return states[r.state].kind == StateKind::cache; });
}

void States::endExport(StringRef name, SMRange where) {
  if (!caches())
    return;
  Export &done = exports.emplace_back(Export{name.str(), where, {}});
  for (const Reached &r : reached)
    if (states[r.state].kind == StateKind::cache)
      done.caches.insert(r.state);
}

/// A session has one length, that of every cache.
bool States::checkExports() {
  for (size_t i = 1; i < exports.size(); ++i) {
    const Export *has = &exports[0], *lacks = &exports[i];
    if (has->caches == lacks->caches)
      continue;
    if (std::includes(lacks->caches.begin(), lacks->caches.end(), has->caches.begin(), has->caches.end()))
      std::swap(has, lacks);
    size_t missing = *llvm::find_if(has->caches, [&](size_t s) { return !lacks->caches.count(s); });
    const State &place = states[missing];
    std::string under = place.shown.empty() ? "" : " at `" + place.shown + "`";
    diags
        .error(lacks->where, "the exports `" + has->name + "` and `" + lacks->name +
                                 "` do not fill the same caches, and a session has one length for all of them")
        .note(place.where, "`" + has->name + "` fills this one" + under + ", `" + lacks->name + "` does not")
        .note(has->where, "`" + has->name + "` is declared here; an export fills all caches or none");
    return false;
  }
  return true;
}

bool States::findSplit(std::set<const char *> &found) const {
  bool any = false;
  for (const State &one : states)
    for (const State &other : states)
      if (one.where.Start == other.where.Start && one.turns.size() > other.turns.size() &&
          one.turns.size() + one.certain.size() == other.turns.size() + other.certain.size())
        any |= found.insert(one.where.Start.getPointer()).second;
  return any;
}

bool States::reachedOneOf(const std::set<const char *> &places, Mark since) const {
  for (size_t i = since.reached; i < reached.size(); ++i)
    if (places.count(states[reached[i].state].where.Start.getPointer()))
      return true;
  return false;
}

void States::emit(ModuleOp module) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  for (const State &state : states) {
    Place place = diags.place(state.where.Start);
    llvm::SmallVector<int64_t> shape{ShapedType::kDynamic};
    for (DimRef dim : state.row)
      shape.push_back(dim->size);
    auto type = RankedTensorType::get(shape, typeOf(state.elem, module.getContext()));
    StateOp::create(builder, FileLineColLoc::get(module.getContext(), place.file, place.line, place.column),
                    StateKindAttr::get(module.getContext(), state.kind), builder.getStringAttr(state.symbol),
                    builder.getDenseI64ArrayAttr(state.turns), TypeAttr::get(type));
  }
}

} // namespace attn
