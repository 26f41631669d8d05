// ElaborateStmts.cpp: blocks, assignment, taking apart.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Elaborator.h"

namespace attn {

/// Its last statement's value, if that is wanted; every other value must be taken by someone.
Value Elaborator::evalBlock(const Block &block, bool wanted) {
  Value value = Value::unit();
  for (size_t i = 0; i < block.statements.size(); ++i) {
    value = evalStatement(*block.statements[i], i + 1 == block.statements.size(), wanted);
    if (isStopping() || diags.full())
      return Value::poison();
  }
  if (wanted && value.is(Value::Kind::unit))
    return fail(block.range, "this block has no value: its last statement is not an expression");
  return value;
}

Value Elaborator::evalStatement(const Stmt &stmt, bool last, bool wanted) {
  bool taken = last && wanted;
  switch (stmt.kind) {
  case Stmt::Kind::assign:
    assign(*llvm::cast<AssignStmt>(&stmt));
    return Value::unit();
  case Stmt::Kind::at: {
    auto &block = *llvm::cast<AtStmt>(&stmt);
    auto path = evalText(block.path, "a path");
    if (!path)
      return Value::poison();
    Text saved = frame.path;
    frame.path = joined(frame.path, *path);
    Value value = evalBlock(*block.body, taken);
    frame.path = saved;
    return value;
  }
  case Stmt::Kind::yield: {
    Scope *scope = frame.scope;
    while (scope && scope->kind == Scope::Kind::clause)
      scope = scope->outer;
    std::vector<Value> values;
    for (const Expr *e : llvm::cast<YieldStmt>(&stmt)->values)
      values.push_back(eval(e));
    if (!scope || !scope->yields)
      return fail(stmt.range, "`yield` stands in the body of a `repeat`");
    scope->yields->push_back(std::move(values));
    return Value::unit();
  }
  case Stmt::Kind::expr:
    break;
  }
  const Expr *e = llvm::cast<ExprStmt>(&stmt)->expr;
  if (auto *conditional = llvm::dyn_cast<IfExpr>(e); conditional && !taken)
    return evalIf(*conditional, false);
  Value value = eval(e);
  if (!taken && !value.is(Value::Kind::unit) && !value.isPoison())
    return fail(stmt.range, "the value of this statement is not used");
  return value;
}

// ---------------------------------------------------------------------------------------------------------- assignment

/// A name of the function around, seen from a turn, is that one; else it is local to where we are. What a clause
/// assigns stays in the clause.
void Elaborator::assignName(StringRef name, Value value) {
  Scope *here = frame.scope;
  for (Scope *scope = here; scope; scope = scope->outer) {
    if (auto it = scope->names.find(name); it != scope->names.end()) {
      it->second = std::move(value);
      return;
    }
    if (scope->kind != Scope::Kind::turn)
      break;
  }
  here->names[name] = std::move(value);
}

void Elaborator::assign(const AssignStmt &stmt) {
  Value value = eval(stmt.value);
  if (stmt.adds) {
    NameExpr target(stmt.targets[0].range, stmt.targets[0].text);
    value = apply(ScalarOp::add, {eval(&target), value}, stmt.range, "`+=`");
  }
  if (value.is(Value::Kind::unit))
    value = fail(stmt.value->range, "this has no value");
  if (stmt.targets.size() == 1) {
    if (value.is(Value::Kind::tuple)) {
      report(stmt.value->range, "these are " + llvm::Twine(value.elements->size()) + " values for one name")
          .note("take them apart: `a, b = …`");
      value = Value::poison();
    }
    if (value.is(Value::Kind::number) && !value.origin.range.isValid())
      value.origin = {stmt.range, ""};
    assignName(stmt.targets[0].text, std::move(value));
    return;
  }
  std::vector<Value> values = takeApart(std::move(value), stmt.targets.size(), stmt.value->range);
  for (size_t i = 0; i < stmt.targets.size(); ++i)
    assignName(stmt.targets[i].text, values[i]);
}

std::vector<Value> Elaborator::takeApart(Value value, size_t count, SMRange where) {
  std::vector<Value> poison(count);
  if (value.isPoison())
    return poison;
  if (value.is(Value::Kind::tuple)) {
    if (value.elements->size() == count)
      return *value.elements;
    fail(where, llvm::Twine(value.elements->size()) + " values for " + llvm::Twine(count) + " names");
    return poison;
  }
  if (!value.is(Value::Kind::tensor) || value.tensor.form == Tensor::Form::rule) {
    fail(where, value.described() + " cannot be taken apart into " + llvm::Twine(count) + " names");
    return poison;
  }
  return splitTensor(value.tensor, count, where);
}

/// Along its one `|` dimension of so many parts, or its one unnamed dimension of that length.
std::vector<Value> Elaborator::splitTensor(const Tensor &x, size_t count, SMRange where) {
  llvm::SmallVector<unsigned> joints, lengths;
  for (unsigned i = x.lifted; i < x.dims.size(); ++i) {
    if (x.dims[i]->parts.size() == count)
      joints.push_back(i);
    else if (!x.dims[i]->isNamed() && !x.dims[i]->isSequence() && x.dims[i]->size == static_cast<int64_t>(count))
      lengths.push_back(i);
  }
  auto &places = joints.empty() ? lengths : joints;
  if (places.size() != 1) {
    std::string n = std::to_string(count);
    report(where, text(x.visible()) + " has " + (places.empty() ? "no dimension" : "several dimensions") +
                      " to take apart into " + n)
        .note("one dimension `A | B` of " + n + " parts, or one unnamed dimension of size " + n + ", is taken apart");
    return std::vector<Value>(count);
  }
  unsigned place = places[0];
  std::vector<Value> result;
  int64_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    DimRef part = joints.empty() ? nullptr : x.dims[place]->parts[i];
    bool dropped = !part || (!part->isNamed() && part->size == 1);
    result.push_back(Value::of(emitSlice(x, place, offset, dropped ? nullptr : part, where)));
    offset += part ? part->size : 1;
  }
  return result;
}

} // namespace attn
