// HeatMap.h - weights of attention as a picture.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_RUN_HEATMAP_H
#define ATTN_TOOLS_RUN_HEATMAP_H

#include "tools/run/Batch.h"

namespace attn::run {

/// The number of the result that holds weights: the one called `weights`, or the only one that has queries first and
/// keys last. Fails if there is none.
int32_t findWeights(const attn_function &function);

/// An SVG of that result of a call that has run: a panel for each sequence and head, a row for each query, a column for
/// each key.
std::string drawWeights(const Batch &batch, int32_t result);

} // namespace attn::run

#endif
