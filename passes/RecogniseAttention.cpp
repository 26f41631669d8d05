// attn-recognise-attention: attention written as products and a softmax becomes attn.attend.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s = contract(q, k); w = softmax(f(s, bias, …)); contract(w, v)   =>   attn.attend (q, k, v, bias, …) score { f }
//
// Also: the softmax spelled out as exp(x - max) / sum. f may scale, add a bias of any dimensions, or select against
// -inf, which becomes the mask. Dimensions may stand in any order, heads may be any number, keys and values may lack
// some of them. The weights must be read by nobody else; a remark says why a candidate stays as it is.
//
// Leaves true: nothing of the size queries x keys is computed where the remark says "recognised".
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "passes/Elementwise.h"
#include "passes/Names.h"
#include "passes/Passes.h"
#include <limits>

using namespace mlir;

namespace attn {
namespace {

StringRef ownName(StringAttr name) {
  return name.getValue().split(':').first;
}

/// The one operation behind an argument of a map, and what the map calls its dimensions.
struct Named {
  Value value;
  DimsAttr names;
};

/// A softmax: of what, along which dimension, all in the names given for its result.
struct Softmax {
  Named input;
  StringRef along;
};

class Candidate {
public:
  Candidate(ContractOp product, unsigned weights) : outer(product), weightsAt(weights) {}

  /// Whether it is attention; `why` says what is missing where something like it is there.
  bool match();
  void replace();
  bool isNear = false; // there is a softmax in front of the product
  std::string why;

private:
  bool fail(const Twine &reason) {
    why = reason.str();
    return false;
  }
  bool matchSoftmax(Value weights, DimsAttr names);
  bool matchSpelledOut(MapOp quotient, DimsAttr names);
  bool matchScores();
  bool sortDimensions();
  void fillRegions(AttendOp attend);
  Value cloneScore(OpBuilder &builder, Block &block, unsigned firstCapture, Value s, Value i, Value j, Value h,
                   Value wanted);

