// ScalarOps.cpp: scalar functions on numbers and as arith and math operations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/ScalarOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace attn {

std::optional<ScalarOp> unaryFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<ScalarOp>>(name)
      .Case("exp", ScalarOp::exp)
      .Case("log", ScalarOp::log)
      .Case("log2", ScalarOp::log2)
      .Case("sqrt", ScalarOp::sqrt)
      .Case("rsqrt", ScalarOp::rsqrt)
      .Case("sin", ScalarOp::sin)
      .Case("cos", ScalarOp::cos)
      .Case("tanh", ScalarOp::tanh)
      .Case("sigmoid", ScalarOp::sigmoid)
      .Case("erf", ScalarOp::erf)
      .Case("abs", ScalarOp::abs)
      .Case("floor", ScalarOp::floor)
      .Default(std::nullopt);
}

bool isLogical(ScalarOp op) {
  return op == ScalarOp::not_ || op == ScalarOp::and_ || op == ScalarOp::or_;
}

bool isComparison(ScalarOp op) {
  return op >= ScalarOp::less && op <= ScalarOp::notEqual;
}

// --------------------------------------------------------------------------------------------- numbers when compiling

static double foldUnary(ScalarOp op, double x) {
  switch (op) {
  case ScalarOp::negate:
    return -x;
  case ScalarOp::not_:
    return x == 0;
  case ScalarOp::exp:
    return std::exp(x);
  case ScalarOp::log:
    return std::log(x);
  case ScalarOp::log2:
    return std::log2(x);
  case ScalarOp::sqrt:
    return std::sqrt(x);
  case ScalarOp::rsqrt:
    return 1 / std::sqrt(x);
  case ScalarOp::sin:
    return std::sin(x);
  case ScalarOp::cos:
    return std::cos(x);
  case ScalarOp::tanh:
    return std::tanh(x);
  case ScalarOp::sigmoid:
    return 1 / (1 + std::exp(-x));
  case ScalarOp::erf:
    return std::erf(x);
  case ScalarOp::abs:
    return std::fabs(x);
  case ScalarOp::floor:
    return std::floor(x);
  default:
    return x;
  }
}

static double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
}

static double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
}

static double foldBinary(ScalarOp op, double a, double b) {
  switch (op) {
  case ScalarOp::add:
    return a + b;
  case ScalarOp::subtract:
    return a - b;
  case ScalarOp::multiply:
    return a * b;
  case ScalarOp::divide:
    return a / b;
  case ScalarOp::floorDivide:
    return std::floor(a / b);
  case ScalarOp::modulo:
    return a - b * std::floor(a / b);
  case ScalarOp::power:
    return std::pow(a, b);
  case ScalarOp::and_:
    return a != 0 && b != 0;
  case ScalarOp::or_:
    return a != 0 || b != 0;
  case ScalarOp::less:
    return a < b;
  case ScalarOp::lessEqual:
    return a <= b;
  case ScalarOp::greater:
    return a > b;
  case ScalarOp::greaterEqual:
    return a >= b;
  case ScalarOp::equal:
    return a == b;
  case ScalarOp::notEqual:
    return a != b;
  case ScalarOp::min:
    return smaller(a, b);
  default:
    return larger(a, b);
  }
}

Folded fold(ScalarOp op, llvm::ArrayRef<Folded> args) {
  bool whole = llvm::all_of(args, [](const Folded &f) { return f.whole; });
  switch (op) {
  case ScalarOp::clamp:
    return {smaller(larger(args[0].value, args[1].value), args[2].value), whole};
  case ScalarOp::select:
    return args[0].value != 0 ? args[1] : args[2];
  case ScalarOp::divide: {
    double result = args[0].value / args[1].value;
    return {result, whole && result == std::floor(result)};
  }
  case ScalarOp::floor:
    return {std::floor(args[0].value), std::isfinite(args[0].value)};
  case ScalarOp::power:
    return {std::pow(args[0].value, args[1].value), whole && args[1].value >= 0};
  case ScalarOp::floorDivide:
  case ScalarOp::modulo:
    whole = whole && args[1].value != 0;
    break;
  case ScalarOp::negate:
  case ScalarOp::abs:
  case ScalarOp::copy:
    return {foldUnary(op, args[0].value), whole};
  default:
    if (args.size() == 1)
      return {foldUnary(op, args[0].value), false};
  }
  return {foldBinary(op, args[0].value, args[1].value), whole};
}

// ---------------------------------------------------------------------------------------------------------- emitting

Type typeOf(Elem elem, MLIRContext *context) {
  if (elem == Elem::f32)
    return Float32Type::get(context);
  return IntegerType::get(context, elem == Elem::i32 ? 32 : 1);
}

