// Counts.cpp - under --count: what each attention did, as a table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/run/Failure.h"
#include "tools/run/Library.h"
#include <algorithm>
#include <cstdio>

namespace attn::run {

void printCounts(const Source &source, const Model &model) {
  if (!source.count)
    return;
  std::vector<attn_count> counts;
  for (attn_count each; model.library.model_count(model.handle, int32_t(counts.size()), &each) == 0;)
    counts.push_back(each);
  if (counts.empty())
    fail("`{}` counts nothing: it has no attention, or was not made by attnc --count", source.file);
  size_t width = 0;
  for (const attn_count &each : counts)
    width = std::max(width, std::string_view(each.name).size());
  fmt::print(stderr, "{:<{}}  {:>12}  {:>12}  {:>12}  {:>12}  {:>15}\n", "", width, "query tiles", "tiles", "full",
             "partial", "bytes read");
  for (const attn_count &each : counts)
    fmt::print(stderr, "{:<{}}  {:>12}  {:>12}  {:>12}  {:>12}  {:>15}\n", each.name, width, each.query_tiles,
               each.full_tiles + each.partial_tiles, each.full_tiles, each.partial_tiles, each.bytes);
}

} // namespace attn::run
