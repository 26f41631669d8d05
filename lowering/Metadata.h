// What a compiled model says of itself: the JSON of docs/metadata.md, and the table that the runtime looks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LOWERING_METADATA_H
#define ATTN_LOWERING_METADATA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace attn {
class Program;

/// The exported functions of a module, in order: their places here are their numbers.
llvm::SmallVector<mlir::func::FuncOp> exportsOf(mlir::ModuleOp source);

/// The JSON, once all exports have been lowered.
std::string metadataOf(const Program &program, llvm::ArrayRef<mlir::func::FuncOp> exports);

/// Adds `attn_this_program` (runtime/abi.h) to the lowered module: entries, pack functions, metadata.
void addProgramTable(Program &program, llvm::ArrayRef<mlir::func::FuncOp> exports, llvm::StringRef metadata);

} // namespace attn
#endif
