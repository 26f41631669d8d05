// attn-recognise-attention: attention written as products and a softmax becomes attn.attend.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s = contract(q, k); w = softmax(f(s, bias, ..)); contract(w, v)   =>   attn.attend (q, k, v, bias, ..) score { f }
//
// f is any elementwise function; what in it is a scale or a mask attn-simplify sorts out after. Dimensions may stand in
// any order, heads may be any number, keys and values may lack some of them. Rows of several dimensions, or of none,
// and a single query become rows of one dimension by reshapes, which are views. Scores and weights must be read by
// nobody else; a remark says why a candidate stays as it is.
//
// Leaves true: nothing of the size queries x keys is computed where the remark says "recognised", but what the text
// itself computes of that size by other means than elementwise operations.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "passes/AttendRegions.h"
#include "passes/Elementwise.h"
#include "passes/NearAttention.h"
#include "passes/Passes.h"
#include "passes/Terms.h"

using namespace mlir;

namespace attn {
namespace {

using NameList = SmallVector<StringAttr>;

bool contains(ArrayRef<StringAttr> names, StringAttr wanted) {
  return llvm::any_of(names, [&](StringAttr name) { return ownName(name) == ownName(wanted); });
}

int64_t sizeOf(const NamedTensor &tensor, StringAttr name) {
  return tensorType(tensor.value).getDimSize(tensor.names.find(ownName(name)));
}

/// Two products with a softmax between them. All names are those of the outer product.
class Candidate {
public:
  Candidate(ContractOp product, unsigned weights) : outer(product), weightsAt(weights) {}

  /// Whether it is attention.
  bool match();
  void replace();
  std::optional<Reason> why; // what is missing, where it is like attention at all

private:
  bool fail(const Twine &reason) { return fail(Reason{reason.str(), {}}); }
  bool fail(Reason reason) {
    why = std::move(reason);
    return false;
  }
  bool matchSoftmax();
  bool matchAlong();
  bool isOfKeys(StringAttr name) const;
  static bool isHandedOn(Value value);
  bool matchScores();
  bool matchInner(Value product, DimsAttr names);
  bool sortQueriesAndKeys();
  bool sortValues();

  NamedTensor arrange(OpBuilder &builder, const NamedTensor &tensor, StringAttr first, ArrayRef<StringAttr> rows,
                      StringAttr row);
  Value createAttend(OpBuilder &builder);
  void fillScore(AttendOp attend);
  Value headIndex(OpBuilder &builder, Location loc, StringAttr name, Value h);
  bool countsOn() const;

  ContractOp outer;
  unsigned weightsAt;
  NamedTensor scores; // what the softmax is of
  StringRef along;
  ContractOp inner;     // the product of queries and keys
  MapOp score;          // between the inner product and the softmax; may be none
  unsigned scoreAt = 0; // its input that is the product
  NamedTensor q, k, v;
  StringAttr queries, keys;     // no queries: there is a single one
  NameList heads, rows, values; // rows: what the inner product sums over; values: what only v has
  StringAttr row, valueRow;     // what they are as one dimension
};

bool Candidate::matchSoftmax() {
  Value weights = outer.getInputs()[weightsAt];
  auto softmax = weights.getDefiningOp<SoftmaxOp>();
  if (!softmax) {
    why = explainWeights(outer, weightsAt);
    return false;
  }
  Renaming renaming = renamingByPlace(softmax.outDims(), outer.inDims(weightsAt));
  scores = {softmax.getInputs()[0], rename(softmax.inDims(0), renaming)};
  along = ownName(renaming.lookup(softmax.getAlong()));
  if (!weights.hasOneUse())
    return fail(explainReaders(weights, outer, Read::weights, along));
  if (!scores.value.hasOneUse())
    return fail(explainReaders(scores.value, softmax, Read::scores, along));
  if (!matchAlong())
    return false;
  keys = findSummed(outer).front();
  v = {outer.getInputs()[1 - weightsAt], outer.inDims(1 - weightsAt)};
  return true;
}

/// The values must be summed over what the softmax runs along.
bool Candidate::matchAlong() {
  NameList over = findSummed(outer);
  if (over.size() == 1 && ownName(over[0]) == along)
    return true;
  if (outer.outDims().find(along) >= 0 && isHandedOn(outer.getOutput()))
    return false; // the weights are mixed, which is said of the product that reads them then
  std::string runs = "the softmax runs along `" + along.str() + "`, but the values are summed over ";
  if (over.empty())
    return fail(runs + "nothing");
  if (over.size() > 1)
    return fail(runs + listNames(over) + " together; what is summed over `" + along +
                "` alone is attention, and the rest a sum of its result");
  runs += listNames(over);
  return fail(isOfKeys(over[0]) ? runs + "; `along: " + ownName(over[0]) + "` makes it attention" : runs);
}

/// Whether another product reads `value`, perhaps changed or turned around.
bool Candidate::isHandedOn(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<ContractOp>(user) || (isa<MapOp, ReshapeOp>(user) && isHandedOn(user->getResult(0)));
  });
}

