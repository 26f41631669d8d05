// What each scalar operation computes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// int32 wraps; a quotient by zero is 0; a number outside int32 becomes the nearest one inside, NaN 0. (Compiled code
// may do otherwise in the last two cases, whose value is unspecified.)
#include "dialect/interpreter/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;

namespace attn::interpreter {

static int64_t whole(double number) {
  return static_cast<int64_t>(number);
}

static double wrap(int64_t number) {
  return static_cast<int32_t>(static_cast<uint32_t>(number));
}

static double nearestInt(double number) {
  if (std::isnan(number))
    return 0;
  return std::trunc(std::fmin(std::fmax(number, INT32_MIN), INT32_MAX));
}

/// By 0 the quotient is 0; by -1 no division is made, so that no width can overflow.
static int64_t divide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? -a : a / b;
}

static int64_t remainder(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return divide(a, b);
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t ceilDivide(int64_t a, int64_t b) {
  if (b == 0 || b == -1)
    return divide(a, b);
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}

static double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
}

static double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
}

using Plain = double (*)(const double *);

static const llvm::StringMap<Plain> &plainFunctions() {
  static const llvm::StringMap<Plain> table = {
      {"arith.addf", [](const double *x) { return x[0] + x[1]; }},
      {"arith.subf", [](const double *x) { return x[0] - x[1]; }},
      {"arith.mulf", [](const double *x) { return x[0] * x[1]; }},
      {"arith.divf", [](const double *x) { return x[0] / x[1]; }},
      {"arith.remf", [](const double *x) { return std::fmod(x[0], x[1]); }},
      {"arith.negf", [](const double *x) { return -x[0]; }},
      {"arith.maximumf", [](const double *x) { return larger(x[0], x[1]); }},
      {"arith.minimumf", [](const double *x) { return smaller(x[0], x[1]); }},
      {"arith.maxnumf", [](const double *x) { return std::fmax(x[0], x[1]); }},
      {"arith.minnumf", [](const double *x) { return std::fmin(x[0], x[1]); }},
      {"math.absf", [](const double *x) { return std::fabs(x[0]); }},
      {"math.ceil", [](const double *x) { return std::ceil(x[0]); }},
      {"math.cos", [](const double *x) { return std::cos(x[0]); }},
      {"math.erf", [](const double *x) { return std::erf(x[0]); }},
      {"math.exp", [](const double *x) { return std::exp(x[0]); }},
      {"math.exp2", [](const double *x) { return std::exp2(x[0]); }},
      {"math.floor", [](const double *x) { return std::floor(x[0]); }},
      {"math.fma", [](const double *x) { return std::fma(x[0], x[1], x[2]); }},
      {"math.log", [](const double *x) { return std::log(x[0]); }},
      {"math.log2", [](const double *x) { return std::log2(x[0]); }},
      {"math.powf", [](const double *x) { return std::pow(x[0], x[1]); }},
      {"math.roundeven", [](const double *x) { return std::nearbyint(x[0]); }},
      {"math.rsqrt", [](const double *x) { return 1 / std::sqrt(x[0]); }},
      {"math.sin", [](const double *x) { return std::sin(x[0]); }},
      {"math.sqrt", [](const double *x) { return std::sqrt(x[0]); }},
      {"math.tanh", [](const double *x) { return std::tanh(x[0]); }},
      {"arith.addi", [](const double *x) { return wrap(whole(x[0]) + whole(x[1])); }},
      {"arith.subi", [](const double *x) { return wrap(whole(x[0]) - whole(x[1])); }},
      {"arith.muli", [](const double *x) { return wrap(whole(x[0]) * whole(x[1])); }},
      {"arith.divsi", [](const double *x) { return wrap(divide(whole(x[0]), whole(x[1]))); }},
      {"arith.remsi", [](const double *x) { return wrap(remainder(whole(x[0]), whole(x[1]))); }},
      {"arith.floordivsi", [](const double *x) { return wrap(floorDivide(whole(x[0]), whole(x[1]))); }},
      {"arith.ceildivsi", [](const double *x) { return wrap(ceilDivide(whole(x[0]), whole(x[1]))); }},
      {"arith.maxsi", [](const double *x) { return std::fmax(x[0], x[1]); }},
      {"arith.minsi", [](const double *x) { return std::fmin(x[0], x[1]); }},
      {"arith.andi", [](const double *x) { return wrap(whole(x[0]) & whole(x[1])); }},
      {"arith.ori", [](const double *x) { return wrap(whole(x[0]) | whole(x[1])); }},
      {"arith.xori", [](const double *x) { return wrap(whole(x[0]) ^ whole(x[1])); }},
      {"math.absi", [](const double *x) { return wrap(std::abs(whole(x[0]))); }},
      {"arith.select", [](const double *x) { return x[0] != 0 ? x[1] : x[2]; }},
      {"arith.sitofp", [](const double *x) { return x[0]; }},
      {"arith.uitofp", [](const double *x) { return x[0] < 0 ? x[0] + 4294967296.0 : x[0]; }},
      {"arith.fptosi", [](const double *x) { return nearestInt(x[0]); }},
      {"arith.extui", [](const double *x) { return x[0]; }},
      {"arith.extsi", [](const double *x) { return -x[0]; }}, // of a truth value, the only narrower one: 0 or -1
      {"arith.trunci", [](const double *x) { return static_cast<double>(whole(x[0]) & 1); }},
  };
  return table;
}

