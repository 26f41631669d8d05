// ElaborateConfig.cpp: config { }, require, weights { }: what a model says about config.json and its weights' names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Elaborator.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace attn {

static std::string dotted(llvm::ArrayRef<std::string> path) {
  return llvm::join(path, ".");
}

static StringRef sourceText(SMRange range) {
  const char *start = range.Start.getPointer();
  return StringRef(start, static_cast<size_t>(range.End.getPointer() - start));
}

// ---------------------------------------------------------------------------------------------------------------- keys

Value Elaborator::fromJson(const llvm::json::Value &json, std::vector<std::string> path, SMRange where) {
  switch (json.kind()) {
  case llvm::json::Value::Null:
    return Value::none();
  case llvm::json::Value::Boolean:
    return Value::of(*json.getAsBoolean());
  case llvm::json::Value::Number: {
    Value v = Value::of(*json.getAsNumber(), json.getAsInteger().has_value());
    v.origin = {where, "`" + dotted(path) + "` in " + config.fileName().str()};
    return v;
  }
  case llvm::json::Value::String:
    return Value::of(Text(*json.getAsString()));
  default: {
    Value v;
    v.kind = Value::Kind::config;
    v.config = {std::move(path), &json};
    return v;
  }
  }
}

Value Elaborator::configLookup(const std::vector<std::string> &path, SMRange where, bool soft) {
  Config::Value found = config.lookup(path);
  if (found.state == Config::State::present)
    return fromJson(*found.json, path, where);
  if (soft)
    return Value::none();
  std::string key = dotted(path);
  bool isNull = found.state == Config::State::null;
  Report r = report(where, options.noConfig ? "`" + key + "` is a key of config.json, and none is given"
                           : isNull         ? "`" + key + "` is null in " + config.fileName()
                                            : config.fileName() + " has no key `" + key + "`");
  if (options.noConfig)
    r.note("`--config=PATH` says where it is: the file, or the folder that holds it");
  r.note("a value for models without it: `" + key + " ?? …`");
  return Value::poison();
}

/// The keys of `a.b.c`, outermost first; the expression at its root.
static const Expr *pathOf(const Expr *e, std::vector<std::string> &keys) {
  while (auto *field = llvm::dyn_cast<FieldExpr>(e)) {
    keys.insert(keys.begin(), field->field.text.str());
    e = field->base;
  }
  return e;
}

std::optional<Value> Elaborator::evalConfigPath(const Expr *e, bool soft) {
  std::vector<std::string> keys;
  auto *root = llvm::dyn_cast<NameExpr>(pathOf(e, keys));
  if (!root)
    return std::nullopt;
  Value *bound = nullptr;
  if (auto it = frame.home->globals.find(root->name); it != frame.home->globals.end()) {
    Home::Global &global = it->second;
    if (!global.isConfig || global.state == Home::State::done)
      bound = lookupGlobal(root->name, frame.home);
  }
  if (!bound) {
    keys.insert(keys.begin(), root->name.str());
    return configLookup(keys, e->range, soft);
  }
  if (keys.empty())
    return *bound;
  return std::nullopt;
}

Value Elaborator::evalField(const FieldExpr &e, bool soft) {
  if (inConfig)
    if (auto value = evalConfigPath(&e, soft))
      return *value;
  std::vector<std::string> keys;
  const Expr *root = pathOf(&e, keys);
  Value base = eval(root);
  if (base.isPoison())
    return base;
  if (base.is(Value::Kind::none)) {
    if (soft)
      return base;
    return fail(e.range,
                "`" + sourceText(root->range) + "` is `none` here, and has no `" + llvm::join(keys, ".") + "`");
  }
  if (!base.is(Value::Kind::config))
    return fail(e.range, "only an object of config.json has `." + e.field.text + "`; this is " + base.described());
  std::vector<std::string> path = base.config.path;
  path.insert(path.end(), keys.begin(), keys.end());
  return configLookup(path, e.range, soft);
}

/// The left side of `??`: absence of a bare path is `none`.
Value Elaborator::evalSoft(const Expr *e) {
  if (auto *field = llvm::dyn_cast<FieldExpr>(e))
    return evalField(*field, true);
  if (inConfig && llvm::isa<NameExpr>(e))
    return *evalConfigPath(e, true);
  if (auto *binary = llvm::dyn_cast<BinaryExpr>(e); binary && binary->op == BinaryOp::orElse) {
    Value left = evalSoft(binary->lhs);
    return left.is(Value::Kind::none) ? evalSoft(binary->rhs) : left;
  }
  return eval(e);
}

// -------------------------------------------------------------------------------------------------------------- blocks

/// Words for where a number is from: the key, or the numbers of a division that does not come out whole.
static std::string wordsFor(const Expr *e, const Value &v, const std::string &division) {
  if (!division.empty())
    return "`" + sourceText(e->range).str() + "` is " + division + " = " + numberText(v.number);
  return v.origin.words;
}

