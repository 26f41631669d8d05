// attn-fuse-projections: several products of one tensor become one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %q = attn.linear @q[%l] (%x [T, E], %bq [H, D]) -> [T, H, D] { acc + bias }       tensor<12x32x384xf32>
//   %k = attn.linear @k[%l] (%x [T, E], %bk [H, D]) -> [T, H, D] { acc + bias }       and so on
//   =>
//   attn.weight @q_k_v {parts = [q's, k's, v's], rows = [12, 12, 12]} : tensor<36x32x384xf32>
//   %j = attn.linear @q_k_v[%l] (%x [T, E], %b [N, D]) -> [T, N, D] { acc + bias }
//   %q = attn.slice "N" at 0 (%j [T, N, D]) -> [T, H, D]                              views: they take no memory
//
// Where the weights differ in more than their first dimension the joint one is a matrix, and a reshape follows each
// slice.
//
// Conditions: the same rows, turns and storage order, equal epilogues, whose tensors are each either weights with
// exactly the dimensions of the product (they are joined too) or the same for all and without those.
//
// Leaves true: of the products of one tensor with equal epilogues there is one a block.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/Pass.h"
#include "passes/Elementwise.h"
#include "passes/Passes.h"
#include "passes/Weights.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace attn {
namespace {

using Group = SmallVector<LinearOp>;

unsigned rowRank(LinearOp linear) {
  return linear.inDims(0).size() - 1;
}

/// The sizes and names of the dimensions that come from the weight.
ArrayRef<int64_t> columnSizes(LinearOp linear) {
  return linear.getType().getShape().drop_front(rowRank(linear));
}
ArrayRef<StringAttr> columnNames(LinearOp linear) {
  return linear.outDims().getNames().drop_front(rowRank(linear));
}

/// Whether input `i` of the epilogue is a weight that runs along just the columns, in their order.
bool isColumnWeight(LinearOp linear, unsigned i) {
  return linear.getInputs()[i].getDefiningOp<ParamOp>() &&
         sameNames(linear.inDims(i), makeDims(linear.getContext(), columnNames(linear)));
}

/// Whether input `i` of the epilogue has none of the columns.
bool isWithoutColumns(LinearOp linear, unsigned i) {
  return llvm::none_of(columnNames(linear),
                       [&](StringAttr name) { return linear.inDims(i).find(name.getValue().split(':').first) >= 0; });
}

/// Whether two weights can lie one behind the other.
bool weightsJoin(WeightOp a, WeightOp b) {
  return a.getStored() == b.getStored() && a.getTurns() == b.getTurns() && a != b && !a->hasAttr(weightFileAttr) &&
         !b->hasAttr(weightFileAttr);
}

/// Whether input `i` of both epilogues can become one input.
bool inputsJoin(LinearOp a, LinearOp b, unsigned i) {
  if (isColumnWeight(a, i) && isColumnWeight(b, i)) {
    auto x = a.getInputs()[i].getDefiningOp<ParamOp>(), y = b.getInputs()[i].getDefiningOp<ParamOp>();
    return x.getTurns() == y.getTurns() &&
           weightsJoin(findWeight(a, x.getWeightAttr()), findWeight(b, y.getWeightAttr()));
  }
  Renaming renaming = renamingByPlace(b.outDims(), a.outDims());
  return a.getInputs()[i] == b.getInputs()[i] && isWithoutColumns(a, i) && isWithoutColumns(b, i) &&
         rowRank(a) == rowRank(b) && sameNames(a.inDims(i), rename(b.inDims(i), renaming));
}

/// Why `b` can't be joined with `a`; empty if it can. Both read the same rows.
StringRef findObstacle(LinearOp a, LinearOp b) {
  if (a.getTurns() != b.getTurns())
    return "its weight is another turn's";
  if (!weightsJoin(findWeight(a, a.getWeightAttr()), findWeight(b, b.getWeightAttr())))
    return "its weight is stored otherwise";
  if (a.getInputs().size() != b.getInputs().size() ||
      !OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations))
    return "its epilogue is another";
  for (unsigned i = 1; i < a.getInputs().size(); ++i)
    if (!inputsJoin(a, b, i))
      return "its epilogue's tensors can't lie behind one another";
  return {};
}

/// The shape of the columns of all: structured if only the first dimension differs, else flat.
SmallVector<int64_t> joinColumns(ArrayRef<LinearOp> group) {
  ArrayRef<int64_t> inner = columnSizes(group.front()).drop_front();
  bool alike = llvm::all_of(group, [&](LinearOp linear) { return columnSizes(linear).drop_front() == inner; });
  SmallVector<int64_t> shape = {0};
  if (alike)
    llvm::append_range(shape, inner);
  for (LinearOp linear : group)
    shape.front() += alike ? columnSizes(linear).front() : ShapedType::getNumElements(columnSizes(linear));
  return shape;
}

class Joiner {
public:
  Joiner(ArrayRef<LinearOp> all) : group(all), first(all.front()), builder(first), columns(joinColumns(all)) {
    SmallVector<StringAttr> names(first.outDims().getNames().take_front(rowRank(first)));
    names.push_back(freshName(builder.getContext(), "N", {first.outDims(), first.inDims(0)}));
    if (columns.size() > 1)
      llvm::append_range(names, columnNames(first).drop_front());
    joined = makeDims(builder.getContext(), names);
  }

