// EmitObjectTest.cpp: objects of small modules: which symbols they have, and for which machine they are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/EmitObject.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Object/ObjectFile.h"
#include "gtest/gtest.h"
#include <set>

using namespace attn;
using namespace mlir;

namespace {

constexpr const char text[] = R"(
  llvm.func @attn_rt_parallel_for(!llvm.ptr)
  llvm.mlir.global private constant @table(7 : i64) : i64
  llvm.func @entry(%a: !llvm.ptr, %n: i64) -> i32 {
    %zero = llvm.mlir.constant(0 : i8) : i8
    "llvm.intr.memset"(%a, %zero, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
    llvm.call @attn_rt_parallel_for(%a) : (!llvm.ptr) -> ()
    %scratch = llvm.mlir.constant(1 : i64) : i64
    %p = llvm.alloca %scratch x i32 : (i64) -> !llvm.ptr
    %c = llvm.mlir.constant(3 : i32) : i32
    llvm.store %c, %p : i32, !llvm.ptr
    %r = llvm.load %p : !llvm.ptr -> i32
    llvm.return %r : i32
  })";

class EmitObject : public ::testing::Test {
protected:
  EmitObject() { context.loadDialect<LLVM::LLVMDialect>(); }

  std::string emit(ObjectKind kind, StringRef machine, Sanitizer sanitizer = Sanitizer::none) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    SmallVector<char> result;
    EXPECT_TRUE(succeeded(emitObject(*module, *findTarget(machine), {kind, sanitizer}, result)));
    return std::string(result.begin(), result.end());
  }

  MLIRContext context;
};

std::set<std::string> undefined(StringRef bytes) {
  auto object = cantFail(llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "object")));
  std::set<std::string> names;
  for (const llvm::object::SymbolRef &symbol : object->symbols())
    if (cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
      names.insert(cantFail(symbol.getName()).str());
  names.erase("");
  return names;
}

TEST_F(EmitObject, NeedsOnlyWhatIsDeclared) {
  EXPECT_EQ(undefined(emit(ObjectKind::object, "x86-64-v3")),
            (std::set<std::string>{"attn_rt_parallel_for", "memset"}));
}

TEST_F(EmitObject, PromotesScratch) {
  std::string ir = emit(ObjectKind::llvm, "x86-64-v3");
  EXPECT_EQ(ir.find("alloca"), std::string::npos);
  EXPECT_NE(ir.find("ret i32 3"), std::string::npos);
}

TEST_F(EmitObject, SanitizersInstrument) {
  EXPECT_NE(emit(ObjectKind::llvm, "x86-64-v3", Sanitizer::thread).find("__tsan_func_entry"), std::string::npos);
  EXPECT_NE(emit(ObjectKind::llvm, "x86-64-v3", Sanitizer::address).find("__asan_memset"), std::string::npos);
}

TEST_F(EmitObject, RefusesMachinesOfNoBackend) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  Target target;
  target.triple = "pdp11-dec-unix";
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  SmallVector<char> result;
  EXPECT_TRUE(failed(emitObject(*module, target, {}, result)));
  EXPECT_EQ(message.find("no code can be made for `pdp11-dec-unix`: "), 0u);
}

TEST_F(EmitObject, TheSameTwice) {
  EXPECT_EQ(emit(ObjectKind::object, "native"), emit(ObjectKind::object, "native"));
}

} // namespace
