// Mathematical functions of float32 numbers and vectors as arithmetic.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated code calls no mathematical library. Each function is a range reduction and a polynomial, fitted by iterated
// weighted least squares to a relative error below 2e-8 before rounding; the results are within a few units of the last
// place (test/execution/agree/scalars.mlir). Infinity, NaN and numbers below 2^-126 come out as in IEEE. Angles and the
// logarithm inside a power are reduced in float64.
#include "mlir/Dialect/Math/IR/Math.h"
#include "lowering/cpu/LowerTiles.h"
#include "lowering/tile/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace attn::cpu {
namespace {

/// Words for arithmetic on values of one shape: scalars or vectors.
struct Words {
  OpBuilder &b;
  Location loc;
  Type shape; // f32 or a vector of it
  const Target &target;

  Type like(Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value constant(Type element, Attribute value) const {
    Type type = like(element);
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
  }
  Value real(double value) const { return constant(b.getF32Type(), b.getF32FloatAttr(static_cast<float>(value))); }
  Value wide(double value) const { return constant(b.getF64Type(), b.getF64FloatAttr(value)); }
  Value whole(int32_t value) const { return constant(b.getI32Type(), b.getI32IntegerAttr(value)); }

  Value add(Value x, Value y) const { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) const { return arith::NegFOp::create(b, loc, x); }
  Value abs(Value x) const { return math::AbsFOp::create(b, loc, x); }
  Value fma(Value x, Value y, Value z) const {
    if (!target.fma)
      return add(mul(x, y), z);
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value select(Value which, Value x, Value y) const { return arith::SelectOp::create(b, loc, which, x, y); }
  Value is(CmpFPredicate how, Value x, Value y) const { return arith::CmpFOp::create(b, loc, how, x, y); }
  Value is(CmpIPredicate how, Value x, Value y) const { return arith::CmpIOp::create(b, loc, how, x, y); }
  /// NaN stays NaN.
  Value atMost(Value x, Value bound) const { return select(is(CmpFPredicate::OLT, bound, x), bound, x); }
  Value atLeast(Value x, Value bound) const { return select(is(CmpFPredicate::OGT, bound, x), bound, x); }
  /// NaN gives the bound.
  Value surely(Value x, Value bound) const { return select(is(CmpFPredicate::OGT, x, bound), x, bound); }

  Value bits(Value x) const { return arith::BitcastOp::create(b, loc, like(b.getI32Type()), x); }
  Value fromBits(Value x) const { return arith::BitcastOp::create(b, loc, like(b.getF32Type()), x); }
  Value toInt(Value x) const { return arith::FPToSIOp::create(b, loc, like(b.getI32Type()), x); }
  Value toReal(Value x) const { return arith::SIToFPOp::create(b, loc, like(b.getF32Type()), x); }
  Value addInt(Value x, Value y) const { return arith::AddIOp::create(b, loc, x, y); }
  Value subInt(Value x, Value y) const { return arith::SubIOp::create(b, loc, x, y); }
  Value widen(Value x) const { return arith::ExtFOp::create(b, loc, like(b.getF64Type()), x); }
  Value narrow(Value x) const { return arith::TruncFOp::create(b, loc, like(b.getF32Type()), x); }
  Value withSign(Value size, Value sign) const { return math::CopySignOp::create(b, loc, size, sign); }

  /// To the nearest whole number, of float64 below 2^51.
  Value roundWide(Value x) const { return sub(add(x, wide(6755399441055744.0)), wide(6755399441055744.0)); }

  /// c[0] + x (c[1] + x (c[2] + …
  Value polynomial(Value x, ArrayRef<double> c, bool isWide = false) const {
    auto number = [&](double value) { return isWide ? wide(value) : real(value); };
    Value total = number(c.back());
    for (double one : llvm::reverse(c.drop_back()))
      total = fma(total, x, number(one));
    return total;
  }

  Value round(Value x) const;
  Value floor(Value x) const;
  Value ceil(Value x) const;
  Value scaleByInstruction(Value x, Value exponent) const;
  Value powerBits(Value exponent) const;
  Value scale(Value x, Value exponent) const;
  Value scaleFully(Value x, Value exponent) const;
  Value powerOfTwo(Value x) const;
  Value nearExp(Value x) const;
  Value exp2(Value x) const;
  Value exp(Value x) const;
  Value expOver(Value x, Value over) const;
  Value roughExpOver(Value x, Value over) const;
  std::pair<Value, Value> logParts(Value x) const;
  Value logEnds(Value x, Value inside) const;
  Value log(Value x) const;
  Value log2(Value x) const;
  Value tanh(Value x) const;
  Value erf(Value x) const;
  Value sine(Value x, int quarter) const;
  Value power(Value x, Value y) const;
  Value log1p(Value x) const;
  Value expm1(Value x) const;
};

} // namespace

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ------------------------------------------------------------------------------------------------------------ rounding

/// To the nearest whole number. Machines without an instruction for it let an addition do it.
Value Words::round(Value x) const {
  if (target.fma)
    return math::RoundEvenOp::create(b, loc, x);
  Value size = abs(x), big = real(8388608);
  Value rounded = withSign(sub(add(size, big), big), x);
  return select(is(CmpFPredicate::OLT, size, big), rounded, x);
}

Value Words::floor(Value x) const {
  if (target.fma)
    return math::FloorOp::create(b, loc, x);
  Value near = round(x);
  return withSign(select(is(CmpFPredicate::OGT, near, x), sub(near, real(1)), near), x);
}

Value Words::ceil(Value x) const {
  return neg(floor(neg(x)));
}

// -------------------------------------------------------------------------------------------------------- exponentials

/// The machine's own instruction for x 2^exponent, where it has one.
Value Words::scaleByInstruction(Value x, Value exponent) const {
  auto vector = dyn_cast<VectorType>(shape);
  if (!target.avx512 || !vector || vector.getNumElements() != 16)
    return {};
  Value mask = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(-1));
  Value mode = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(4));
  return LLVM::CallIntrinsicOp::create(b, loc, shape, b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                       ValueRange{x, exponent, x, mask, mode})
      .getResult(0);
}

