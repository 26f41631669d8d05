// attnc.cpp: the compiler, from a page of .attn to a C library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   attnc FILE.attn --config=FOLDER -o libmodel.so
//
// Results alone on standard output, everything else on standard error. Exit 0: done; 1: diagnosed; 2: wrong usage.
#include "tools/Driver.h"
#include "tools/Occasions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace llvm;

namespace {

cl::OptionCategory category("attnc");
cl::opt<std::string> input(cl::Positional, cl::Required, cl::desc("FILE.attn"), cl::cat(category));
cl::opt<std::string> output("o", cl::value_desc("file"), cl::cat(category),
                            cl::desc("where the result goes; its suffix says what it is; `-` is standard output"));
cl::opt<std::string> config("config", cl::desc("config.json, or the folder that holds it"), cl::value_desc("path"),
                            cl::cat(category));
cl::opt<std::string> mcpu("mcpu", cl::desc("the machine: native, x86-64-v3, …"), cl::init("native"), cl::cat(category));
cl::opt<std::string> machine("target", cl::desc("what kind of machine: cpu"), cl::init("cpu"), cl::cat(category));
cl::opt<std::string>
    precision("precision", cl::desc("what attention and products with weights multiply in: f32, or bf16 summed in f32"),
              cl::init("f32"), cl::cat(category));
cl::opt<attn::AttentionForm>
    attention("attention", cl::desc("the form of attentions; what a form cannot do is noted"), cl::cat(category),
              cl::values(clEnumValN(attn::AttentionForm::automatic, "auto", "as the compiler and the call choose"),
                         clEnumValN(attn::AttentionForm::online, "online", "one pass over the keys"),
                         clEnumValN(attn::AttentionForm::split, "split",
                                    "keys divided between threads where sequences have one query")));
cl::opt<bool> strict("strict", cl::desc("warnings about unread configuration are errors"), cl::cat(category));
cl::opt<bool> probe("probe", cl::desc("keep taps, for attn_session_probe"), cl::cat(category));
cl::opt<bool> countTiles("count", cl::desc("attentions count their tiles and bytes, for attn_model_count"),
                         cl::cat(category));
cl::opt<bool> explain("explain", cl::desc("say what the passes did and what they had to leave"), cl::cat(category));
cl::opt<std::string> draw("draw", cl::desc("draw each attention's mask, as the kernels go over it, for one --length"),
                          cl::value_desc("file.svg"), cl::cat(category));
cl::list<std::string> lengths("length", cl::value_desc("N or T=N,S=N,past=N"), cl::cat(category),
                              cl::desc("how long sequences are in --explain (may be given several times) and --draw"));
cl::list<std::string> lookups("lookup", cl::value_desc("doc=0*512,1*512"), cl::cat(category),
                              cl::desc("the numbers of a parameter that masks look up, for --explain and --draw"));
cl::opt<bool> timing("time", cl::desc("say how long each stage took"), cl::cat(category));
cl::opt<bool> verifyPasses("verify-passes", cl::desc("check the module after every pass"), cl::cat(category));
cl::opt<std::string> dumpIr("dump-ir", cl::desc("write the module after each pass into this folder, numbered"),
                            cl::value_desc("folder"), cl::cat(category));
cl::opt<attn::Sanitizer> sanitizer("sanitize", cl::desc("instrument the generated code"), cl::cat(category),
                                   cl::values(clEnumValN(attn::Sanitizer::address, "address", "memory errors"),
                                              clEnumValN(attn::Sanitizer::thread, "thread", "races")));

/// The values of --emit and --stop-after, from the table of stages.
struct StageParser : cl::parser<attn::Stage> {
  using cl::parser<attn::Stage>::parser;
  void initialize() { // the option has its name by now
    for (const attn::StageInfo &row : attn::stages())
      addLiteralOption(row.name, row.stage, row.description);
  }
};
cl::opt<attn::Stage, false, StageParser> emitStage("emit", cl::cat(category),
                                                   cl::desc("the stage whose result is written (default: lib)"));
int usage(const Twine &message) {
  errs() << "attnc: " << message << '\n';
  return 2;
}

/// --length and --lookup; what is wrong with them, or "".
std::string readOccasions(std::vector<attn::Occasion> &occasions) {
  if (!explain && draw.empty() && !(lengths.empty() && lookups.empty()))
    return "--length and --lookup are for --explain and --draw";
  if (!draw.empty() && lengths.size() != 1)
    return "--draw takes one --length";
  if (lengths.empty() && !lookups.empty())
    return "--lookup takes a --length";
  for (const std::string &text : lengths)
    if (!attn::parseLengths(text, occasions.emplace_back()))
      return "--length=" + text + ": should be a number, or NAME=NUMBER with commas between";
  for (const std::string &text : lookups)
    for (attn::Occasion &occasion : occasions)
      if (!attn::parseLookup(text, occasion))
        return "--lookup=" + text + ": should be NAME=NUMBERS, each perhaps with `*` and how often";
  return "";
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::getRegisteredOptions().erase("stop-after"); // LLVM's, for passes of its code generator
  cl::opt<attn::Stage, false, StageParser> stopAfter("stop-after", cl::cat(category),
                                                     cl::desc("end after this stage and write nothing"));
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "attn compiler\n", &errs()))
    return 2;
  if (machine != "cpu")
    return usage("--target=" + machine + ": code is made for cpu only");
  std::optional<attn::Precision> multiplied = attn::findPrecision(precision);
  if (!multiplied)
    return usage("--precision=" + precision + ": attention multiplies in f32 or bf16");
  attn::DriverOptions options;
  options.precision = *multiplied;
  options.input = input;
  options.output = output;
  options.config = config;
  options.mcpu = mcpu;
  options.saysMcpu = mcpu.getNumOccurrences() > 0;
  options.emit = emitStage.getNumOccurrences() ? attn::Stage(emitStage) : attn::stageFor(output);
  if (stopAfter.getNumOccurrences())
    options.stopAfter = stopAfter;
  options.dumpIr = dumpIr;
  options.probe = probe;
  options.count = countTiles;
  options.attention = attention;
  options.strict = strict;
  options.explain = explain;
  options.time = timing;
  options.verifyPasses = verifyPasses;
  options.sanitizer = sanitizer;
  options.draw = draw;
  if (std::string wrong = readOccasions(options.occasions); !wrong.empty())
    return usage(wrong);
  if (!draw.empty() && output.empty() && emitStage.getNumOccurrences() == 0 && !options.stopAfter)
    options.stopAfter = attn::Stage::plan; // the picture is the result
  bool binary = options.emit == attn::Stage::library || options.emit == attn::Stage::object;
  if (binary && !options.stopAfter && (output.empty() || (output == "-" && options.emit == attn::Stage::library)))
    return usage("where does the result go? -o FILE");
  attn::Diagnostics diags;
  return attn::compile(options, diags) ? 0 : 1;
}
