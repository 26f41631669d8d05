// The register-blocked product that all kernels of a module share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/cpu/DotKernels.h"
#include "lowering/cpu/SharedFunction.h"
#include "lowering/cpu/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace attn::cpu {
namespace {

constexpr int64_t numbersOfLine = 16;
/// One row waits for the memory of the wide operand: it asks for it so many of its rows ahead (half a kilobyte of a
/// panel).
constexpr int64_t streamAhead = 8;

/// The function's arguments by name, and the block of sums that is being written.
struct Product {
  Ir &ir;
  Vectors vectors;
  Guard guard;
  bool pairs, few;
  Value each, eachRow, eachK, wide, wideK, out, outRow, rows, lanes, inner, add, ahead, aheadRow, aheadLines;
  Value streamed, streamedRow; // where there is one row

  void beginStream();
  void oneRow(int64_t vectorBlock);
  void columns(int64_t rowBlock, int64_t vectorBlock);
  void prefetch(Value row, Value line, int64_t height);
  void stream(Value k, Value column, int64_t width);
  void rowsOf(Value column, int64_t rowBlock, int64_t width);
  void block(Value row, Value column, int64_t height, int64_t width);
  SmallVector<Value> sums(Value row, Value column, int64_t height, int64_t width, ValueRange start);
  Value term(Value factor, Value spread, Value vector, Value total);
  Value termOfPairs(Value spread, Value vector, Value total);
};

} // namespace

/// A guarded product takes 0 for the other factor, number by number: a product of zeros changes no bit of the sum that
/// is seen in the end.
Value Product::termOfPairs(Value spread, Value vector, Value total) {
  auto numbers = VectorType::get({2 * vectors.lanes}, ir.getBF16Type());
  auto bits = VectorType::get({2 * vectors.lanes}, ir.getI16Type());
  if (guard != Guard::None) {
    Value weight = guard == Guard::Wide ? vector : spread, other = guard == Guard::Wide ? spread : vector;
    auto same = [&](int16_t number) {
      return arith::ConstantOp::create(ir, ir.loc, DenseElementsAttr::get(bits, number)).getResult();
    };
    Value size = arith::AndIOp::create(ir, ir.loc, LLVM::BitcastOp::create(ir, ir.loc, bits, weight), same(0x7fff));
    Value zero = same(0), skip = arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::eq, size, zero);
    other = LLVM::BitcastOp::create(ir, ir.loc, bits, other);
    other = arith::SelectOp::create(ir, ir.loc, skip, zero, other);
    (guard == Guard::Wide ? spread : vector) = other;
  }
  Value a = LLVM::BitcastOp::create(ir, ir.loc, numbers, spread),
        b = LLVM::BitcastOp::create(ir, ir.loc, numbers, vector);
  return LLVM::CallIntrinsicOp::create(ir, ir.loc, total.getType(),
                                       ir.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"), ValueRange{total, a, b})
      .getResult(0);
}

Value Product::term(Value factor, Value spread, Value vector, Value total) {
  if (pairs)
    return termOfPairs(spread, vector, total);
  Value sum = math::FmaOp::create(ir, ir.loc, spread, vector, total);
  if (guard == Guard::None)
    return sum;
  Value tested = guard == Guard::Wide ? vector : factor;
  Value zero = arith::ConstantOp::create(ir, ir.loc, ir.getZeroAttr(tested.getType()));
  Value skip = arith::CmpFOp::create(ir, ir.loc, arith::CmpFPredicate::OEQ, tested, zero);
  return arith::SelectOp::create(ir, ir.loc, skip, total, sum);
}

/// Asks for the block's columns of row k of what lies ahead: into the second cache, which waits for more lines at once.
void Product::stream(Value k, Value column, int64_t width) {
  Value later = ir.address(streamed, ir.f32(), ir.add(ir.mul(k, streamedRow), column));
  for (int64_t line = 0; line < width * vectors.lanes; line += numbersOfLine)
    LLVM::Prefetch::create(ir, ir.loc, ir.address(later, ir.f32(), ir.constant(line)), /*rw=*/0, /*hint=*/2,
                           /*cache=*/1);
}