/// 2^exponent for whole numbers from -127 (which gives 0) to 128 (which gives infinity).
Value Words::powerBits(Value exponent) const {
  Value biased = addInt(toInt(exponent), whole(127));
  return fromBits(arith::ShLIOp::create(b, loc, biased, whole(23)));
}

/// Any exponent up to 127; results below 2^-126 may be 0.
Value Words::scale(Value x, Value exponent) const {
  if (Value scaled = scaleByInstruction(x, exponent))
    return scaled;
  return mul(x, powerBits(surely(exponent, real(-127))));
}

/// Exponents from -250 to 250, exact down to the smallest number: in two steps.
Value Words::scaleFully(Value x, Value exponent) const {
  if (Value scaled = scaleByInstruction(x, exponent))
    return scaled;
  exponent = surely(exponent, real(-250));
  Value half = round(mul(exponent, real(0.5)));
  return mul(mul(x, powerBits(half)), powerBits(sub(exponent, half)));
}

/// 2^x for |x| <= 1/2.
Value Words::powerOfTwo(Value x) const {
  return polynomial(x, {1, 0.6931471824645996, 0.24022647738456726, 0.055503323674201965, 0.00961843691766262,
                        0.0013398875016719103, 0.00015353361959569156});
}

/// e^x for |x| <= ln 2 / 2.
Value Words::nearExp(Value x) const {
  return polynomial(x,
                    {1, 1, 0.5, 0.16666523502779262, 0.04166728664866136, 0.008368822837719121, 0.00138625870169324});
}

Value Words::exp2(Value x) const {
  x = atLeast(atMost(x, real(128)), real(-160));
  Value near = round(x);
  return scaleFully(powerOfTwo(sub(x, near)), near);
}

Value Words::exp(Value x) const {
  x = atLeast(atMost(x, real(89)), real(-110));
  Value near = round(mul(x, real(1.4426950408889634)));
  Value rest = fma(near, real(-0.693145751953125), x); // ln 2 in two parts, the first of 15 bits
  rest = fma(near, real(-1.42860682030941723e-6), rest);
  return scaleFully(powerOfTwo(mul(rest, real(1.4426950408889634))), near);
}

/// e^x / 2^over for a whole number `over`, which only the last step sees; -inf gives 0 whatever it is.
Value Words::expOver(Value x, Value over) const {
  Value near = round(mul(x, real(1.4426950408889634)));
  // ln 2 in two parts. The first has 10 bits, so that its products with `near` are exact up to 11,000 even without a
  // fused multiply-add.
  Value rest = fma(near, real(-0.693359375), x);
  rest = fma(near, real(2.12194440054690583e-4), rest);
  // Where |x| is beyond 2^23 the rest may be anything; where x is infinite it is NaN.
  Value exponent = sub(near, over);
  rest = atMost(rest, real(1));
  if (Value scaled = scaleByInstruction(nearExp(surely(rest, real(-1))), exponent))
    return scaled;
  Value scaled = mul(nearExp(atLeast(rest, real(-1))), powerBits(exponent));
  return select(is(CmpFPredicate::OLE, exponent, real(-127)), real(0), scaled);
}