/// Whether the scores have that dimension from just one side of a product.
bool Candidate::isOfKeys(StringAttr name) const {
  Value product = scores.value;
  DimsAttr names = scores.names;
  if (auto map = product.getDefiningOp<MapOp>())
    for (auto [i, input] : llvm::enumerate(map.getInputs()))
      if (input.getDefiningOp<ContractOp>()) {
        product = input;
        names = rename(map.inDims(i), renamingByPlace(map.outDims(), scores.names));
      }
  auto made = product.getDefiningOp<ContractOp>();
  int place = names.find(ownName(name));
  if (!made || place < 0)
    return false;
  StringRef own = made.outDims().dim(place);
  return (made.inDims(0).find(own) >= 0) != (made.inDims(1).find(own) >= 0);
}

bool Candidate::matchScores() {
  score = scores.value.getDefiningOp<MapOp>();
  if (!score)
    return matchInner(scores.value, scores.names);
  std::optional<unsigned> found;
  for (auto [i, input] : llvm::enumerate(score.getInputs())) {
    if (!input.getDefiningOp<ContractOp>() || score.inDims(i).size() != scores.names.size())
      continue;
    if (found)
      return fail(explainScores(scores.value, score));
    found = i;
  }
  if (!found)
    return fail(explainScores(scores.value, score));
  scoreAt = *found;
  Value product = score.getInputs()[scoreAt];
  if (!product.hasOneUse())
    return fail(explainReaders(product, score, Read::products, along));
  return matchInner(product, rename(score.inDims(scoreAt), renamingByPlace(score.outDims(), scores.names)));
}

/// The product of queries and keys, whose result is called `names`.
bool Candidate::matchInner(Value product, DimsAttr names) {
  inner = product.getDefiningOp<ContractOp>();
  if (!inner)
    return fail(explainScores(product, MapOp()));
  Renaming renaming = renamingByPlace(inner.outDims(), names);
  SmallVector<DimsAttr> taken = {outer.inDims(0), outer.inDims(1), names};
  auto fresh = [&](StringRef wish) {
    StringAttr name = freshName(outer.getContext(), wish, taken);
    taken.push_back(makeDims(outer.getContext(), name));
    return name;
  };
  for (StringAttr summed : findSummed(inner)) {
    if (tensorType(inner.getInputs()[0]).isDynamicDim(inner.inDims(0).find(ownName(summed))))
      return fail("the product of queries and keys sums over the sequence `" + ownName(summed) +
                  "`; rows of queries and keys have a fixed width");
    rows.push_back(renaming[ownName(summed)] = fresh(ownName(summed)));
  }
  row = rows.size() == 1 ? rows[0] : fresh("D");
  valueRow = fresh("N");
  NamedTensor a{inner.getInputs()[0], rename(inner.inDims(0), renaming)};
  NamedTensor b{inner.getInputs()[1], rename(inner.inDims(1), renaming)};
  bool first = a.names.find(along) >= 0;
  if (first == (b.names.find(along) >= 0))
    return fail("the softmax runs along `" + along + "`, which queries and keys share; each must have rows of its own");
  k = first ? a : b;
  q = first ? b : a;
  return sortQueriesAndKeys() && sortValues();
}

bool Candidate::sortQueriesAndKeys() {
  // Rows of a fixed number are queries where nobody else has that dimension, but rather those of a sequence.
  for (StringAttr name : q.names.getNames()) {
    bool isSequence = ShapedType::isDynamic(sizeOf(q, name));
    if (!contains(rows, name) && k.names.find(ownName(name)) < 0 &&
        (isSequence || (!queries && v.names.find(ownName(name)) < 0)))
      queries = name;
  }
  for (StringAttr name : q.names.getNames())
    if (!contains(rows, name) && name != queries) {
      if (ShapedType::isDynamic(sizeOf(q, name)))
        return fail(k.names.find(ownName(name)) >= 0
                        ? "each query has keys of its own: queries and keys share the sequence `" + ownName(name) + "`"
                        : "the queries have a second sequence, `" + ownName(name) + "`");
      heads.push_back(name);
    }
  if (!queries)
    queries = freshName(outer.getContext(), "Q", {outer.inDims(0), outer.inDims(1), q.names, k.names});
  for (StringAttr name : k.names.getNames())
    if (ownName(name) != along && !contains(rows, name) && !contains(heads, name))
      return k.value.getDefiningOp<ContractOp>()
                 ? fail(explainBetween(inner))
                 : fail("the keys have a dimension `" + ownName(name) +
                        "` that the queries lack; queries that have it too make it one of heads");
  return true;
}