  void join() {
    LinearOp linear = createJoined();
    int64_t offset = 0;
    for (LinearOp part : group) {
      Value own = cut(linear, part, offset);
      part.getOutput().replaceAllUsesWith(own);
    }
    for (LinearOp part : group)
      eraseWithParams(part);
  }

private:
  LinearOp createJoined() {
    MLIRContext *context = builder.getContext();
    unsigned numRows = rowRank(first);
    SmallVector<Value> inputs = {first.getInputs().front()};
    SmallVector<DimsAttr> dims = {first.inDims(0)};
    for (unsigned i = 1; i < first.getInputs().size(); ++i) {
      bool isColumn = isColumnWeight(first, i);
      inputs.push_back(isColumn ? joinParams(i) : first.getInputs()[i]);
      dims.push_back(isColumn ? makeDims(context, joined.getNames().drop_front(numRows)) : first.inDims(i));
    }
    SmallVector<WeightOp> weights;
    for (LinearOp linear : group)
      weights.push_back(findWeight(linear, linear.getWeightAttr()));
    SmallVector<int64_t> shape = columns;
    shape.push_back(weightShape(weights.front()).back());
    SmallVector<int64_t> sizes(first.getType().getShape().take_front(numRows));
    llvm::append_range(sizes, columns);
    auto linear =
        LinearOp::create(builder, builder.getFusedLoc(locations()), RankedTensorType::get(sizes, builder.getF32Type()),
                         getJoinedWeight(weights, shape), first.getTurns(), inputs, makeDimsArray(context, dims),
                         makeDimsArray(context, joined));
    linear.getBody().takeBody(first.getBody());
    return linear;
  }

  /// The weights that are input `i` of the epilogues, as one.
  Value joinParams(unsigned i) {
    SmallVector<WeightOp> weights;
    for (LinearOp linear : group)
      weights.push_back(findWeight(linear, linear.getInputs()[i].getDefiningOp<ParamOp>().getWeightAttr()));
    auto param = first.getInputs()[i].getDefiningOp<ParamOp>();
    Type type = RankedTensorType::get(columns, tensorType(param).getElementType());
    return ParamOp::create(builder, param.getLoc(), type, getJoinedWeight(weights, columns), param.getTurns());
  }

  /// The columns of `part`, which begin at `offset` along the joint dimension; moves `offset` behind them.
  Value cut(LinearOp linear, LinearOp part, int64_t &offset) {
    MLIRContext *context = builder.getContext();
    Location loc = part.getLoc();
    unsigned numRows = rowRank(first);
    bool flat = columns.size() != columnSizes(part).size();
    int64_t length = flat ? ShapedType::getNumElements(columnSizes(part)) : columnSizes(part).front();
    SmallVector<StringAttr> outNames(part.outDims().getNames()), inNames = outNames;
    inNames[numRows] = freshName(context, "N", part.outDims());
    SmallVector<int64_t> sizes(part.getType().getShape());
    if (flat) {
      outNames.resize(numRows + 1), inNames.resize(numRows + 1), sizes.resize(numRows + 1);
      outNames[numRows] = inNames[numRows];
    }
    sizes[numRows] = length;
    DimsAttr in = makeDims(context, inNames), out = makeDims(context, outNames);
    Value slice = SliceOp::create(builder, loc, RankedTensorType::get(sizes, builder.getF32Type()),
                                  builder.getStringAttr(in.dim(numRows)), builder.getI64IntegerAttr(offset),
                                  linear.getOutput(), makeDimsArray(context, in), makeDimsArray(context, out));
    offset += length;
    return flat ? reshapeTo(builder, loc, slice, out, part.outDims(), part.getType().getShape()) : slice;
  }

  /// Erases `part` and the weights that were its epilogue's alone.
  static void eraseWithParams(LinearOp part) {
    SmallVector<Value> inputs(part.getInputs());
    part.erase();
    for (Value input : llvm::SmallSetVector<Value, 4>(inputs.begin(), inputs.end()))
      if (auto param = input.getDefiningOp<ParamOp>(); param && param->use_empty())
        param.erase();
  }

  SmallVector<Location> locations() const {
    SmallVector<Location> all;
    for (LinearOp linear : group)
      all.push_back(linear.getLoc());
    return all;
  }

  ArrayRef<LinearOp> group;
  LinearOp first;
  OpBuilder builder;
  SmallVector<int64_t> columns;
  DimsAttr joined;
};

/// Products of one tensor in one block, apart by what keeps them apart.
SmallVector<Group> findGroups(ArrayRef<LinearOp> linears) {
  SmallVector<Group> groups;
  for (LinearOp linear : linears) {
    StringRef obstacle;
    auto joins = [&](Group &group) {
      if (group.front().getInputs().front() != linear.getInputs().front() ||
          group.front()->getBlock() != linear->getBlock())
        return false;
      StringRef found = findObstacle(group.front(), linear);
      obstacle = obstacle.empty() ? found : obstacle;
      return found.empty();
    };
    auto *found = llvm::find_if(groups, joins);
    if (found != groups.end()) {
      found->push_back(linear);
      continue;
    }
    groups.push_back({linear});
    if (!obstacle.empty())
      linear.emitRemark("product with `")
          << linear.getWeight() << "` is not joined with others of its rows: " << obstacle;
  }
  return groups;
}

struct FuseProjections : PassWrapper<FuseProjections, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseProjections)
  StringRef getArgument() const final { return "attn-fuse-projections"; }
  StringRef getDescription() const final { return "several products of one tensor become one"; }

  void runOnOperation() final {
    SmallVector<LinearOp> linears;
    getOperation().walk([&](LinearOp linear) { linears.push_back(linear); });
    for (Group &group : findGroups(linears))
      if (group.size() > 1) {
        InFlightDiagnostic remark = group.front().emitRemark("joined products with ");
        llvm::interleave(
            group, [&](LinearOp linear) { remark << '`' << linear.getWeight() << '`'; }, [&] { remark << ", "; });
        Joiner(group).join();
      }
    eraseUnusedWeights(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> createFuseProjections() {
  return std::make_unique<FuseProjections>();
}

} // namespace attn