SmallVector<Value> Product::sums(Value row, Value column, int64_t height, int64_t width, ValueRange start) {
  SmallVector<Value> begins;
  for (int64_t r = 0; r < height; ++r)
    begins.push_back(ir.address(each, ir.f32(), ir.mul(ir.add(row, ir.constant(r)), eachRow)));
  Value from = ir.address(wide, ir.f32(), column);
  return ir.loop(ir.constant(0), inner, ir.constant(1), start, [&](Value k, ValueRange totals) {
    Value at = ir.address(from, ir.f32(), ir.mul(k, wideK));
    if (streamed)
      stream(k, column, width);
    SmallVector<Value> next(totals), wides;
    for (int64_t v = 0; v < width; ++v)
      wides.push_back(vectors.load(ir.f32(), ir.address(at, ir.f32(), ir.constant(v * vectors.lanes))));
    Value place = ir.mul(k, eachK);
    for (int64_t r = 0; r < height; ++r) {
      Value factor = ir.load(ir.f32(), begins[r], place), spread = vectors.widen(factor);
      for (int64_t v = 0; v < width; ++v)
        next[r * width + v] = term(factor, spread, wides[v], totals[r * width + v]);
    }
    return next;
  });
}

void Product::block(Value row, Value column, int64_t height, int64_t width) {
  SmallVector<Value> places;
  for (int64_t r = 0; r < height; ++r) {
    Value line = ir.address(out, ir.f32(), ir.add(ir.mul(ir.add(row, ir.constant(r)), outRow), column));
    for (int64_t v = 0; v < width; ++v)
      places.push_back(ir.address(line, ir.f32(), ir.constant(v * vectors.lanes)));
  }
  SmallVector<Type> types(places.size(), vectors.type(ir.f32()));
  auto begin = scf::IfOp::create(ir, ir.loc, types, add, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inside(ir);
    ir.setInsertionPointToEnd(begin.thenBlock());
    SmallVector<Value> before;
    for (Value place : places)
      before.push_back(vectors.load(ir.f32(), place));
    scf::YieldOp::create(ir, ir.loc, before);
    ir.setInsertionPointToEnd(begin.elseBlock());
    SmallVector<Value> zeros(places.size(), vectors.widen(ir.number(0)));
    scf::YieldOp::create(ir, ir.loc, zeros);
  }
  SmallVector<Value> totals = sums(row, column, height, width, begin.getResults());
  for (auto [place, total] : llvm::zip(places, totals))
    vectors.store(total, place);
}

/// Asks for one line of each of the block's rows in what will be read next.
void Product::prefetch(Value row, Value line, int64_t height) {
  for (int64_t r = 0; r < height; ++r) {
    Value place = ir.add(ir.mul(ir.add(row, ir.constant(r)), aheadRow), ir.mul(line, ir.constant(numbersOfLine)));
    LLVM::Prefetch::create(ir, ir.loc, ir.address(ahead, ir.f32(), place), /*rw=*/0, /*hint=*/2, /*cache=*/1);
  }
}

/// Row blocks of full height, then what is left in blocks of 4, 2, 1. Few rows ask for memory k by k, as one does.
void Product::rowsOf(Value column, int64_t rowBlock, int64_t width) {
  Value step = ir.constant(rowBlock), full = ir.mul(ir.div(rows, step), step);
  Value lines = arith::SelectOp::create(ir, ir.loc, ir.less(ir.constant(0), column), ir.constant(0), aheadLines);
  if (few)
    beginStream();
  ir.loop(ir.constant(0), full, step, [&](Value row) {
    if (!few)
      ir.loop(lines, [&](Value line) { prefetch(row, line, rowBlock); });
    block(row, column, rowBlock, width);
  });
  Value row = full;
  for (int64_t height : {4, 2, 1}) {
    if (height >= rowBlock)
      continue;
    Value fits = ir.less(ir.add(row, ir.constant(height - 1)), rows);
    ir.when(fits, [&] { block(row, column, height, width); });
    row = arith::SelectOp::create(ir, ir.loc, fits, ir.add(row, ir.constant(height)), row);
  }
  streamed = {};
}