/// The same within 1.02e-4: 2^(x log2 e) with the polynomial of degree 3 that is 1 at 0.
Value Words::roughExpOver(Value x, Value over) const {
  auto part = [&](Value rest) {
    return polynomial(rest, {1, 0.6932829321617622, 0.2422110348756408, 0.05500896124822951});
  };
  Value t = mul(x, real(1.4426950408889634)), near = round(t), exponent = sub(near, over);
  Value rest = sub(t, near); // exact, 0 of large numbers, NaN of infinite ones
  if (Value scaled = scaleByInstruction(part(surely(rest, real(-1))), exponent))
    return scaled;
  return select(is(CmpFPredicate::OLE, exponent, real(-127)), real(0), mul(part(rest), powerBits(exponent)));
}

/// exp(x) - 1, by the quotient whose errors cancel.
Value Words::expm1(Value x) const {
  Value all = exp(x), less = sub(all, real(1));
  Value corrected = mul(less, div(x, log(all)));
  Value large = is(CmpFPredicate::OGT, abs(x), real(1));
  Value result = select(large, less, corrected);
  return select(is(CmpFPredicate::OEQ, all, real(1)), x, result);
}

// ---------------------------------------------------------------------------------------------------------- logarithms

/// e and ln(m) of x = m 2^e with m between the roots of 1/2 and 2, for positive finite x.
std::pair<Value, Value> Words::logParts(Value x) const {
  Value tiny = is(CmpFPredicate::OLT, x, real(1.17549435e-38));
  Value grown = select(tiny, mul(x, real(8388608)), x);
  Value image = bits(grown), root = whole(0x3f3504f3);
  Value exponent = arith::ShRSIOp::create(b, loc, subInt(image, root), whole(23));
  Value mantissa = fromBits(subInt(image, arith::ShLIOp::create(b, loc, exponent, whole(23))));
  Value more = sub(mantissa, real(1));
  // ln(1 + f) = 2 artanh(f / (2 + f))
  Value s = div(more, add(more, real(2))), square = mul(s, s);
  Value series = polynomial(square, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11});
  // 2s = f - s f, and f is exact
  Value result = sub(more, mul(s, sub(more, mul(square, series))));
  Value e = sub(toReal(exponent), select(tiny, real(23), real(0)));
  return {e, result};
}

/// The logarithm where it is no finite number: 0, below, infinity, NaN.
Value Words::logEnds(Value x, Value inside) const {
  Value result = select(is(CmpFPredicate::OEQ, x, real(infinity)), x, inside);
  result = select(is(CmpFPredicate::OEQ, x, real(0)), real(-infinity), result);
  return select(is(CmpFPredicate::OGE, x, real(0)), result, real(nan));
}

Value Words::log(Value x) const {
  auto [e, part] = logParts(x);
  Value low = fma(e, real(1.42860682030941723e-6), part);
  return logEnds(x, fma(e, real(0.693145751953125), low));
}

Value Words::log2(Value x) const {
  auto [e, part] = logParts(x);
  return logEnds(x, fma(part, real(1.4426950408889634), e));
}

Value Words::log1p(Value x) const {
  Value one = add(x, real(1)), back = sub(one, real(1));
  Value result = mul(log(one), div(x, back));
  result = select(is(CmpFPredicate::OEQ, one, real(infinity)), one, result);
  return select(is(CmpFPredicate::OEQ, back, real(0)), x, result);
}

// -------------------------------------------------------------------------------------------------------------
// sigmoids

