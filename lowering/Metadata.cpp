// What a compiled model says of itself, for the runtime.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Metadata.h"
#include "dialect/Exports.h"
#include "lowering/Ir.h"
#include "lowering/PackWeight.h"
#include "lowering/Program.h"
#include "lowering/TableLimits.h"
#include "passes/Weights.h"
#include "runtime/abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
namespace json = llvm::json;

namespace attn {

namespace {

/// An attribute as the configuration had it; nothing (a unit attribute) is null.
json::Value toJson(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue().str();
  if (auto truth = dyn_cast<BoolAttr>(attribute))
    return truth.getValue();
  if (auto whole = dyn_cast<IntegerAttr>(attribute))
    return whole.getInt();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    json::Array values;
    for (Attribute element : list)
      values.push_back(toJson(element));
    return values;
  }
  if (auto object = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object values;
    for (NamedAttribute entry : object)
      values[entry.getName().getValue()] = toJson(entry.getValue());
    return values;
  }
  return nullptr;
}

json::Array toJson(ArrayRef<int64_t> numbers) {
  return json::Array(numbers);
}

json::Object weightJson(const WeightUse &use, const Program &program) {
  WeightOp weight = use.op;
  json::Array parts;
  for (StringRef part : weight.getParts().getAsValueRange<StringAttr>())
    parts.push_back(part);
  auto shape = cast<RankedTensorType>(weight.getType()).getShape();
  if (auto file = weight->getAttrOfType<DenseI64ArrayAttr>(weightFileAttr))
    shape = file.asArrayRef();
  SmallVector<int64_t> rows(weight.getRows());
  if (rows.empty() && !shape.empty())
    rows.push_back(shape[0]);
  return json::Object{{"symbol", weight.getSymName()},
                      {"parts", std::move(parts)},
                      {"rows", toJson(rows)},
                      {"turns", toJson(weight.getTurns())},
                      {"shape", toJson(shape)},
                      {"stored", weight.getStored()},
                      {"packed_bytes", use.packed ? packedBytes(weight, program) : 0},
                      {"functions", toJson(use.functions)}};
}

StringRef elementName(RankedTensorType type) {
  return type.getElementType().isInteger(32) ? "i32" : "f32";
}

json::Object stateJson(const StateUse &use, bool rounded) {
  auto type = cast<RankedTensorType>(StateOp(use.op).getType());
  return json::Object{
      {"symbol", StateOp(use.op).getSymName()},       {"kind", stringifyStateKind(StateOp(use.op).getKind())},
      {"turns", toJson(StateOp(use.op).getTurns())},  {"row", toJson(type.getShape().drop_front())},
      {"type", rounded ? "bf16" : elementName(type)}, {"functions", toJson(use.functions)}};
}

/// For each sequence that a function's `once` operations keep rows of, the places in which they do.
json::Array keptJson(func::FuncOp function, const Program &program) {
  json::Array kept;
  for (StringRef sequence : keptSequences(function)) {
    SmallVector<int64_t> places;
    function.walk([&](OnceOp op) {
      Operation *state = SymbolTable::lookupNearestSymbolFrom(op, op.getStateAttr());
      int64_t place =
          llvm::find_if(program.states(), [&](auto &use) { return use.first == state; }) - program.states().begin();
      if (op.inDims(0).sequence(0) == sequence && !llvm::is_contained(places, place))
        places.push_back(place);
    });
    kept.push_back(json::Object{{"sequence", sequence}, {"state", toJson(places)}});
  }
  return kept;
}

/// `dims` (a name for a sequence dimension, else the size) and `dim_names`.
void addDims(json::Object &object, Type type, DimsAttr names) {
  json::Array dims, all;
  for (auto [i, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape())) {
    dims.push_back(ShapedType::isDynamic(size) ? json::Value(names.sequence(i)) : json::Value(size));
    all.push_back(names.dim(i));
  }
  object["type"] = elementName(cast<RankedTensorType>(type));
  object["dims"] = std::move(dims);
  object["dim_names"] = std::move(all);
}

json::Object functionJson(func::FuncOp function, const Program &program) {
  TableLimits limits(function);
  json::Array sequences, longest, params, results, taps;
  for (StringRef name : function->getAttrOfType<ArrayAttr>("attn.sequences").getAsValueRange<StringAttr>()) {
    sequences.push_back(name);
    longest.push_back(limits.rows(name));
  }
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    json::Object param{{"name", function.getArgAttrOfType<StringAttr>(i, "attn.name").getValue()}};
    addDims(param, argument.getType(), function.getArgAttrOfType<DimsAttr>(i, "attn.dims"));
    if (Attribute number = function.getArgAttr(i, "attn.default"))
      param["default"] = toJson(number);
    if (int64_t limit = limits.ids(argument))
      param["limit"] = limit;
    params.push_back(std::move(param));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, "attn.name");
    json::Object result{{"name", name ? name.getValue() : StringRef()}};
    addDims(result, type, function.getResultAttrOfType<DimsAttr>(i, "attn.dims"));
    results.push_back(std::move(result));
  }
  if (program.options.probe)
    function.walk([&](TapOp tap) { taps.push_back(tap.getName()); });
  json::Object all{{"name", function.getName()},  {"sequences", std::move(sequences)}, {"longest", std::move(longest)},
                   {"params", std::move(params)}, {"results", std::move(results)},     {"taps", std::move(taps)}};
  if (auto cached = function->getAttrOfType<StringAttr>("attn.cached"))
    all["cached"] = cached.getValue();
  if (json::Array kept = keptJson(function, program); !kept.empty())
    all["kept"] = std::move(kept);
  return all;
}

