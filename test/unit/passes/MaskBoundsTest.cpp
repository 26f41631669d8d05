// MaskBoundsTest.cpp: bounds of masks against every query and key, one by one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/MaskBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "gtest/gtest.h"
#include <random>

using namespace attn;
using namespace mlir;

namespace {

/// The mask for one query and one key, in the machine's int32 arithmetic. `unknown` is true where the number is even.
class Evaluator {
public:
  explicit Evaluator(Block &mask) : block(mask) {}

  bool visible(int32_t i, int32_t j) {
    values.clear();
    values[block.getArgument(0)] = uint32_t(i);
    values[block.getArgument(1)] = uint32_t(j);
    for (Operation &op : block.without_terminator())
      values[op.getResult(0)] = result(op);
    return values[block.getTerminator()->getOperand(0)] & 1;
  }

private:
  uint32_t result(Operation &op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return uint32_t(cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue());
    auto operand = [&](unsigned n) { return values[op.getOperand(n)]; };
    if (isa<arith::AddIOp>(op))
      return operand(0) + operand(1);
    if (isa<arith::SubIOp>(op))
      return operand(0) - operand(1);
    if (isa<arith::AndIOp>(op))
      return operand(0) & operand(1);
    if (isa<arith::OrIOp>(op))
      return operand(0) | operand(1);
    if (isa<arith::XOrIOp>(op))
      return operand(0) ^ operand(1);
    if (isa<math::AbsIOp>(op))
      return int32_t(operand(0)) < 0 ? -operand(0) : operand(0);
    if (isa<arith::SelectOp>(op))
      return operand(0) & 1 ? operand(1) : operand(2);
    if (isa<arith::TruncIOp>(op))
      return operand(0) & 1;
    auto compare = cast<arith::CmpIOp>(op);
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(32, operand(0)), APInt(32, operand(1)));
  }

  Block &block;
  DenseMap<Value, uint32_t> values;
};

class MaskBoundsTest : public ::testing::Test {
protected:
  MaskBoundsTest() { context.loadDialect<func::FuncDialect, arith::ArithDialect, math::MathDialect>(); }

  Block &mask(StringRef body) {
    std::string text = "func.func @mask(%i: i32, %j: i32) -> i1 {\n" + body.str() + "}";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module)) << text;
    return cast<func::FuncOp>(*module->getBody()->begin()).getBody().front();
  }

  /// The smallest and the largest part of the keys 0 … keys-1 that an interval may have.
  static std::pair<int64_t, int64_t> range(const KeyInterval &interval, int64_t first, int64_t last, int64_t keys) {
    bool begins = interval.lower.kind != KeyEnd::None, ends = interval.upper.kind != KeyEnd::None;
    int64_t from = begins ? std::max<int64_t>(0, interval.lower.at(first, last)) : 0;
    return {from, ends ? std::min(keys, interval.upper.at(first, last)) : keys};
  }

  /// No key outside `visited` is seen, none inside `full` is not; with `exact` the one can't be smaller, the other
  /// larger.
  static void check(Block &block, int64_t base, int64_t queries, int64_t keys, int64_t tile, bool exact) {
    MaskBounds bounds = findMaskBounds(block);
    Evaluator mask(block);
    for (int64_t first = base; first < base + queries; first += tile) {
      int64_t last = std::min(first + tile, base + queries) - 1;
      SmallVector<bool> any(keys, false), all(keys, true);
      for (int64_t i = first; i <= last; ++i)
        for (int64_t j = 0; j < keys; ++j) {
          bool seen = mask.visible(int32_t(i), int32_t(j));
          any[j] |= seen;
          all[j] &= seen;
        }
      auto [from, to] = range(bounds.visited, first, last, keys);
      auto [fullFrom, fullTo] = range(bounds.full, first, last, keys);
      for (int64_t j = 0; j < keys; ++j) {
        bool visited = from <= j && j < to, full = fullFrom <= j && j < fullTo;
        ASSERT_TRUE(visited || !any[j]) << "key " << j << " of queries " << first << " to " << last;
        ASSERT_TRUE(!full || all[j]) << "key " << j << " of queries " << first << " to " << last;
        if (exact) {
          ASSERT_EQ(visited, any[j]) << "key " << j << " of queries " << first << " to " << last;
          ASSERT_EQ(full, all[j]) << "key " << j << " of queries " << first << " to " << last;
        }
      }
    }
  }

  void exact(StringRef body) {
    Block &block = mask(body);
    for (int64_t tile : {1, 7, 16, 64})
      for (int64_t base : {0, 3, 50})
        check(block, base, 100, 120, tile, true);
  }

  void sound(StringRef body) {
    Block &block = mask(body);
    for (int64_t tile : {1, 7, 16, 64})
      check(block, 5, 100, 120, tile, false);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(MaskBoundsTest, Causal) {
  exact(R"(%c = arith.cmpi sle, %j, %i : i32
           return %c : i1)");
  exact(R"(%n = arith.cmpi sgt, %j, %i : i32
           %one = arith.constant true
           %c = arith.xori %n, %one : i1
           return %c : i1)");
}

TEST_F(MaskBoundsTest, CausalWindow) {
  exact(R"(%w = arith.constant 20 : i32
           %d = arith.subi %i, %j : i32
           %a = arith.cmpi slt, %d, %w : i32
           %b = arith.cmpi sle, %j, %i : i32
           %c = arith.andi %a, %b : i1
           return %c : i1)");
}

TEST_F(MaskBoundsTest, Nearby) {
  exact(R"(%w = arith.constant 9 : i32
           %d = arith.subi %i, %j : i32
           %s = math.absi %d : i32
           %c = arith.cmpi sle, %s, %w : i32
           return %c : i1)");
}

TEST_F(MaskBoundsTest, OneDiagonal) {
  exact(R"(%w = arith.constant 9 : i32
           %p = arith.addi %j, %w : i32
           %c = arith.cmpi eq, %i, %p : i32
           return %c : i1)");
}

TEST_F(MaskBoundsTest, PrefixOrCausal) {
  exact(R"(%n = arith.constant 40 : i32
           %a = arith.cmpi slt, %j, %n : i32
           %b = arith.cmpi sle, %j, %i : i32
           %c = arith.ori %a, %b : i1
           return %c : i1)");
}

TEST_F(MaskBoundsTest, ChoiceOfBounds) {
  sound(R"(%n = arith.constant 40 : i32
           %a = arith.cmpi slt, %j, %n : i32
           %b = arith.cmpi sle, %j, %i : i32
           %e = arith.cmpi sge, %j, %i : i32
           %c = arith.select %a, %b, %e : i1
           return %c : i1)");
}

TEST_F(MaskBoundsTest, ConstantMasks) {
  exact(R"(%c = arith.constant true
           return %c : i1)");
  exact(R"(%c = arith.constant false
           return %c : i1)");
}

TEST_F(MaskBoundsTest, AnalysesWhatItCanOfAConjunction) {
  Block &block = mask(R"(%u = arith.trunci %j : i32 to i1
                         %b = arith.cmpi sle, %j, %i : i32
                         %c = arith.andi %u, %b : i1
                         return %c : i1)");
  MaskBounds bounds = findMaskBounds(block);
  EXPECT_EQ(bounds.visited.upper.at(16, 31), 32);
  EXPECT_EQ(bounds.visited.lower.kind, KeyEnd::None);
  EXPECT_TRUE(bounds.nothingFull());
  check(block, 0, 100, 120, 16, false);
}

TEST_F(MaskBoundsTest, NothingWhereSumsCouldWrap) {
  for (StringRef body : {R"(%n = arith.constant 2147483647 : i32
                            %p = arith.addi %j, %n : i32
                            %c = arith.cmpi sle, %p, %i : i32
                            return %c : i1)",
                         R"(%p = arith.addi %j, %i : i32
                            %c = arith.cmpi sle, %p, %i : i32
                            return %c : i1)"}) {
    MaskBounds bounds = findMaskBounds(mask(body));
    EXPECT_EQ(bounds.visited.lower.kind, KeyEnd::None);
    EXPECT_EQ(bounds.visited.upper.kind, KeyEnd::None);
    EXPECT_TRUE(bounds.nothingFull());
  }
}

