// The text form of tensor operands and results: `%x : tensor<?x384xf32> [T, E]`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/TensorSyntax.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace attn {

static ParseResult parseName(AsmParser &parser, StringAttr &name) {
  std::string text;
  if (failed(parser.parseOptionalString(&text))) {
    StringRef own, sequence;
    if (parser.parseKeyword(&own))
      return failure();
    text = own.str();
    if (succeeded(parser.parseOptionalColon())) {
      if (parser.parseKeyword(&sequence))
        return failure();
      text += (":" + sequence).str();
    }
  }
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

ParseResult parseDims(AsmParser &parser, DimsAttr &dims) {
  SmallVector<StringAttr> names;
  auto one = [&] { return parseName(parser, names.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one))
    return failure();
  dims = DimsAttr::get(parser.getContext(), names);
  return success();
}

/// One of a list: the names go into an array attribute.
static ParseResult parseListed(OpAsmParser &parser, Attribute &dims) {
  DimsAttr names;
  if (parseDims(parser, names))
    return failure();
  dims = names;
  return success();
}

ParseResult parseTensors(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputs,
                         SmallVectorImpl<Type> &types, ArrayAttr &dims) {
  SmallVector<Attribute> all;
  auto one = [&] {
    return failure(parser.parseOperand(inputs.emplace_back()) || parser.parseColonType(types.emplace_back()) ||
                   parseListed(parser, all.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, one))
    return failure();
  dims = parser.getBuilder().getArrayAttr(all);
  return success();
}

void printTensors(OpAsmPrinter &printer, Operation *, OperandRange inputs, TypeRange types, ArrayAttr dims) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(inputs, types, dims), printer, [&](auto each) {
    auto [input, type, names] = each;
    printer << input << " : " << type << ' ';
    printDims(printer, llvm::cast<DimsAttr>(names));
  });
  printer << ')';
}

ParseResult parseResults(OpAsmParser &parser, Type &type, ArrayAttr &dims) {
  DimsAttr names;
  if (parser.parseType(type) || parseDims(parser, names))
    return failure();
  dims = parser.getBuilder().getArrayAttr({names});
  return success();
}

void printResults(OpAsmPrinter &printer, Operation *, Type type, ArrayAttr dims) {
  printer << type << ' ';
  printDims(printer, llvm::cast<DimsAttr>(dims[0]));
}

ParseResult parseResultList(OpAsmParser &parser, SmallVectorImpl<Type> &types, ArrayAttr &dims) {
  SmallVector<Attribute> all;
  auto one = [&] { return failure(parser.parseType(types.emplace_back()) || parseListed(parser, all.emplace_back())); };
  if (failed(parser.parseOptionalLParen())) {
    if (failed(one()))
      return failure();
  } else if (succeeded(parser.parseOptionalRParen())) {
    // no result
  } else if (parser.parseCommaSeparatedList(one) || parser.parseRParen()) {
    return failure();
  }
  dims = parser.getBuilder().getArrayAttr(all);
  return success();
}

void printResultList(OpAsmPrinter &printer, Operation *, TypeRange types, ArrayAttr dims) {
  bool many = types.size() != 1;
  printer << (many ? "(" : "");
  llvm::interleaveComma(llvm::zip(types, dims), printer, [&](auto each) {
    printer << std::get<0>(each) << ' ';
    printDims(printer, llvm::cast<DimsAttr>(std::get<1>(each)));
  });
  printer << (many ? ")" : "");
}

} // namespace attn