/// For each k a row of what lies ahead will be asked for; if nothing else is wanted, of the wide operand: a panel's
/// memory goes on behind its end.
void Product::beginStream() {
  auto choose = [&](Value wanted, Value otherwise) {
    Value some = ir.less(ir.constant(0), aheadLines);
    return arith::SelectOp::create(ir, ir.loc, some, wanted, otherwise).getResult();
  };
  streamed = choose(ahead, ir.address(wide, ir.f32(), ir.mul(ir.constant(streamAhead), wideK)));
  streamedRow = choose(aheadRow, wideK);
}

/// One row: eight vectors side by side, so that their sums don't wait for each other.
void Product::oneRow(int64_t vectorBlock) {
  beginStream();
  Value all = ir.ceilDiv(lanes, ir.constant(vectors.lanes)), from = ir.constant(0);
  SmallVector<int64_t> widths{8, 4, vectorBlock, 2, 1};
  llvm::sort(widths, std::greater<>());
  widths.erase(llvm::unique(widths), widths.end());
  for (int64_t width : widths) {
    Value step = ir.constant(width), until = ir.add(from, ir.mul(ir.div(ir.sub(all, from), step), step));
    ir.loop(from, until, step,
            [&](Value begin) { block(ir.constant(0), ir.mul(begin, ir.constant(vectors.lanes)), 1, width); });
    from = until;
  }
  streamed = {};
}

/// As many vectors side by side as the registers hold; one alone would leave most of them idle, so that four in blocks
/// of three are two and two.
void Product::columns(int64_t rowBlock, int64_t vectorBlock) {
  auto equal = [&](Value a, int64_t b) {
    return arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::eq, a, ir.constant(b)).getResult();
  };
  auto choose = [&](Value which, Value a, Value b) {
    return arith::SelectOp::create(ir, ir.loc, which, a, b).getResult();
  };
  Value most = ir.constant(vectorBlock), all = ir.ceilDiv(lanes, ir.constant(vectors.lanes));
  ir.loop(ir.constant(0), all, most, [&](Value begin) {
    Value left = ir.sub(all, begin), count = ir.min(left, most), first = begin;
    if (vectorBlock > 2) {
      Value last = arith::AndIOp::create(ir, ir.loc, equal(left, 1), ir.less(ir.constant(0), begin));
      count = choose(equal(left, vectorBlock + 1), ir.constant(vectorBlock - 1), choose(last, ir.constant(2), count));
      first = choose(last, ir.sub(begin, ir.constant(1)), begin);
    }
    Value column = ir.mul(first, ir.constant(vectors.lanes));
    for (int64_t width = 1; width <= vectorBlock; ++width)
      ir.when(equal(count, width), [&] { rowsOf(column, rowBlock, width); });
  });
}

LLVM::LLVMFuncOp dotFunction(ModuleOp module, const Target &target, Guard guard, bool pairs, bool few) {
  std::string name = pairs ? "attn_dot_pairs" : "attn_dot";
  few &= guard == Guard::None;
  if (few)
    name += "_few";
  if (guard != Guard::None)
    name += guard == Guard::Wide ? "_guard_wide" : "_guard_each";
  return sharedFunction(module, name, "pnnpnpnnnnbpnn", [&](Ir &ir, ValueRange a) {
    Product product{ir,    Vectors(ir, target.lanes),
                    guard, pairs,
                    few,   a[0],
                    a[1],  a[2],
                    a[3],  a[4],
                    a[5],  a[6],
                    a[7],  a[8],
                    a[9],  a[10],
                    a[11], a[12],
                    a[13]};
    if (few)
      return product.columns(target.panelRows, target.panelVectors);
    if (guard != Guard::None)
      return product.columns(1, 1);
    Value one = arith::CmpIOp::create(ir, ir.loc, arith::CmpIPredicate::eq, product.rows, ir.constant(1));
    auto choose = scf::IfOp::create(ir, ir.loc, one, /*withElseRegion=*/true);
    ir.setInsertionPoint(choose.thenBlock()->getTerminator());
    product.oneRow(target.panelVectors);
    ir.setInsertionPoint(choose.elseBlock()->getTerminator());
    product.columns(target.panelRows, target.panelVectors);
    ir.setInsertionPointAfter(choose);
  });
}

} // namespace attn::cpu
