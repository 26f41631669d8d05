// The compiler's walk over an attention's tiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/attend/Work.h"
#include "dialect/Shapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace attn {

std::optional<int64_t> Occasion::length(StringRef sequence) const {
  if (StringRef base = cachedSequence(sequence); !base.empty()) {
    std::optional<int64_t> own = length(base);
    return own ? std::optional<int64_t>(*own + past) : std::nullopt;
  }
  if (StringRef base = keptSequence(sequence); !base.empty())
    return length(base);
  auto named = lengths.find(sequence.str());
  return named == lengths.end() ? everyLength : std::optional<int64_t>(named->second);
}

std::optional<int64_t> Occasion::size(const Monomial &size) const {
  int64_t product = size.factor;
  for (StringRef sequence : size.lengths) {
    std::optional<int64_t> rows = length(sequence);
    if (!rows)
      return std::nullopt;
    product *= *rows;
  }
  return product;
}

std::string attendName(AttendOp op) {
  std::string name = op->getParentOfType<func::FuncOp>().getName().str();
  if (auto place = op.getLoc()->findInstanceOf<FileLineColLoc>())
    name += (" at " + llvm::sys::path::filename(place.getFilename().getValue()) + ":" + Twine(place.getLine()) + ":" +
             Twine(place.getColumn()))
                .str();
  return name;
}

StringRef lookupName(AttendOp op, unsigned capture) {
  Value tensor = op.captures()[capture];
  while (Operation *from = tensor.getDefiningOp()) {
    if (!isa<CacheOp, OnceOp, ReshapeOp>(from))
      return "";
    tensor = from->getOperand(0);
  }
  auto argument = cast<BlockArgument>(tensor);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto name = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "attn.name") : StringAttr();
  return name ? name.getValue() : "";
}

OccasionData::OccasionData(AttendOp attend, const Occasion &given) : op(attend), occasion(given) {
  for (auto [i, tensor] : llvm::enumerate(op.captures())) {
    DenseIntElementsAttr numbers;
    if (!matchPattern(tensor, m_Constant(&numbers)) || !numbers.getElementType().isInteger(32))
      continue;
    for (const APInt &number : numbers)
      constants[int64_t(i)].push_back(int32_t(number.getSExtValue()));
  }
}

const std::vector<int32_t> *OccasionData::table(int64_t capture) const {
  if (auto known = constants.find(capture); known != constants.end())
    return &known->second;
  auto given = occasion.lookups.find(lookupName(op, unsigned(capture)).str());
  return given == occasion.lookups.end() ? nullptr : &given->second;
}

/// A captured tensor without dimensions, or a number of the program around.
std::optional<int64_t> OccasionData::scalar(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  std::optional<unsigned> capture = argument ? captureNumber(op, argument) : std::nullopt;
  if (!capture)
    return std::nullopt;
  auto session = AttendOp(op).captures()[*capture].getDefiningOp<SessionOp>();
  if (session && session.getNumber() == SessionNumber::past)
    return occasion.past;
  const std::vector<int32_t> *known = table(*capture);
  return known && known->size() == 1 ? std::optional<int64_t>(known->front()) : std::nullopt;
}

TileWalk::TileWalk(const AttendTiling &cut, const Occasion &when)
    : tiling(cut), queries(*when.size(cut.queries)), keys(*when.size(cut.keys)), past(0), data(cut.op, when) {
  if (!cut.queries.isStatic() && goesOn(cut.op, cut.queries.lengths[0]))
    past = when.past;
  if (AttendOp op = tiling.op; !op.getMask().empty())
    plan.emplace(op);
}

bool TileWalk::differsByHead() const {
  return plan && !AttendOp(tiling.op).getMask().front().getArgument(2).use_empty();
}

void TileWalk::visit(llvm::function_ref<void(const VisitedTile &)> each) const {
  for (int64_t first = 0; first < queries; first += tiling.rows)
    visitQueries(first, std::min(tiling.rows, queries - first), each);
}

/// A tile of one query takes the heads that share keys together.
void TileWalk::visitQueries(int64_t first, int64_t count, llvm::function_ref<void(const VisitedTile &)> each) const {
  int64_t together = count == 1 ? tiling.sharing : 1;
  VisitedTile at;
  at.tile.firstQuery = first + past;
  at.tile.lastQuery = first + past + count - 1;
  at.tile.keys = keys;
  at.heads = together;
  at.times = differsByHead() ? 1 : tiling.heads / together;
  for (int64_t head = 0; head < tiling.heads; ++head) {
    if (together > 1 && head / tiling.headStep % together != 0)
      continue;
    at.tile.firstHead = head;
    at.tile.lastHead = head + (together - 1) * tiling.headStep;
    visitKeys(at, each);
    if (!differsByHead())
      return;
  }
}

void TileWalk::visitKeys(VisitedTile at, llvm::function_ref<void(const VisitedTile &)> each) const {
  masks::Tile &tile = at.tile;
  auto nextKey = [&](int64_t from) {
    tile.firstKey = tile.lastKey = from;
    return plan && from < keys ? plan->nextKey(tile, data) : from;
  };
  int64_t next = nextKey(0);
  for (int64_t key = 0; key < keys; key += tiling.keysOfTile) {
    int64_t end = std::min(key + tiling.keysOfTile, keys);
    bool reached = next < end;
    tile.firstKey = key;
    tile.lastKey = end - 1;
    at.kind = !reached ? TileClass::Empty : plan ? plan->classify(tile, data) : TileClass::Full;
    each(at);
    if (reached)
      next = nextKey(end);
  }
}

/// What a score costs beside its products: its operations, those of a fold as often as it turns.
static int64_t countOperations(Block &block) {
  int64_t sum = 0;
  for (Operation &op : block.without_terminator()) {
    if (auto fold = dyn_cast<FoldOp>(op))
      sum += int64_t(fold.getCount()) * (1 + countOperations(fold.getBody().front()));
    else if (!op.hasTrait<OpTrait::ConstantLike>() && !isa<AtOp>(op))
      ++sum;
  }
  return sum;
}

AttendWork TileWalk::work() const {
  AttendOp op = tiling.op;
  auto width = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape().back(); };
  bool products = op.getScore().empty() || !op.getScore().front().getArgument(0).use_empty();
  int64_t perPair = 2 * (width(op.value()) + (products ? width(op.query()) : 0)) +
                    (op.getScore().empty() ? 0 : countOperations(op.getScore().front()));
  AttendWork sum;
  sum.queries = queries;
  sum.keys = keys;
  visit([&](const VisitedTile &at) {
    if (at.tile.firstKey == 0) {
      sum.queryTiles += at.times;
      sum.bytes += at.times * at.heads * at.queries() * tiling.queryBytes;
    }
    if (at.kind == TileClass::Empty) {
      sum.emptyTiles += at.times;
      return;
    }
    (at.kind == TileClass::Full ? sum.fullTiles : sum.partialTiles) += at.times;
    sum.bytes += at.times * at.keys() * (tiling.keyBytes + tiling.valueBytes);
    sum.operations += at.times * at.heads * at.queries() * at.keys() * perPair;
  });
  if (keys == 0) // tiles of queries all the same
    for (int64_t first = 0; first < queries; first += tiling.rows) {
      int64_t count = std::min(tiling.rows, queries - first), together = count == 1 ? tiling.sharing : 1;
      sum.queryTiles += tiling.heads / together;
      sum.bytes += tiling.heads * count * tiling.queryBytes;
    }
  if (op.getWeights()) // the keys once more
    sum.bytes += sum.queryTiles * keys * tiling.keyBytes;
  return sum;
}

} // namespace attn
