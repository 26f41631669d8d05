// BuiltinWeights.cpp: param, linear, dense, conv2d: built-in functions that bind weights; and tap.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/AttnOps.h"
#include "frontend/CallArgs.h"
#include "frontend/Labels.h"

using namespace mlir;

namespace attn {

static llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<const Turn *> turns) {
  llvm::SmallVector<mlir::Value> values;
  for (const Turn *turn : turns)
    values.push_back(turn->value);
  return values;
}

Value Elaborator::bindWeight(const Text &name, DimsRef dims, bool inFirst, SMRange where) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i]->isNamed() && placeOf(dims.take_front(i), dims[i]) >= 0) {
      report(where, "the weight `" + name.shown() + "` has the dimension `" + dims[i]->name + "` twice")
          .note("give one of them another name: `x as [In] @ param(name, Out, In)`");
      return Value::poison();
    }
  auto use = weights.bind(name, dims, inFirst, usersCall(where));
  if (!use)
    return Value::poison();
  auto symbol = FlatSymbolRefAttr::get(&context, use->symbol);
  ParamOp op = ParamOp::create(builder, at(where), tensorType(dims, Elem::f32), symbol, valuesOf(use->turns));
  return Value::of(made(op.getOutput(), Dims(dims), 0));
}

Value Elaborator::builtinParam(CallArgs &args) {
  Dims dims;
  if (!args.check(1, 100) || !args.dims(1, dims))
    return Value::poison();
  auto name = args.weightName(0);
  return name ? bindWeight(*name, dims, false, args.range()) : Value::poison();
}

static Text withSuffix(Text name, StringRef suffix) {
  name.append(suffix);
  return name;
}

Value Elaborator::addBias(Value y, const Text &name, DimsRef dims, SMRange where) {
  Value b = bindWeight(withSuffix(name, ".bias"), dims, false, where);
  return apply(ScalarOp::add, {y, b}, where, "the bias");
}

/// Whether `bias:` asks for one; `byDefault` where it is not written.
std::optional<bool> Elaborator::wantsBias(CallArgs &args, bool byDefault) {
  const Argument *arg = args.named("bias");
  if (!arg)
    return byDefault;
  return truth(args.evalNamed("bias"), arg->value->range, "`bias`");
}

Value Elaborator::builtinLinear(CallArgs &args, bool bias) {
  Dims dims;
  if (!args.check(2, 100, {"bias"}))
    return Value::poison();
  if (args.size() == 2) {
    report(args.range(), args.what() + " needs the dimensions it gives")
        .note("`" + args.name() + "(x, \"name\", E)`: widths are written, never read from the weights");
    return Value::poison();
  }
  Value v = args.tensor(0);
  auto name = args.weightName(1);
  auto biased = wantsBias(args, bias);
  if (v.isPoison() || !name || !biased || !args.dims(2, dims))
    return Value::poison();
  if (v.tensor.visible().empty())
    return fail(args.placed[0]->value->range, args.what() + " needs a row, and this is one number");
  Tensor x = emitConvert(v.tensor, Elem::f32, args.range());
  DimRef in = x.dims.back();
  if (!isStatic(in, args.placed[0]->value->range, "the width of " + args.what() + "'s rows"))
    return Value::poison();
  Dims result(x.dims.begin(), x.dims.end() - 1), weightDims(dims);
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i]->isNamed() && (placeOf(result, dims[i]) >= 0 || placeOf(DimsRef(dims).take_front(i), dims[i]) >= 0))
      return fail(args.range(), args.what() + " would give a tensor with `" + dims[i]->name + "` twice");
  result.append(dims.begin(), dims.end());
  weightDims.push_back(in);
  auto use = weights.bind(withSuffix(*name, ".weight"), weightDims, storedInFirst, usersCall(args.range()));
  if (!use)
    return Value::poison();
  Location loc = at(args.range());
  Labels labels;
  Labels::List out = labels.give(result);
  Labels::List inLabels(out.begin(), out.begin() + static_cast<ptrdiff_t>(x.dims.size() - 1));
  inLabels.push_back(labels.give(in));
  mlir::Value input = materialise(x, args.range());
  LinearOp op = LinearOp::create(builder, loc, tensorType(result, Elem::f32),
                                 FlatSymbolRefAttr::get(&context, use->symbol), valuesOf(use->turns), ValueRange(input),
                                 dimsArray(&context, {inLabels}), dimsArray(&context, {out}));
  {
    OpBuilder::InsertionGuard guard(builder);
    mlir::Block *block = builder.createBlock(&op.getBody(), {}, {builder.getF32Type()}, {loc});
    YieldOp::create(builder, loc, ValueRange(block->getArgument(0)));
  }
  Value y = Value::of(made(op.getOutput(), result, x.lifted));
  return *biased ? addBias(y, *name, dims, args.range()) : y;
}

