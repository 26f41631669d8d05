// MaskPlanTest.cpp: plans of masks against every query and key, one by one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mask is written as text, run for every pair in int32 arithmetic, and the tiles that its plan skips or leaves
// without mask are compared with that. A plan may never skip a visible pair or leave out the mask where one is hidden;
// where it is said to be exact, it may not visit an empty tile nor mask a full one either.
#include "passes/masks/MaskPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace attn;
using namespace mlir;

namespace {

/// Captures of every mask here, in this order.
enum Capture { doc, parent, allow, bound, captures };

/// Numbers of a run.
struct Numbers final : masks::Data {
  std::vector<int32_t> tables[captures]; // `bound` holds one number
  bool areKnown = true;

  const std::vector<int32_t> *table(int64_t number) const override { return areKnown ? &tables[number] : nullptr; }
  std::optional<int64_t> scalar(Value) const override {
    return areKnown ? std::optional<int64_t>(tables[bound][0]) : std::nullopt;
  }
};

/// The mask for one query, key and head, in the machine's arithmetic.
class Pairs {
public:
  Pairs(Block &mask, const Numbers &numbers) : data(numbers) {
    auto place = [&](Value value) {
      auto [known, fresh] = places.try_emplace(value, values.size());
      if (fresh)
        values.push_back(0);
      return known->second;
    };
    for (BlockArgument argument : mask.getArguments())
      place(argument);
    for (Operation &op : mask.without_terminator()) {
      Step step{&op, {}, place(op.getResult(0))};
      for (Value operand : op.getOperands())
        step.operands.push_back(place(operand));
      steps.push_back(step);
    }
    result = place(mask.getTerminator()->getOperand(0));
    first = &mask;
  }

  bool visible(int64_t i, int64_t j, int64_t h) {
    values[0] = int32_t(i), values[1] = int32_t(j), values[2] = int32_t(h);
    for (const Step &step : steps)
      values[step.to] = compute(step);
    return values[result] & 1;
  }

private:
  struct Step {
    Operation *op;
    SmallVector<size_t, 3> operands;
    size_t to;
  };

  int32_t compute(const Step &step) {
    Operation *op = step.op;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return int32_t(cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue());
    auto at = [&](unsigned n) { return values[step.operands[n]]; };
    uint32_t a = uint32_t(at(0)), b = step.operands.size() > 1 ? uint32_t(at(1)) : 0;
    if (isa<AtOp>(op)) {
      const std::vector<int32_t> &table = data.tables[step.operands[0] - 3];
      if (step.operands.size() == 1)
        return table[0];
      return table[size_t(std::clamp<int64_t>(int32_t(b), 0, int64_t(table.size()) - 1))];
    }
    if (isa<arith::AddIOp>(op))
      return int32_t(a + b);
    if (isa<arith::SubIOp>(op))
      return int32_t(a - b);
    if (isa<arith::MulIOp>(op))
      return int32_t(a * b);
    if (isa<arith::FloorDivSIOp>(op))
      return int32_t(llvm::divideFloorSigned(int32_t(a), int32_t(b)));
    if (isa<arith::MinSIOp>(op))
      return std::min(int32_t(a), int32_t(b));
    if (isa<arith::MaxSIOp>(op))
      return std::max(int32_t(a), int32_t(b));
    if (isa<arith::AndIOp>(op))
      return int32_t(a & b);
    if (isa<arith::OrIOp>(op))
      return int32_t(a | b);
    if (isa<arith::XOrIOp>(op))
      return int32_t(a ^ b);
    if (isa<math::AbsIOp>(op))
      return int32_t(int32_t(a) < 0 ? 0 - a : a);
    if (isa<arith::SelectOp>(op))
      return a & 1 ? at(1) : at(2);
    auto compare = cast<arith::CmpIOp>(op);
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(32, a), APInt(32, b));
  }

  const Numbers &data;
  DenseMap<Value, size_t> places;
  std::vector<int32_t> values;
  std::vector<Step> steps;
  size_t result;
  Block *first;
};

