// Draw.cpp: the masks of a model's attentions as a picture.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of the picture is a query, a column a key. Rectangles of the class `full`, `partial` and `empty` are tiles as
// the plan of the mask has them, those of the class `open` partial ones in which look-ups decide whose numbers only a
// run has. On them lie runs of `visible` pairs, and of pairs whose visibility is `unknown`.
#include "tools/Draw.h"
#include "tools/MaskPairs.h"
#include "tools/Svg.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace attn {
namespace {

constexpr double left = 64, most = 900; // of the picture of one mask
constexpr int64_t mostHeads = 16;       // where a mask differs by head
constexpr const char *style =
    ".empty { fill: #eeeeee } .full { fill: #2c6fbb } .partial { fill: #f5c26b } "
    ".open { fill: #d9b3e6 } .visible { fill: #2c6fbb } .unknown { fill: #8e44ad; opacity: 0.5 } "
    ".full, .partial, .open, .empty { stroke: white; stroke-width: 0.5 }";

class Drawing {
public:
  explicit Drawing(const Occasion &when) : occasion(when) {}

  void legend() {
    static constexpr std::pair<const char *, const char *> rows[] = {
        {"full", "seen whole: runs without the mask"},
        {"partial", "seen in part: the mask is evaluated; what it shows is blue"},
        {"open", "decided by look-ups whose numbers only a run has"},
        {"empty", "hidden: never visited"},
    };
    for (auto [type, words] : rows) {
      svg.rect((Twine("key ") + type).str().c_str(), left, y, 14, 14);
      svg.text("label", left + 22, y + 12, words);
      y += 20;
    }
    y += 16;
  }

  void attention(const AttendTiling &tiling) {
    TileWalk walk(tiling, occasion);
    AttendWork work = walk.work();
    double longest = double(std::max<int64_t>({work.queries, work.keys, 1}));
    unit = std::min(12.0, most / longest);
    svg.text("title", left, y + 12, attendName(tiling.op));
    svg.text("label", left, y + 28,
             (Twine(work.queries) + " queries down, " + Twine(work.keys) + " keys across, tiles of " +
              Twine(tiling.rows) + " by " + Twine(tiling.keysOfTile))
                 .str());
    y += 28;
    int64_t shown = walk.differsByHead() ? std::min(tiling.heads, mostHeads) : 1;
    for (int64_t head = 0; head < shown; ++head) {
      if (walk.differsByHead())
        svg.text("label", left, y + 16, ("head " + Twine(head) + " of " + Twine(tiling.heads)).str());
      y += walk.differsByHead() ? 22 : 8;
      grid(tiling, walk, head, work);
    }
  }

  std::string finish() { return svg.finish(style); }

private:
  void grid(const AttendTiling &tiling, const TileWalk &walk, int64_t head, const AttendWork &work) {
    first = walk.firstQuery();
    svg.text("end label", left - 6, y + 10, std::to_string(first));
    svg.text("end label", left - 6, std::max(y + 22, y + unit * double(work.queries)),
             std::to_string(first + work.queries));
    std::optional<MaskPairs> pairs;
    if (walk.mask())
      pairs.emplace(tiling.op, occasion);
    walk.visit([&](const VisitedTile &at) {
      if (walk.differsByHead() && (head < at.tile.firstHead || head > at.tile.lastHead))
        return;
      tile(at, pairs ? &*pairs : nullptr, head);
    });
    y += unit * double(work.queries) + 24;
  }

  double column(int64_t key) const { return left + unit * double(key); }
  double row(int64_t query) const { return y + unit * double(query - first); }

  void tile(const VisitedTile &at, MaskPairs *pairs, int64_t head) {
    bool open = false;
    std::vector<std::pair<const char *, std::array<int64_t, 3>>> found; // class; query, first key, how many
    if (at.kind == TileClass::Partial)
      for (int64_t i = at.tile.firstQuery; i <= at.tile.lastQuery; ++i)
        for (int64_t j = at.tile.firstKey; j <= at.tile.lastKey; ++j) {
          Visibility seen = pairs->at(i, j, head);
          const char *type = seen == Visibility::Visible ? "visible" : "unknown";
          open |= seen == Visibility::Unknown;
          if (seen == Visibility::Hidden)
            continue;
          if (!found.empty() && found.back().first == type && found.back().second[0] == i &&
              found.back().second[1] + found.back().second[2] == j)
            ++found.back().second[2];
          else
            found.push_back({type, {i, j, 1}});
        }
    const char *type = at.kind == TileClass::Full    ? "full"
                       : at.kind == TileClass::Empty ? "empty"
                       : open                        ? "open"
                                                     : "partial";
    std::string words = ("queries " + Twine(at.tile.firstQuery) + " to " + Twine(at.tile.lastQuery) + ", keys " +
                         Twine(at.tile.firstKey) + " to " + Twine(at.tile.lastKey))
                            .str();
    svg.rect(type, column(at.tile.firstKey), row(at.tile.firstQuery), unit * double(at.keys()),
             unit * double(at.queries()), words);
    for (const auto &[kind, run] : found)
      svg.rect(kind, column(run[1]), row(run[0]), unit * double(run[2]), unit);
  }

  const Occasion &occasion;
  Svg svg;
  double unit = 1; // the side of a pair
  double y = 16;
  int64_t first = 0; // the number of the first query
};

} // namespace

std::string drawMasks(ArrayRef<AttendTiling> attends, const Occasion &occasion) {
  Drawing drawing(occasion);
  drawing.legend();
  for (const AttendTiling &tiling : attends)
    drawing.attention(tiling);
  return drawing.finish();
}

} // namespace attn
