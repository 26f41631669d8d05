// What all exported functions of a model share while they are lowered.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Program.h"
#include "lowering/Ir.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace attn {

int64_t countTurns(ArrayRef<int64_t> turns) {
  return llvm::product_of(turns);
}

static void addFunction(SmallVectorImpl<int64_t> &functions, int64_t current) {
  if (functions.empty() || functions.back() != current)
    functions.push_back(current);
}

Program::Program(ModuleOp source, ModuleOp lowered, const Target &target, const LowerOptions &options)
    : source(source), lowered(lowered), target(target), options(options), symbols(lowered) {
  if (options.precision == Precision::bf16)
    findRoundedStates();
}

/// Whether the operation takes the tensor as keys or values that it multiplies, and in no other way.
static bool onlyMultiplies(Operation *user, Value tensor) {
  auto attend = dyn_cast<AttendOp>(user);
  if (!attend)
    return false;
  for (auto [i, input] : llvm::enumerate(attend.getInputs()))
    if (input == tensor && i != 1 && i != 2)
      return false;
  if (attend.key() != tensor || attend.getScore().empty())
    return true;
  Block &score = attend.getScore().front();
  return !score.getArgument(0).use_empty() && score.getArgument(5).use_empty(); // q . k, but not the row of k
}

void Program::findRoundedStates() {
  for (auto state : source.getOps<StateOp>())
    if (cast<RankedTensorType>(state.getType()).getElementType().isF32())
      roundedStates.insert(state.getSymName());
  source.walk([&](Operation *op) {
    if (!isa<CacheOp, OnceOp>(op))
      return;
    Value rows = op->getResult(0);
    if (!llvm::all_of(rows.getUsers(), [&](Operation *user) { return onlyMultiplies(user, rows); }))
      roundedStates.erase(op->getAttrOfType<FlatSymbolRefAttr>("state").getValue());
  });
}

int64_t Program::slot(WeightOp weight, bool packed) {
  auto [place, fresh] =
      uses.insert({{weight.getOperation(), unsigned(packed)}, WeightUse{weight, packed, nextSlot, {}}});
  if (fresh)
    nextSlot += countTurns(weight.getTurns());
  addFunction(place->second.functions, currentFunction);
  return place->second.slot;
}

int64_t Program::slot(StateOp state) {
  auto [place, fresh] = stateUses.insert({state.getOperation(), StateUse{state, nextState, {}}});
  if (fresh)
    nextState += countTurns(state.getTurns());
  addFunction(place->second.functions, currentFunction);
  return place->second.slot;
}

LLVM::LLVMFuncOp Program::runtime(StringRef name, LLVM::LLVMFunctionType type) {
  if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder builder(lowered.getContext());
  auto made = LLVM::LLVMFuncOp::create(builder, lowered.getLoc(), name, type);
  symbols.insert(made, lowered.getBody()->begin());
  return made;
}

LLVM::LLVMFuncOp Program::function(Location loc, StringRef name, LLVM::LLVMFunctionType type) {
  OpBuilder builder(lowered.getContext());
  auto made = LLVM::LLVMFuncOp::create(builder, loc, name, type, LLVM::Linkage::Internal);
  symbols.insert(made);
  return made;
}

LLVM::LLVMFuncOp Program::share(LLVM::LLVMFuncOp made) {
  for (LLVM::LLVMFuncOp earlier : kernels)
    if (OperationEquivalence::isRegionEquivalentTo(&earlier.getBody(), &made.getBody(),
                                                   OperationEquivalence::IgnoreLocations)) {
      symbols.erase(made);
      return earlier;
    }
  kernels.push_back(made);
  return made;
}

LLVM::LLVMFuncOp Program::finder() {
  if (auto known = symbols.lookup<LLVM::LLVMFuncOp>("attn_find"))
    return known;
  MLIRContext *context = lowered.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i64 = IntegerType::get(context, 64);
  auto made = function(lowered.getLoc(), "attn_find", LLVM::LLVMFunctionType::get(i64, {pointer, i64, i64}));
  Block *block = made.addEntryBlock(*std::make_unique<OpBuilder>(context));
  Ir ir(made.getLoc(), OpBuilder::atBlockEnd(block));
  Value table = block->getArgument(0), number = block->getArgument(2);
  SmallVector<Value> bounds{ir.constant(0), block->getArgument(1)};
  auto loop = scf::WhileOp::create(ir, ir.loc, TypeRange{i64, i64}, bounds, /*beforeBuilder=*/nullptr, nullptr);
  Block *before = loop.getBeforeBody();
  ir.setInsertionPointToStart(before);
  Value width = ir.sub(before->getArgument(1), before->getArgument(0));
  scf::ConditionOp::create(ir, ir.loc, ir.less(ir.constant(1), width), before->getArguments());
  Block *after = loop.getAfterBody();
  ir.setInsertionPointToStart(after);
  Value low = after->getArgument(0), high = after->getArgument(1);
  Value middle = ir.div(ir.add(low, high), ir.constant(2));
  Value beyond = ir.less(number, ir.load(i64, table, middle));
  Value nextLow = arith::SelectOp::create(ir, ir.loc, beyond, low, middle);
  Value nextHigh = arith::SelectOp::create(ir, ir.loc, beyond, middle, high);
  scf::YieldOp::create(ir, ir.loc, ValueRange{nextLow, nextHigh});
  ir.setInsertionPointAfter(loop);
  LLVM::ReturnOp::create(ir, ir.loc, loop.getResult(0));
  return made;
}

LLVM::GlobalOp Program::constant(DenseElementsAttr numbers) {
  LLVM::GlobalOp &known = constants[numbers];
  if (known)
    return known;
  OpBuilder builder(lowered.getContext());
  Type element = numbers.getElementType();
  auto flat = RankedTensorType::get({numbers.getNumElements()}, element);
  DenseElementsAttr value = numbers.isSplat() ? numbers.resizeSplat(flat) : numbers.reshape(flat);
  if (element.isInteger(1)) {
    element = builder.getI8Type();
    value = value.mapValues(element, [](const APInt &truth) { return truth.zext(8); });
  }
  auto type = LLVM::LLVMArrayType::get(element, numbers.getNumElements());
  known = LLVM::GlobalOp::create(builder, lowered.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                 "attn_constant", value, /*alignment=*/64);
  symbols.insert(known, lowered.getBody()->begin());
  return known;
}

LLVM::GlobalOp Program::text(StringRef name, StringRef value) {
  OpBuilder builder(lowered.getContext());
  std::string bytes = (value + StringRef("\0", 1)).str();
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
  auto made = LLVM::GlobalOp::create(builder, lowered.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                     name, builder.getStringAttr(bytes));
  symbols.insert(made, lowered.getBody()->begin());
  return made;
}

} // namespace attn
