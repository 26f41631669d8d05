// Driver.h: one compilation, from a text to the result of a stage.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_DRIVER_H
#define ATTN_TOOLS_DRIVER_H

#include "frontend/Diagnostics.h"
#include "lowering/AttentionForm.h"
#include "lowering/EmitObject.h"
#include "lowering/Precision.h"
#include "lowering/attend/Work.h"
#include "tools/Stages.h"
#include <optional>

namespace attn {

struct DriverOptions {
  std::string input;  // a file, or - for standard input
  std::string output; // - or "" for standard output
  std::string config; // config.json or its folder; "" for none
  std::string mcpu = "native";
  bool saysMcpu = false; // the command line named the machine
  Stage emit = Stage::library;
  std::optional<Stage> stopAfter; // ends there and writes nothing
  std::string dumpIr;             // a folder for the module after each pass
  Precision precision = Precision::f32;
  AttentionForm attention = AttentionForm::automatic;
  bool probe = false; // taps stay
  bool count = false; // attentions count their tiles
  bool strict = false;
  bool explain = false;            // what passes did and did not, on standard error
  std::string draw;                // where the masks are drawn; "" for nowhere
  std::vector<Occasion> occasions; // for which lengths; exactly one to draw
  bool time = false;               // seconds of each stage, on standard error
  bool verifyPasses = false;
  Sanitizer sanitizer = Sanitizer::none;
};

/// False after an error, which is reported; nothing is written then.
bool compile(const DriverOptions &options, Diagnostics &diags);

} // namespace attn

#endif // ATTN_TOOLS_DRIVER_H
