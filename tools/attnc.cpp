// attnc.cpp: the compiler, from a page of .attn to a C library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   attnc FILE.attn --emit=ast -o OUT
//
// Results alone on standard output, everything else on standard error. Exit 0: done; 1: diagnosed; 2: wrong usage.
#include "frontend/Config.h"
#include "frontend/Elaborate.h"
#include "frontend/Parser.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace {

cl::OptionCategory category("attnc");
cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("FILE.attn"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("where the result goes; `-` is standard output"), cl::value_desc("file"),
                            cl::cat(category));
cl::opt<std::string> configPath("config", cl::desc("config.json, or the folder that holds it"), cl::value_desc("path"),
                                cl::cat(category));

cl::opt<bool> strict("strict", cl::desc("warnings about unread configuration are errors"), cl::cat(category));

enum class Stage { ast, attn };
cl::opt<Stage> emitStage("emit", cl::desc("the stage whose result is written"), cl::cat(category), cl::Required,
                         cl::values(clEnumValN(Stage::ast, "ast", "the syntax tree"),
                                    clEnumValN(Stage::attn, "attn", "the attn dialect, as the text says it")));

/// The text of `path`, owned by diags; false after an error.
bool readInput(StringRef path, StringRef &text, attn::Diagnostics &diags) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    diags.error("cannot read `" + path + "`: " + StringRef(buffer.getError().message()).lower());
    return false;
  }
  text = diags.addFile(path == "-" ? "<stdin>" : path, (*buffer)->getBuffer());
  return true;
}

int emitAst(StringRef text, attn::Diagnostics &diags) {
  std::unique_ptr<attn::File> file = attn::parseFile(input, text, diags);
  if (diags.hasErrors())
    return 1;
  std::string result;
  raw_string_ostream stream(result);
  attn::printAst(*file, stream);
  return attn::writeOutput(output.empty() ? StringRef("-") : StringRef(output), result, diags) ? 0 : 1;
}

int emitAttn(StringRef text, attn::Diagnostics &diags) {
  std::unique_ptr<attn::File> file = attn::parseFile(input, text, diags);
  std::vector<std::unique_ptr<attn::File>> library = attn::parseStd(diags);
  std::unique_ptr<attn::Config> config =
      configPath.empty() ? attn::Config::parse("no configuration", "{}", diags) : attn::Config::load(configPath, diags);
  if (diags.hasErrors() || !config)
    return 1;
  std::vector<const attn::File *> files;
  for (const std::unique_ptr<attn::File> &each : library)
    files.push_back(each.get());
  mlir::MLIRContext context;
  attn::ElaborateOptions options;
  options.strict = strict;
  mlir::OwningOpRef<mlir::ModuleOp> module = attn::elaborate(*file, files, *config, diags, context, options);
  if (!module || diags.hasErrors())
    return 1;
  std::string result;
  raw_string_ostream stream(result);
  module->print(stream);
  stream << '\n';
  return attn::writeOutput(output.empty() ? StringRef("-") : StringRef(output), result, diags) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "attn compiler\n", &errs()))
    return 2;
  attn::Diagnostics diags;
  StringRef text;
  if (!readInput(input, text, diags))
    return 1;
  return emitStage == Stage::ast ? emitAst(text, diags) : emitAttn(text, diags);
}