/// Random expressions of everything that is analysed and something that isn't.
class Random {
public:
  explicit Random(unsigned seed) : draw(seed) {}

  std::string body() {
    std::string result = condition(3);
    return text + "return " + result + " : i1\n";
  }

private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(draw); }

  std::string put(const std::string &operation) {
    std::string name = "%v" + std::to_string(count++);
    text += name + " = " + operation + "\n";
    return name;
  }

  std::string number(int depth) {
    int kind = below(depth > 0 ? 6 : 3);
    if (kind == 0)
      return "%i";
    if (kind == 1)
      return "%j";
    if (kind == 2)
      return put("arith.constant " + std::to_string(below(160) - 80) + " : i32");
    std::string a = number(depth - 1);
    if (kind == 3)
      return put("math.absi " + a + " : i32");
    return put((kind == 4 ? "arith.addi " : "arith.subi ") + a + ", " + number(depth - 1) + " : i32");
  }

  std::string condition(int depth) {
    static const char *const predicates[] = {"sle", "slt", "sge", "sgt", "eq", "ne"};
    int kind = below(depth > 0 ? 10 : 5);
    if (kind < 5) {
      std::string a = number(2);
      return put("arith.cmpi " + std::string(predicates[below(6)]) + ", " + a + ", " + number(2) + " : i32");
    }
    if (kind == 5)
      return put("arith.trunci " + number(1) + " : i32 to i1");
    std::string a = condition(depth - 1), b = condition(depth - 1);
    if (kind == 6)
      return put("arith.select " + condition(depth - 1) + ", " + a + ", " + b + " : i1");
    if (kind == 7)
      return put("arith.xori " + a + ", " + put("arith.constant true") + " : i1");
    return put((kind == 8 ? "arith.andi " : "arith.ori ") + a + ", " + b + " : i1");
  }

  std::mt19937 draw;
  std::string text;
  int count = 0;
};

TEST_F(MaskBoundsTest, RandomMasksAreSound) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::string body = Random(seed).body();
    SCOPED_TRACE(body);
    Block &block = mask(body);
    int64_t tile = 1 + seed * 7 % 40;
    check(block, seed % 3 ? seed % 50 : 0, 60, 90, tile, false);
    if (HasFatalFailure())
      return;
  }
}

} // namespace
