// What became of each export, in words.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     hidden, sequences T:
//       gather rows of `embeddings.word_embeddings.weight`
//       6 times:
//         product with `attention.self` (1152 of 384), 1 operation on each sum
//         attention, softmax, 12 heads of 32: one pass over the keys, no scores in memory
//     memory: 9216 bytes a row of T
#include "lowering/Explain.h"
#include "dialect/AttnOps.h"
#include "dialect/Shapes.h"
#include "lowering/attend/Strategy.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace attn {
namespace {

class Explainer {
public:
  Explainer(llvm::raw_ostream &stream, const Target &machine, const LowerOptions &how, ArrayRef<AttendTiling> attends,
            ArrayRef<Occasion> occasions)
      : out(stream), target(machine), options(how), attends(attends), occasions(occasions) {}

  void function(func::FuncOp op) {
    out << op.getName() << ", sequences "
        << llvm::join(op->getAttrOfType<ArrayAttr>("attn.sequences").getAsValueRange<StringAttr>(), ", ") << ":\n";
    block(op.getBody().front(), 2);
    memory(op->getAttrOfType<ArrayAttr>("attn.arena"));
  }

private:
  void block(Block &from, unsigned indent) {
    for (Operation &op : from) {
      std::string words = describe(&op);
      if (!words.empty())
        out.indent(indent) << words << place(&op) << '\n';
      if (auto attend = dyn_cast<AttendOp>(op))
        tiles(attend, indent + 2);
      if (auto repeat = dyn_cast<RepeatOp>(op))
        block(repeat.getBody().front(), indent + 2);
      if (auto scan = dyn_cast<ScanOp>(op))
        block(scan.getBody().front(), indent + 2);
    }
  }

  static bool isView(Operation *op) {
    auto slots = op->getAttrOfType<ArrayAttr>("attn.memory");
    return slots && cast<DictionaryAttr>(slots[0]).contains("view");
  }

  static std::string place(Operation *op) {
    auto slots = op->getAttrOfType<ArrayAttr>("attn.memory");
    bool caller = slots && !isa<RepeatOp, ScanOp>(op) && cast<DictionaryAttr>(slots[0]).contains("output");
    return caller ? ", written straight to the caller" : "";
  }

  static int64_t operations(Region &region) {
    return llvm::count_if(region.front().without_terminator(),
                          [](Operation &op) { return !op.hasTrait<OpTrait::ConstantLike>(); });
  }

  static std::string onEach(Region &region, StringRef what) {
    int64_t count = operations(region);
    return count == 0 ? "" : (", " + Twine(count) + (count == 1 ? " operation" : " operations") + what).str();
  }

  std::string describe(Operation *op) {
    if (isView(op))
      return "";
    return TypeSwitch<Operation *, std::string>(op)
        .Case([](RepeatOp o) { return (Twine(int64_t(o.getUpper() - o.getLower())) + " times:").str(); })
        .Case([](ScanOp o) { return ("row by row along " + o.getAlong() + ":").str(); })
        .Case([](CacheOp o) { return ("rows added to the session's `" + o.getState() + "`").str(); })
        .Case([](OnceOp o) { return ("rows kept once in the session's `" + o.getState() + "`").str(); })
        .Case([](SessionOp o) { return ("the session's " + stringifySessionNumber(o.getNumber())).str(); })
        .Case([this](LinearOp o) { return linear(o); })
        .Case([this](AttendOp o) { return attend(o); })
        .Case([](MapOp o) { return "elementwise" + onEach(o.getBody(), " an element"); })
        .Case([](ReduceOp o) { return (stringifyReduction(o.getKind()) + " over " + gone(o)).str(); })
        .Case([](SoftmaxOp o) { return ("softmax along " + o.getAlong()).str(); })
        .Case([](NormaliseOp o) { return (stringifyNorm(o.getKind()) + " normalisation").str(); })
        .Case([](ContractOp o) { return "product over " + gone(o); })
        .Case([](GatherOp o) { return "rows by number" + table(o); })
        .Case([](PosOp) { return std::string("positions"); })
        .Case<ReshapeOp, SliceOp>([](Operation *) { return std::string("copy into another order"); })
        .Case([](ConcatOp o) { return ("joined along " + o.getAlong()).str(); })
        .Case([](PatchesOp) { return std::string("windows of an image"); })
        .Case([](TapOp o) { return ("shows `" + o.getName() + "`").str(); })
        .Default([](Operation *) { return std::string(); });
  }

  std::string linear(LinearOp op) {
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    int64_t columns = 1;
    for (int64_t size : type.getShape().drop_front(op.inDims(0).size() - 1))
      columns *= size;
    int64_t width = cast<RankedTensorType>(op.getInputs()[0].getType()).getShape().back();
    return ("product with `" + op.getWeight() + "`, " + Twine(columns) + " sums of " + Twine(width) + ofProducts() +
            onEach(op.getBody(), " on each sum"))
        .str();
  }