bool Candidate::sortValues() {
  for (StringAttr name : v.names.getNames()) {
    if (ownName(name) == along || contains(heads, name))
      continue;
    if (ShapedType::isDynamic(sizeOf(v, name)) || ownName(name) == ownName(queries))
      return fail(ownName(name) == ownName(queries)
                      ? "each query has values of its own: queries and values share the sequence `" + ownName(name) +
                            "`"
                      : "the values have a second sequence, `" + ownName(name) + "`");
    values.push_back(name);
  }
  if (values.size() == 1)
    valueRow = values[0];
  return true;
}

bool Candidate::match() {
  return matchSoftmax() && matchScores();
}

// ---------------------------------------------------------------------------------------------------------- rewriting

/// `tensor` with the dimension `first`, heads, and one row made of `tail`.
NamedTensor Candidate::arrange(OpBuilder &builder, const NamedTensor &tensor, StringAttr first,
                               ArrayRef<StringAttr> tail, StringAttr asRow) {
  MLIRContext *context = builder.getContext();
  NameList order, grouped;
  SmallVector<int64_t> sizes;
  auto add = [&](StringAttr name) {
    order.push_back(name);
    grouped.push_back(name);
    sizes.push_back(sizeOf(tensor, name));
  };
  if (tensor.names.find(ownName(first)) >= 0) {
    add(tensor.names.getNames()[tensor.names.find(ownName(first))]);
  } else {
    grouped.push_back(first);
    sizes.push_back(1);
  }
  for (StringAttr head : heads)
    if (int place = tensor.names.find(ownName(head)); place >= 0)
      add(tensor.names.getNames()[place]);
  int64_t size = 1;
  for (StringAttr name : tail) {
    order.push_back(name);
    size *= sizeOf(tensor, name);
  }
  grouped.push_back(asRow);
  sizes.push_back(size);
  DimsAttr ordered = makeDims(context, order), names = makeDims(context, grouped);
  Value value = permuteTo(builder, outer.getLoc(), tensor.value, tensor.names, ordered);
  if (!sameNames(ordered, names))
    value = reshapeTo(builder, outer.getLoc(), value, ordered, names, sizes);
  return {value, names};
}

void Candidate::replace() {
  MLIRContext *context = outer.getContext();
  OpBuilder builder(outer);
  Value attend = createAttend(builder);
  // From [queries, heads, row] to what the product's result looks like.
  NameList grouped = {queries}, order;
  SmallVector<int64_t> sizes;
  llvm::append_range(grouped, heads);
  grouped.push_back(valueRow);
  bool isSingle = outer.outDims().find(ownName(queries)) < 0;
  for (StringAttr name : ArrayRef(grouped).drop_front(isSingle ? 1 : 0).drop_back())
    order.push_back(name);
  llvm::append_range(order, values);
  for (StringAttr name : order)
    sizes.push_back(outer.getType().getDimSize(outer.outDims().find(ownName(name))));
  DimsAttr ordered = makeDims(context, order), names = makeDims(context, grouped);
  if (!sameNames(ordered, names))
    attend = reshapeTo(builder, outer.getLoc(), attend, names, ordered, sizes);
  outer.emitRemark("recognised attention of `") << ownName(queries) << "` over `" << along << "`";
  outer.getOutput().replaceAllUsesWith(permuteTo(builder, outer.getLoc(), attend, ordered, outer.outDims()));
  outer.erase();
}

/// Whether a tensor along the queries is read where i is not the row's number: i goes on from call to call.
bool Candidate::countsOn() const {
  int place = q.names.find(ownName(queries));
  if (!score || place < 0 || !tensorType(q.value).isDynamicDim(place) || !goesOn(outer, q.names.sequence(place)))
    return false;
  for (auto [i, input] : llvm::enumerate(MapOp(score).getInputs())) {
    DimsAttr names = rename(MapOp(score).inDims(i), renamingByPlace(MapOp(score).outDims(), scores.names));
    if (i != scoreAt && names.find(ownName(queries)) >= 0)
      return true;
  }
  return false;
}

