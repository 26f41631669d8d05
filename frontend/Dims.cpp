// Dims.cpp: dimensions and how they are shown.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/Dims.h"
#include "dialect/Shapes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace attn {

std::string Dim::sizeText() const {
  return isSequence() ? "the length of `" + sequence + "`" : std::to_string(size);
}

DimRef DimTable::named(llvm::StringRef name, int64_t size, Origin origin) {
  Dim dim;
  dim.name = name.str();
  dim.size = size;
  dim.origin = std::move(origin);
  return add(std::move(dim));
}

DimRef DimTable::unnamed(int64_t size, Origin origin) {
  return named("", size, std::move(origin));
}

DimRef DimTable::sequence(llvm::StringRef name, llvm::StringRef sequence, Origin origin) {
  Dim dim;
  dim.name = name.str();
  dim.sequence = sequence.str();
  dim.origin = std::move(origin);
  return add(std::move(dim));
}

DimRef DimTable::allRows(DimRef of, Origin origin) {
  return sequence("all " + (of->isNamed() ? of->name : of->sequence), attn::allRows(of->sequence), std::move(origin));
}

DimRef DimTable::keptRows(DimRef of, Origin origin) {
  return sequence("kept " + (of->isNamed() ? of->name : of->sequence), attn::keptRows(of->sequence), std::move(origin));
}

static std::string joinNames(DimsRef dims, llvm::StringRef between) {
  std::string result;
  for (DimRef dim : dims)
    result += (result.empty() ? "" : between.str()) + (dim->isNamed() ? dim->name : std::to_string(dim->size));
  return result;
}

DimRef DimTable::joined(DimsRef parts, Origin origin) {
  Dim dim;
  dim.name = joinNames(parts, "|");
  for (DimRef part : parts)
    dim.size += part->size;
  dim.parts.assign(parts.begin(), parts.end());
  dim.origin = std::move(origin);
  return add(std::move(dim));
}

DimRef DimTable::product(DimsRef factors, Origin origin) {
  Dim dim;
  dim.name = joinNames(factors, "*");
  dim.size = attn::product(factors);
  dim.factors.assign(factors.begin(), factors.end());
  dim.origin = std::move(origin);
  return add(std::move(dim));
}

DimRef DimTable::renamed(DimRef dim, llvm::StringRef name, Origin origin) {
  Dim copy = *dim;
  copy.name = name.str();
  copy.parts.clear();
  copy.factors.clear();
  copy.from = dim;
  if (origin.range.isValid())
    copy.origin = std::move(origin);
  return add(std::move(copy));
}

DimRef DimTable::lifted(DimRef dim, unsigned level, unsigned rank) {
  Dim copy = *dim;
  copy.lifted = dim;
  copy.level = level;
  copy.rank = rank;
  return add(std::move(copy));
}

std::string text(DimsRef dims) {
  std::string result = "[";
  for (DimRef dim : dims) {
    if (result.size() > 1)
      result += ", ";
    result += dim->isNamed() ? dim->name : dim->isSequence() ? dim->sequence : std::to_string(dim->size);
  }
  return result + "]";
}

std::string described(DimRef dim) {
  if (!dim->isNamed())
    return dim->sizeText();
  if (dim->isSequence())
    return "the sequence `" + dim->name + "`";
  return "`" + dim->name + "` = " + std::to_string(dim->size);
}

int64_t product(DimsRef dims) {
  int64_t result = 1;
  for (DimRef dim : dims)
    result = llvm::SaturatingMultiply<uint64_t>(static_cast<uint64_t>(result), static_cast<uint64_t>(dim->size)) >
                     static_cast<uint64_t>(INT64_MAX)
                 ? INT64_MAX
                 : result * dim->size;
  return result;
}

bool isSame(DimRef a, DimRef b) {
  if (a == b)
    return true;
  return a->isNamed() && a->name == b->name && a->level == b->level;
}

bool isAllRowsOf(DimRef all, DimRef dim) {
  return dim->isSequence() && cachedSequence(all->sequence) == dim->sequence;
}

int placeOf(DimsRef dims, DimRef dim) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (isSame(dims[i], dim))
      return static_cast<int>(i);
  return -1;
}

} // namespace attn