Elem elemOf(Type type) {
  return type.isF32() ? Elem::f32 : type.isInteger(1) ? Elem::i1 : Elem::i32;
}

static Elem widest(llvm::ArrayRef<Elem> args) {
  return llvm::is_contained(args, Elem::f32) ? Elem::f32 : Elem::i32;
}

Elem resultElem(ScalarOp op, llvm::ArrayRef<Elem> args) {
  if (isLogical(op) || isComparison(op))
    return Elem::i1;
  switch (op) {
  case ScalarOp::add:
  case ScalarOp::subtract:
  case ScalarOp::multiply:
  case ScalarOp::floorDivide:
  case ScalarOp::modulo:
  case ScalarOp::negate:
  case ScalarOp::abs:
  case ScalarOp::min:
  case ScalarOp::max:
  case ScalarOp::clamp:
    return widest(args);
  case ScalarOp::floor:
    return widest(args);
  case ScalarOp::copy:
    return args[0];
  case ScalarOp::select:
    return args[1] == args[2] ? args[1] : widest(args.drop_front());
  default:
    return Elem::f32;
  }
}

static mlir::Value constant(OpBuilder &b, Location loc, double value, Elem elem) {
  if (elem == Elem::f32)
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  if (elem == Elem::i1)
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(value != 0));
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

mlir::Value convert(OpBuilder &b, Location loc, const Scalar &scalar, Elem elem) {
  if (!scalar.value)
    return constant(b, loc, scalar.number.value, elem);
  Elem from = elemOf(scalar.value.getType());
  if (from == elem)
    return scalar.value;
  Type type = typeOf(elem, b.getContext());
  if (elem == Elem::i1) {
    Scalar zero{constant(b, loc, 0, from), {}, from};
    if (from == Elem::f32)
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, scalar.value, zero.value);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, scalar.value, zero.value);
  }
  if (elem == Elem::i32)
    return from == Elem::f32 ? mlir::Value(arith::FPToSIOp::create(b, loc, type, scalar.value))
                             : mlir::Value(arith::ExtUIOp::create(b, loc, type, scalar.value));
  return from == Elem::i32 ? mlir::Value(arith::SIToFPOp::create(b, loc, type, scalar.value))
                           : mlir::Value(arith::UIToFPOp::create(b, loc, type, scalar.value));
}

namespace {

/// Emits one operation, its operands already of one type.
struct Emitter {
  OpBuilder &b;
  Location loc;

  template <typename Op> mlir::Value make(mlir::ValueRange operands) { return Op::create(b, loc, operands); }
  mlir::Value number(double value, Elem elem) { return constant(b, loc, value, elem); }

  mlir::Value arithmetic(ScalarOp op, mlir::Value x, mlir::Value y, bool real) {
    switch (op) {
    case ScalarOp::add:
      return real ? make<arith::AddFOp>({x, y}) : make<arith::AddIOp>({x, y});
    case ScalarOp::subtract:
      return real ? make<arith::SubFOp>({x, y}) : make<arith::SubIOp>({x, y});
    case ScalarOp::multiply:
      return real ? make<arith::MulFOp>({x, y}) : make<arith::MulIOp>({x, y});
    case ScalarOp::divide:
      return make<arith::DivFOp>({x, y});
    case ScalarOp::floorDivide:
      return real ? make<math::FloorOp>({make<arith::DivFOp>({x, y})}) : make<arith::FloorDivSIOp>({x, y});
    case ScalarOp::modulo: {
      mlir::Value quotient = arithmetic(ScalarOp::floorDivide, x, y, real);
      return arithmetic(ScalarOp::subtract, x, arithmetic(ScalarOp::multiply, y, quotient, real), real);
    }
    case ScalarOp::min:
      return real ? make<arith::MinimumFOp>({x, y}) : make<arith::MinSIOp>({x, y});
    case ScalarOp::max:
      return real ? make<arith::MaximumFOp>({x, y}) : make<arith::MaxSIOp>({x, y});
    default:
      return make<math::PowFOp>({x, y});
    }
  }

  mlir::Value compare(ScalarOp op, mlir::Value x, mlir::Value y, bool real) {
    static constexpr arith::CmpFPredicate reals[] = {arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
                                                     arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE,
                                                     arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE};
    static constexpr arith::CmpIPredicate wholes[] = {arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
                                                      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge,
                                                      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne};
    int which = static_cast<int>(op) - static_cast<int>(ScalarOp::less);
    if (real)
      return arith::CmpFOp::create(b, loc, reals[which], x, y);
    return arith::CmpIOp::create(b, loc, wholes[which], x, y);
  }

