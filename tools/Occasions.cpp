// Occasions.cpp: --length and --lookup of attnc: for which lengths attentions are explained and drawn.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Occasions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace attn {

/// Far from where numbers of pairs wrap.
constexpr int64_t longest = int64_t(1) << 24;

static bool parseNumber(StringRef text, int64_t most, int64_t &number) {
  return !text.getAsInteger(10, number) && number >= 0 && number <= most;
}

bool parseLengths(StringRef text, Occasion &occasion) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, number] = part.contains('=') ? part.split('=') : std::pair<StringRef, StringRef>("", part);
    int64_t length = 0;
    if (!parseNumber(number, longest, length) || (part.contains('=') && name.empty()))
      return false;
    if (name.empty())
      occasion.everyLength = length;
    else if (name == "past")
      occasion.past = length;
    else
      occasion.lengths[name.str()] = length;
  }
  return true;
}

bool parseLookup(StringRef text, Occasion &occasion) {
  auto [name, list] = text.split('=');
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  std::vector<int32_t> &numbers = occasion.lookups[name.str()];
  for (StringRef part : parts) {
    auto [number, times] = part.split('*');
    int32_t value = 0;
    int64_t count = 1;
    if (number.getAsInteger(10, value) || (part.contains('*') && !parseNumber(times, longest, count)))
      return false;
    numbers.insert(numbers.end(), size_t(count), value);
  }
  return !name.empty() && text.contains('=');
}

/// The tables of a mask are as long as the sequences that they follow.
static bool checkLookups(const AttendTiling &tiling, const Occasion &occasion, StringSet<> &found, Diagnostics &diags) {
  AttendOp op = tiling.op;
  for (unsigned i = 0; i < op.captures().size(); ++i) {
    StringRef name = lookupName(op, i);
    auto given = occasion.lookups.find(name.str());
    if (given == occasion.lookups.end())
      continue;
    found.insert(name);
    auto type = cast<mlir::RankedTensorType>(op.captures()[i].getType());
    std::optional<int64_t> length;
    if (type.hasStaticShape())
      length = type.getNumElements();
    else if (type.getRank() == 1)
      length = occasion.length(captureNames(op, i).sequence(0));
    if (length && *length != int64_t(given->second.size())) {
      diags.error("--lookup gives `" + name + "` " + Twine(given->second.size()) + " numbers, and there are " +
                  Twine(*length) + " rows");
      return false;
    }
  }
  return true;
}

bool checkOccasion(mlir::ModuleOp planned, ArrayRef<AttendTiling> attends, const Occasion &occasion,
                   Diagnostics &diags) {
  StringSet<> sequences, found;
  for (auto function : planned.getOps<mlir::func::FuncOp>())
    if (auto names = function->getAttrOfType<mlir::ArrayAttr>("attn.sequences"))
      for (StringRef name : names.getAsValueRange<mlir::StringAttr>())
        sequences.insert(name);
  for (const auto &[name, length] : occasion.lengths)
    if (!sequences.contains(name)) {
      diags.error("no export has a sequence `" + name + "`, which --length names");
      return false;
    }
  for (const AttendTiling &tiling : attends)
    if (!checkLookups(tiling, occasion, found, diags))
      return false;
  for (const auto &[name, numbers] : occasion.lookups)
    if (!found.contains(name)) {
      diags.error("no mask or score looks up `" + name + "`, which --lookup names");
      return false;
    }
  return true;
}

} // namespace attn