  ContractOp outer;
  unsigned weightsAt;
  Softmax softmax;
  SmallVector<Operation *> spelled; // of a spelled-out softmax: who may read the scores and the exponentials
  MapOp score;                      // between the inner product and the softmax; may be none
  unsigned scoreAt = 0;             // its input that is the product
  Renaming toOuter;                 // of the score's names
  ContractOp inner;
  Named q, k, v;
  StringAttr queries, keys, row, valueRow;
  SmallVector<StringAttr> heads;
};

std::optional<StringAttr> entry(DimsAttr dims, StringRef name) {
  int place = dims.find(name);
  return place < 0 ? std::nullopt : std::optional(dims.getNames()[size_t(place)]);
}

/// The dimensions that both inputs have and the output lacks.
SmallVector<StringAttr> summed(ContractOp op) {
  SmallVector<StringAttr> result;
  for (StringAttr name : op.inDims(0).getNames())
    if (op.inDims(1).find(ownName(name)) >= 0 && op.outDims().find(ownName(name)) < 0)
      result.push_back(name);
  return result;
}

bool Candidate::matchSoftmax(Value weights, DimsAttr names) {
  if (auto op = weights.getDefiningOp<SoftmaxOp>()) {
    isNear = true;
    Renaming renaming = renamingByPlace(op.outDims(), names);
    softmax.input = {op.getInputs()[0], rename(op.inDims(0), renaming)};
    StringAttr along = renaming.lookup(op.getAlong());
    softmax.along = along ? ownName(along) : op.getAlong();
    spelled.push_back(op);
    return weights.hasOneUse() || fail("the weights are used elsewhere too");
  }
  auto quotient = weights.getDefiningOp<MapOp>();
  return quotient && matchSpelledOut(quotient, names);
}

/// e / sum(e) with e = exp(x - max(x)).
bool Candidate::matchSpelledOut(MapOp quotient, DimsAttr names) {
  auto division = yieldedValue(quotient.getBody().front()).getDefiningOp<arith::DivFOp>();
  if (!division || quotient.getInputs().size() != 2)
    return false;
  auto number = [](Value value) { return dyn_cast<BlockArgument>(value); };
  BlockArgument top = number(division.getLhs()), bottom = number(division.getRhs());
  if (!top || !bottom || top == bottom)
    return false;
  auto powers = quotient.getInputs()[top.getArgNumber()].getDefiningOp<MapOp>();
  auto sum = quotient.getInputs()[bottom.getArgNumber()].getDefiningOp<ReduceOp>();
  if (!powers || !sum || sum.getKind() != Reduction::sum || sum.getInputs()[0] != powers.getOutput())
    return false;
  auto power = yieldedValue(powers.getBody().front()).getDefiningOp<math::ExpOp>();
  auto difference = power ? power.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  if (!difference || powers.getInputs().size() != 2)
    return false;
  BlockArgument x = number(difference.getLhs()), most = number(difference.getRhs());
  if (!x || !most || x == most)
    return false;
  auto maximum = powers.getInputs()[most.getArgNumber()].getDefiningOp<ReduceOp>();
  Value scores = powers.getInputs()[x.getArgNumber()];
  if (!maximum || maximum.getKind() != Reduction::max || maximum.getInputs()[0] != scores)
    return false;
  // Both reductions run along one dimension, the same.
  auto along = [](ReduceOp reduce) -> int {
    int place = -1;
    for (size_t i = 0; i < reduce.inDims(0).size(); ++i)
      if (reduce.outDims().find(reduce.inDims(0).dim(i)) < 0)
        place = place == -1 ? int(i) : -2;
    return place;
  };
  Renaming outside = renamingByPlace(quotient.outDims(), names);
  DimsAttr powersNames = rename(quotient.inDims(top.getArgNumber()), outside);
  Renaming inside = renamingByPlace(powers.outDims(), powersNames);
  softmax.input = {scores, rename(powers.inDims(x.getArgNumber()), inside)};
  int first = along(sum), second = along(maximum);
  if (first < 0 || second < 0 || powersNames.size() != softmax.input.names.size())
    return false;
  isNear = true;
  softmax.along = powersNames.dim(size_t(first));
  if (softmax.input.names.dim(size_t(second)) != softmax.along)
    return fail("the maximum and the sum run along different dimensions");
  spelled.append({powers, maximum, sum, quotient});
  for (Value value : {powers.getOutput(), quotient.getOutput()})
    for (Operation *user : value.getUsers())
      if (user != outer && !llvm::is_contained(spelled, user))
        return fail("the weights are used elsewhere too");
  return true;
}

bool Candidate::matchScores() {
  auto onlyHere = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) { return llvm::is_contained(spelled, user); });
  };
  Value scores = softmax.input.value;
  DimsAttr names = softmax.input.names;
  if (!onlyHere(scores))
    return fail("the scores are used elsewhere too");
  score = scores.getDefiningOp<MapOp>();
  if (score) {
    toOuter = renamingByPlace(score.outDims(), names);
    int found = -1;
    for (auto [i, input] : llvm::enumerate(score.getInputs()))
      if (input.getDefiningOp<ContractOp>() && score.inDims(i).size() == names.size())
        found = found == -1 ? int(i) : -2;
    if (found < 0)
      return fail(found == -1 ? "the scores are no function of one product of queries and keys"
                              : "the scores are a function of several products");
    scoreAt = unsigned(found);
    names = rename(score.inDims(scoreAt), toOuter);
    scores = score.getInputs()[scoreAt];
    if (!scores.hasOneUse())
      return fail("the product of queries and keys is used elsewhere too");
  }
  inner = scores.getDefiningOp<ContractOp>();
  if (!inner)
    return fail("the scores are no function of one product of queries and keys");
  SmallVector<StringAttr> rows = summed(inner);
  if (rows.size() != 1)
    return fail("the product of queries and keys sums over " + Twine(rows.size()) + " dimensions");
  Renaming renaming = renamingByPlace(inner.outDims(), names);
  row = freshName(outer.getContext(), ownName(rows[0]), {outer.inDims(0), outer.inDims(1), names});
  renaming[ownName(rows[0])] = row;
  Named a{inner.getInputs()[0], rename(inner.inDims(0), renaming)};
  Named b{inner.getInputs()[1], rename(inner.inDims(1), renaming)};
  bool first = a.names.find(softmax.along) >= 0;
  if (first == (b.names.find(softmax.along) >= 0))
    return fail("the softmax runs along a dimension that queries and keys share");
  k = first ? a : b;
  q = first ? b : a;
  return true;
}

