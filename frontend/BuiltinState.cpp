// BuiltinState.cpp: cache, once, past, capacity, pos: what an export knows of its session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cache(x)` and `once(x)` have a first dimension of their own, `all T` and `kept S` in messages: all rows so far along
// the export's first sequence, and the rows that some call gave along one of its sequences.
#include "dialect/AttnOps.h"
#include "frontend/CallArgs.h"
#include "frontend/Labels.h"

using namespace mlir;

namespace attn {

// --------------------------------------------------------------------------------------------- numbers of the session

Value Elaborator::sessionValue(StringRef name, SMRange where) {
  if (name == "pos") {
    if (exportSequences.empty())
      return fail(where, "`pos` needs a sequence: no parameter of this export has one");
    return Value::of(emitPositions(exportSequences[0], where));
  }
  Labels labels;
  auto number = name == "past" ? SessionNumber::past : SessionNumber::capacity;
  SessionOp op =
      SessionOp::create(builder, at(where), tensorType({}, Elem::i32), SessionNumberAttr::get(&context, number),
                        dimsArray(&context, {labels.give(DimsRef())}));
  return Value::of(made(op.getOutput(), {}, 0));
}

Tensor Elaborator::emitPositions(DimRef sequence, SMRange where) {
  Labels labels;
  Labels::List out = {labels.give(sequence)};
  PosOp op = PosOp::create(builder, at(where), tensorType(sequence, Elem::i32), dimsArray(&context, {out}));
  return made(op.getOutput(), {sequence}, 0);
}

// ---------------------------------------------------------------------------------------------------- cache and once

/// What a place's symbol ends in: the name of what is kept, or of the weight that it was made with.
static std::string labelOf(const Expr *e, StringRef otherwise) {
  if (auto *name = llvm::dyn_cast<NameExpr>(e))
    return name->name.str();
  if (auto *call = llvm::dyn_cast<CallExpr>(e)) {
    for (const Argument &arg : call->args)
      if (auto *string = llvm::dyn_cast<StringExpr>(arg.value); string && !arg.name && string->isPlain())
        return string->plainText().str();
    if (!call->args.empty())
      return labelOf(call->args[0].value, otherwise);
  }
  return otherwise.str();
}

/// The calls that led here, outermost first.
Calls Elaborator::callsToHere() const {
  Calls calls;
  for (const Frame *f = &frame; f && f->caller; f = f->caller)
    calls.push_back(f->callRange);
  std::reverse(calls.begin(), calls.end());
  return calls;
}

bool Elaborator::isInScan() const {
  return llvm::any_of(turnsInForce, [](const TurnInForce &turn) { return turn.isRow; });
}

/// A `cache` is along the first sequence of the export, a `once` along any.
bool Elaborator::isKept(CallArgs &args, const Tensor &x) {
  SMRange where = args.placed[0]->value->range;
  bool caches = args.name() == "cache";
  if (x.elem == Elem::i1) {
    report(where, args.what() + " keeps numbers, not truth values").note("`select(c, 1, 0)` makes numbers of them");
    return false;
  }
  for (DimRef dim : x.liftedDims())
    if (dim->isSequence()) {
      fail(where, args.what() + " cannot be walked along a sequence, and this is walked along `" + dim->name + "`");
      return false;
    }
  auto isOpen = [&](DimRef own) { return !x.visible().empty() && x.visible()[0]->sequence == own->sequence; };
  DimsRef open = DimsRef(exportSequences).take_front(caches ? 1 : exportSequences.size());
  bool along = llvm::any_of(open, isOpen);
  auto isFixed = [](DimRef d) { return !d->isSequence(); };
  if (along && llvm::all_of(x.visible().drop_front(), isFixed))
    return true;
  if (along) {
    fail(where, args.what() + " keeps rows of one size, and this is " + text(x.visible()));
    return false;
  }
  std::string which = exportSequences.empty() ? "no parameter of this export has a sequence"
                      : caches                ? "`" + exportSequences[0]->name + "`, the first sequence of this export"
                                              : "a sequence of this export's parameters";
  Report r = report(where, args.what() + " keeps rows along " + (exportSequences.empty() ? "a sequence" : which) +
                               ", and this is " + text(x.visible()));
  if (exportSequences.empty())
    r.note(which);
  else
    noteOrigin(r, exportSequences[0]);
  if (caches && !x.visible().empty() && x.visible()[0]->isSequence())
    r.note("what a session grows along stands first among the parameters");
  return false;
}

DimRef Elaborator::keptDimension(const Tensor &x) const {
  for (DimRef dim : x.dims)
    if (dim->isSequence() && llvm::none_of(exportSequences, [&](DimRef own) { return own->sequence == dim->sequence; }))
      return dim;
  return nullptr;
}

/// Of an export that caches: i counts from `past`, and every call gives rows of the cached sequence.
bool Elaborator::checkSession() {
  DimRef cached = exportSequences[0];
  for (auto &[where, dim] : rowLookups)
    if (dim->sequence == cached->sequence) {
      report(where,
             "`i` counts the rows of the calls before as well, and this has those of one call, along " + described(dim))
          .note("`cache(…)` has all rows; `[i - past]` is the place in this call");
      return false;
    }
  for (auto &[where, dim] : onceRows)
    if (dim->sequence == cached->sequence) {
      report(where, "`once` is filled by one call, and every call of this export gives rows of `" + cached->name +
                        "`, along which it caches");
      return false;
    }
  return true;
}

/// The export was at this place before in the same call.
void Elaborator::failTwice(CallArgs &args, const States::State &place, const Calls &before) {
  Calls now = callsToHere();
  std::string under = place.shown.empty() ? "" : " at `" + place.shown + "`";
  Report r = report(args.range(), args.what() + " fills the same place" + under + " twice in one call of the export");
  size_t i = 0;
  while (i + 1 < now.size() && i + 1 < before.size() && now[i].Start == before[i].Start)
    ++i;
  if (i < now.size() && i < before.size() && now[i].Start != before[i].Start)
    r.note(before[i], "first by this call").note(now[i], "again by this one; `at` gives each a place of its own");
}

void Elaborator::failRows(CallArgs &args, const States::State &place, const Tensor &x, DimsRef row) {
  std::string under = place.shown.empty() ? "" : " at `" + place.shown + "`";
  bool kinds = place.elem != x.elem;
  auto shown = [&](DimsRef dims, Elem elem) {
    return text(dims) + (!kinds ? "" : elem == Elem::i32 ? " of whole numbers" : " of numbers");
  };
  report(args.range(), args.what() + " fills one place" + under + " with rows of two " + (kinds ? "kinds" : "shapes"))
      .compare(shown(place.row, place.elem), shown(row, x.elem));
}

/// The symbol and turns of the place that this call fills; nothing after an error.
std::optional<States::Found> Elaborator::findPlace(CallArgs &args, const Text &path, const Tensor &x, DimsRef row) {
  States::State wanted;
  wanted.kind = args.name() == "cache" ? StateKind::cache : StateKind::once;
  wanted.where = args.range();
  wanted.row = Dims(row);
  wanted.elem = x.elem;
  std::string label = labelOf(args.placed[0]->value, args.name());
  States::Found place = states.find(std::move(wanted), path, turnsInForce, label, callsToHere());
  if (place.before)
    failTwice(args, *place.state, *place.before);
  else if (!place.fits && place.state->elem == Elem::i32 && !requireWholeParameters(x, false))
    return std::nullopt; // as in the export before; this one begins again with whole parameters
  else if (!place.fits)
    failRows(args, *place.state, x, row);
  else
    return place;
  return std::nullopt;
}

/// `x[T, ..]` as `[all T, ..]`; what the call is walked along is part of a row.
Value Elaborator::builtinKeep(CallArgs &args) {
  bool caches = args.name() == "cache";
  SMRange where = args.range();
  if (!args.check(1, 1))
    return Value::poison();
  Value v = args.tensor(0);
  auto path = args.path();
  if (v.isPoison() || !path)
    return Value::poison();
  if (isInScan())
    return fail(where, args.what() + " cannot stand in a `repeat` over a sequence: a session has one place for it");
  const Tensor &x = v.tensor;
  if (!isKept(args, x))
    return Value::poison();
  DimRef first = x.visible()[0];
  Dims order{first};
  order.append(x.liftedDims().begin(), x.liftedDims().end());
  order.append(x.visible().begin() + 1, x.visible().end());
  auto place = findPlace(args, *path, x, DimsRef(order).drop_front());
  if (!place)
    return Value::poison();
  if (!caches)
    onceRows.emplace_back(where, first);
  DimRef all = caches ? table.allRows(first, {where, ""}) : table.keptRows(first, {where, ""});
  Dims resultDims(order), back(x.dims);
  resultDims[0] = back[x.lifted] = all;
  mlir::Value kept = emitKeep(*place, emitMove(x, order, 0, where), resultDims, where);
  return Value::of(emitMove(made(kept, resultDims, 0), back, x.lifted, where));
}

mlir::Value Elaborator::emitKeep(const States::Found &place, const Tensor &rows, DimsRef resultDims, SMRange where) {
  Labels labels;
  Labels::List in = labels.give(rows.dims), out = in;
  out[0] = labels.give(resultDims[0]);
  mlir::Value input = materialise(rows, where);
  llvm::SmallVector<mlir::Value> turns;
  for (const Turn *turn : place.turns)
    turns.push_back(turn->value);
  auto symbol = FlatSymbolRefAttr::get(&context, place.state->symbol);
  ArrayAttr inDims = dimsArray(&context, {in}), outDims = dimsArray(&context, {out});
  Type type = input.getType();
  if (place.state->kind == StateKind::cache)
    return CacheOp::create(builder, at(where), type, symbol, turns, ValueRange(input), inDims, outDims);
  return OnceOp::create(builder, at(where), type, symbol, turns, ValueRange(input), inDims, outDims);
}

} // namespace attn
