// EmitObject.cpp: from a module of the LLVM dialect to LLVM IR, assembly or an object file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels arrive as vectors, loops and addresses already; what is left for LLVM's middle end is to clean up after
// one-to-one translation: promote scratch, fold, share, hoist. The full O3 pipeline costs several times as much compile
// time and finds nothing more (it has nothing to vectorise, unroll or inline).
#include "lowering/EmitObject.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"

using namespace mlir;

namespace attn {

namespace {

// A second turn of instcombine may find more to do; as text it would take that for an error.
constexpr const char cleanUp[] = "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
                                 "loop-mssa(licm),early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

std::unique_ptr<llvm::TargetMachine> machineFor(const Target &target, std::string &error) {
  static const bool initialised = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)initialised;
  llvm::Triple triple(target.triple);
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  options.FunctionSections = options.DataSections = true;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// What holds of every generated function; the sanitizers look for their attribute.
void setAttributes(llvm::Module &module, const Target &target, Sanitizer sanitizer) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    if (sanitizer == Sanitizer::address)
      function.addFnAttr(llvm::Attribute::SanitizeAddress);
    if (sanitizer == Sanitizer::thread)
      function.addFnAttr(llvm::Attribute::SanitizeThread);
  }
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine, Sanitizer sanitizer) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, cleanUp));
  if (sanitizer == Sanitizer::address)
    passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions()));
  if (sanitizer == Sanitizer::thread) {
    passes.addPass(llvm::ModuleThreadSanitizerPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
  }
  passes.run(module, modules);
}

} // namespace

LogicalResult emitObject(ModuleOp module, const Target &target, const ObjectOptions &options,
                         SmallVectorImpl<char> &result) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(target, error);
  if (!machine)
    return module.emitError() << "no code can be made for `" << target.triple << "`: " << error;
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(module, context, "attn");
  if (!translated)
    return failure(); // the translation has said why
  translated->setTargetTriple(machine->getTargetTriple());
  translated->setDataLayout(machine->createDataLayout());
  translated->setPICLevel(llvm::PICLevel::BigPIC);
  setAttributes(*translated, target, options.sanitizer);
  optimise(*translated, *machine, options.sanitizer);

  llvm::raw_svector_ostream stream(result);
  if (options.kind == ObjectKind::llvm) {
    translated->print(stream, nullptr);
    return success();
  }
  llvm::legacy::PassManager codegen;
  auto type =
      options.kind == ObjectKind::assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, type))
    return module.emitError() << "no code can be made for `" << target.triple << "`";
  codegen.run(*translated);
  return success();
}

} // namespace attn
