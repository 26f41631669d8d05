// Driver.cpp: one compilation, from a text to the result of a stage.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     text ─ parse ─► tree ─ elaborate ─► attn ─ passes ─► plan ─ lower ─► tile ─► vector ─► llvm ─► object ─► library
//
// Each step leaves its result in the Compilation; the step that makes what was asked for is the last.
#include "tools/Driver.h"

#include "dialect/AttnDialect.h"
#include "frontend/Config.h"
#include "frontend/Elaborate.h"
#include "frontend/Parser.h"
#include "lowering/Explain.h"
#include "lowering/Lower.h"
#include "lowering/Pipelines.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "tools/Draw.h"
#include "tools/LibraryFile.h"
#include "tools/Occasions.h"
#include "tools/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>
#include <set>

using namespace llvm;

namespace attn {

namespace {

/// Rows of the largest mask that is drawn.
constexpr int64_t mostDrawn = 16384;

/// Writes the module after each pass into NN-PASS.mlir.
class DumpAfterPasses : public mlir::PassInstrumentation {
public:
  DumpAfterPasses(StringRef where, unsigned &counter, Diagnostics &reports)
      : folder(where), number(counter), diags(reports) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    std::string name = pass->getArgument().empty() ? pass->getName().str() : pass->getArgument().str();
    std::string text;
    raw_string_ostream(text) << *op << '\n';
    SmallString<256> path(folder);
    sys::path::append(path, (Twine(number / 10) + Twine(number % 10) + "-" + name + ".mlir").str());
    ++number;
    writeOutput(path, text, diags);
  }

private:
  std::string folder;
  unsigned &number;
  Diagnostics &diags;
};

class Compilation {
public:
  Compilation(const DriverOptions &given, Diagnostics &reports);
  bool run();

private:
  using Step = bool (Compilation::*)();
  bool timed(const char *name, Step step);
  bool ends(Stage stage) const { return options.emit == stage || options.stopAfter == stage; }

  bool parse();
  bool elaborateTree();
  bool readDialect();
  bool plan();
  bool tellAttentions();
  void explainMasks();
  bool drawTo(StringRef path);
  bool lowerAll();
  bool lowerPlan();
  bool lowerTiles();
  bool lowerToLLVM();
  bool makeObject();
  bool finish(Stage stage);

  const File *openUsed(StringRef path, SMRange where);
  std::unique_ptr<File> parseFrom(StringRef path);
  bool runPasses(mlir::ModuleOp module, function_ref<void(mlir::OpPassManager &)> build);
  bool writeText(StringRef text) {
    return writeOutput(options.output.empty() ? "-" : StringRef(options.output), text, diags);
  }
  LowerOptions lowerOptions() const {
    return {
        .probe = options.probe, .count = options.count, .precision = options.precision, .attention = options.attention};
  }
  bool writeModule(mlir::ModuleOp module);
  void handle(mlir::Diagnostic &diagnostic);
  SMRange rangeOf(mlir::Location location) const;
  void remark(const mlir::Diagnostic &diagnostic);

  const DriverOptions &options;
  Diagnostics &diags;
  mlir::MLIRContext context;
  std::optional<Target> target;
  std::unique_ptr<File> file;
  std::vector<std::unique_ptr<File>> library, used;
  StringMap<unsigned> opened; // how often each file of a `use` was read
  std::unique_ptr<Config> config;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Lowered lowered;
  SmallVector<char, 0> object;
  unsigned dumps = 0;
};

Compilation::Compilation(const DriverOptions &given, Diagnostics &reports)
    : options(given), diags(reports), context(mlir::MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false); // users know their text, not the dialect
  context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) { handle(diagnostic); });
}

/// Is the input text of the attn dialect already?
bool isDialect(StringRef path) {
  return path.ends_with(".mlir");
}

/// The place in the text, if it is known.
SMRange Compilation::rangeOf(mlir::Location location) const {
  auto place = location->findInstanceOf<mlir::FileLineColRange>();
  if (!place)
    return {};
  StringRef name = place.getFilename().getValue();
  SMRange begin = diags.rangeAt(name, place.getStartLine(), place.getStartColumn());
  return {begin.Start, diags.rangeAt(name, place.getEndLine(), place.getEndColumn()).Start};
}

/// What a pass did or had to leave, with the other places it speaks of.
void Compilation::remark(const mlir::Diagnostic &diagnostic) {
  diags.note(rangeOf(diagnostic.getLocation()), diagnostic.str());
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    diags.note(rangeOf(note.getLocation()), note.str());
}

/// What passes and lowering report; a user's mistakes have mostly been found before.
void Compilation::handle(mlir::Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  SMRange range = rangeOf(diagnostic.getLocation());
  auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColRange>();
  if (place && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && isDialect(options.input))
    text =
        formatv("{0}:{1}:{2}: {3}", place.getFilename().getValue(), place.getStartLine(), place.getStartColumn(), text);
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    diags.error(range, text);
    break;
  case mlir::DiagnosticSeverity::Warning:
    diags.warning(text);
    break;
  case mlir::DiagnosticSeverity::Note:
    diags.note(SMRange(), text);
    break;
  case mlir::DiagnosticSeverity::Remark:
    if (options.explain)
      remark(diagnostic);
    break;
  }
}

