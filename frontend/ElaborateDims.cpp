// ElaborateDims.cpp: shapes, `as`, and what is said when sizes differ.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Elaborator.h"
#include <cmath>

namespace attn {

// ----------------------------------------------------------------------------------------------------------- reporting

void Elaborator::noteOrigin(Report &r, DimRef dim) {
  for (DimRef d = dim; d; d = d->from) {
    if (!d->origin.range.isValid() || (d != dim && !d->isNamed()))
      continue;
    std::string from = d->origin.words.empty() ? "" : ": " + d->origin.words;
    r.note(d->origin.range, described(d) + " comes from here" + from);
  }
}

Value Elaborator::failSizes(SMRange where, const llvm::Twine &message, DimRef expected, DimRef actual) {
  Report r = report(where, message);
  r.compare(described(expected), described(actual));
  noteOrigin(r, expected);
  noteOrigin(r, actual);
  return Value::poison();
}

static StringRef sourceText(SMRange range) {
  const char *start = range.Start.getPointer();
  return StringRef(start, static_cast<size_t>(range.End.getPointer() - start));
}

bool Elaborator::isStatic(DimRef dim, SMRange where, StringRef what) {
  if (!dim->isSequence())
    return true;
  std::string name = dim->isNamed() ? dim->name : dim->sequence;
  Report r = report(where, what + " must be known when compiling, and `" + name + "` is the length of a sequence");
  noteOrigin(r, dim);
  r.note("if `" + name + "` is a width, say its size: `config { " + name + " = … }`");
  return false;
}

// -------------------------------------------------------------------------------------------------------------- shapes

static bool isCapital(StringRef name) {
  return !name.empty() && isupper(static_cast<unsigned char>(name[0]));
}

DimRef Elaborator::dimOf(const Value &v, StringRef name, SMRange where) {
  StringRef own = isCapital(name) ? name : "";
  switch (v.kind) {
  case Value::Kind::poison:
    return nullptr;
  case Value::Kind::dim:
    return own.empty() && !v.dim->isSequence() ? table.unnamed(v.dim->size, v.dim->origin) : v.dim;
  case Value::Kind::turn:
    needNumber(v.turn, where, "a size");
    return nullptr;
  case Value::Kind::number:
    break;
  default:
    fail(where, "`" + sourceText(where) + "` is not a size: it is " + v.described());
    return nullptr;
  }
  if (v.number < 0 || v.number > 1e12 || v.number != std::floor(v.number)) {
    Report r =
        report(where, "a size must be a whole number, and `" + sourceText(where) + "` is " + numberText(v.number));
    if (v.origin.range.isValid())
      r.note(v.origin.range, v.origin.words.empty() ? "it comes from here" : v.origin.words);
    return nullptr;
  }
  Origin origin = v.origin.range.isValid() ? v.origin : Origin{where, ""};
  return table.named(own, static_cast<int64_t>(v.number), origin);
}

/// The operands of `A | B | C` or `A * B * C`.
static void flatten(const Expr *e, BinaryOp op, llvm::SmallVectorImpl<const Expr *> &out) {
  auto *binary = llvm::dyn_cast<BinaryExpr>(e);
  if (!binary || binary->op != op) {
    out.push_back(e);
    return;
  }
  flatten(binary->lhs, op, out);
  flatten(binary->rhs, op, out);
}

DimRef Elaborator::shapeDim(const Expr *e, bool &ok) {
  if (auto *name = llvm::dyn_cast<NameExpr>(e)) {
    Value *value = lookup(name->name);
    if (!value && isCapital(name->name))
      return nullptr;
    DimRef dim = dimOf(value ? *value : evalName(*name), name->name, e->range);
    ok = ok && dim;
    return dim;
  }
  auto *binary = llvm::dyn_cast<BinaryExpr>(e);
  if (binary && (binary->op == BinaryOp::bar || binary->op == BinaryOp::multiply)) {
    llvm::SmallVector<const Expr *> operands;
    flatten(e, binary->op, operands);
    bool allNames = llvm::all_of(operands, [](const Expr *o) { return llvm::isa<NameExpr>(o); });
    if (binary->op == BinaryOp::bar || allNames) {
      Dims dims;
      for (const Expr *operand : operands) {
        DimRef dim = boundDim(operand, "a part of a shape");
        if (!dim || !isStatic(dim, operand->range, "a part of a shape")) {
          ok = false;
          return nullptr;
        }
        dims.push_back(dim);
      }
      bool named = llvm::all_of(dims, [](DimRef d) { return d->isNamed(); });
      if (binary->op == BinaryOp::bar)
        return table.joined(dims, {e->range, ""});
      if (named)
        return table.product(dims, {e->range, ""});
    }
  }
  DimRef dim = dimOf(eval(e), "", e->range);
  ok = ok && dim;
  return dim;
}

DimRef Elaborator::boundDim(const Expr *e, StringRef what) {
  bool ok = true;
  DimRef dim = shapeDim(e, ok);
  if (dim || !ok)
    return dim;
  StringRef name = llvm::cast<NameExpr>(e)->name;
  Report r = report(e->range, "the size of `" + name + "` is given nowhere" + suggestion(name, false));
  r.note("say where it comes from: `config { " + name + " = … }`, or a dimension of a parameter");
  return nullptr;
}

// ------------------------------------------------------------------------------------------------------------------ as

namespace {

/// `x as [..]`: names on both sides stay, what is left is regrouped in order.
struct Regrouping {
  Elaborator &e;
  const Tensor &x;
  const Shape &shape;
  SMRange where;

