// Which keys the mask of attn.attend shows to a tile of queries: nothing of it is ever stored, all of it is arithmetic.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     j < 4 or (j <= i and i - j < 512)         a tile of queries sees keys 0 … 3 and those from firstQuery - 511 on
//
// A plan answers three questions about a tile of queries, as expressions (passes/masks/Numbers.h):
//
//     next      given a key: which is the first from there on that one of them may see?
//     seen      given a tile of keys: may one of them see one of these?                no: it is empty
//     full      given a tile of keys: does each of them see each of these?             yes: no mask is needed there
//
// `next` leads from interval to interval, however many there are. `seen` can be sharper than `next`, because it knows
// where the tile ends; where it can't be, it is constant. What the analysis can't decide makes tiles partial: they are
// visited and the mask is evaluated; `undecided` names those parts of the text.
//
// Exact, that is `next` and `seen` together show no empty tile and `full` all that are: and/or/not of comparisons of i,
// j and i - j with numbers; i // c - j // c with numbers, alone or with j <= i; doc[i] == doc[j] of one sorted table,
// alone or with j <= i. MaskPlan.cpp proves it, and that all of it is sound.
#ifndef ATTN_PASSES_MASKS_MASKPLAN_H
#define ATTN_PASSES_MASKS_MASKPLAN_H

#include "passes/masks/Conditions.h"
#include "passes/masks/Numbers.h"

namespace attn {

enum class TileClass { Empty, Full, Partial };

class MaskPlan {
public:
  /// Of an attend that has a mask.
  explicit MaskPlan(AttendOp op);

  /// From FirstKey on; more than FinalKey where there is none. LastKey does not count.
  masks::Number next;
  /// For the keys FirstKey … LastKey.
  masks::Number seen, full;
  std::vector<masks::Undecided> undecided;

  /// Every node of the three expressions, once.
  void forEach(llvm::function_ref<void(masks::Number)> each) const;

  /// What the expressions say of a tile with fewer than masks::rowLimit rows.
  int64_t nextKey(const masks::Tile &tile, const masks::Data &data) const;
  TileClass classify(const masks::Tile &tile, const masks::Data &data) const;

private:
  std::shared_ptr<masks::Numbers> numbers;
};

} // namespace attn
#endif