  StringRef ofProducts() const {
    return options.precision == Precision::bf16 ? ", products of bf16 summed in f32" : "";
  }

  std::string attend(AttendOp op) {
    auto query = cast<RankedTensorType>(op.query().getType()), value = cast<RankedTensorType>(op.value().getType());
    int64_t heads = 1;
    if (query.getRank() > 2)
      for (int64_t size : query.getShape().drop_front().drop_back())
        heads *= size;
    std::string words = ("attention, " + stringifyWeigh(op.getWeigh()) + ", " + Twine(heads) +
                         (heads == 1 ? " head of " : " heads of ") + Twine(value.getShape().back()))
                            .str();
    if (!op.getScore().empty())
      words += onEach(op.getScore(), " a score");
    if (!op.getMask().empty())
      words += ", masked";
    words += ofProducts();
    Strategy strategy = chooseStrategy(op, target, options);
    words += op.getWeights()   ? ": weights kept"
             : strategy.splits ? ": one pass over the keys, or scores of one query in memory"
                               : ": one pass over the keys, no scores in memory";
    return words + "; " + strategy.words();
  }

  template <typename Op> static std::string gone(Op op) {
    SmallVector<StringRef> names;
    DimsAttr in = op.inDims(0);
    for (size_t i = 0; i < in.size(); ++i)
      if (op.outDims().find(in.dim(i)) < 0)
        names.push_back(in.dim(i));
    return llvm::join(names, ", ");
  }

  static std::string table(GatherOp op) {
    auto param = op.getInputs()[0].getDefiningOp<ParamOp>();
    return param ? (" of `" + param.getWeight() + "`").str() : "";
  }

  void memory(ArrayAttr arena) {
    for (Attribute attribute : arena) {
      auto part = cast<DictionaryAttr>(attribute);
      out << "  memory: " << part.getAs<IntegerAttr>("bytes").getInt() << " bytes";
      auto units = part.getAs<ArrayAttr>("units");
      if (part.contains("uniform"))
        out << " a call\n";
      else if (units.empty())
        out << " a sequence\n";
      else
        out << " times " << llvm::join(units.getAsValueRange<StringAttr>(), " x ") << '\n';
    }
  }

  /// What the attention's kernel does on the occasions.
  void tiles(AttendOp op, unsigned indent) {
    const auto *tiling = llvm::find_if(attends, [&](const AttendTiling &each) { return each.op == op; });
    if (tiling == attends.end())
      return;
    for (const Occasion &occasion : occasions) {
      if (!occasion.size(tiling->queries) || !occasion.size(tiling->keys))
        continue;
      TileWalk walk(*tiling, occasion);
      work(walk.work(), indent);
      if (std::optional<Occasion> next = oneMore(*tiling, occasion))
        work(TileWalk(*tiling, *next).work(), indent);
    }
  }

  /// Where keys are cached and all is given at once: the call with the last query alone.
  static std::optional<Occasion> oneMore(const AttendTiling &tiling, const Occasion &occasion) {
    bool cached = !tiling.keys.isStatic() && !cachedSequence(tiling.keys.lengths[0]).empty();
    if (!cached || !occasion.everyLength || !occasion.lengths.empty() || occasion.past > 0 || *occasion.everyLength < 2)
      return std::nullopt;
    Occasion next = occasion;
    next.everyLength = 1;
    next.past = *occasion.everyLength - 1;
    return next;
  }

  void work(const AttendWork &work, unsigned indent) {
    int64_t all = work.fullTiles + work.partialTiles + work.emptyTiles;
    auto share = llvm::format("%.1f %%", all ? 100.0 * double(work.emptyTiles) / double(all) : 0.0);
    out.indent(indent) << counted(work.queries, "query", "queries") << ", " << counted(work.keys, "key", "keys") << ": "
                       << counted(work.queryTiles, "tile", "tiles") << " of queries; "
                       << counted(work.fullTiles, "tile", "tiles") << " without mask, " << work.partialTiles
                       << " with it, " << work.emptyTiles << " skipped (" << share << "); " << work.bytes
                       << " bytes read, " << work.operations << " operations\n";
  }

  static std::string counted(int64_t number, StringRef one, StringRef several) {
    return (Twine(number) + " " + (number == 1 ? one : several)).str();
  }

  llvm::raw_ostream &out;
  const Target &target;
  const LowerOptions &options;
  ArrayRef<AttendTiling> attends;
  ArrayRef<Occasion> occasions;
};

} // namespace

std::string explainPlan(ModuleOp planned, const Target &target, const LowerOptions &options,
                        ArrayRef<AttendTiling> attends, ArrayRef<Occasion> occasions) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto function : planned.getOps<func::FuncOp>())
    if (function->hasAttr("attn.export"))
      Explainer(stream, target, options, attends, occasions).function(function);
  return text;
}

} // namespace attn