bool Candidate::sortDimensions() {
  keys = *entry(k.names, softmax.along);
  std::optional<StringAttr> keysOfValues = entry(v.names, softmax.along);
  if (!keysOfValues || *keysOfValues != keys)
    return fail("the softmax runs along `" + softmax.along + "`, which is not what the values are summed over");
  auto queryType = tensorType(q.value);
  for (auto [i, name] : llvm::enumerate(q.names.getNames()))
    if (name != row && k.names.find(ownName(name)) < 0 && (!queries || queryType.isDynamicDim(unsigned(i))))
      queries = name;
  if (!queries)
    return fail("the queries have no dimension that the keys lack");
  for (StringAttr name : q.names.getNames())
    if (name != row && name != queries)
      heads.push_back(name);
  auto isHead = [&](StringAttr name) {
    return llvm::any_of(heads, [&](StringAttr head) { return ownName(head) == ownName(name); });
  };
  for (StringAttr name : k.names.getNames())
    if (name != keys && name != row && !isHead(name))
      return fail("the keys have a dimension `" + ownName(name) + "` that the queries lack");
  for (StringAttr name : v.names.getNames()) {
    if (name == keys || isHead(name))
      continue;
    if (valueRow || ownName(name) == ownName(queries))
      return fail("the values have more dimensions than keys, heads and a row");
    valueRow = name;
  }
  if (!valueRow)
    return fail("the values have no row");
  if (outer.outDims().size() != heads.size() + 2 || outer.outDims().find(ownName(queries)) < 0)
    return fail("the result lacks dimensions of the queries");
  return true;
}

bool Candidate::match() {
  DimsAttr names = outer.inDims(weightsAt);
  if (!matchSoftmax(outer.getInputs()[weightsAt], names))
    return false;
  v = {outer.getInputs()[1 - weightsAt], outer.inDims(1 - weightsAt)};
  SmallVector<StringAttr> over = summed(outer);
  if (over.size() != 1 || ownName(over[0]) != softmax.along)
    return fail("the softmax runs along `" + softmax.along + "`, which is not what the values are summed over");
  return matchScores() && sortDimensions();
}

// ---------------------------------------------------------------------------------------------------------- rewriting

/// s * c or s / c alone.
std::optional<double> plainScale(MapOp map) {
  Block &body = map.getBody().front();
  Operation *op = yieldedValue(body).getDefiningOp();
  if (!op || map.getInputs().size() != 1 || !isa<arith::MulFOp, arith::DivFOp>(op))
    return std::nullopt;
  Value argument = body.getArgument(0);
  std::optional<double> right = constantValue(op->getOperand(1)), left = constantValue(op->getOperand(0));
  if (isa<arith::DivFOp>(op))
    return right && op->getOperand(0) == argument ? std::optional(1 / *right) : std::nullopt;
  if (right && op->getOperand(0) == argument)
    return right;
  return left && op->getOperand(1) == argument ? left : std::nullopt;
}

/// The condition and the value of select(condition, value, -inf), if the condition does not read the product.
std::pair<Value, Value> splitMask(MapOp map, unsigned product) {
  auto choice = yieldedValue(map.getBody().front()).getDefiningOp<arith::SelectOp>();
  if (!choice || constantValue(choice.getFalseValue()) != -std::numeric_limits<double>::infinity())
    return {};
  SmallVector<Value> open{choice.getCondition()};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (value == map.getBody().getArgument(product))
      return {};
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(open, op->getOperands());
  }
  return {choice.getCondition(), choice.getTrueValue()};
}

/// The value `wanted` of the score's region, inside a region of attend.
Value Candidate::cloneScore(OpBuilder &builder, Block &block, unsigned firstCapture, Value s, Value i, Value j, Value h,
                            Value wanted) {
  Location loc = score.getLoc();
  IRMapping map;
  auto integer = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(int32_t(n)));
  };
  unsigned capture = firstCapture;
  for (auto [n, input] : llvm::enumerate(score.getInputs())) {
    if (n == scoreAt) {
      map.map(score.getBody().getArgument(unsigned(n)), s);
      continue;
    }
    SmallVector<Value> indices;
    for (StringAttr name : rename(score.inDims(n), toOuter).getNames()) {
      if (ownName(name) == ownName(queries) || ownName(name) == ownName(keys)) {
        indices.push_back(ownName(name) == ownName(queries) ? i : j);
        continue;
      }
      // The head's number is row-major over the heads.
      int64_t below = 1, size = 1;
      for (StringAttr head : llvm::reverse(heads)) {
        size = tensorType(q.value).getDimSize(unsigned(q.names.find(ownName(head))));
        if (ownName(head) == ownName(name))
          break;
        below *= size;
      }
      Value place = arith::DivSIOp::create(builder, loc, h, integer(below));
      indices.push_back(arith::RemSIOp::create(builder, loc, place, integer(size)));
    }
    Type element = tensorType(input).getElementType();
    map.map(score.getBody().getArgument(unsigned(n)),
            AtOp::create(builder, loc, element, block.getArgument(capture++), indices).getResult());
  }
  for (Operation &op : score.getBody().front().without_terminator())
    builder.clone(op, map);
  return map.lookupOrDefault(wanted);
}

