// HeatMap.cpp - weights of attention as a picture.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A weight of 0 is left white, the largest of the picture is the darkest blue; those below 0, which `ratio` can give,
// are red. Where there are more weights than a picture can show, a cell stands for several queries by several keys and
// has the colour of the largest, which the caption says.
#include "tools/run/HeatMap.h"

#include "tools/Svg.h"
#include "tools/run/Failure.h"
#include <algorithm>
#include <cmath>

namespace attn::run {
namespace {

constexpr int64_t mostCells = 250000; // of a picture
constexpr double gap = 28, left = 60, widest = 1200;

/// The weights of one sequence and head.
struct Panel {
  std::string title;
  const float *weights;
  int64_t queries, keys;
  int64_t queryStep; // from a query to the next
  float at(int64_t query, int64_t key) const { return weights[query * queryStep + key]; }
};

std::vector<Panel> panelsOf(const Batch &batch, int32_t result) {
  std::vector<int64_t> dims = dimsOf(batch.function().result[result]);
  std::vector<Extent> extents = batch.knownExtents();
  std::vector<Panel> panels;
  const float *at = batch.outputs[size_t(result)].data();
  for (int64_t b = 0; b < batch.sequences(); ++b) {
    auto length = [&](int64_t dim) { return int64_t(extents[size_t(-1 - dim)].places[size_t(b)].size()); };
    int64_t queries = length(dims.front());
    int64_t keys = length(dims.back());
    int64_t heads = 1;
    for (size_t d = 1; d + 1 < dims.size(); ++d)
      heads *= dims[d] >= 0 ? dims[d] : length(dims[d]);
    for (int64_t h = 0; h < heads; ++h) {
      std::string title = batch.sequences() > 1 ? fmt::format("sequence {}", b) : "";
      if (heads > 1)
        title += fmt::format("{}head {}", title.empty() ? "" : ", ", h);
      panels.push_back({title, at + h * keys, queries, keys, heads * keys});
    }
    at += queries * heads * keys;
  }
  return panels;
}

std::string colour(double part) {
  double strength = std::sqrt(std::min(1.0, std::abs(part))); // small weights are to be seen too
  auto mix = [&](int full) { return int(std::lround(255 + (full - 255) * strength)); };
  return part < 0 ? fmt::format("#{:02x}{:02x}{:02x}", mix(178), mix(24), mix(43))
                  : fmt::format("#{:02x}{:02x}{:02x}", mix(8), mix(48), mix(107));
}

class Picture {
public:
  explicit Picture(std::vector<Panel> shown) : panels(std::move(shown)) {
    int64_t widestKeys = 1;
    for (const Panel &panel : panels) {
      widestKeys = std::max(widestKeys, panel.keys);
      for (int64_t i = 0; i < panel.queries; ++i)
        for (int64_t j = 0; j < panel.keys; ++j)
          largest = std::max(largest, std::abs(double(panel.at(i, j))));
    }
    while (cells() > mostCells)
      ++block;
    size = std::clamp(320.0 / double((widestKeys + block - 1) / block), 1.0, 16.0);
  }

  std::string draw(const attn_value &value) {
    svg.text("title", left, 24, *value.name ? value.name : "weights");
    svg.text("label", left, 42,
             block > 1
                 ? fmt::format("queries down, keys across; a cell is the largest of {} x {} weights", block, block)
                 : "queries down, keys across");
    scale();
    for (const Panel &panel : panels)
      place(panel);
    return svg.finish("");
  }

private:
  int64_t cells() const {
    int64_t sum = 0;
    for (const Panel &panel : panels)
      sum += ((panel.queries + block - 1) / block) * ((panel.keys + block - 1) / block);
    return sum;
  }

  void scale() {
    constexpr int steps = 10;
    for (int i = 0; i <= steps; ++i)
      svg.rect("scale", left + 14 * i, 52, 14, 10, fmt::format("{:.3g}", largest * i / steps),
               colour(double(i) / steps));
    svg.text("label", left + 14 * (steps + 1) + 6, 62, fmt::format("0 to {:.3g}", largest));
  }

  /// Beside the last one, or below where there is no more room.
  void place(const Panel &panel) {
    double width = size * double((panel.keys + block - 1) / block);
    double height = size * double((panel.queries + block - 1) / block);
    if (x > left && x + width > widest) {
      x = left, y = below;
    }
    svg.text("label", x, y, panel.title);
    svg.text("end label", x - 4, y + 14, "0");
    svg.text("end label", x - 4, std::max(y + 28, y + height + 4), fmt::format("{}", panel.queries));
    svg.rect("panel", x, y + 6, width, height, {}, "#f7f7f7");
    for (int64_t i = 0; i < panel.queries; i += block)
      for (int64_t j = 0; j < panel.keys; j += block)
        cell(panel, i, j);
    below = std::max(below, y + height + gap + 8);
    x += std::max(width, Svg::widthOf(panel.title)) + left;
  }

  void cell(const Panel &panel, int64_t i, int64_t j) {
    float found = 0;
    for (int64_t a = i; a < std::min(i + block, panel.queries); ++a)
      for (int64_t b = j; b < std::min(j + block, panel.keys); ++b)
        if (float weight = panel.at(a, b); std::abs(weight) > std::abs(found))
          found = weight;
    if (found != 0)
      svg.rect("weight", x + size * double(j / block), y + 6 + size * double(i / block), size, size,
               fmt::format("{}, {}: {:.4g}", i, j, found), colour(double(found) / largest));
  }

  std::vector<Panel> panels;
  Svg svg;
  double largest = 0;
  int64_t block = 1; // queries and keys of a cell
  double size = 1;   // of a cell
  double x = left, y = 90, below = 90;
};

} // namespace

int32_t findWeights(const attn_function &function) {
  int32_t found = -1;
  for (int32_t r = 0; r < function.results; ++r) {
    std::vector<int64_t> dims = dimsOf(function.result[r]);
    if (dims.size() < 2 || dims.front() >= 0 || dims.back() >= 0)
      continue;
    if (std::string_view(function.result[r].name) == "weights")
      return r;
    if (found >= 0)
      fail("`{}` gives several results that could be weights, and none is called `weights`", function.name);
    found = r;
  }
  if (found < 0)
    fail("`{}` gives no weights: no result of it has queries first and keys last", function.name);
  return found;
}

std::string drawWeights(const Batch &batch, int32_t result) {
  return Picture(panelsOf(batch, result)).draw(batch.function().result[result]);
}

} // namespace attn::run
