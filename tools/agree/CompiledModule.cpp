// Compiling a module into this process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/agree/CompiledModule.h"
#include "lowering/EmitObject.h"
#include "lowering/Lower.h"
#include "lowering/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <atomic>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace mlir;

// ---- what generated code calls

extern "C" __attribute__((visibility("default"))) void attn_rt_parallel_for(attn_call *call, attn_kernel *kernel,
                                                                            const void *args, int64_t tasks) {
  const auto *threads = static_cast<const attn::agree::Threads *>(call->pool);
  std::atomic<int64_t> next = 0;
  auto work = [&]() ATTN_CALLS_GENERATED {
    for (int64_t i; (i = next++) < tasks;)
      kernel(call, args, threads->backwards ? tasks - 1 - i : i);
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads->count; ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
}

extern "C" __attribute__((visibility("default"))) int64_t attn_rt_threads(attn_call *call) {
  return static_cast<const attn::agree::Threads *>(call->pool)->count;
}

extern "C" __attribute__((visibility("default"))) void attn_rt_tap(attn_call *, const char *, int64_t, const int64_t *,
                                                                   const int64_t *, const void *) {}

namespace attn::agree {

/// Object to shared library; false where the linker complains (it has said so). The program is hidden in objects, so
/// that libraries do not show it; here it gets a second name.
static bool link(StringRef object, StringRef library) {
  std::string linker = ATTN_LLVM_TOOLS "/ld.lld";
  StringRef arguments[] = {linker, "-shared", "--defsym=judged_program=attn_this_program", object, "-o", library};
  return llvm::sys::ExecuteAndWait(linker, arguments) == 0;
}

static bool writeFile(StringRef path, ArrayRef<char> bytes) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error)
    return false;
  out.write(bytes.data(), bytes.size());
  out.close();
  return !out.has_error();
}

/// Linux gives a process the tile registers only when it asks: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA).
static void askForTiles() {
#if defined(__x86_64__)
  if (syscall(SYS_arch_prctl, 0x1023, 18) != 0)
    llvm::report_fatal_error("attn-agree: the kernel does not give tile registers");
#endif
}

static LogicalResult makeObject(Lowered &lowered, const Target &target, SmallVectorImpl<char> &object) {
  PassManager manager(lowered.module->getContext(), ModuleOp::getOperationName());
  buildTilePipeline(manager);
  buildVectorPipeline(manager, target);
  buildLLVMPipeline(manager);
  return failed(manager.run(*lowered.module)) ? failure() : emitObject(*lowered.module, target, {}, object);
}

FailureOr<std::unique_ptr<CompiledModule>> CompiledModule::compile(ModuleOp planned, const Target &target,
                                                                   const LowerOptions &options, StringRef folder) {
  FailureOr<Lowered> lowered = lowerModule(planned, target, options);
  SmallVector<char, 0> object;
  if (failed(lowered) || failed(makeObject(*lowered, target, object)))
    return failure();
  if (target.amx && options.precision == Precision::bf16)
    askForTiles();
  static int number = 0;
  std::string stem = (folder + "/judged-" + Twine(number++)).str(), library = stem + ".so";
  if (!writeFile(stem + ".o", object) || !link(stem + ".o", library))
    llvm::report_fatal_error("attn-agree: an object cannot be linked");
  auto compiled = std::unique_ptr<CompiledModule>(new CompiledModule);
  compiled->library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!compiled->library)
    llvm::report_fatal_error(dlerror());
  compiled->table = static_cast<const attn_program *>(dlsym(compiled->library, "judged_program"));
  llvm::Expected<llvm::json::Value> metadata = llvm::json::parse(lowered->metadata);
  if (!compiled->table || !metadata)
    llvm::report_fatal_error("attn-agree: an object has no program or no metadata");
  compiled->meta = std::move(*metadata);
  compiled->readState();
  return compiled;
}

static int64_t product(const llvm::json::Array *sizes) {
  int64_t count = 1;
  for (const llvm::json::Value &size : *sizes)
    count *= *size.getAsInteger();
  return count;
}

void CompiledModule::readState() {
  std::vector<std::vector<size_t>> slotsOf; // of each entry under "state"
  if (const llvm::json::Array *state = metadata().getArray("state"))
    for (const llvm::json::Value &value : *state) {
      const llvm::json::Object &entry = *value.getAsObject();
      std::vector<size_t> &own = slotsOf.emplace_back();
      for (int64_t turn = product(entry.getArray("turns")); turn-- > 0;) {
        own.push_back(stateSlots.size());
        int64_t bytes = *entry.getString("type") == "bf16" ? 2 : 4;
        stateSlots.push_back({*entry.getString("kind") == "cache", bytes * product(entry.getArray("row"))});
      }
    }
  for (size_t i = 0; i < functions(); ++i) {
    FunctionState &own = functionStates.emplace_back();
    own.cached = function(i).getString("cached").value_or("").str();
    if (const llvm::json::Array *kept = function(i).getArray("kept"))
      for (const llvm::json::Value &value : *kept) {
        KeptSequence &along = own.kept.emplace_back();
        along.name = value.getAsObject()->getString("sequence")->str();
        for (const llvm::json::Value &entry : *value.getAsObject()->getArray("state"))
          llvm::append_range(along.slots, slotsOf[*entry.getAsInteger()]);
      }
  }
}

CompiledModule::~CompiledModule() {
  if (library)
    dlclose(library);
}

const llvm::json::Object &CompiledModule::function(size_t i) const {
  return *(*metadata().getArray("functions"))[i].getAsObject();
}

} // namespace attn::agree