json::Array featuresJson(const Target &target) {
  json::Array features;
  for (StringRef feature : llvm::split(target.features, ","))
    if (feature.consume_front("+"))
      features.push_back(feature);
  return features;
}

/// A constant table of addresses; null where there is none.
LLVM::GlobalOp addressTable(Program &program, StringRef name, ArrayRef<LLVM::LLVMFuncOp> functions) {
  Ir ir(program.lowered.getLoc(), OpBuilder::atBlockEnd(program.lowered.getBody()));
  auto type = LLVM::LLVMArrayType::get(ir.ptr(), functions.size());
  auto table =
      LLVM::GlobalOp::create(ir, ir.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name, Attribute());
  ir.createBlock(&table.getInitializerRegion());
  Value value = LLVM::UndefOp::create(ir, ir.loc, type);
  for (auto [i, function] : llvm::enumerate(functions)) {
    Value address = function ? LLVM::AddressOfOp::create(ir, ir.loc, function).getResult()
                             : LLVM::ZeroOp::create(ir, ir.loc, ir.ptr()).getResult();
    value = LLVM::InsertValueOp::create(ir, ir.loc, value, address, ArrayRef<int64_t>{int64_t(i)});
  }
  LLVM::ReturnOp::create(ir, ir.loc, value);
  return table;
}

} // namespace

SmallVector<func::FuncOp> exportsOf(ModuleOp source) {
  SmallVector<func::FuncOp> exports;
  for (auto function : source.getOps<func::FuncOp>())
    if (function->hasAttr("attn.export"))
      exports.push_back(function);
  return exports;
}

std::string metadataOf(const Program &program, ArrayRef<func::FuncOp> exports) {
  auto attribute = [&](StringRef name, json::Value otherwise) {
    Attribute value = program.source->getAttr(name);
    return value ? toJson(value) : std::move(otherwise);
  };
  json::Array weights, state, functions, counts;
  for (const std::string &name : program.counts)
    counts.push_back(name);
  for (const auto &[key, use] : program.weights())
    weights.push_back(weightJson(use, program));
  for (const auto &[op, use] : program.states())
    state.push_back(stateJson(use, program.keepsRounded(use.op)));
  for (func::FuncOp function : exports)
    functions.push_back(functionJson(function, program));
  json::Value all = json::Object{{"model", attribute("attn.model", "")},
                                 {"mcpu", program.target.name},
                                 {"precision", nameOf(program.options.precision)},
                                 {"features", featuresJson(program.target)},
                                 {"config", attribute("attn.config", json::Object())},
                                 {"prefixes", attribute("attn.prefixes", json::Array{""})},
                                 {"renames", attribute("attn.renames", json::Array())},
                                 {"ignores", attribute("attn.ignores", json::Array())},
                                 {"tokenizer", attribute("attn.tokenizer", "")},
                                 {"weights", std::move(weights)},
                                 {"state", std::move(state)},
                                 {"functions", std::move(functions)},
                                 {"counts", std::move(counts)}};
  std::string text;
  llvm::raw_string_ostream(text) << all;
  return text;
}

void addProgramTable(Program &program, ArrayRef<func::FuncOp> exports, StringRef metadata) {
  SmallVector<LLVM::LLVMFuncOp> entries, packs;
  for (func::FuncOp function : exports)
    entries.push_back(program.lowered.lookupSymbol<LLVM::LLVMFuncOp>(("attn_entry_" + function.getName()).str()));
  for (const auto &[key, use] : program.weights())
    packs.push_back(use.packed ? packFunction(program, use.op) : nullptr);
  LLVM::GlobalOp text = program.text("attn_metadata", metadata);
  LLVM::GlobalOp entryTable = addressTable(program, "attn_entries", entries);
  LLVM::GlobalOp packTable = addressTable(program, "attn_packs", packs);

  // struct attn_program of runtime/abi.h
  Ir ir(program.lowered.getLoc(), OpBuilder::atBlockEnd(program.lowered.getBody()));
  auto type = LLVM::LLVMStructType::getLiteral(ir.getContext(), {ir.i32(), ir.i32(), ir.ptr(), ir.ptr(), ir.ptr()});
  auto table = LLVM::GlobalOp::create(ir, ir.loc, type, /*isConstant=*/true, LLVM::Linkage::External,
                                      "attn_this_program", Attribute());
  ir.createBlock(&table.getInitializerRegion());
  Value value = LLVM::UndefOp::create(ir, ir.loc, type);
  auto number = [&](int32_t n) { return LLVM::ConstantOp::create(ir, ir.loc, ir.getI32IntegerAttr(n)).getResult(); };
  auto address = [&](LLVM::GlobalOp global) { return LLVM::AddressOfOp::create(ir, ir.loc, global).getResult(); };
  Value fields[] = {number(ATTN_ABI_VERSION), number(int32_t(exports.size())), address(text), address(entryTable),
                    address(packTable)};
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(ir, ir.loc, value, field, ArrayRef<int64_t>{int64_t(i)});
  LLVM::ReturnOp::create(ir, ir.loc, value);
}

} // namespace attn
