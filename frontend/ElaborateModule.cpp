// ElaborateModule.cpp: the file as a whole: its declarations, its exports, the module's attributes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "frontend/Elaborator.h"
#include "frontend/Labels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;

namespace attn {

OwningOpRef<ModuleOp> elaborate(const File &file, llvm::ArrayRef<const File *> library, Config &config,
                                Diagnostics &diags, MLIRContext &context, const ElaborateOptions &options) {
  context.loadDialect<AttnDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();
  return Elaborator(file, library, config, diags, context, options).run();
}

Elaborator::Elaborator(const File &f, llvm::ArrayRef<const File *> lib, Config &c, Diagnostics &d, MLIRContext &ctx,
                       const ElaborateOptions &o)
    : file(f), library(lib), config(c), diags(d), context(ctx), options(o), builder(&ctx),
      weights(d, [this](StringRef symbol) { return states.isTaken(symbol) || isExportName(symbol); }),
      states(d, [this](StringRef symbol) { return weights.isTaken(symbol) || isExportName(symbol); }) {}

bool Elaborator::isExportName(StringRef name) const {
  return llvm::any_of(file.items, [&](const Item *item) {
    auto *fn = llvm::dyn_cast<FnDecl>(item);
    return fn && fn->isExport && fn->name.text == name;
  });
}

Report Elaborator::report(SMRange where, const llvm::Twine &message) {
  ++failures;
  // Two exports, or a library function called twice, say a thing once.
  if (!reported.insert({where.Start.getPointer(), message.str()}).second)
    return Report(diags, false);
  Report r = diags.error(where, message);
  noteCallers(r, where);
  return r;
}

/// Where the user's own text called what is being walked.
SMRange Elaborator::usersCall(SMRange otherwise) const {
  const Frame *f = &frame;
  SMRange where = otherwise;
  for (; f && f->fn && f->home != userHome; f = f->caller)
    where = f->callRange;
  return where;
}

/// Behind an error in the library: the calls that led there, up to the user's own.
void Elaborator::noteCallers(Report &r, SMRange where) {
  for (const Frame *f = &frame; f && f->fn && f->home != userHome; f = f->caller)
    if (f->callRange.Start != where.Start)
      r.note(f->callRange, "in this call of `" + f->fn->name.text + "`");
}

// -------------------------------------------------------------------------------------------------------- declarations

void Elaborator::importFile(const UseItem &use, Home &home) {
  const File *other = options.open ? options.open(use.path->plainText(), use.path->range) : nullptr;
  if (!other) {
    if (!options.open)
      fail(use.path->range, "cannot open `" + use.path->plainText() + "`");
    return;
  }
  Home &imported = homes.emplace_back();
  imported.outer = stdHome;
  indexFile(*other, imported);
  if (use.names.empty())
    for (auto &entry : imported.functions)
      home.functions.try_emplace(entry.getKey(), entry.second);
  for (const Ident &name : use.names) {
    auto it = imported.functions.find(name.text);
    if (it == imported.functions.end())
      fail(name.range, "`" + use.path->plainText() + "` has no function `" + name.text + "`");
    else
      home.functions.try_emplace(name.text, it->second);
  }
}

void Elaborator::indexFile(const File &f, Home &home) {
  home.file = &f;
  for (const Item *item : f.items) {
    if (auto *fn = llvm::dyn_cast<FnDecl>(item)) {
      auto [it, isNew] = home.functions.try_emplace(fn->name.text, fn, &home);
      if (!isNew)
        report(fn->name.range, "`" + fn->name.text + "` is declared twice")
            .note(it->second.first->name.range, "the first one is here");
    } else if (auto *let = llvm::dyn_cast<LetItem>(item)) {
      auto [it, isNew] = home.globals.try_emplace(let->name.text);
      if (!isNew)
        report(let->name.range, "`" + let->name.text + "` is declared twice")
            .note(it->second.nameRange, "the first one is here");
      it->second.expr = let->value;
      it->second.nameRange = let->name.range;
    } else if (auto *block = llvm::dyn_cast<ConfigBlock>(item)) {
      for (const ConfigEntry &entry : block->entries) {
        if (entry.ignored)
          continue;
        auto [it, isNew] = home.globals.try_emplace(entry.name.text);
        if (!isNew)
          report(entry.name.range, "`" + entry.name.text + "` is declared twice")
              .note(it->second.nameRange, "the first one is here");
        it->second.isConfig = true;
        it->second.nameRange = entry.name.range;
      }
    } else if (auto *use = llvm::dyn_cast<UseItem>(item)) {
      importFile(*use, home);
    }
  }
}

Value *Elaborator::lookupGlobal(StringRef name, Home *home) {
  for (; home; home = home->outer) {
    if (auto it = lets.find(name); home == userHome && it != lets.end())
      return &it->second;
    auto it = home->globals.find(name);
    if (it == home->globals.end())
      continue;
    Home::Global &global = it->second;
    if (global.state == Home::State::waiting && global.expr)
      evalGlobal(name, global, home);
    else if (global.state == Home::State::running)
      global.value = fail(global.nameRange, "`" + name + "` is made of itself");
    if (auto made = lets.find(name); home == userHome && made != lets.end())
      return &made->second;
    return &global.value;
  }
  return nullptr;
}

void Elaborator::enterHead() {
  if (lastAtHead)
    builder.setInsertionPointAfter(lastAtHead);
  else
    builder.setInsertionPointToStart(entryBlock);
}

void Elaborator::leaveHead() {
  if (builder.getInsertionPoint() != entryBlock->begin())
    lastAtHead = &*std::prev(builder.getInsertionPoint());
}

/// A `let`, when it is first asked for. What becomes a tensor belongs to the export and stands at its head.
void Elaborator::evalGlobal(StringRef name, Home::Global &global, Home *home) {
  global.state = Home::State::running;
  Frame saved = frame;
  Scope scope;
  frame = Frame();
  frame.home = home;
  frame.scope = &scope;
  OpBuilder::InsertionGuard guard(builder);
  Clause *outerClause = clause;
  clause = nullptr;
  bool wasConfig = inConfig;
  inConfig = false;
  if (entryBlock)
    enterHead();
  Value v = entryBlock ? eval(global.expr) : Value::poison();
  if (entryBlock)
    leaveHead();
  inConfig = wasConfig;
  clause = outerClause;
  frame = saved;
  if (v.is(Value::Kind::unit))
    v = fail(global.expr->range, "this has no value");
  bool capital = isupper(static_cast<unsigned char>(name[0]));
  if (v.is(Value::Kind::dim) && v.dim->name != name)
    v = Value::integer(v.dim->size);
  if (v.is(Value::Kind::number)) {
    v.origin = {global.nameRange, ""};
    if (capital && v.whole && v.number >= 0)
      v = Value::of(table.named(name, static_cast<int64_t>(v.number), v.origin));
  }
  if (v.is(Value::Kind::tensor) && v.tensor.form == Tensor::Form::ssa && home == userHome) {
    lets[name] = std::move(v);
    global.state = Home::State::waiting;
    return;
  }
  global.value = std::move(v);
  global.state = Home::State::done;
}

OwningOpRef<ModuleOp> Elaborator::run() {
  module = ModuleOp::create(at(SMRange()));
  builder.setInsertionPointToEnd(module->getBody());
  stdHome = &homes.emplace_back();
  for (const File *f : library)
    indexFile(*f, *stdHome);
  userHome = &homes.emplace_back();
  userHome->outer = stdHome;
  frame.home = userHome;
  indexFile(file, *userHome);
  for (const Item *item : file.items)
    if (auto *block = llvm::dyn_cast<ConfigBlock>(item))
      elaborateConfig(*block);
  for (const Item *item : file.items) {
    if (auto *weightsBlock = llvm::dyn_cast<WeightsBlock>(item))
      elaborateWeights(*weightsBlock);
    else if (auto *name = llvm::dyn_cast<TokenizerItem>(item)) {
      saidOnce("tokenizer", name->range);
      tokenizer = name->path->plainText().str();
    } else if (auto *input = llvm::dyn_cast<InputItem>(item))
      fail(input->name.range, "`input` is not in this edition of the compiler yet");
  }
  for (const Item *item : file.items)
    if (auto *require = llvm::dyn_cast<RequireItem>(item))
      elaborateRequire(*require);
  if (diags.hasErrors())
    return nullptr;
  while (!elaborateOnce()) {
  }
  if (diags.hasErrors() || !states.checkExports())
    return nullptr;
  warnUnread();
  if (diags.hasErrors())
    return nullptr;
  states.emit(*module);
  weights.emit(*module);
  setModuleAttributes();
  if (failed(verify(*module)))
    diags.error("internal error: the module that was made is not valid");
  return diags.hasErrors() ? nullptr : std::move(module);
}

void Elaborator::setModuleAttributes() {
  Operation *op = module->getOperation();
  std::string name = options.model.empty() ? llvm::sys::path::stem(file.name).str() : options.model;
  op->setAttr("attn.model", builder.getStringAttr(name));
  llvm::SmallVector<StringRef> all;
  if (!hasRequiredPrefix)
    all.push_back("");
  for (const std::string &prefix : prefixes)
    all.push_back(prefix);
  op->setAttr("attn.prefixes", builder.getStrArrayAttr(all));
  auto strings = [&](llvm::ArrayRef<std::string> texts) {
    return builder.getStrArrayAttr(llvm::SmallVector<StringRef>(texts.begin(), texts.end()));
  };
  if (!renames.empty()) {
    llvm::SmallVector<Attribute> pairs;
    for (auto &[old, now] : renames)
      pairs.push_back(builder.getStrArrayAttr({old, now}));
    op->setAttr("attn.renames", builder.getArrayAttr(pairs));
  }
  if (!ignores.empty())
    op->setAttr("attn.ignores", strings(ignores));
  if (!tokenizer.empty())
    op->setAttr("attn.tokenizer", builder.getStringAttr(tokenizer));
  if (!remarks.empty())
    op->setAttr("attn.remarks", strings(remarks));
  for (const std::string &line : remarks) // shown by --explain
    mlir::emitRemark(op->getLoc()) << line;
  llvm::SmallVector<NamedAttribute> used;
  for (const auto &[key, value] : config.usedValues())
    used.push_back(builder.getNamedAttr(key, attributeOf(value)));
  op->setAttr("attn.config", builder.getDictionaryAttr(used));
}

// ------------------------------------------------------------------------------------------------------------- exports

/// All exports; false where they begin again, because a place of the session was reached in one loop by an export and
/// turn by turn by another: then no export makes a loop there.
bool Elaborator::elaborateOnce() {
  elaborateExports();
  if (diags.hasErrors() || !states.findSplit(writtenOut))
    return true;
  module->getBody()->clear();
  states.reset({0, 0});
  weights.reset(0);
  return false;
}

void Elaborator::elaborateExports() {
  states.beginModule();
  bool any = false;
  for (const Item *item : file.items) {
    auto *fn = llvm::dyn_cast<FnDecl>(item);
    if (!fn || !fn->isExport)
      continue;
    any = true;
    intParameters.clear();
    while (!elaborateExport(*fn) && stopForInts && !diags.full()) {
    }
    if (diags.full())
      return;
  }
  if (!any)
    diags.error("`" + file.name + "` exports nothing").note("say `export fn …` for what the library should offer");
}

/// A default that its parameter cannot hold is an error.
bool Elaborator::checkDefault(const Parameter &param, double number, Elem elem) {
  SMRange where = param.defaultValue->range;
  if (elem != Elem::i32)
    return true;
  if (number == std::floor(number))
    return fitsTensor(number, where);
  report(where, "`" + param.name.text + "` holds whole numbers, and its default is " + numberText(number))
      .note("a parameter that is an index or compared with `==` is whole");
  return false;
}

/// A default that chooses a row of a table has to be one of its rows.
bool Elaborator::checkDefaultIds(const FnDecl &fn, mlir::Block &body, llvm::ArrayRef<Attribute> argAttrs) {
  bool ok = true;
  body.walk([&](GatherOp gather) {
    auto table = llvm::cast<RankedTensorType>(gather.getInputs()[0].getType());
    for (auto [i, index] : llvm::enumerate(gather.getInputs().drop_front())) {
      auto argument = llvm::dyn_cast<BlockArgument>(index);
      if (!argument || argument.getOwner() != &body || table.isDynamicDim(i))
        continue;
      auto given = llvm::cast<DictionaryAttr>(argAttrs[argument.getArgNumber()]).getAs<IntegerAttr>("attn.default");
      if (!given || (given.getInt() >= 0 && given.getInt() < table.getDimSize(i)))
        continue;
      const Parameter &param = fn.params[argument.getArgNumber()];
      report(param.defaultValue->range, "the default of `" + param.name.text + "` is " + llvm::Twine(given.getInt()) +
                                            ", and it chooses one of " + llvm::Twine(table.getDimSize(i)) + " rows");
      ok = false;
    }
  });
  return ok;
}

/// Parameters as arguments of the entry block; an unbound capital is a sequence.
bool Elaborator::bindExportParameters(const FnDecl &fn, Scope &scope, mlir::Block &entry,
                                      llvm::SmallVectorImpl<Attribute> &attrs) {
  for (const Parameter &param : fn.params) {
    if (!param.hasShape) {
      report(param.range, "a parameter of an export says its dimensions")
          .note("`" + param.name.text + "[T]` for a sequence of numbers, `" + param.name.text + "[]` for one number");
      return false;
    }
    Dims dims;
    for (const Expr *e : param.shape.dims) {
      bool ok = true;
      DimRef dim = shapeDim(e, ok);
      if (!ok)
        return false;
      if (!dim) {
        StringRef name = llvm::cast<NameExpr>(e)->name;
        dim = table.sequence(name, name, {e->range, ""});
        exportSequences.push_back(dim);
        scope.names[name] = Value::of(dim);
      }
      if (dim->isNamed() && placeOf(dims, dim) >= 0) {
        fail(e->range, "a tensor has no dimension twice: `" + dim->name + "`");
        return false;
      }
      dims.push_back(dim);
    }
    Elem elem = intParameters.contains(param.name.text) ? Elem::i32 : Elem::f32;
    mlir::Value arg = entry.addArgument(tensorType(dims, elem), at(param.range));
    parameters.emplace_back(arg, param.name.text.str());
    scope.names[param.name.text] = Value::of(made(arg, dims, 0));
    Labels labels;
    llvm::SmallVector<NamedAttribute> named{builder.getNamedAttr("attn.name", builder.getStringAttr(param.name.text)),
                                            builder.getNamedAttr("attn.dims", dimsAttr(&context, labels.give(dims)))};
    if (param.defaultValue) {
      auto n = number(eval(param.defaultValue), param.defaultValue->range, "a default");
      if (!n)
        return false;
      if (!checkDefault(param, *n, elem))
        return false;
      Attribute value = elem == Elem::i32 ? Attribute(builder.getI64IntegerAttr(static_cast<int64_t>(*n)))
                                          : Attribute(builder.getF64FloatAttr(*n));
      named.push_back(builder.getNamedAttr("attn.default", value));
    }
    attrs.push_back(builder.getDictionaryAttr(named));
  }
  return true;
}

/// False where it has to begin again, or there was an error.
bool Elaborator::elaborateExport(const FnDecl &fn) {
  size_t mark = weights.mark();
  States::Mark statesMark = states.mark();
  states.beginExport();
  Region body;
  mlir::Block *entry = new mlir::Block;
  body.push_back(entry);
  Scope scope;
  entryBlock = entry;
  lastAtHead = nullptr;
  exportSequences.clear();
  parameters.clear();
  lets.clear();
  outsideOf.clear();
  rotations.clear();
  rowLookups.clear();
  onceRows.clear();
  turnsInForce.clear();
  stopForInts = false;
  stopTurn = nullptr;
  frame = Frame();
  frame.home = userHome;
  frame.scope = &scope;
  frame.fn = &fn;
  frame.callRange = fn.name.range;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(entry);
  llvm::SmallVector<Attribute> argAttrs;
  bool done = false;
  if (bindExportParameters(fn, scope, *entry, argAttrs)) {
    Value result = evalBlock(*fn.body, true);
    if (!isStopping() && !result.isPoison())
      result = checkResults(fn, result, fn.name.range);
    done = !isStopping() && !result.isPoison() && finishExport(fn, std::move(result), scope, argAttrs, body);
  }
  if (done) {
    states.endExport(fn.name.text, fn.name.range);
  } else {
    weights.reset(mark);
    states.reset(statesMark);
  }
  entryBlock = nullptr;
  frame = Frame();
  frame.home = userHome;
  lets.clear();
  return done;
}

/// What is kept belongs to the session; a result is as long as something that the caller gave.
bool Elaborator::isOfThisCall(const Tensor &t, const FnDecl &fn) {
  DimRef kept = keptDimension(t);
  if (!kept)
    return true;
  Report r = report(fn.name.range, "the export `" + fn.name.text + "` gives " + text(t.dims) + ", and `" + kept->name +
                                       "` are rows that the session keeps: the caller has no length for them");
  noteOrigin(r, kept);
  return false;
}

bool Elaborator::finishExport(const FnDecl &fn, Value result, Scope &, llvm::ArrayRef<Attribute> argAttrs,
                              Region &body) {
  std::vector<Value> results;
  if (result.is(Value::Kind::tuple))
    results = *result.elements;
  else
    results.push_back(result);
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<Attribute> resultAttrs;
  if (states.caches() && !checkSession())
    return false;
  for (size_t i = 0; i < results.size(); ++i) {
    Value &v = results[i];
    if (!asOperand(v, fn.name.range, "the result of an export"))
      return false;
    if (!v.is(Value::Kind::tensor)) {
      fail(fn.name.range, "the export `" + fn.name.text + "` gives " + v.described() + ", not a tensor");
      return false;
    }
    if (!isOfThisCall(v.tensor, fn))
      return false;
    Tensor t = emitConvert(v.tensor, Elem::f32, fn.name.range);
    values.push_back(materialise(t, fn.name.range));
    Labels labels;
    StringRef name = fn.hasResults ? fn.results[i].name.text : StringRef();
    resultAttrs.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("attn.name", builder.getStringAttr(name)),
                                   builder.getNamedAttr("attn.dims", dimsAttr(&context, labels.give(t.dims)))}));
  }
  if (!checkDefaultIds(fn, body.front(), argAttrs))
    return false;
  func::ReturnOp::create(builder, at(fn.name.range), values);
  OpBuilder outer(&context);
  outer.setInsertionPointToEnd(module->getBody());
  auto type = FunctionType::get(&context, body.front().getArgumentTypes(), ValueRange(values).getTypes());
  auto op = func::FuncOp::create(outer, at(fn.name.range), fn.name.text, type);
  op.getBody().takeBody(body);
  op.setAllArgAttrs(llvm::ArrayRef<Attribute>(argAttrs));
  op.setAllResultAttrs(resultAttrs);
  op->setAttr("attn.export", outer.getUnitAttr());
  llvm::SmallVector<StringRef> sequences;
  for (DimRef dim : exportSequences)
    sequences.push_back(dim->sequence);
  op->setAttr("attn.sequences", outer.getStrArrayAttr(sequences));
  if (states.caches())
    op->setAttr("attn.cached", outer.getStringAttr(exportSequences[0]->sequence));
  return true;
}

} // namespace attn