/// out[e, y, x] = sum w[e, c, a, b] in[c, y*stride + a - pad, x*stride + b - pad]; the kernel's size follows from the
/// sizes of the picture before and after: K = size + 2 pad - (out - 1) stride.
Value Elaborator::builtinConv2d(CallArgs &args) {
  Dims dims;
  if (!args.check(5, 5, {"stride", "pad", "bias"}))
    return Value::poison();
  Value v = args.tensor(0);
  auto name = args.weightName(1);
  auto biased = wantsBias(args, true);
  if (v.isPoison() || !name || !biased || !args.dims(2, dims))
    return Value::poison();
  auto setting = [&](StringRef word, int64_t otherwise) -> std::optional<int64_t> {
    const Argument *arg = args.named(word);
    return arg ? wholeNumber(args.evalNamed(word), arg->value->range, ("`" + word + "`").str())
               : std::optional(otherwise);
  };
  auto stride = setting("stride", 1), pad = setting("pad", 0);
  if (!stride || !pad)
    return Value::poison();
  Tensor x = emitConvert(v.tensor, Elem::f32, args.range());
  if (x.visible().size() != 3)
    return fail(args.placed[0]->value->range, "`conv2d` needs a picture [C, Y, X], not " + text(x.visible()));
  if (x.lifted)
    return fail(args.range(), "`conv2d` of a picture that is walked is not in this edition of the compiler yet");
  Dims patch{dims[1], dims[2], x.dims[0]}, kernel{dims[0], x.dims[0]}, result{dims[0], dims[1], dims[2]};
  for (size_t i = 1; i <= 2; ++i) {
    if (!isStatic(x.dims[i], args.placed[0]->value->range, "the size of a picture"))
      return Value::poison();
    int64_t size = x.dims[i]->size + 2 * *pad - (dims[i]->size - 1) * *stride;
    if (size < 1 || *stride < 1) {
      Report r = report(args.range(), "no kernel with stride " + llvm::Twine(*stride) + " makes " +
                                          llvm::Twine(dims[i]->size) + " places of " + llvm::Twine(x.dims[i]->size));
      noteOrigin(r, x.dims[i]);
      noteOrigin(r, dims[i]);
      return Value::poison();
    }
    patch.push_back(table.unnamed(size, {args.range(), ""}));
    kernel.push_back(patch.back());
  }
  Location loc = at(args.range());
  Labels labels;
  Labels::List out = labels.give(patch);
  Labels::List in{out[2], labels.give(x.dims[1]), labels.give(x.dims[2])};
  mlir::Value input = materialise(x, args.range());
  PatchesOp op = PatchesOp::create(builder, loc, tensorType(patch, Elem::f32), builder.getI64IntegerAttr(*stride),
                                   builder.getI64IntegerAttr(*pad), ValueRange(input), dimsArray(&context, {in}),
                                   dimsArray(&context, {out}));
  Value w = bindWeight(withSuffix(*name, ".weight"), kernel, false, args.range());
  if (w.isPoison())
    return w;
  Value y = Value::of(emitContract(made(op.getOutput(), patch, 0), w.tensor, result, 0, args.range()));
  if (!*biased)
    return y;
  Value b = bindWeight(withSuffix(*name, ".bias"), {dims[0]}, false, args.range());
  if (b.isPoison())
    return b;
  if (!dims[0]->isNamed()) // by place it would meet the last dimension
    return fail(args.placed[2]->value->range, "the first dimension of a `conv2d` with a bias needs a name");
  return apply(ScalarOp::add, {y, b}, args.range(), "the bias");
}

/// Who looks at a tap gets a tensor a call, along what the caller gave.
bool Elaborator::isShown(CallArgs &args, const Tensor &x) {
  if (isInScan()) {
    report(args.range(), "`tap` cannot stand in a `repeat` over a sequence: it shows one tensor a call")
        .note("`yield` what it shows, and tap that behind the `repeat`");
    return false;
  }
  DimRef kept = keptDimension(x);
  if (!kept)
    return true;
  Report r = report(args.range(), "`tap` shows what is as long as something given, and `" + kept->name +
                                      "` are rows that the session keeps");
  noteOrigin(r, kept);
  return false;
}

Value Elaborator::builtinTap(CallArgs &args) {
  if (!args.check(2, 2))
    return Value::poison();
  Value v = args.tensor(0);
  auto name = evalText(args.placed[1]->value, "the name of a tap");
  if (v.isPoison() || !name || !isShown(args, v.tensor))
    return Value::poison();
  if (name->hasBrace())
    return fail(args.placed[1]->value->range, "the name of a tap has no braces, and this is `" + name->shown() + "`");
  llvm::SmallVector<const Turn *> turns;
  std::string pattern = name->pattern(turns);
  mlir::Value input = materialise(v.tensor, args.range());
  Labels labels;
  Labels::List in = labels.give(v.tensor.dims);
  TapOp::create(builder, at(args.range()), builder.getStringAttr(pattern), valuesOf(turns), ValueRange(input),
                dimsArray(&context, {in}));
  return v;
}

} // namespace attn