/// E / (E + 2) for E = e^(2 |x|) - 1 = 2^n p + (2^n - 1), where 2 |x| = n ln 2 + 2 r and p = e^(2 r) - 1. Never beyond
/// 1, and 1 from 10 on. The addition of 1.5 * 2^23 rounds, and leaves n in the last bits.
Value Words::tanh(Value x) const {
  Value size = atMost(abs(x), real(10)), big = real(12582912);
  Value sum = fma(size, real(2 * 1.4426950408889634), big), n = sub(sum, big);
  Value r = fma(n, real(-0.3466796875), size); // ln 2 / 2 in two parts, the first of 9 bits
  r = fma(n, real(1.0609722002734529e-4), r);
  Value p = mul(r, polynomial(r, {2, 1.9999999257625196, 1.3333234542338395, 0.6666752285137145, 0.26773057110954396,
                                  0.08884806354969489}));
  Value power = fromBits(addInt(arith::ShLIOp::create(b, loc, bits(sum), whole(23)), whole(127 << 23)));
  Value grown = fma(p, power, sub(power, real(1)));
  return withSign(div(grown, add(grown, real(2))), x);
}

Value Words::erf(Value x) const {
  Value size = abs(x), square = mul(x, x);
  Value near =
      mul(x, polynomial(square, {1.1283791659138447, -0.37612627136265236, 0.11283600178800973, -0.02685444468093051,
                                 0.005189535486890051, -0.0008020842430972452, 7.889122931553638e-05}));
  // log2(1 - erf) by a polynomial; from 4 on erf is 1.
  Value capped = atMost(size, real(4));
  Value exponent =
      polynomial(capped, {0.0002712801202624719, -1.6296371706980106, -0.9135432373378047, -0.15641490545454023,
                          0.03636780400252948, -0.006065892470614398, 0.0006367122500110511, -3.128738579061263e-05});
  Value round2 = round(exponent);
  Value rest = scale(powerOfTwo(sub(exponent, round2)), round2);
  Value far = withSign(sub(real(1), rest), x);
  return select(is(CmpFPredicate::OLT, size, real(1)), near, far);
}

// ---------------------------------------------------------------------------------------------------------------
// angles

/// sin(x + quarter * pi / 2)
Value Words::sine(Value x, int quarter) const {
  Value angle = widen(x);
  Value turns = roundWide(mul(angle, wide(0.63661977236758134308)));
  Value rest = fma(turns, wide(-1.57079632679489655800), angle);
  rest = fma(turns, wide(-6.12323399573676603587e-17), rest);
  // turns mod 4, exactly, between -2 and 2; of an infinite angle there is none
  Value fours = roundWide(mul(turns, wide(0.25)));
  Value left = narrow(sub(turns, mul(fours, wide(4))));
  Value number = addInt(toInt(atMost(surely(left, real(-2)), real(2))), whole(quarter));
  Value r = narrow(rest), square = mul(r, r);
  Value sin = fma(mul(square, polynomial(square, {-0.16666666641626804, 0.008333329385924813, -0.00019839334847948685,
                                                  2.7183116107034645e-06})),
                  r, r);
  Value cosTail = polynomial(square, {0.04166664686633194, -0.0013887367510461047, 2.4438450997030844e-05});
  Value cos = fma(mul(square, square), cosTail, fma(square, real(-0.5), real(1)));
  Value odd = is(CmpIPredicate::ne, arith::AndIOp::create(b, loc, number, whole(1)), whole(0));
  Value flip = is(CmpIPredicate::ne, arith::AndIOp::create(b, loc, number, whole(2)), whole(0));
  Value result = select(odd, cos, sin);
  return select(flip, neg(result), result);
}

// ----------------------------------------------------------------------------------------------------------------
// power