struct Counts {
  int64_t empty = 0, emptySkipped = 0, full = 0, fullFound = 0, visited = 0, needed = 0;
};

/// How a grid of pairs is cut.
struct Grid {
  int64_t queries, keys, queryTile, keyTile, past = 0, head = 0;
};

class MaskPlanTest : public ::testing::Test {
protected:
  MaskPlanTest() {
    context.loadDialect<AttnDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
    std::mt19937 random(7);
    for (int n = 0; n < 220; ++n) {
      data.tables[doc].push_back(n == 0 ? 3 : data.tables[doc].back() + (random() % 23 == 0));
      data.tables[parent].push_back(int32_t(random() % 200));
    }
    data.tables[allow] = {1, 0, 1, 2};
    data.tables[bound] = {37};
  }

  AttendOp attend(StringRef body) {
    std::string text = R"(
      func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x4x8xf32>, %doc: tensor<?xi32>, %parent: tensor<?xi32>,
                   %allow: tensor<4xi32>, %bound: tensor<i32>) -> tensor<?x4x8xf32> {
        %0 = attn.attend softmax scale 1.0 (%q : tensor<?x4x8xf32> [T, H, D], %k : tensor<?x4x8xf32> [S:T, H, D],
          %k : tensor<?x4x8xf32> [S:T, H, N], %doc : tensor<?xi32> [A:T], %parent : tensor<?xi32> [B:T],
          %allow : tensor<4xi32> [C], %bound : tensor<i32> []) -> tensor<?x4x8xf32> [T, H, N] mask {
        ^bb0(%i: i32, %j: i32, %h: i32, %docs: tensor<?xi32>, %parents: tensor<?xi32>, %allowed: tensor<4xi32>, %bounds: tensor<i32>):
    )" + body.str() + R"(
          attn.yield %c : i1
        }
        return %0 : tensor<?x4x8xf32>
      })";
    module = parseSourceString<ModuleOp>(text, &context);
    AttendOp found;
    if (module)
      module->walk([&](AttendOp op) { found = op; });
    return found;
  }

  /// The plan's tiles of the grid against its pairs.
  Counts check(AttendOp op, const MaskPlan &plan, const Grid &grid) {
    Pairs pairs(op.getMask().front(), data);
    Counts counts;
    for (int64_t first = 0; first < grid.queries; first += grid.queryTile) {
      int64_t last = std::min(first + grid.queryTile, grid.queries) - 1, from = 0;
      masks::Tile tile{first + grid.past, last + grid.past, 0, 0, grid.keys, grid.head, grid.head};
      auto next = [&](int64_t key) {
        tile.firstKey = key, tile.lastKey = grid.keys - 1;
        if (key >= grid.keys)
          return grid.keys;
        int64_t found = plan.nextKey(tile, data);
        EXPECT_GE(found, key);
        return found < grid.keys ? found / grid.keyTile * grid.keyTile : grid.keys;
      };
      int64_t visit = next(0);
      for (int64_t key = 0; key < grid.keys; key += grid.keyTile) {
        from = key;
        int64_t end = std::min(key + grid.keyTile, grid.keys) - 1;
        bool any = false, all = true;
        for (int64_t i = first; i <= last; ++i)
          for (int64_t j = from; j <= end; ++j) {
            bool sees = pairs.visible(i + grid.past, j, grid.head);
            any |= sees, all &= sees;
          }
        TileClass found = TileClass::Empty;
        if (visit == key) {
          tile.firstKey = from, tile.lastKey = end;
          found = plan.classify(tile, data);
          visit = next(key + grid.keyTile);
        }
        EXPECT_TRUE(found != TileClass::Empty || !any) << "queries " << first << " keys " << key;
        EXPECT_TRUE(found != TileClass::Full || all) << "queries " << first << " keys " << key;
        counts.empty += !any, counts.emptySkipped += !any && found == TileClass::Empty;
        counts.full += all, counts.fullFound += all && found == TileClass::Full;
        counts.visited += found != TileClass::Empty, counts.needed += any;
      }
    }
    return counts;
  }

  static std::vector<Grid> grids() {
    std::vector<Grid> all;
    for (int64_t tile : {1, 3, 16, 48, 64})
      for (int64_t keyTile : {1, 16, 64})
        for (int64_t past : {0, 5, 50})
          all.push_back({100, past == 5 ? 30 : 150, tile, keyTile, past});
    return all;
  }

  void exact(StringRef body) {
    AttendOp op = attend(body);
    ASSERT_TRUE(op) << body.str();
    MaskPlan plan(op);
    EXPECT_TRUE(plan.undecided.empty());
    for (const Grid &grid : grids()) {
      Counts counts = check(op, plan, grid);
      EXPECT_EQ(counts.empty, counts.emptySkipped) << grid.queryTile << " x " << grid.keyTile << " past " << grid.past;
      EXPECT_EQ(counts.full, counts.fullFound) << grid.queryTile << " x " << grid.keyTile << " past " << grid.past;
      if (HasFailure())
        FAIL() << body.str();
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Numbers data;
};

// ------------------------------------------------------------------------------------------------ masks as people
// write

constexpr const char *causal = "%causal = arith.cmpi sle, %j, %i : i32\n";

TEST_F(MaskPlanTest, Causal) {
  exact("%c = arith.cmpi sle, %j, %i : i32");
  exact("%n = arith.cmpi sgt, %j, %i : i32\n%one = arith.constant true\n%c = arith.xori %n, %one : i1");
}

TEST_F(MaskPlanTest, Window) {
  exact(causal + std::string(R"(
    %w = arith.constant 20 : i32
    %d = arith.subi %i, %j : i32
    %near = arith.cmpi slt, %d, %w : i32
    %c = arith.andi %causal, %near : i1)"));
}

TEST_F(MaskPlanTest, SinkAndWindow) {
  exact(causal + std::string(R"(
    %w = arith.constant 20 : i32
    %four = arith.constant 4 : i32
    %d = arith.subi %i, %j : i32
    %near = arith.cmpi slt, %d, %w : i32
    %sink = arith.cmpi slt, %j, %four : i32
    %kept = arith.ori %near, %sink : i1
    %c = arith.andi %causal, %kept : i1)"));
}

TEST_F(MaskPlanTest, Prefix) {
  exact(causal + std::string(R"(
    %n = arith.constant 33 : i32
    %first = arith.cmpi slt, %j, %n : i32
    %c = arith.ori %causal, %first : i1)"));
}

TEST_F(MaskPlanTest, PrefixOfRunTimeLength) {
  exact(causal + std::string(R"(
    %n = attn.at %bounds[] : tensor<i32> -> i32
    %first = arith.cmpi slt, %j, %n : i32
    %c = arith.ori %causal, %first : i1)"));
}

TEST_F(MaskPlanTest, Nearby) {
  exact(R"(
    %w = arith.constant 9 : i32
    %d = arith.subi %i, %j : i32
    %s = math.absi %d : i32
    %c = arith.cmpi sle, %s, %w : i32)");
}

constexpr const char *chunks = R"(
    %size = arith.constant 24 : i32
    %a = arith.floordivsi %i, %size : i32
    %b = arith.floordivsi %j, %size : i32
)";

TEST_F(MaskPlanTest, Chunks) {
  exact(chunks + std::string("%c = arith.cmpi eq, %a, %b : i32"));
  exact(causal + std::string(chunks) + "%same = arith.cmpi eq, %a, %b : i32\n%c = arith.andi %same, %causal : i1");
}

TEST_F(MaskPlanTest, BlockCausal) {
  exact(chunks + std::string("%c = arith.cmpi sle, %b, %a : i32"));
  exact(chunks + std::string(R"(
    %d = arith.subi %a, %b : i32
    %one = arith.constant 1 : i32
    %c = arith.cmpi eq, %d, %one : i32)"));
  exact(causal + std::string(chunks) + R"(
    %d = arith.subi %a, %b : i32
    %one = arith.constant 1 : i32
    %near = arith.cmpi sle, %d, %one : i32
    %c = arith.andi %near, %causal : i1)");
}

/// Every pair of bounds on the difference of the chunks' numbers, alone and with causal.
TEST_F(MaskPlanTest, RangesOfChunks) {
  for (int least = -2; least <= 2; ++least)
    for (int most = least; most <= 2; ++most) {
      std::string text = causal + std::string(chunks) + "%d = arith.subi %a, %b : i32\n%least = arith.constant " +
                         std::to_string(least) + " : i32\n%most = arith.constant " + std::to_string(most) + R"( : i32
        %above = arith.cmpi sge, %d, %least : i32
        %below = arith.cmpi sle, %d, %most : i32
        %within = arith.andi %above, %below : i1
      )";
      exact(text + "%c = arith.andi %within, %causal : i1");
      exact(text + "%yes = arith.constant true\n%c = arith.andi %within, %yes : i1");
    }
}

constexpr const char *documents = R"(
    %a = attn.at %docs[%i] : tensor<?xi32> -> i32
    %b = attn.at %docs[%j] : tensor<?xi32> -> i32
    %same = arith.cmpi eq, %a, %b : i32
)";

TEST_F(MaskPlanTest, SortedDocuments) {
  exact(documents + std::string("%yes = arith.constant true\n%c = arith.andi %same, %yes : i1"));
  exact(causal + std::string(documents) + "%c = arith.andi %same, %causal : i1");
}

/// Tiles of keys of one document are told from others by the least and the largest number in them.
TEST_F(MaskPlanTest, UnsortedDocumentsAreTestedTileByTile) {
  std::vector<int32_t> &documentOf = data.tables[doc];
  for (size_t n = 0; n < documentOf.size(); ++n)
    documentOf[n] = int32_t((n / 32) % 3);
  AttendOp op = attend(documents + std::string("%yes = arith.constant true\n%c = arith.andi %same, %yes : i1"));
  ASSERT_TRUE(op);
  MaskPlan plan(op);
  for (const Grid &grid : grids()) {
    Counts counts = check(op, plan, grid);
    if (grid.queryTile == 16 && grid.keyTile == 16 && grid.past == 0) {
      EXPECT_EQ(counts.empty, counts.emptySkipped);
      EXPECT_EQ(counts.full, counts.fullFound);
    }
  }
}

/// Only a tile that spans a period sees a key in every tile.
TEST_F(MaskPlanTest, Dilated) {
  exact(causal + std::string(R"(
    %four = arith.constant 4 : i32
    %zero = arith.constant 0 : i32
    %d = arith.subi %i, %j : i32
    %e = arith.floordivsi %d, %four : i32
    %f = arith.muli %e, %four : i32
    %r = arith.subi %d, %f : i32
    %on = arith.cmpi eq, %r, %zero : i32
    %c = arith.andi %on, %causal : i1)"));
}

TEST_F(MaskPlanTest, HeadsByTable) {
  AttendOp op = attend(causal + std::string(R"(
    %one = arith.constant 1 : i32
    %a = attn.at %allowed[%h] : tensor<4xi32> -> i32
    %on = arith.cmpi eq, %a, %one : i32
    %c = arith.andi %on, %causal : i1)"));
  ASSERT_TRUE(op);
  MaskPlan plan(op);
  for (int64_t head = 0; head < 4; ++head) {
    Counts counts = check(op, plan, {100, 100, 16, 16, 0, head});
    EXPECT_EQ(counts.empty, counts.emptySkipped);
    EXPECT_EQ(counts.full, counts.fullFound);
  }
}

/// Quotients and remainders by numbers that no row reaches.
TEST_F(MaskPlanTest, LargeDivisors) {
  for (int64_t divisor : {1 << 17, 1 << 19, 1000000, 1 << 21, 1 << 30, 2147483647}) {
    std::string c = "%size = arith.constant " + std::to_string(divisor) + " : i32\n";
    exact(c + R"(
      %a = arith.floordivsi %j, %size : i32
      %c = arith.cmpi sge, %a, %j : i32)");
    exact(c + R"(
      %shift = arith.constant 127 : i32
      %less = arith.constant -1 : i32
      %d = arith.subi %i, %shift : i32
      %a = arith.floordivsi %d, %size : i32
      %c = arith.cmpi eq, %a, %less : i32)");
  }
}

/// Pixels of a picture that see those around: at most a quarter more tiles than there must be.
TEST_F(MaskPlanTest, Neighbourhood) {
  for (int64_t width : {14, 50, 64, 200})
    for (int64_t reach : {1, 3}) {
      std::string number = "%w = arith.constant " + std::to_string(width) + " : i32\n%reach = arith.constant " +
                           std::to_string(reach) + " : i32\n";
      AttendOp op = attend(number + R"(
        %iy = arith.floordivsi %i, %w : i32
        %jy = arith.floordivsi %j, %w : i32
        %iyw = arith.muli %iy, %w : i32
        %jyw = arith.muli %jy, %w : i32
        %ix = arith.subi %i, %iyw : i32
        %jx = arith.subi %j, %jyw : i32
        %dy = arith.subi %iy, %jy : i32
        %dx = arith.subi %ix, %jx : i32
        %ay = math.absi %dy : i32
        %ax = math.absi %dx : i32
        %cy = arith.cmpi sle, %ay, %reach : i32
        %cx = arith.cmpi sle, %ax, %reach : i32
        %c = arith.andi %cy, %cx : i1)");
      ASSERT_TRUE(op);
      MaskPlan plan(op);
      for (auto [tile, keyTile] : {std::pair(1, 16), {16, 16}, {48, 64}, {64, 64}}) {
        int64_t pixels = std::min<int64_t>(width * width, 900);
        Counts counts = check(op, plan, {pixels, pixels, tile, keyTile});
        EXPECT_LE(double(counts.visited), 1.25 * double(counts.needed))
            << width << " reach " << reach << " tile " << tile << " x " << keyTile;
      }
    }
}

TEST_F(MaskPlanTest, WhatIsUndecidedIsNamed) {
  AttendOp op = attend(causal + std::string(R"(
    %p = arith.muli %i, %j : i32
    %n = attn.at %bounds[] : tensor<i32> -> i32
    %odd = arith.cmpi sle, %p, %n : i32
    %c = arith.andi %odd, %causal : i1)"));
  ASSERT_TRUE(op);
  MaskPlan plan(op);
  ASSERT_EQ(plan.undecided.size(), 1u);
  EXPECT_TRUE(isa<arith::CmpIOp>(plan.undecided[0].op));
  Counts counts = check(op, plan, {100, 100, 16, 16});
  EXPECT_GT(counts.emptySkipped, 0); // what the causal part hides
}

/// Where the numbers of a run are unknown, what is said holds for all of them.
TEST_F(MaskPlanTest, UnknownNumbers) {
  AttendOp op = attend(causal + std::string(documents) + "%c = arith.andi %same, %causal : i1");
  ASSERT_TRUE(op);
  MaskPlan plan(op);
  data.areKnown = false;
  check(op, plan, {100, 100, 16, 16});
}

// ------------------------------------------------------------------------------------------------------ random masks

/// Masks of all the forms there are, as text.
class RandomMask {
public:
  explicit RandomMask(unsigned seed) : random(seed) {}

  std::string text() {
    std::string last = truth(int(pick(4)));
    return body + "%yes = arith.constant true\n%c = arith.andi " + last + ", %yes : i1\n";
  }

private:
  uint32_t pick(uint32_t count) { return uint32_t(random() % count); }
  std::string emit(const std::string &op) {
    std::string name = "%v" + std::to_string(next++);
    body += name + " = " + op + "\n";
    return name;
  }
  std::string constant(int64_t number) { return emit("arith.constant " + std::to_string(number) + " : i32"); }
  std::string binary(const char *op, const std::string &a, const std::string &b) {
    return emit("arith." + std::string(op) + " " + a + ", " + b + " : i32");
  }
  std::string at(const char *table, const std::string &index) {
    bool heads = table == std::string("%allowed");
    return emit("attn.at " + std::string(table) + "[" + index + "] : tensor<" + (heads ? "4" : "?") + "xi32> -> i32");
  }
  /// Mostly small ones.
  int64_t divisor() {
    constexpr int64_t large[] = {1 << 17, 1 << 19, 1000000, 1 << 25, 2147483647};
    return pick(6) ? 1 + pick(40) : large[pick(5)];
  }
  std::string remainder(const std::string &x, int64_t divisor) {
    std::string c = constant(divisor);
    return binary("subi", x, binary("muli", binary("floordivsi", x, c), c));
  }
  std::string size(const std::string &x) { return emit("math.absi " + x + " : i32"); }
  std::string scalar() { return emit("attn.at %bounds[] : tensor<i32> -> i32"); }
  std::string compare(const std::string &a, const std::string &b) {
    constexpr const char *predicates[] = {"sle", "slt", "sge", "sgt", "eq", "ne"};
    return emit("arith.cmpi " + std::string(predicates[pick(6)]) + ", " + a + ", " + b + " : i32");
  }
  std::string difference() {
    switch (pick(4)) {
    case 0:
      return "%i";
    case 1:
      return "%j";
    default:
      return pick(2) ? binary("subi", "%i", "%j") : binary("subi", "%j", "%i");
    }
  }
  /// Any whole number.
  std::string number(int depth) {
    if (depth == 0)
      switch (pick(9)) {
      case 0:
      case 1:
        return "%i";
      case 2:
      case 3:
        return "%j";
      case 4:
        return at("%docs", pick(2) ? "%i" : "%j");
      case 5:
        return at("%parents", pick(2) ? "%i" : "%j");
      case 6:
        return scalar();
      case 7:
        return "%h";
      default:
        return constant(int64_t(pick(120)) - 20);
      }
    std::string a = number(depth - 1);
    switch (pick(9)) {
    case 0:
    case 1:
      return binary("addi", a, number(depth - 1));
    case 2:
    case 3:
      return binary("subi", a, number(depth - 1));
    case 4:
      return binary("muli", a, constant(int64_t(pick(6)) - 2));
    case 5:
      return binary("floordivsi", a, constant(divisor()));
    case 6:
      return remainder(a, divisor());
    case 7:
      return pick(2) ? size(a) : binary(pick(2) ? "minsi" : "maxsi", a, number(depth - 1));
    default: {
      std::string which = compare(difference(), constant(int64_t(pick(160)) - 60)), b = number(depth - 1);
      return emit("arith.select " + which + ", " + a + ", " + b + " : i32");
    }
    }
  }
  std::string comparison() {
    switch (pick(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return compare(difference(), constant(int64_t(pick(160)) - 60));
    case 4: {
      std::string c = constant(1 + pick(70));
      return compare(binary("floordivsi", "%i", c), binary("floordivsi", "%j", c));
    }
    case 5:
      return compare(remainder(pick(2) ? "%j" : difference(), 2 + pick(30)), constant(pick(8)));
    case 6: {
      std::string c = constant(4 + pick(40));
      return compare(size(binary("subi", binary("floordivsi", "%i", c), binary("floordivsi", "%j", c))),
                     constant(pick(3)));
    }
    case 7:
      return emit("arith.cmpi eq, " + at("%docs", "%i") + ", " + at("%docs", "%j") + " : i32");
    case 8:
      return compare(at("%allowed", "%h"), constant(pick(3)));
    case 9:
      return compare(at("%parents", "%j"), pick(2) ? "%i" : scalar());
    case 10:
      return compare(difference(), scalar());
    default:
      return compare(number(int(pick(3))), number(int(pick(2))));
    }
  }
  std::string truth(int depth) {
    if (depth == 0)
      return comparison();
    std::string a = truth(depth - 1);
    switch (pick(8)) {
    case 0: {
      std::string one = emit("arith.constant true");
      return emit("arith.xori " + a + ", " + one + " : i1");
    }
    case 1:
    case 2:
    case 3:
      return emit("arith.ori " + a + ", " + truth(int(pick(uint32_t(depth)))) + " : i1");
    default:
      return emit("arith.andi " + a + ", " + truth(int(pick(uint32_t(depth)))) + " : i1");
    }
  }

  std::mt19937 random;
  std::string body;
  int next = 0;
};

TEST_F(MaskPlanTest, TwoThousandRandomMasks) {
  Counts all;
  std::mt19937 random(2026);
  auto pick = [&](int64_t least, int64_t most) { return least + int64_t(random() % uint64_t(most - least + 1)); };
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::string body = RandomMask(seed).text();
    AttendOp op = attend(body);
    ASSERT_TRUE(op) << body;
    // Documents in order and not; a number small, far off, and where sums leave int32.
    for (size_t n = 0; n < 220; ++n)
      data.tables[doc][n] = seed % 2 ? int32_t(random() % 4)
                            : n == 0 ? 0
                                     : data.tables[doc][n - 1] + (random() % 29 == 0);
    int32_t numbers[] = {37, -5, 100, 2147483647, -2147483647 - 1};
    data.tables[bound] = {numbers[random() % 5]};
    MaskPlan plan(op);
    bool large = seed % 20 == 0;
    Grid grid{pick(1, large ? 200 : 90),
              pick(1, large ? 200 : 90),
              pick(1, 64),
              pick(1, 64),
              pick(0, 1) * pick(0, 60),
              pick(0, 3)};
    if (seed % 7 == 0)
      grid.queryTile = 1;
    Counts counts = check(op, plan, grid);
    all.empty += counts.empty, all.emptySkipped += counts.emptySkipped;
    all.full += counts.full, all.fullFound += counts.fullFound;
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ", " << grid.queries << " x " << grid.keys << " in tiles of "
                               << grid.queryTile << " x " << grid.keyTile << "\n"
                               << body;
  }
  double empty = double(all.emptySkipped) / double(all.empty), full = double(all.fullFound) / double(all.full);
  RecordProperty("empty", std::to_string(empty));
  RecordProperty("full", std::to_string(full));
  EXPECT_GE(empty, 0.8);
  EXPECT_GE(full, 0.8);
}

/// and, or, not of comparisons of i, j and i - j with constants: decided exactly.
TEST_F(MaskPlanTest, RandomDifferencesAreExact) {
  std::mt19937 random(99);
  auto pick = [&](uint32_t count) { return uint32_t(random() % count); };
  for (int round = 0; round < 500; ++round) {
    std::string body;
    int next = 0;
    auto emit = [&](const std::string &op) {
      std::string name = "%v" + std::to_string(next++);
      body += name + " = " + op + "\n";
      return name;
    };
    std::function<std::string(uint32_t)> truth = [&](uint32_t depth) -> std::string {
      if (depth == 0) {
        std::string d = pick(3)   ? emit(pick(2) ? "arith.subi %i, %j : i32" : "arith.subi %j, %i : i32")
                        : pick(2) ? "%i"
                                  : "%j";
        std::string c = emit("arith.constant " + std::to_string(int(pick(180)) - 70) + " : i32");
        constexpr const char *predicates[] = {"sle", "slt", "sge", "sgt", "eq", "ne"};
        return emit("arith.cmpi " + std::string(predicates[pick(6)]) + ", " + d + ", " + c + " : i32");
      }
      std::string a = truth(depth - 1), b = truth(pick(depth));
      if (pick(4) == 0)
        a = emit("arith.xori " + a + ", " + emit("arith.constant true") + " : i1");
      return emit((pick(2) ? "arith.andi " : "arith.ori ") + a + ", " + b + " : i1");
    };
    std::string last = truth(pick(4));
    AttendOp op = attend(body + "%yes = arith.constant true\n%c = arith.andi " + last + ", %yes : i1\n");
    ASSERT_TRUE(op) << body;
    MaskPlan plan(op);
    Counts counts = check(op, plan, {1 + pick(120), 1 + pick(120), 1 + pick(64), 1 + pick(64), pick(2) * pick(40)});
    EXPECT_EQ(counts.empty, counts.emptySkipped);
    EXPECT_EQ(counts.full, counts.fullFound);
    ASSERT_FALSE(HasFailure()) << body;
  }
}

} // namespace
