// Dims.h: dimensions: a name, a size, and where the size came from.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dimension is made once (by a configuration entry, a signature, an `as`) and then handed around by pointer; a tensor
// lists pointers. Two dimensions of one name are the same dimension, and must have the same size; that is what is
// checked where tensors meet. A dimension without a name matches by place.
//
// Lifting: a function asked for x[E] and given x[T,E] is walked along T. Inside, T is a *lifted* dimension: a copy of T
// at the level of the call, which nothing in the body can name; it is put back when the call returns.
#ifndef ATTN_FRONTEND_DIMS_H
#define ATTN_FRONTEND_DIMS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"
#include <cstdint>
#include <deque>
#include <string>

namespace attn {

/// Where a size was said: the place, and words for a note, "`hidden_size` in config.json".
struct Origin {
  llvm::SMRange range;
  std::string words;
};

struct Dim {
  std::string name;     ///< empty: unnamed
  int64_t size = 0;     ///< of a static dimension
  std::string sequence; ///< of a sequence dimension: the export parameter's dimension that has its length
  llvm::SmallVector<const Dim *, 2> parts;   ///< of `A | B`
  llvm::SmallVector<const Dim *, 2> factors; ///< of `A*B`
  Origin origin;
  const Dim *from = nullptr;    ///< the dimension this is another name of
  const Dim *lifted = nullptr;  ///< the dimension this is the lifted form of
  unsigned level = 0, rank = 0; ///< of a lifted dimension: the call that walks it, and its place among those walked

  bool isSequence() const { return !sequence.empty(); }
  bool isNamed() const { return !name.empty(); }
  bool sameSize(const Dim &other) const { return size == other.size && sequence == other.sequence; }
  /// The size as a user would say it: `384`, or `T` rows.
  std::string sizeText() const;
};

using DimRef = const Dim *;
using Dims = llvm::SmallVector<DimRef, 4>;
using DimsRef = llvm::ArrayRef<DimRef>;

/// Owns the dimensions of one elaboration.
class DimTable {
public:
  DimRef named(llvm::StringRef name, int64_t size, Origin origin);
  DimRef unnamed(int64_t size, Origin origin = {});
  DimRef sequence(llvm::StringRef name, llvm::StringRef sequence, Origin origin);
  /// All rows of a session along a sequence, `all T`, and those that a `once` keeps of one, `kept S`.
  DimRef allRows(DimRef of, Origin origin);
  DimRef keptRows(DimRef of, Origin origin);
  /// `A | B`, two dimensions end to end.
  DimRef joined(DimsRef parts, Origin origin);
  /// `A*B`.
  DimRef product(DimsRef factors, Origin origin);
  /// The same size under another name (empty: none).
  DimRef renamed(DimRef dim, llvm::StringRef name, Origin origin);
  /// `dim` as it looks inside a call that walks it.
  DimRef lifted(DimRef dim, unsigned level, unsigned rank);

private:
  DimRef add(Dim dim) {
    dims.push_back(std::move(dim));
    return &dims.back();
  }
  std::deque<Dim> dims;
};

/// `[T, H, 3]`
std::string text(DimsRef dims);
/// `E` = 384, or just 384.
std::string described(DimRef dim);
int64_t product(DimsRef dims);
/// The same dimension: by name and level, or the very same where there is no name.
bool isSame(DimRef a, DimRef b);
/// Whether `all` is all rows of a session along the sequence of `dim`.
bool isAllRowsOf(DimRef all, DimRef dim);
/// The place of `dim` in `dims`, or -1.
int placeOf(DimsRef dims, DimRef dim);

} // namespace attn

#endif // ATTN_FRONTEND_DIMS_H