void Elaborator::elaborateConfig(const ConfigBlock &block) {
  if (block.at)
    config.enter(block.at->plainText());
  for (const ConfigEntry &entry : block.entries) {
    if (entry.ignored) {
      config.ignore(entry.ignored->plainText());
      continue;
    }
    Home::Global &global = frame.home->globals[entry.name.text];
    global.state = Home::State::running;
    global.isConfig = true;
    inConfig = true;
    Value v = eval(entry.value);
    std::string division;
    auto *binary = llvm::dyn_cast<BinaryExpr>(entry.value);
    if (binary && binary->op == BinaryOp::divide && v.is(Value::Kind::number) && v.number != std::floor(v.number)) {
      auto a = number(eval(binary->lhs), binary->range, "`/`"), b = number(eval(binary->rhs), binary->range, "`/`");
      if (a && b)
        division = numberText(*a) + " / " + numberText(*b);
    }
    inConfig = false;
    Origin origin{entry.range, wordsFor(entry.value, v, division)};
    bool capital = isupper(static_cast<unsigned char>(entry.name.text[0]));
    if (v.is(Value::Kind::dim))
      v = Value::integer(v.dim->size);
    if (v.is(Value::Kind::number)) {
      v.origin = origin;
      if (capital && v.number >= 0 && v.number == std::floor(v.number) && v.number < 1e12)
        v = Value::of(table.named(entry.name.text, static_cast<int64_t>(v.number), origin));
    }
    global.value = std::move(v);
    global.state = Home::State::done;
  }
}

void Elaborator::elaborateRequire(const RequireItem &item) {
  inConfig = true;
  Value v = eval(item.condition);
  inConfig = false;
  auto holds = truth(v, item.condition->range, "`require`");
  if (holds && !*holds)
    report(item.condition->range,
           "this file does not describe the model of " + config.fileName() + ": the requirement is not met");
}

/// An error where the file says again what only one place can say.
void Elaborator::saidOnce(const std::string &what, SMRange where) {
  auto [first, isNew] = said.try_emplace(what, where);
  if (!isNew)
    report(where, "`" + what + "` is said twice").note(first->second, "the first one is here");
}

void Elaborator::elaborateWeights(const WeightsBlock &block) {
  for (const WeightsEntry &entry : block.entries) {
    switch (entry.kind) {
    case WeightsEntry::Kind::prefix:
      hasRequiredPrefix = hasRequiredPrefix || !entry.optional;
      saidOnce("prefix \"" + entry.first->plainText().str() + "\"", entry.range);
      prefixes.push_back(entry.first->plainText().str());
      break;
    case WeightsEntry::Kind::rename:
      saidOnce("rename \"" + entry.first->plainText().str() + "\"", entry.range);
      renames.emplace_back(entry.first->plainText().str(), entry.second->plainText().str());
      break;
    case WeightsEntry::Kind::ignore:
      ignores.push_back(entry.first->plainText().str());
      break;
    case WeightsEntry::Kind::stored:
      saidOnce("stored", entry.range);
      storedInFirst = entry.inFirst;
      break;
    }
  }
}

void Elaborator::warnUnread() {
  std::vector<std::string> unread = config.unreadKeys();
  if (unread.empty())
    return;
  std::string message =
      "keys of " + config.fileName().str() + " that nobody reads: `" + llvm::join(unread, "`, `") + "`";
  const char *wayOut = "read them, or say `ignore \"key\"` in `config` if they change nothing here";
  if (options.strict)
    diags.error(message).note(wayOut);
  else
    diags.warning(message).note(wayOut);
}

mlir::Attribute Elaborator::attributeOf(const llvm::json::Value &json) {
  switch (json.kind()) {
  case llvm::json::Value::Boolean:
    return builder.getBoolAttr(*json.getAsBoolean());
  case llvm::json::Value::Number:
    if (auto whole = json.getAsInteger())
      return builder.getI64IntegerAttr(*whole);
    return builder.getF64FloatAttr(*json.getAsNumber());
  case llvm::json::Value::String:
    return builder.getStringAttr(*json.getAsString());
  case llvm::json::Value::Array: {
    llvm::SmallVector<mlir::Attribute> all;
    for (const llvm::json::Value &element : *json.getAsArray())
      all.push_back(attributeOf(element));
    return builder.getArrayAttr(all);
  }
  case llvm::json::Value::Object: {
    llvm::SmallVector<mlir::NamedAttribute> all;
    for (const auto &[key, value] : *json.getAsObject())
      all.push_back(builder.getNamedAttr(StringRef(key), attributeOf(value)));
    return builder.getDictionaryAttr(all);
  }
  default:
    return builder.getUnitAttr();
  }
}

} // namespace attn