bool Compilation::timed(const char *name, Step step) {
  auto start = std::chrono::steady_clock::now();
  bool right = (this->*step)() && !diags.hasErrors();
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (options.time)
    errs() << formatv("{0,-10} {1:f3} s\n", name, seconds.count());
  return right;
}

std::unique_ptr<File> Compilation::parseFrom(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    diags.error("cannot read `" + path + "`: " + StringRef(buffer.getError().message()).lower());
    return nullptr;
  }
  StringRef name = path == "-" ? "<stdin>" : path;
  return parseFile(name, diags.addFile(name, (*buffer)->getBuffer()), diags);
}

/// Reads what --emit=attn wrote.
bool Compilation::readDialect() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(options.input, /*IsText=*/true);
  if (!buffer) {
    diags.error("cannot read `" + options.input + "`: " + StringRef(buffer.getError().message()).lower());
    return false;
  }
  context.loadDialect<AttnDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  module = mlir::parseSourceString<mlir::ModuleOp>((*buffer)->getBuffer(), &context, options.input);
  return bool(module);
}

bool Compilation::parse() {
  if (isDialect(options.input))
    return true;
  file = parseFrom(options.input);
  return file != nullptr;
}

/// A file may be used from several places; so often only if files use each other in a circle.
constexpr unsigned mostOpenings = 32;

/// The file of `use "…"`, beside the one that names it.
const File *Compilation::openUsed(StringRef path, SMRange where) {
  SmallString<256> beside(sys::path::parent_path(diags.place(where.Start).file));
  sys::path::append(beside, path);
  if (!sys::fs::exists(beside)) {
    diags.error(where, "there is no file `" + path + "` here");
    return nullptr;
  }
  SmallString<256> real;
  if (sys::fs::real_path(beside, real))
    real = beside;
  if (++opened[real] > mostOpenings) {
    diags.error(where, "files use each other in a circle: `" + path + "` is read again and again");
    return nullptr;
  }
  std::unique_ptr<File> other = parseFrom(beside);
  if (!other || diags.hasErrors())
    return nullptr;
  used.push_back(std::move(other));
  return used.back().get();
}

bool Compilation::elaborateTree() {
  if (isDialect(options.input))
    return readDialect();
  library = parseStd(diags);
  config =
      options.config.empty() ? Config::parse("no configuration", "{}", diags) : Config::load(options.config, diags);
  if (!config || diags.hasErrors())
    return false;
  std::vector<const File *> files;
  for (const std::unique_ptr<File> &each : library)
    files.push_back(each.get());
  ElaborateOptions elaboration;
  elaboration.strict = options.strict;
  elaboration.noConfig = options.config.empty();
  elaboration.open = [this](StringRef path, SMRange where) { return openUsed(path, where); };
  module = elaborate(*file, files, *config, diags, context, elaboration);
  return bool(module);
}

bool Compilation::runPasses(mlir::ModuleOp on, function_ref<void(mlir::OpPassManager &)> build) {
  mlir::PassManager manager(&context, mlir::ModuleOp::getOperationName());
  manager.enableVerifier(options.verifyPasses);
  if (!options.dumpIr.empty())
    manager.addInstrumentation(std::make_unique<DumpAfterPasses>(options.dumpIr, dumps, diags));
  build(manager);
  return succeeded(manager.run(on));
}

bool Compilation::plan() {
  PassOptions passes;
  passes.probe = options.probe;
  bool planned = runPasses(*module, [&](mlir::OpPassManager &manager) {
    buildPassPipeline(manager, passes);
    buildPlanPipeline(manager);
  });
  return planned && ((options.draw.empty() && !options.explain) || tellAttentions());
}

/// --explain and --draw: what the kernels of attentions will do, which lowering decides.
bool Compilation::tellAttentions() {
  if (!lowerAll())
    return false;
  for (const Occasion &occasion : options.occasions)
    if (!checkOccasion(*module, lowered.attends, occasion, diags))
      return false;
  if (options.explain) {
    std::vector<Occasion> usual(2);
    usual[0].everyLength = 1024, usual[1].everyLength = 16384;
    explainMasks();
    errs() << explainPlan(*module, *target, lowerOptions(), lowered.attends,
                          options.occasions.empty() ? usual : options.occasions);
  }
  return options.draw.empty() || drawTo(options.draw);
}

/// Shows the parts of masks that no bounds could be made of, each once, however many attentions have it.
void Compilation::explainMasks() {
  std::set<std::pair<const void *, std::string>> told;
  for (const AttendTiling &tiling : lowered.attends) {
    AttendOp op = tiling.op;
    if (op.getMask().empty())
      continue;
    for (const masks::Undecided &part : MaskPlan(op).undecided) {
      if (!told.insert({part.op->getLoc().getAsOpaquePointer(), part.why}).second)
        continue;
      SMRange range;
      if (auto place = part.op->getLoc()->findInstanceOf<mlir::FileLineColLoc>())
        range = diags.rangeAt(place.getFilename().getValue(), place.getLine(), place.getColumn());
      diags.note(range, "this part of the mask is evaluated for each pair: " + part.why);
    }
  }
}

