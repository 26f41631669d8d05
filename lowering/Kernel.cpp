// One parallel loop: a kernel function and its launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/Kernel.h"
#include "lowering/Emitter.h"
#include "lowering/Program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace attn {

static LLVM::LLVMFunctionType kernelType(Ir &ir) {
  return LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ir.getContext()), {ir.ptr(), ir.ptr(), ir.i64()});
}

Kernel::Kernel(Emitter &emitter, StringRef name) : ir(emitter.entry.loc, emitter.entry), owner(emitter) {
  func = emitter.program.function(ir.loc, ("attn_kernel_" + name).str(), kernelType(ir));
  mlir::Block *block = func.addEntryBlock(ir);
  call = block->getArgument(0);
  arguments = block->getArgument(1);
  task = block->getArgument(2);
  ir.setInsertionPointToEnd(block);
  LLVM::ReturnOp::create(ir, ir.loc, ValueRange{});
  ir.setInsertionPoint(block->getTerminator());
}

Value Kernel::get(Value entryValue) {
  Value &inside = passed[entryValue];
  if (inside)
    return inside;
  // Whatever it is used for, it must be there for the whole kernel.
  OpBuilder::InsertionGuard guard(ir);
  ir.setInsertionPointToStart(&func.getBody().front());
  if (Operation *source = entryValue.getDefiningOp(); source && source->hasTrait<OpTrait::ConstantLike>())
    return inside = ir.clone(*source)->getResult(0);
  int64_t place = llvm::count_if(passed, [](auto &entry) { return entry.second && !isConstant(entry.first); });
  Value at = LLVM::GEPOp::create(ir, ir.loc, ir.ptr(), ir.i64(), arguments, ArrayRef<LLVM::GEPArg>{int32_t(place)});
  return passed[entryValue] = LLVM::LoadOp::create(ir, ir.loc, entryValue.getType(), at);
}

bool Kernel::isConstant(Value entryValue) {
  Operation *source = entryValue.getDefiningOp();
  return source && source->hasTrait<OpTrait::ConstantLike>();
}

Value Kernel::sequences() {
  return get(owner.sequences());
}

Value Kernel::unitTable(ArrayRef<StringRef> units) {
  return units.empty() ? Value() : get(owner.table(units));
}

Value Kernel::unitsBefore(ArrayRef<StringRef> units, Value s) {
  Value table = unitTable(units);
  return table ? ir.load(ir.i64(), table, s) : s;
}

Value Kernel::length(StringRef sequence, Value s) {
  Value next = unitsBefore(sequence, ir.add(s, ir.constant(1)));
  return ir.sub(next, unitsBefore(sequence, s));
}

Value Kernel::past(StringRef sequence, Value s) {
  return owner.isCached(sequence) ? ir.load(ir.i64(), get(owner.past()), s) : ir.constant(0);
}

Value Kernel::evaluate(const Monomial &monomial, Value s) {
  Value product = ir.constant(monomial.factor);
  for (StringRef sequence : monomial.lengths)
    product = ir.mul(length(sequence, s), product);
  return product;
}

Local Kernel::local(const View &view, Value s) {
  const Layout &layout = view.layout;
  Value first = ir.constant(0), base = get(view.base);
  if (layout.scattered)
    base = ir.load(ir.ptr(), base, s);
  else if (!layout.uniform)
    first = ir.mul(unitsBefore(layout.units, s), ir.constant(layout.perUnit));
  for (const Monomial &part : layout.offset)
    first = ir.add(first, evaluate(part, s));
  if (view.place)
    first = ir.add(first, ir.mul(get(view.place), evaluate(view.placeStride, s)));
  Local tensor{ir.address(base, view.element, first), view.element, view.names, {}, {}};
  for (const Extent &dim : layout.dims) {
    tensor.sizes.push_back(evaluate(dim.size, s));
    tensor.strides.push_back(evaluate(dim.stride, s));
  }
  return tensor;
}