/// |x|^y = 2^(y log2 |x|), the logarithm in float64; then signs and ends.
Value Words::power(Value x, Value y) const {
  Value size = abs(x), one = real(1), zero = real(0);
  Value image = bits(select(is(CmpFPredicate::OLT, size, real(1.17549435e-38)), mul(size, real(8388608)), size));
  Value exponent = arith::ShRSIOp::create(b, loc, subInt(image, whole(0x3f3504f3)), whole(23));
  Value mantissa = fromBits(subInt(image, arith::ShLIOp::create(b, loc, exponent, whole(23))));
  Value tiny = select(is(CmpFPredicate::OLT, size, real(1.17549435e-38)), real(23), zero);
  Value more = widen(sub(mantissa, one));
  Value s = div(more, add(more, wide(2))), square = mul(s, s);
  SmallVector<double> series;
  for (int n = 0; n < 8; ++n)
    series.push_back(2 / (2.0 * n + 1) * 1.4426950408889634074);
  Value log = add(widen(sub(toReal(exponent), tiny)), mul(s, polynomial(square, series, /*isWide=*/true)));
  Value t = mul(log, widen(y));
  auto bounded = [&](Value v) {
    Value low = select(is(CmpFPredicate::OLT, v, wide(-200)), wide(-200), v);
    return select(is(CmpFPredicate::OGT, low, wide(200)), wide(200), low);
  };
  t = bounded(t);
  Value near = roundWide(t);
  Value part = powerOfTwo(narrow(sub(t, near)));
  Value n = narrow(near);
  Value high = is(CmpFPredicate::OGT, n, real(128));
  Value result = scaleFully(part, select(high, real(128), n));
  result = select(high, real(infinity), result);
  // Whole and odd exponents keep the sign; others have no value for negative bases.
  Value whole1 = is(CmpFPredicate::OEQ, round(y), y);
  Value half = mul(y, real(0.5));
  Value odd = arith::AndIOp::create(b, loc, whole1, is(CmpFPredicate::UNE, round(half), half));
  Value growing = is(CmpFPredicate::OGT, y, zero);
  Value atZero = select(growing, zero, real(infinity)), atInfinity = select(growing, real(infinity), zero);
  result = select(is(CmpFPredicate::OEQ, size, zero), atZero, result);
  result = select(is(CmpFPredicate::OEQ, size, real(infinity)), atInfinity, result);
  Value negative = is(CmpIPredicate::slt, bits(x), whole(0));
  result = select(arith::AndIOp::create(b, loc, negative, odd), neg(result), result);
  Value below =
      arith::AndIOp::create(b, loc, is(CmpFPredicate::OLT, x, zero), is(CmpFPredicate::OGT, x, real(-infinity)));
  Value none = arith::AndIOp::create(b, loc, below, is(CmpFPredicate::UNE, round(y), y));
  result = select(none, real(nan), result);
  result = select(is(CmpFPredicate::UNO, x, y), add(x, y), result);
  Value sure = arith::OrIOp::create(b, loc, is(CmpFPredicate::OEQ, y, zero), is(CmpFPredicate::OEQ, x, one));
  return select(sure, one, result);
}

// ---------------------------------------------------------------------------------------------------------------- pass

static Value expand(Operation *op, const Words &w) {
  auto x = [&](unsigned i = 0) { return op->getOperand(i); };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return w.exp(x()); })
      .Case([&](math::Exp2Op) { return w.exp2(x()); })
      .Case([&](math::ExpM1Op) { return w.expm1(x()); })
      .Case([&](math::LogOp) { return w.log(x()); })
      .Case([&](math::Log2Op) { return w.log2(x()); })
      .Case([&](math::Log10Op) { return w.mul(w.log(x()), w.real(0.43429448190325182765)); })
      .Case([&](math::Log1pOp) { return w.log1p(x()); })
      .Case([&](math::TanhOp) { return w.tanh(x()); })
      .Case([&](math::ErfOp) { return w.erf(x()); })
      .Case([&](math::ErfcOp) { return w.sub(w.real(1), w.erf(x())); })
      .Case([&](math::SinOp) { return w.sine(x(), 0); })
      .Case([&](math::CosOp) { return w.sine(x(), 1); })
      .Case([&](math::TanOp) { return w.div(w.sine(x(), 0), w.sine(x(), 1)); })
      .Case([&](math::PowFOp) { return w.power(x(0), x(1)); })
      .Case([&](math::RsqrtOp) { return w.div(w.real(1), math::SqrtOp::create(w.b, w.loc, x())); })
      .Case([&](tile::ExpOp e) { return e.getRough() ? w.roughExpOver(x(0), x(1)) : w.expOver(x(0), x(1)); })
      .Case([&](tile::ScaleOp) { return w.scale(x(0), x(1)); })
      .Case([&](math::RoundEvenOp) { return w.target.fma ? Value() : w.round(x()); })
      .Case([&](math::FloorOp) { return w.target.fma ? Value() : w.floor(x()); })
      .Case([&](math::CeilOp) { return w.target.fma ? Value() : w.ceil(x()); })
      .Case([&](math::FmaOp) { return w.target.fma ? Value() : w.add(w.mul(x(0), x(1)), x(2)); })
      .Default([](Operation *) { return Value(); });
}

/// Operations that stay: one instruction each.
static bool isInstruction(Operation *op, const Target &target) {
  if (isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::CopySignOp>(op))
    return true;
  return target.fma && isa<math::RoundEvenOp, math::FloorOp, math::CeilOp, math::TruncOp, math::FmaOp>(op);
}

