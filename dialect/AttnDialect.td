//===- AttnDialect.td - the attn dialect and its attributes ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attn dialect says what a model computes for ONE sequence: values of builtin tensor types, dimensions with names,
// nothing about batches, machines, buffers or threads. A batch is many sequences run by the same function; it first
// appears in lowering.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_TD
#define ATTN_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "models of attention on one sequence, with named dimensions";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::func::FuncDialect"];
}

class Attn_Attr<string name, string mnem> : AttrDef<Attn_Dialect, name> { let mnemonic = mnem; }

def Attn_DimsAttr : Attn_Attr<"Dims", "dims"> {
  let summary = "the names of a tensor's dimensions, outermost first";
  let description = [{
    `#attn.dims<[T, H, D]>`. Within one tensor every name is different; within one operation a name has one size. A
    dimension of dynamic size is a sequence dimension: its length is the current sequence's length along an export
    parameter's dimension. `S:T` is a dimension called `S` whose length is that of the sequence dimension `T`; `T` alone
    is short for `T:T`. `all.T` is as long as all rows cached along T with those of this call, `kept.S` as the rows that a
    `once` keeps of S. Static dimensions have no colon. Names that are no identifiers are quoted: `"F|F"`.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    size_t size() const { return getNames().size(); }
    /// The name of dimension `i`: `S` of `S:T`.
    ::llvm::StringRef dim(size_t i) const;
    /// The sequence dimension whose length dimension `i` has, if its size is dynamic: `T` of `S:T` and of `T`.
    ::llvm::StringRef sequence(size_t i) const;
    /// The place of the dimension called `name`, or -1.
    int find(::llvm::StringRef name) const;
  }];
}

def Attn_Weigh : I32EnumAttr<"Weigh", "how scores become weights", [
  I32EnumAttrCase<"softmax", 0>, I32EnumAttrCase<"softmax1", 1>, I32EnumAttrCase<"sigmoid", 2>, I32EnumAttrCase<"ratio", 3>]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_WeighAttr : EnumAttr<Attn_Dialect, Attn_Weigh, "weigh">;

def Attn_Reduction : I32EnumAttr<"Reduction", "what a reduction computes", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_ReductionAttr : EnumAttr<Attn_Dialect, Attn_Reduction, "reduction">;

def Attn_Norm : I32EnumAttr<"Norm", "which normalisation", [I32EnumAttrCase<"layer", 0>, I32EnumAttrCase<"rms", 1>]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_NormAttr : EnumAttr<Attn_Dialect, Attn_Norm, "norm">;

def Attn_StateKind : I32EnumAttr<"StateKind", "how rows come into a place of the session", [I32EnumAttrCase<"cache", 0>, I32EnumAttrCase<"once", 1>]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_StateKindAttr : EnumAttr<Attn_Dialect, Attn_StateKind, "state_kind">;

def Attn_SessionNumber : I32EnumAttr<"SessionNumber", "a number of the session", [I32EnumAttrCase<"past", 0>, I32EnumAttrCase<"capacity", 1>]> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
def Attn_SessionNumberAttr : EnumAttr<Attn_Dialect, Attn_SessionNumber, "session_number">;

#endif
