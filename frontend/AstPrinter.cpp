// AstPrinter.cpp: the tree as text, for --emit=ast and for tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items and statements stand on lines of their own, indented by two spaces a level; expressions are prefix forms that
// show how operators bind. Blocks inside an expression open a new level:
//
//   fn logits export
//     param ids [T]
//     x = (index wte ids)
//     (repeat l 0..L at "h.{l}"
//       x += (at "attn" (attention (layernorm x "ln_1" eps)))
//     )
#include "frontend/Ast.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace attn {

namespace {

class Printer {
public:
  explicit Printer(raw_ostream &stream) : os(stream) {}
  void print(const Item *item);

private:
  raw_ostream &line() { return os.indent(2 * depth); }
  void print(const Expr *expr);
  void print(const Stmt *statement);
  void print(const Block *block);
  void print(const Shape &shape) { list("[", shape.dims, "]"); }
  void print(const Argument &argument);
  void print(ArrayRef<Ident> names) {
    interleave(names, os, [&](const Ident &name) { os << name.text; }, " ");
  }
  void list(StringRef open, Exprs exprs, StringRef close) {
    os << open;
    interleave(exprs, os, [&](const Expr *expr) { print(expr); }, " ");
    os << close;
  }
  void print(const StringExpr *string);
  void print(const CallExpr *call);
  void print(const CompareExpr *compare);
  void print(const IfExpr *conditional);
  void print(const MixExpr *mix);
  void print(const RepeatExpr *repeat);
  void print(const ConfigBlock *config);
  void print(const WeightsBlock *weights);
  void print(const InputItem *input);
  void print(const FnDecl *function);

