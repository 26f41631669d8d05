// Registration of the attn dialect, and the text form of dimension names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "dialect/TensorSyntax.h"
#include "dialect/Verify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/AttnDialect.cpp.inc"
#include "dialect/AttnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/AttnAttrs.cpp.inc"

using namespace mlir;

namespace {
/// Constants that folding makes stay inside the scalar regions that use them.
struct KeepConstantsInside : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const final {
    return isa<attn::MapOp, attn::LinearOp, attn::AttendOp>(region->getParentOp());
  }
};
} // namespace

void attn::AttnDialect::initialize() {
  addInterfaces<KeepConstantsInside>();
  addOperations<
#define GET_OP_LIST
#include "dialect/AttnOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/AttnAttrs.cpp.inc"
      >();
}

LogicalResult attn::AttnDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return attribute.getName() == "attn.export" ? verifyExport(op) : success();
}

llvm::StringRef attn::DimsAttr::dim(size_t i) const {
  return getNames()[i].getValue().split(':').first;
}

llvm::StringRef attn::DimsAttr::sequence(size_t i) const {
  auto [own, sequence] = getNames()[i].getValue().split(':');
  return sequence.empty() ? own : sequence;
}

int attn::DimsAttr::find(llvm::StringRef wanted) const {
  for (size_t i = 0; i < size(); ++i)
    if (dim(i) == wanted)
      return static_cast<int>(i);
  return -1;
}

Attribute attn::DimsAttr::parse(AsmParser &parser, Type) {
  DimsAttr dims;
  if (parser.parseLess() || parseDims(parser, dims) || parser.parseGreater())
    return {};
  return dims;
}

static bool isIdentifier(StringRef text) {
  if (text.empty() || !(isalpha(text[0]) || text[0] == '_'))
    return false;
  return llvm::all_of(text, [](unsigned char c) { return isalnum(c) || c == '_' || c == '.'; });
}

void attn::printDims(AsmPrinter &printer, DimsAttr dims) {
  printer << '[';
  llvm::interleaveComma(dims.getNames(), printer, [&](StringAttr name) {
    auto [own, sequence] = name.getValue().split(':');
    if (isIdentifier(own) && (sequence.empty() || isIdentifier(sequence)))
      printer << name.getValue();
    else
      printer.printAttributeWithoutType(name);
  });
  printer << ']';
}

void attn::DimsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printDims(printer, *this);
  printer << '>';
}