void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void Candidate::fillRegions(AttendOp attend) {
  Location loc = score.getLoc();
  OpBuilder builder(attend.getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Type rowType = RankedTensorType::get({tensorType(q.value).getShape()[size_t(q.names.find(ownName(row)))]}, f32);
  auto begin = [&](Region &region, ArrayRef<Type> types) -> Block & {
    Block &block = region.emplaceBlock();
    for (Type type : types)
      block.addArgument(type, loc);
    for (Value captured : attend.captures())
      block.addArgument(captured.getType(), loc);
    builder.setInsertionPointToEnd(&block);
    return block;
  };
  auto [condition, value] = splitMask(score, scoreAt);
  Value yielded = condition ? value : yieldedValue(score.getBody().front());
  if (yielded != score.getBody().getArgument(scoreAt)) {
    Block &block = begin(attend.getScore(), {f32, i32, i32, i32, rowType, rowType});
    Value result = cloneScore(builder, block, 6, block.getArgument(0), block.getArgument(1), block.getArgument(2),
                              block.getArgument(3), yielded);
    YieldOp::create(builder, loc, ValueRange(result));
    eraseDead(block);
  }
  if (condition) {
    Block &block = begin(attend.getMask(), {i32, i32, i32});
    Value none = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    Value result = cloneScore(builder, block, 3, none, block.getArgument(0), block.getArgument(1), block.getArgument(2),
                              condition);
    YieldOp::create(builder, loc, ValueRange(result));
    eraseDead(block);
  }
}

void Candidate::replace() {
  MLIRContext *context = outer.getContext();
  OpBuilder builder(outer);
  Location loc = outer.getLoc();
  auto ordered = [&](const Named &tensor, StringAttr firstDim, StringAttr last) {
    SmallVector<StringAttr> order{firstDim};
    for (StringAttr head : heads)
      if (auto own = entry(tensor.names, ownName(head)))
        order.push_back(*own);
    order.push_back(last);
    DimsAttr names = makeDims(context, order);
    return Named{permuteTo(builder, loc, tensor.value, tensor.names, names), names};
  };
  Named query = ordered(q, queries, row), key = ordered(k, keys, row), value = ordered(v, keys, valueRow);
  SmallVector<Value> inputs{query.value, key.value, value.value};
  SmallVector<DimsAttr> dims{query.names, key.names, value.names};
  std::optional<double> scale = score ? plainScale(score) : std::optional(1.0);
  if (score && !scale)
    for (auto [n, input] : llvm::enumerate(score.getInputs()))
      if (n != scoreAt) {
        inputs.push_back(input);
        dims.push_back(rename(score.inDims(n), toOuter));
      }
  SmallVector<StringAttr> order{queries};
  llvm::append_range(order, heads);
  order.push_back(valueRow);
  DimsAttr result = makeDims(context, order);
  SmallVector<int64_t> shape;
  for (StringAttr name : order)
    shape.push_back(tensorType(outer.getOutput()).getShape()[size_t(outer.outDims().find(ownName(name)))]);
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  auto attend = AttendOp::create(builder, loc, TypeRange(type), Weigh::softmax, APFloat(scale.value_or(1.0)),
                                 /*weights=*/false, /*lse=*/false, inputs, makeDimsArray(context, dims),
                                 makeDimsArray(context, result));
  if (score && !scale)
    fillRegions(attend);
  Value back = permuteTo(builder, loc, attend->getResult(0), result, outer.outDims());
  outer.emitRemark("recognised attention of `") << ownName(queries) << "` over `" << ownName(keys) << "`";
  outer.getOutput().replaceAllUsesWith(back);
  outer.erase();
}

struct RecogniseAttention : PassWrapper<RecogniseAttention, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecogniseAttention)
  StringRef getArgument() const final { return "attn-recognise-attention"; }
  StringRef getDescription() const final { return "attention written as products and a softmax becomes attn.attend"; }
  void runOnOperation() final {
    SmallVector<ContractOp> products;
    getOperation().walk([&](ContractOp op) { products.push_back(op); });
    for (ContractOp op : products)
      recognise(op);
  }

private:
  static void recognise(ContractOp op) {
    for (unsigned weights : {0u, 1u}) {
      Candidate candidate(op, weights);
      if (candidate.match())
        return candidate.replace();
      if (candidate.isNear)
        op.emitRemark("no attention: ") << candidate.why;
    }
  }
};

} // namespace

std::unique_ptr<Pass> createRecogniseAttention() {
  return std::make_unique<RecogniseAttention>();
}

} // namespace attn