Local Kernel::rows(const View &view, StringRef sequence) {
  const Layout &layout = view.layout;
  int64_t offset = 0;
  for (const Monomial &part : layout.offset)
    offset += part.factor;
  Value first = ir.constant(offset);
  if (view.place)
    first = ir.add(first, ir.mul(get(view.place), ir.constant(view.placeStride.factor)));
  Local tensor{ir.address(get(view.base), view.element, first), view.element, view.names, {}, {}};
  for (const Extent &dim : layout.dims) {
    tensor.sizes.push_back(dim.size.isStatic() ? ir.constant(dim.size.factor) : get(owner.total(sequence)));
    tensor.strides.push_back(ir.constant(dim.stride.factor));
  }
  return tensor;
}

Value Kernel::address(const Local &tensor, ValueRange indices) {
  Value index = ir.constant(0);
  for (auto [i, stride] : llvm::zip_equal(indices, tensor.strides))
    index = ir.add(index, ir.mul(i, stride));
  return ir.address(tensor.pointer, tensor.element, index);
}

std::pair<Value, Value> Kernel::split(int64_t inner) {
  if (inner == 1)
    return {task, ir.constant(0)};
  Value count = ir.constant(inner);
  return {ir.div(task, count), ir.rem(task, count)};
}

Kernel::Block Kernel::sequenceBlock(StringRef sequence, int64_t size, int64_t inner) {
  Ir &entry = owner.entry;
  entryTasks = entry.mul(owner.blockTotal(sequence, size), entry.constant(inner));
  auto [block, part] = split(inner);
  Value table = get(owner.blockTable(sequence, size));
  auto found = LLVM::CallOp::create(ir, ir.loc, owner.program.finder(), ValueRange{table, sequences(), block});
  Value s = found.getResult();
  Value begin = ir.mul(ir.sub(block, ir.load(ir.i64(), table, s)), ir.constant(size));
  return {s, begin, ir.min(ir.constant(size), ir.sub(length(sequence, s), begin)), part};
}

Kernel::Block Kernel::rowBlock(StringRef sequence, int64_t size, int64_t inner) {
  Ir &entry = owner.entry;
  Value total = owner.total(sequence);
  entryTasks = entry.mul(entry.ceilDiv(total, entry.constant(size)), entry.constant(inner));
  auto [block, part] = split(inner);
  Value begin = ir.mul(block, ir.constant(size));
  return {nullptr, begin, ir.min(ir.constant(size), ir.sub(get(total), begin)), part};
}

Kernel::Block Kernel::sequence(int64_t inner) {
  Ir &entry = owner.entry;
  entryTasks = entry.mul(owner.sequences(), entry.constant(inner));
  auto [s, part] = split(inner);
  return {s, ir.constant(0), ir.constant(1), part};
}

void Kernel::tasks(Value entryCount) {
  entryTasks = entryCount;
}

void Kernel::launch() {
  Ir &entry = owner.entry;
  SmallVector<Value> given;
  for (auto &[entryValue, inside] : passed)
    if (!isConstant(entryValue))
      given.push_back(entryValue);
  func = owner.program.share(func);
  Value block = owner.argumentBlock(given.size());
  for (auto [i, value] : llvm::enumerate(given)) {
    Value at =
        LLVM::GEPOp::create(entry, entry.loc, entry.ptr(), entry.i64(), block, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(entry, entry.loc, value, at);
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(entry.getContext()),
                                          {entry.ptr(), entry.ptr(), entry.ptr(), entry.i64()});
  auto parallel = owner.program.runtime("attn_rt_parallel_for", type);
  Value kernel = LLVM::AddressOfOp::create(entry, entry.loc, func);
  LLVM::CallOp::create(entry, entry.loc, parallel, ValueRange{owner.call, kernel, block, entryTasks});
}

void bindOutsideScalars(Region &region, Emitter &emitter, Kernel &kernel, IRMapping &map) {
  region.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!region.isAncestor(operand.getParentRegion()) && !map.contains(operand))
        map.map(operand, kernel.get(emitter.scalar(operand)));
  });
}

} // namespace attn