  mlir::Value unary(ScalarOp op, mlir::Value x) {
    bool real = x.getType().isF32();
    switch (op) {
    case ScalarOp::negate:
      return real ? make<arith::NegFOp>({x}) : make<arith::SubIOp>({number(0, Elem::i32), x});
    case ScalarOp::abs:
      return real ? make<math::AbsFOp>({x}) : make<math::AbsIOp>({x});
    case ScalarOp::floor:
      return real ? make<math::FloorOp>({x}) : x;
    case ScalarOp::exp:
      return make<math::ExpOp>({x});
    case ScalarOp::log:
      return make<math::LogOp>({x});
    case ScalarOp::log2:
      return make<math::Log2Op>({x});
    case ScalarOp::sqrt:
      return make<math::SqrtOp>({x});
    case ScalarOp::rsqrt:
      return make<math::RsqrtOp>({x});
    case ScalarOp::sin:
      return make<math::SinOp>({x});
    case ScalarOp::cos:
      return make<math::CosOp>({x});
    case ScalarOp::tanh:
      return make<math::TanhOp>({x});
    case ScalarOp::erf:
      return make<math::ErfOp>({x});
    case ScalarOp::sigmoid: {
      mlir::Value one = number(1, Elem::f32);
      mlir::Value grown = make<math::ExpOp>({make<arith::NegFOp>({x})});
      return make<arith::DivFOp>({one, make<arith::AddFOp>({one, grown})});
    }
    default:
      return x;
    }
  }

  /// Whole powers are products; halves are roots.
  mlir::Value power(mlir::Value x, double exponent) {
    bool real = x.getType().isF32();
    if (exponent == 1)
      return x;
    if (exponent == 0.5)
      return make<math::SqrtOp>({x});
    if (exponent == -0.5)
      return make<math::RsqrtOp>({x});
    if (exponent == -1)
      return make<arith::DivFOp>({number(1, Elem::f32), x});
    if (exponent >= 2 && exponent <= 4 && exponent == std::floor(exponent)) {
      mlir::Value square = arithmetic(ScalarOp::multiply, x, x, real);
      if (exponent == 2)
        return square;
      return arithmetic(ScalarOp::multiply, square, exponent == 3 ? x : square, real);
    }
    return make<math::PowFOp>({x, number(exponent, Elem::f32)});
  }
};

} // namespace

static bool isWholePower(const Scalar &exponent) {
  double e = exponent.number.value;
  return !exponent.value && e >= 1 && e <= 4 && e == std::floor(e);
}

mlir::Value emit(ScalarOp op, OpBuilder &b, Location loc, llvm::ArrayRef<Scalar> args) {
  Emitter emitter{b, loc};
  llvm::SmallVector<Elem> elems;
  for (const Scalar &arg : args)
    elems.push_back(arg.elem);
  if (isLogical(op)) {
    mlir::Value x = convert(b, loc, args[0], Elem::i1);
    if (op == ScalarOp::not_)
      return emitter.make<arith::XOrIOp>({x, emitter.number(1, Elem::i1)});
    mlir::Value y = convert(b, loc, args[1], Elem::i1);
    return op == ScalarOp::and_ ? emitter.make<arith::AndIOp>({x, y}) : emitter.make<arith::OrIOp>({x, y});
  }
  if (op == ScalarOp::power) {
    bool whole = elems[0] != Elem::f32 && isWholePower(args[1]);
    mlir::Value x = convert(b, loc, args[0], whole ? Elem::i32 : Elem::f32);
    if (!args[1].value)
      return emitter.power(x, args[1].number.value);
    return emitter.arithmetic(op, x, convert(b, loc, args[1], Elem::f32), true);
  }
  if (op == ScalarOp::select) {
    Elem elem = resultElem(op, elems);
    mlir::Value condition = convert(b, loc, args[0], Elem::i1);
    mlir::Value yes = convert(b, loc, args[1], elem), no = convert(b, loc, args[2], elem);
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
  if (op == ScalarOp::copy)
    return convert(b, loc, args[0], args[0].elem);
  Elem common = isComparison(op) ? widest(elems) : resultElem(op, elems);
  llvm::SmallVector<mlir::Value, 3> values;
  for (const Scalar &arg : args)
    values.push_back(convert(b, loc, arg, common));
  bool real = common == Elem::f32;
  if (op == ScalarOp::clamp)
    return emitter.arithmetic(ScalarOp::min, emitter.arithmetic(ScalarOp::max, values[0], values[1], real), values[2],
                              real);
  if (isComparison(op))
    return emitter.compare(op, values[0], values[1], real);
  return values.size() == 1 ? emitter.unary(op, values[0]) : emitter.arithmetic(op, values[0], values[1], real);
}

} // namespace attn
