// The table of machines: what a set of instruction features means for tile sizes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine is asked for its features, never for its model. The block of sums (panelRows x panelVectors) fills the
// registers but those that the operands need: 8 x 3 of 32, 6 x 2 of 16.
#include "lowering/targets/Target.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace attn {
namespace {

struct Row {
  const char *feature; // the last one that a machine has counts
  const char *also;
  int64_t lanes, registers, panelVectors, panelRows, l1, l2;
  bool fma, avx512;
};

constexpr Row x86Rows[] = {
    {"sse", "sse", 4, 16, 2, 6, 32 << 10, 256 << 10, false, false},
    {"avx2", "fma", 8, 16, 2, 6, 32 << 10, 512 << 10, true, false},
    {"avx512f", "avx512vl", 16, 32, 3, 8, 32 << 10, 1 << 20, true, true},
};
constexpr Row armRow = {"neon", "neon", 4, 32, 4, 6, 64 << 10, 512 << 10, true, false};

void apply(Target &target, const Row &row) {
  target.lanes = row.lanes;
  target.registers = row.registers;
  target.panelVectors = row.panelVectors;
  target.panelRows = row.panelRows;
  target.l1 = row.l1;
  target.l2 = row.l2;
  target.fma = row.fma;
  target.avx512 = row.avx512;
}

Target x86Target(llvm::StringRef name, const llvm::StringMap<bool> &features) {
  Target target;
  target.name = name.str();
  target.triple = "x86_64-unknown-linux-gnu";
  for (const Row &row : x86Rows)
    if (features.lookup(row.feature) && features.lookup(row.also))
      apply(target, row);
  target.bf16 = target.avx512 && features.lookup("avx512bf16");
  target.amx = target.bf16 && features.lookup("amx-tile") && features.lookup("amx-bf16");
  return target;
}

Target armTarget(llvm::StringRef name) {
  Target target;
  target.name = name.str();
  target.triple = "aarch64-unknown-linux-gnu";
  target.cpu = "generic";
  target.features = "+neon";
  apply(target, armRow);
  return target;
}

/// LLVM tunes some machines with 512-bit registers for 256 bits and would split what is written for them.
void useWideVectors(Target &target) {
  if (target.avx512)
    target.features += ",-prefer-256-bit";
}

Target nativeTarget() {
  if (llvm::Triple(llvm::sys::getProcessTriple()).isAArch64())
    return armTarget("native");
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  Target target = x86Target("native", features);
  target.cpu = llvm::sys::getHostCPUName().str();
  llvm::SmallVector<std::string> words;
  for (const auto &feature : features)
    words.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(words);
  target.features = llvm::join(words, ",");
  useWideVectors(target);
  return target;
}

} // namespace

std::optional<Target> findTarget(llvm::StringRef name) {
  if (name == "native")
    return nativeTarget();
  if (name == "aarch64")
    return armTarget(name);
  llvm::SmallVector<llvm::StringRef> known;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (!llvm::is_contained(known, name))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::X86::getFeaturesForCPU(name, words);
  llvm::StringMap<bool> features;
  for (llvm::StringRef word : words) {
    features[word] = true; // what it implies is not in the list
    llvm::X86::updateImpliedFeatures(word, /*Enabled=*/true, features);
  }
  Target target = x86Target(name, features);
  target.cpu = name.str();
  llvm::sort(words);
  for (llvm::StringRef word : words)
    target.features += (target.features.empty() ? "+" : ",+") + word.str();
  useWideVectors(target);
  return target;
}

} // namespace attn