/// Whether no lane of the divisor is 0 or -1, for all that can be seen.
static bool isHarmlessDivisor(Value divisor) {
  DenseElementsAttr all;
  IntegerAttr one;
  auto harmless = [](const APInt &number) { return !number.isZero() && !number.isAllOnes(); };
  if (matchPattern(divisor, m_Constant(&all)))
    return llvm::all_of(all.getValues<APInt>(), harmless);
  return matchPattern(divisor, m_Constant(&one)) && harmless(one.getValue());
}

/// Whole numbers divided by 0 give 0, as in the interpreter; the smallest number divided by -1 is itself. The machine
/// would stop at either.
static void guardDivision(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type type = y.getType();
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto constant = [&](const APInt &number) -> Value {
    auto attribute = IntegerAttr::get(getElementTypeOrSelf(type), number);
    auto vector = dyn_cast<VectorType>(type);
    return arith::ConstantOp::create(b, loc, vector ? TypedAttr(DenseElementsAttr::get(vector, attribute)) : attribute);
  };
  auto equal = [&](Value a, const APInt &number) {
    return arith::CmpIOp::create(b, loc, CmpIPredicate::eq, a, constant(number)).getResult();
  };
  Value none = equal(y, APInt::getZero(bits));
  Value beyond =
      arith::AndIOp::create(b, loc, equal(x, APInt::getSignedMinValue(bits)), equal(y, APInt::getAllOnes(bits)));
  Value unsafe = arith::OrIOp::create(b, loc, none, beyond);
  op->setOperand(1, arith::SelectOp::create(b, loc, unsafe, constant(APInt(bits, 1)), y));
  b.setInsertionPointAfter(op);
  Value result = arith::SelectOp::create(b, loc, none, constant(APInt::getZero(bits)), op->getResult(0));
  op->getResult(0).replaceAllUsesExcept(result, result.getDefiningOp());
}

static void guardDivisions(ModuleOp module) {
  SmallVector<Operation *> divisions;
  module.walk([&](Operation *op) {
    if (isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op) &&
        !isHarmlessDivisor(op->getOperand(1)))
      divisions.push_back(op);
  });
  for (Operation *op : divisions)
    guardDivision(op);
}

/// float32 to bfloat16 by adding half of the last bit that stays, of two equally near ones to the even; NaN stays NaN.
static void expandTruncation(arith::TruncFOp op, const Target &target) {
  OpBuilder b(op);
  Words w{b, op.getLoc(), op.getIn().getType(), target};
  auto high = [&](Value bits) -> Value { return arith::ShRUIOp::create(w.b, w.loc, bits, w.whole(16)); };
  Value bits = w.bits(op.getIn()), last = arith::AndIOp::create(b, w.loc, high(bits), w.whole(1));
  Value rounded = w.addInt(bits, w.addInt(last, w.whole(0x7fff)));
  Value none = arith::OrIOp::create(b, w.loc, bits, w.whole(0x400000));
  Value chosen = w.select(w.is(CmpFPredicate::UNO, op.getIn(), op.getIn()), none, rounded);
  Value half = arith::TruncIOp::create(b, w.loc, w.like(b.getI16Type()), high(chosen));
  op.replaceAllUsesWith(arith::BitcastOp::create(b, w.loc, op.getType(), half).getResult());
  op.erase();
}

static void expandTruncations(ModuleOp module, const Target &target) {
  SmallVector<arith::TruncFOp> work;
  module.walk([&](arith::TruncFOp op) {
    if (getElementTypeOrSelf(op.getType()).isBF16() && !target.bf16)
      work.push_back(op);
  });
  for (arith::TruncFOp op : work)
    expandTruncation(op, target);
}

LogicalResult expandMath(ModuleOp module, const Target &target) {
  guardDivisions(module);
  expandTruncations(module, target);
  SmallVector<Operation *> work;
  module.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) || isa<tile::ScaleOp, tile::ExpOp>(op))
      if (!isInstruction(op, target))
        work.push_back(op);
  });
  for (Operation *op : work) {
    Type type = op->getResult(0).getType();
    OpBuilder builder(op);
    Value result;
    if (getElementTypeOrSelf(type).isF32())
      result = expand(op, Words{builder, op->getLoc(), type, target});
    if (!result)
      return op->emitError() << "`" << op->getName() << "` of " << type << " has no expansion for " << target.name;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  return success();
}

} // namespace attn::cpu