static Function compareFloats(arith::CmpFPredicate predicate) {
  return [predicate](const double *x) {
    return static_cast<double>(arith::applyCmpPredicate(predicate, llvm::APFloat(x[0]), llvm::APFloat(x[1])));
  };
}

/// Comparisons of whole numbers; the unsigned ones take them as 64 bits.
static Function compareInts(arith::CmpIPredicate predicate) {
  using enum arith::CmpIPredicate;
  using Compare = bool (*)(int64_t, int64_t);
  auto choose = [&]() -> Compare {
    switch (predicate) {
    case eq:
      return [](int64_t a, int64_t b) { return a == b; };
    case ne:
      return [](int64_t a, int64_t b) { return a != b; };
    case slt:
      return [](int64_t a, int64_t b) { return a < b; };
    case sle:
      return [](int64_t a, int64_t b) { return a <= b; };
    case sgt:
      return [](int64_t a, int64_t b) { return a > b; };
    case sge:
      return [](int64_t a, int64_t b) { return a >= b; };
    case ult:
      return [](int64_t a, int64_t b) { return static_cast<uint64_t>(a) < static_cast<uint64_t>(b); };
    case ule:
      return [](int64_t a, int64_t b) { return static_cast<uint64_t>(a) <= static_cast<uint64_t>(b); };
    case ugt:
      return [](int64_t a, int64_t b) { return static_cast<uint64_t>(a) > static_cast<uint64_t>(b); };
    case uge:
      return [](int64_t a, int64_t b) { return static_cast<uint64_t>(a) >= static_cast<uint64_t>(b); };
    }
    llvm_unreachable("a predicate is one of ten");
  };
  return [compare = choose()](const double *x) { return static_cast<double>(compare(whole(x[0]), whole(x[1]))); };
}

static Function constant(TypedAttr value) {
  double number = 0;
  if (auto real = dyn_cast<FloatAttr>(value))
    number = real.getValueAsDouble();
  else if (auto integer = dyn_cast<IntegerAttr>(value))
    number = static_cast<double>(integer.getType().isInteger(1) ? integer.getValue().getBoolValue() : integer.getInt());
  return [number](const double *) { return number; };
}

Function findFunction(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compareFloats(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compareInts(compare.getPredicate());
  if (auto literal = dyn_cast<arith::ConstantOp>(op))
    return constant(literal.getValue());
  auto found = plainFunctions().find(op->getName().getStringRef());
  return found == plainFunctions().end() ? Function() : Function(found->second);
}

} // namespace attn::interpreter