  raw_ostream &os;
  unsigned depth = 0;
};

void Printer::print(const Expr *expr) {
  using Kind = Expr::Kind;
  switch (expr->kind) {
  case Kind::number:
    os << cast<NumberExpr>(expr)->spelling;
    return;
  case Kind::string:
    return print(cast<StringExpr>(expr));
  case Kind::name:
    os << cast<NameExpr>(expr)->name;
    return;
  case Kind::constant: {
    static constexpr StringRef words[] = {"none", "true", "false"};
    os << words[static_cast<unsigned>(cast<ConstantExpr>(expr)->value)];
    return;
  }
  case Kind::tuple:
    return list("(tuple ", cast<TupleExpr>(expr)->elements, ")");
  case Kind::call:
    return print(cast<CallExpr>(expr));
  case Kind::index: {
    auto *index = cast<IndexExpr>(expr);
    os << "(index ";
    print(index->base);
    return list(" ", index->indices, ")");
  }
  case Kind::as: {
    auto *as = cast<AsExpr>(expr);
    os << "(as ";
    print(as->base);
    return list(" [", as->shape.dims, "])");
  }
  case Kind::field: {
    auto *field = cast<FieldExpr>(expr);
    os << "(. ";
    print(field->base);
    os << ' ' << field->field.text << ')';
    return;
  }
  case Kind::unary: {
    auto *unary = cast<UnaryExpr>(expr);
    return list(unary->op == UnaryOp::negate ? "(- " : "(not ", unary->operand, ")");
  }
  case Kind::binary: {
    auto *binary = cast<BinaryExpr>(expr);
    os << '(' << spelling(binary->op);
    return list(" ", {binary->lhs, binary->rhs}, ")");
  }
  case Kind::compare:
    return print(cast<CompareExpr>(expr));
  case Kind::conditional:
    return print(cast<IfExpr>(expr));
  case Kind::mix:
    return print(cast<MixExpr>(expr));
  case Kind::repeat:
    return print(cast<RepeatExpr>(expr));
  }
}

void Printer::print(const StringExpr *string) {
  os << '"';
  for (const StringPiece &piece : string->pieces) {
    if (piece.expr) {
      os << '{';
      print(piece.expr);
      os << '}';
      continue;
    }
    for (char c : piece.text) {
      if (StringRef("\"\\{}").contains(c))
        os << '\\';
      os << c;
    }
  }
  os << '"';
}

void Printer::print(const Argument &argument) {
  if (argument.name)
    os << argument.name.text;
  if (argument.hasBinders) {
    os << '(';
    print(argument.binders);
    os << ')';
  }
  if (argument.name)
    os << ": ";
  print(argument.value);
}

void Printer::print(const CallExpr *call) {
  if (call->at) {
    os << "(at ";
    print(call->at);
    os << ' ';
  }
  os << '(' << call->callee.text;
  for (const Argument &argument : call->args) {
    os << ' ';
    print(argument);
  }
  os << (call->at ? "))" : ")");
}

/// A single comparison as an operator, a chain as it is written.
void Printer::print(const CompareExpr *compare) {
  if (compare->ops.size() == 1) {
    os << '(' << spelling(compare->ops[0]);
    return list(" ", compare->terms, ")");
  }
  os << "(chain ";
  print(compare->terms[0]);
  for (auto [op, term] : zip(compare->ops, compare->terms.drop_front())) {
    os << ' ' << spelling(op) << ' ';
    print(term);
  }
  os << ')';
}

void Printer::print(const IfExpr *conditional) {
  os << "(if ";
  print(conditional->condition);
  os << '\n';
  print(conditional->then);
  if (conditional->otherwise) {
    line() << "else\n";
    print(conditional->otherwise);
  }
  line() << ')';
}

void Printer::print(const MixExpr *mix) {
  os << "(mix " << mix->variable.text << ' ';
  print(mix->selection);
  os << '\n';
  print(mix->body);
  line() << ')';
}

void Printer::print(const RepeatExpr *repeat) {
  os << "(repeat " << repeat->variable.text << ' ';
  print(repeat->from);
  if (repeat->to) {
    os << "..";
    print(repeat->to);
  }
  if (repeat->at) {
    os << " at ";
    print(repeat->at);
  }
  os << '\n';
  print(repeat->body);
  line() << ')';
}

void Printer::print(const Block *block) {
  ++depth;
  for (const Stmt *statement : block->statements)
    print(statement);
  --depth;
}

void Printer::print(const Stmt *statement) {
  line();
  if (auto *expr = dyn_cast<ExprStmt>(statement)) {
    print(expr->expr);
  } else if (auto *assign = dyn_cast<AssignStmt>(statement)) {
    print(assign->targets);
    os << (assign->adds ? " += " : " = ");
    print(assign->value);
  } else if (auto *yield = dyn_cast<YieldStmt>(statement)) {
    list("yield ", yield->values, "");
  } else {
    auto *at = cast<AtStmt>(statement);
    os << "at ";
    print(at->path);
    os << '\n';
    return print(at->body);
  }
  os << '\n';
}

//===-- Items -------------------------------------------------------------------------------------------------------===

void Printer::print(const Item *item) {
  if (auto *version = dyn_cast<VersionItem>(item)) {
    os << "attn " << version->edition << '\n';
  } else if (auto *tokenizer = dyn_cast<TokenizerItem>(item)) {
    os << "tokenizer ";
    print(tokenizer->path);
    os << '\n';
  } else if (auto *let = dyn_cast<LetItem>(item)) {
    os << "let " << let->name.text << " = ";
    print(let->value);
    os << '\n';
  } else if (auto *require = dyn_cast<RequireItem>(item)) {
    os << "require ";
    print(require->condition);
    os << '\n';
  } else if (auto *use = dyn_cast<UseItem>(item)) {
    os << "use ";
    print(use->path);
    os << (use->names.empty() ? "" : " ");
    print(use->names);
    os << '\n';
  } else if (auto *config = dyn_cast<ConfigBlock>(item)) {
    print(config);
  } else if (auto *weights = dyn_cast<WeightsBlock>(item)) {
    print(weights);
  } else if (auto *input = dyn_cast<InputItem>(item)) {
    print(input);
  } else {
    print(cast<FnDecl>(item));
  }
}

void Printer::print(const ConfigBlock *config) {
  os << "config";
  if (config->at) {
    os << " at ";
    print(config->at);
  }
  os << '\n';
  for (const ConfigEntry &entry : config->entries) {
    if (entry.ignored) {
      os << "  ignore ";
      print(entry.ignored);
    } else {
      os << "  " << entry.name.text << " = ";
      depth = 1;
      print(entry.value);
      depth = 0;
    }
    os << '\n';
  }
}

void Printer::print(const WeightsBlock *weights) {
  os << "weights\n";
  for (const WeightsEntry &entry : weights->entries) {
    if (entry.kind == WeightsEntry::Kind::stored) {
      os << "  stored " << (entry.inFirst ? "[in out]" : "[out in]") << '\n';
      continue;
    }
    static constexpr StringRef words[] = {"prefix ", "rename ", "ignore "};
    os << "  " << (entry.optional ? "optional " : "") << words[static_cast<unsigned>(entry.kind)];
    print(entry.first);
    if (entry.second) {
      os << ' ';
      print(entry.second);
    }
    os << '\n';
  }
}

void Printer::print(const InputItem *input) {
  os << "input " << input->name.text;
  for (const Argument &argument : input->args) {
    os << ' ';
    print(argument);
  }
  os << '\n';
}

void Printer::print(const FnDecl *function) {
  os << "fn " << function->name.text << (function->isExport ? " export\n" : "\n");
  for (const Parameter &param : function->params) {
    os << "  param " << param.name.text;
    if (param.hasShape) {
      os << ' ';
      print(param.shape);
    }
    if (param.defaultValue) {
      os << " = ";
      print(param.defaultValue);
    }
    os << '\n';
  }
  for (const Result &result : function->results) {
    os << "  result ";
    if (result.name)
      os << result.name.text << ' ';
    print(result.shape);
    os << '\n';
  }
  print(function->body);
}

} // namespace

void printAst(const File &file, raw_ostream &os) {
  Printer printer(os);
  for (const Item *item : file.items)
    printer.print(item);
}

} // namespace attn