  struct Target {
    DimRef dim = nullptr; ///< null while a new name is not bound
    StringRef name;
    SMRange range;
    bool kept = false;
  };
  llvm::SmallVector<Target> targets; ///< as written
  llvm::SmallVector<Target> flat;    ///< products opened
  llvm::SmallVector<size_t> pieces;  ///< how many of `flat` each target is
  Dims source;                       ///< visible dimensions of x, products opened where their factors are wanted
  Dims rest;                         ///< of the source, those that are not kept
  llvm::SmallVector<size_t> want;    ///< of `flat`, those that are not kept
  bool renamesOnly = true;

  bool failed(const llvm::Twine &message) {
    e.report(where, text(x.visible()) + " cannot be read as " + written() + ": " + message);
    return false;
  }
  std::string written() {
    std::string result;
    for (const Target &t : targets)
      result +=
          (result.empty() ? "[" : ", ") + (t.dim ? text({t.dim}).substr(1, text({t.dim}).size() - 2) : t.name.str());
    return result + "]";
  }

  bool readTargets();
  bool openProducts();
  bool keep();
  bool bindSizes();
  bool pairSequences(size_t &skip);
  bool group(size_t skip);
  Tensor emit();
};

bool Regrouping::readTargets() {
  for (const Expr *expr : shape.dims) {
    bool ok = true;
    Target target;
    target.range = expr->range;
    target.dim = e.shapeDim(expr, ok);
    if (!ok)
      return false;
    if (!target.dim)
      target.name = llvm::cast<NameExpr>(expr)->name;
    targets.push_back(target);
  }
  return true;
}

bool Regrouping::openProducts() {
  for (const Target &target : targets) {
    bool whole = !target.dim || target.dim->factors.empty() || placeOf(x.visible(), target.dim) >= 0;
    pieces.push_back(whole ? 1 : target.dim->factors.size());
    if (whole)
      flat.push_back(target);
    else
      for (DimRef factor : target.dim->factors)
        flat.push_back({factor, "", target.range, false});
  }
  auto wanted = [&](DimRef d) {
    return llvm::any_of(flat, [&](const Target &t) { return t.dim ? isSame(t.dim, d) : t.name == d->name; });
  };
  for (DimRef dim : x.visible()) {
    bool opens = !dim->factors.empty() && !wanted(dim) && llvm::all_of(dim->factors, wanted);
    if (opens)
      source.append(dim->factors.begin(), dim->factors.end());
    else
      source.push_back(dim);
    renamesOnly = renamesOnly && !opens;
  }
  return true;
}

bool Regrouping::keep() {
  for (DimRef dim : source) {
    bool kept = false;
    for (Target &target : flat) {
      bool same = target.dim ? isSame(target.dim, dim) : (dim->isNamed() && target.name == dim->name);
      if (!same || target.kept)
        continue;
      if (target.dim && !target.dim->sameSize(*dim)) {
        e.failSizes(where, "two sizes for `" + dim->name + "`", target.dim, dim);
        return false;
      }
      target.dim = dim;
      target.kept = kept = true;
      break;
    }
    if (!kept)
      rest.push_back(dim);
  }
  for (size_t i = 0; i < flat.size(); ++i)
    if (!flat[i].kept)
      want.push_back(i);
  return true;
}

/// The length of a sequence cannot be regrouped, only called otherwise.
bool Regrouping::pairSequences(size_t &skip) {
  for (; skip < rest.size() && rest[skip]->isSequence(); ++skip) {
    if (skip >= want.size())
      return failed("a sequence cannot be regrouped");
    Target &target = flat[want[skip]];
    if (target.dim && !target.dim->sameSize(*rest[skip])) {
      e.failSizes(target.range, text(x.visible()) + " cannot be read as " + written(), target.dim, rest[skip]);
      return false;
    }
    if (!target.dim)
      target.dim = e.table.renamed(rest[skip], target.name, {target.range, ""});
  }
  for (size_t i = skip; i < rest.size(); ++i)
    if (rest[i]->isSequence())
      return failed("a sequence cannot be regrouped");
  for (size_t i = skip; i < want.size(); ++i)
    if (flat[want[i]].dim && flat[want[i]].dim->isSequence())
      return failed("`" + flat[want[i]].dim->name + "` is a sequence, and there is none on the left");
  return true;
}

/// New names get what is left: one of them by division, several one to one.
bool Regrouping::bindSizes() {
  size_t skip = 0;
  if (!pairSequences(skip))
    return false;
  int64_t have = 1, need = 1;
  size_t open = 0;
  for (size_t i = skip; i < rest.size(); ++i)
    have *= rest[i]->size;
  for (size_t i = skip; i < want.size(); ++i) {
    if (flat[want[i]].dim)
      need *= flat[want[i]].dim->size;
    else
      ++open;
  }
  bool oneToOne = rest.size() == want.size();
  for (size_t i = skip; i < want.size(); ++i) {
    Target &target = flat[want[i]];
    if (target.dim)
      continue;
    if (!oneToOne && open > 1)
      return failed("the size of `" + target.name + "` is not determined");
    if (oneToOne && (open > 1 || rest.size() - skip == 1)) {
      target.dim = e.table.renamed(rest[i], target.name, {target.range, ""});
      continue;
    }
    if (need && have % need)
      return failed(text(DimsRef(rest).drop_front(skip)) + " is " + std::to_string(have) + " numbers, which " +
                    std::to_string(need) + " does not divide");
    target.dim = e.table.named(target.name, need ? have / need : 0, {target.range, ""});
  }
  return group(skip);
}

/// Checks that what is left goes one to one, one to many or many to one, in order.
bool Regrouping::group(size_t skip) {
  size_t r = skip, w = skip;
  renamesOnly = renamesOnly && rest.size() == want.size();
  auto one = [&](size_t i) { return flat[want[i]].dim->size; };
  while (r < rest.size() || w < want.size()) {
    int64_t left = 1, right = 1;
    size_t r0 = r, w0 = w;
    if (r < rest.size())
      left *= rest[r++]->size;
    if (w < want.size())
      right *= one(w++);
    while (left != right) {
      if (left < right && r < rest.size())
        left *= rest[r++]->size;
      else if (right < left && w < want.size())
        right *= one(w++);
      else
        return failed(text(DimsRef(rest).drop_front(r0)) + " is " +
                      std::to_string(attn::product(DimsRef(rest).drop_front(r0))) + " numbers, not " +
                      std::to_string(right));
    }
    if (r - r0 > 1 && w - w0 > 1)
      return failed("dimensions are neither split nor joined but mixed; go through one dimension");
    renamesOnly = renamesOnly && r - r0 == w - w0;
  }
  return true;
}

Tensor Regrouping::emit() {
  Dims dims(x.liftedDims());
  for (const Target &target : flat)
    dims.push_back(target.dim);
  Tensor result = x;
  if (source.size() != x.visible().size()) {
    Dims opened(x.liftedDims());
    opened.append(source.begin(), source.end());
    result = e.emitReshape(result, opened, x.lifted, where);
  }
  // A sequence that gets another name moves under it.
  for (size_t i = 0; i < rest.size() && rest[i]->isSequence(); ++i)
    result.dims[placeOf(result.dims, rest[i])] = flat[want[i]].dim;
  // Where every dimension stays at its place, other names cost nothing.
  size_t i = 0;
  bool inPlace = renamesOnly && source.size() == flat.size();
  for (const Target &target : flat)
    inPlace =
        inPlace && (target.kept ? isSame(source[i++], target.dim) : !target.kept && placeOf(rest, source[i++]) >= 0);
  if (inPlace)
    result.dims = dims;
  else
    result = e.emitReshape(result, dims, x.lifted, where);
  if (flat.size() == targets.size())
    return result;
  Dims merged(x.liftedDims());
  size_t at = 0;
  for (size_t t = 0; t < targets.size(); at += pieces[t++])
    merged.push_back(pieces[t] == 1 ? flat[at].dim : targets[t].dim);
  return e.emitReshape(result, merged, x.lifted, where);
}

} // namespace

Value Elaborator::evalAs(const AsExpr &e) {
  Value base = eval(e.base);
  if (!asOperand(base, e.base->range, "`as`"))
    return Value::poison();
  if (!base.is(Value::Kind::tensor))
    return fail(e.range, "`as` needs a tensor, not " + base.described());
  if (base.tensor.form == Tensor::Form::rule)
    return fail(e.range, "`as` cannot stand in a clause of `attend`");
  return regroup(base.tensor, e.shape, e.range);
}

Value Elaborator::regroup(const Tensor &x, const Shape &shape, SMRange where) {
  Regrouping regrouping{*this, x, shape, where, {}, {}, {}, {}, {}, {}};
  if (!regrouping.readTargets() || !regrouping.openProducts() || !regrouping.keep() || !regrouping.bindSizes())
    return Value::poison();
  Dims all;
  for (const auto &target : regrouping.flat) {
    if (target.dim->isNamed() && placeOf(all, target.dim) >= 0)
      return fail(where, "a tensor has no dimension twice: `" + target.dim->name + "` is asked for two times");
    all.push_back(target.dim);
  }
  size_t at = 0;
  for (size_t t = 0; t < regrouping.targets.size(); at += regrouping.pieces[t++])
    if (!regrouping.targets[t].name.empty() && frame.scope)
      frame.scope->names[regrouping.targets[t].name] = Value::of(regrouping.flat[at].dim);
  return Value::of(regrouping.emit());
}

} // namespace attn