bool Compilation::drawTo(StringRef path) {
  const Occasion &occasion = options.occasions[0];
  for (const AttendTiling &tiling : lowered.attends)
    for (const Monomial &size : {tiling.queries, tiling.keys}) {
      std::optional<int64_t> rows = occasion.size(size);
      if (!rows || *rows > mostDrawn) {
        diags.error(rows ? "a mask of " + Twine(*rows) + " rows cannot be drawn, " + Twine(mostDrawn) + " at most"
                         : "--length does not say how long `" + size.lengths[0] + "` is");
        return false;
      }
    }
  if (lowered.attends.empty()) {
    diags.error("there is no attention to draw");
    return false;
  }
  return writeOutput(path, drawMasks(lowered.attends, occasion), diags);
}

bool Compilation::lowerAll() {
  mlir::FailureOr<Lowered> result = lowerModule(*module, *target, lowerOptions());
  if (failed(result))
    return false;
  lowered = std::move(*result);
  return true;
}

bool Compilation::lowerPlan() {
  if (!lowered.module && !lowerAll())
    return false;
  return runPasses(*lowered.module, [](mlir::OpPassManager &manager) { buildTilePipeline(manager); });
}

bool Compilation::lowerTiles() {
  return runPasses(*lowered.module, [&](mlir::OpPassManager &manager) { buildVectorPipeline(manager, *target); });
}

bool Compilation::lowerToLLVM() {
  return runPasses(*lowered.module, [&](mlir::OpPassManager &manager) { buildLLVMPipeline(manager); });
}

bool Compilation::makeObject() {
  ObjectOptions how;
  how.sanitizer = options.sanitizer;
  how.kind = ends(Stage::llvm) ? ObjectKind::llvm : ends(Stage::assembly) ? ObjectKind::assembly : ObjectKind::object;
  return succeeded(emitObject(*lowered.module, *target, how, object));
}

bool Compilation::writeModule(mlir::ModuleOp on) {
  std::string text;
  raw_string_ostream(text) << on << '\n';
  return writeText(text);
}

/// Writes the result of the stage that was asked for.
bool Compilation::finish(Stage stage) {
  if (options.stopAfter == stage && options.emit != stage)
    return true;
  StringRef bytes(object.data(), object.size());
  std::string text;
  raw_string_ostream stream(text);
  switch (stage) {
  case Stage::ast:
    if (!file) {
      diags.error("`" + options.input + "` has no syntax tree");
      return false;
    }
    printAst(*file, stream);
    return writeText(text);
  case Stage::attn:
  case Stage::plan:
    return writeModule(*module);
  case Stage::tile:
  case Stage::vector:
    return writeModule(*lowered.module);
  case Stage::llvm:
  case Stage::assembly:
  case Stage::object:
    return writeText(bytes);
  case Stage::library:
    return writeLibrary(options.output, bytes, lowered.metadata, diags);
  case Stage::header:
    text = headerOf(lowered.metadata, diags);
    return !text.empty() && writeText(text);
  }
  return false;
}

bool Compilation::run() {
  // The thread sanitizer sees accesses of 16 bytes at most; wider vectors would hide every race.
  bool narrow = options.sanitizer == Sanitizer::thread && !options.saysMcpu;
  target = findTarget(narrow && Triple(sys::getProcessTriple()).isX86() ? "x86-64" : options.mcpu);
  if (!target) {
    diags.error("there is no machine `" + options.mcpu + "`");
    return false;
  }
  if (!options.dumpIr.empty() && sys::fs::create_directories(options.dumpIr)) {
    diags.error("cannot make the folder `" + options.dumpIr + "`");
    return false;
  }
  struct Row {
    Stage stage;
    const char *name;
    Step step;
  };
  // The header needs no code, so it is had as soon as the metadata is there.
  bool header = options.emit == Stage::header;
  static constexpr Row rows[] = {
      {Stage::ast, "parse", &Compilation::parse},           {Stage::attn, "elaborate", &Compilation::elaborateTree},
      {Stage::plan, "passes", &Compilation::plan},          {Stage::tile, "lower", &Compilation::lowerPlan},
      {Stage::vector, "vectors", &Compilation::lowerTiles}, {Stage::object, "to LLVM", &Compilation::lowerToLLVM},
      {Stage::library, "object", &Compilation::makeObject},
  };
  for (const Row &row : rows) {
    if (!timed(row.name, row.step))
      return false;
    if (header && row.stage == Stage::tile)
      return finish(Stage::header);
    if (row.stage <= Stage::vector && ends(row.stage))
      return finish(row.stage);
  }
  if (!options.saysMcpu)
    diags.note(SMRange(), "made for this machine (" + target->cpu + "); --mcpu=x86-64-v3 runs on most");
  return finish(options.stopAfter ? std::min(*options.stopAfter, options.emit) : options.emit);
}

} // namespace

bool compile(const DriverOptions &options, Diagnostics &diags) {
  return Compilation(options, diags).run();
}

} // namespace attn