Value Candidate::createAttend(OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  NamedTensor query = arrange(builder, q, queries, rows, row), key = arrange(builder, k, keys, rows, row);
  NamedTensor value = arrange(builder, v, keys, values, valueRow);
  SmallVector<Value> inputs{query.value, key.value, value.value};
  SmallVector<DimsAttr> dims{query.names, key.names, value.names};
  if (countsOn()) {
    DimsAttr none = makeDims(context, {});
    auto past = RankedTensorType::get({}, builder.getI32Type());
    inputs.push_back(
        SessionOp::create(builder, outer.getLoc(), past, SessionNumber::past, makeDimsArray(context, none)));
    dims.push_back(none);
  }
  if (score)
    for (auto [i, input] : llvm::enumerate(score.getInputs()))
      if (i != scoreAt) {
        inputs.push_back(input);
        dims.push_back(rename(score.inDims(i), renamingByPlace(score.outDims(), scores.names)));
      }
  NameList result = {query.names.getNames().front()};
  llvm::append_range(result, heads);
  result.push_back(valueRow);
  SmallVector<int64_t> shape(tensorType(query.value).getShape());
  shape.back() = tensorType(value.value).getShape().back();
  auto attend = AttendOp::create(builder, outer.getLoc(), TypeRange(RankedTensorType::get(shape, builder.getF32Type())),
                                 Weigh::softmax, APFloat(1.0), /*weights=*/false, /*lse=*/false, inputs,
                                 makeDimsArray(context, dims), makeDimsArray(context, makeDims(context, result)));
  if (score)
    fillScore(attend);
  return attend.getOutputs().front();
}

/// The number of head dimension `name`, of the row-major number `h` over all of them.
Value Candidate::headIndex(OpBuilder &builder, Location loc, StringAttr name, Value h) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(number)));
  };
  if (heads.size() == 1)
    return h;
  int64_t below = 1;
  for (StringAttr head : llvm::reverse(heads)) {
    if (ownName(head) == ownName(name))
      break;
    below *= sizeOf(q, head);
  }
  Value place = arith::DivSIOp::create(builder, loc, h, constant(below));
  return arith::RemSIOp::create(builder, loc, place, constant(sizeOf(q, name)));
}

/// The map between the products as the score region: its tensors are captures, read at the query, key and head.
void Candidate::fillScore(AttendOp attend) {
  Location loc = score.getLoc();
  OpBuilder builder(attend.getContext());
  Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
  Type rowType = RankedTensorType::get({tensorType(attend.query()).getShape().back()}, f32);
  Block &block = attend.getScore().emplaceBlock();
  block.addArguments({f32, i32, i32, i32, rowType, rowType}, SmallVector<Location>(6, loc));
  builder.setInsertionPointToEnd(&block);
  IRMapping mapping;
  mapping.map(score.getBody().getArgument(scoreAt), block.getArgument(0));
  Value query = block.getArgument(scoreI);
  if (countsOn()) { // among the rows of this call
    Value past = AtOp::create(builder, loc, i32, block.addArgument(RankedTensorType::get({}, i32), loc), ValueRange());
    query = arith::SubIOp::create(builder, loc, query, past);
  }
  for (auto [i, input] : llvm::enumerate(score.getInputs())) {
    if (i == scoreAt)
      continue;
    Value capture = block.addArgument(input.getType(), loc);
    SmallVector<Value> indices;
    for (StringAttr name : attend.inDims(block.getNumArguments() - 4).getNames()) {
      bool isRow = ownName(name) == ownName(queries), isKey = ownName(name) == along;
      indices.push_back(isRow   ? query
                        : isKey ? block.getArgument(scoreJ)
                                : headIndex(builder, loc, name, block.getArgument(scoreH)));
    }
    Value number = AtOp::create(builder, loc, tensorType(input).getElementType(), capture, indices);
    mapping.map(score.getBody().getArgument(i), number);
  }
  for (Operation &op : score.getBody().front().without_terminator())
    builder.clone(op, mapping);
  Value yielded = mapping.lookupOrDefault(yieldedValue(score.getBody().front()));
  YieldOp::create(builder, loc, yielded);
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
      if (!candidate.why)
        continue;
      InFlightDiagnostic remark = op.emitRemark("no attention: ") << candidate.why->text;
      for (const auto &[where, words] : candidate.why->notes)
        remark.attachNote(where) << words;
    }
  }
};

} // namespace

std::unique_ptr<Pass> createRecogniseAttention() {
  return std::make_unique<RecogniseAttention>();
}

} // namespace attn
