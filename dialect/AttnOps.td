//===- AttnOps.td - the operations of the attn dialect --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few operations, only those that passes reason about. Every tensor operation carries the dimension names of each tensor
// operand (`in_dims`) and result (`out_dims`), so it can be read, checked and rewritten alone, like an einsum. Operands
// and results agree by name, never by place: transposition and broadcast are implicit. A consumer may call a dimension
// otherwise than the producer did; renaming costs no operation. Numbered constraints are in docs/dialect.md.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_OPS_TD
#define ATTN_OPS_TD

include "dialect/AttnDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_Tensor : TensorOf<[F32, I32, I1]>;
def Attn_Scalar : AnyTypeOf<[F32, I32, I1]>;
def Attn_DimsArray : TypedArrayAttrBase<Attn_DimsAttr, "dimension names, one entry a tensor">;

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

/// An operation on tensors: `attn.x (%a : type [A, B], …) … -> type [A, B]`.
class Attn_TensorOp<string mnemonic, list<Trait> traits = []> : Attn_Op<mnemonic, traits> {
  code dimsDeclaration = [{
    /// The dimension names of tensor operand `i` and of result `i`.
    ::attn::DimsAttr inDims(size_t i) { return ::llvm::cast<::attn::DimsAttr>(getInDims()[i]); }
    ::attn::DimsAttr outDims(size_t i = 0) { return ::llvm::cast<::attn::DimsAttr>(getOutDims()[i]); }
  }];
  let extraClassDeclaration = dimsDeclaration;
  let hasVerifier = 1;
}

// ------------------------------------------------------------------------------------------------------------ weights

def Attn_WeightOp : Attn_Op<"weight", [Symbol]> {
  let summary = "a named weight of the model file";
  let description = [{
    Declares tensors of the model file under one symbol. `parts` are names in the file, joined along dimension 0 of
    `type`; `{0}`, `{1}` stand for the numbers of the turns of the enclosing repeats (as many as `turns` has entries; each
    entry says how many turns there are). `stored` says how the file lays the tensor out: `out_in` as `type` says,
    `in_out` with the last dimension of `type` first. A dimension of the file may be several neighbouring ones of `type`;
    ones may be missing. `rows` are the sizes of dimension 0 of each part.

        attn.weight @q {parts = ["encoder.layer.{0}.attention.self.query.weight"], turns = array<i64: 6>} : tensor<12x32x384xf32>
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$parts, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rows,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$turns,
                       DefaultValuedStrAttr<StrAttr, "out_in">:$stored, TypeAttrOf<AnyRankedTensor>:$type,
                       OptionalAttr<StrAttr>:$where);
  let assemblyFormat = "$sym_name attr-dict `:` $type";
  let hasVerifier = 1;
}

def Attn_ParamOp : Attn_Op<"param", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a weight as a tensor";
  let description = [{
    `%w = attn.param @wte : tensor<50257x768xf32>`; inside repeats the turns follow: `attn.param @scale[%l] : …`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight, Variadic<I32>:$turns);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$weight (`[` $turns^ `]`)? attr-dict `:` type($output)";
}

// ------------------------------------------------------------------------------------------------- tensor operations

def Attn_PosOp : Attn_TensorOp<"pos", [Pure]> {
  let summary = "positions of the rows of a sequence dimension: past, past + 1, … along the cached one, else 0, 1, …";
  let arguments = (ins Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "custom<Results>(type($output), $out_dims) attr-dict";
  let extraClassDeclaration = [{ ::attn::DimsAttr outDims(size_t i = 0) { return ::llvm::cast<::attn::DimsAttr>(getOutDims()[i]); } }];
}

def Attn_MapOp : Attn_TensorOp<"map", [Pure]> {
  let summary = "an elementwise function of tensors matched by dimension name";
  let description = [{
    out[d…] = f(in0[its d…], in1[its d…], …). Every input dimension is one of the output's. `f` is the region: one block, one
    scalar argument an input, scalar operations of `arith` and `math` only, `attn.yield` at its end. No inputs: a fill.

        %y = attn.map (%x : tensor<?x384xf32> [T, E], %b : tensor<384xf32> [E]) -> tensor<?x384xf32> [T, E] {
        ^bb0(%a: f32, %c: f32):
          %s = arith.addf %a, %c : f32
          attn.yield %s : f32
        }
  }];
  let arguments = (ins Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) $body attr-dict";
  let hasRegionVerifier = 1;
}

def Attn_ReduceOp : Attn_TensorOp<"reduce", [Pure]> {
  let summary = "sum, mean, max or min over the input dimensions that the output lacks";
  let description = [{ `%m = attn.reduce mean (%x : … [T, E]) -> … [T]`. Over no element: 0, 0, -inf, inf. }];
  let arguments = (ins Attn_ReductionAttr:$kind, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$kind custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_ContractOp : Attn_TensorOp<"contract", [Pure]> {
  let summary = "the product of two tensors, summed over the dimensions that the output lacks";
  let description = [{ Every dimension of the output is one of an input; a dimension absent from the output is in both. }];
  let arguments = (ins Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_SoftmaxOp : Attn_TensorOp<"softmax", [Pure]> {
  let summary = "softmax along one dimension; a row that is -inf everywhere (or empty) gives 0";
  let arguments = (ins StrAttr:$along, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$along custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_NormaliseOp : Attn_TensorOp<"normalise", [Pure]> {
  let summary = "layer or RMS normalisation along the last dimension of the first input";
  let description = [{
    layer: (x - mean) * rsqrt(mean((x - mean)^2) + eps) * weight + bias; rms: x * rsqrt(mean(x^2) + eps) * weight.
    Inputs: x, then optionally weight[N], then optionally bias[N]. Made by passes from the text's own arithmetic.
  }];
  let arguments = (ins Attn_NormAttr:$kind, F64Attr:$eps, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$kind `eps` $eps custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_LinearOp : Attn_TensorOp<"linear", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the product of rows with a weight, and a function of it";
  let description = [{
    Inputs: x [.., K], then the epilogue's tensors. acc[r.., n..] = sum_k x[r.., k] * W[n.., k], where W is the weight symbol of
    type tensor<n..xK>; out = epilogue(acc, extra inputs matched by name). Output dims: those of x without its last, then
    those of the weight without its last (in this order, possibly renamed). The epilogue is a region as of `attn.map` whose
    first argument is acc; the empty epilogue yields acc.

        %y = attn.linear @up[%l] (%x : tensor<?x384xf32> [T, E], %b : tensor<1536xf32> [F]) -> tensor<?x1536xf32> [T, F] {
        ^bb0(%acc: f32, %c: f32):
          %s = arith.addf %acc, %c : f32
          attn.yield %s : f32
        }
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight, Variadic<I32>:$turns, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$weight (`[` $turns^ `]`)? custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) $body attr-dict";
  let hasRegionVerifier = 1;
}

def Attn_GatherOp : Attn_TensorOp<"gather", [Pure]> {
  let summary = "rows of a table by number";
  let description = [{
    Inputs: table [A1, .., An, rest..], then n int32 index tensors for its n first dimensions. Output: the dimensions of the
    indices (matched by name, in order of first appearance), then rest. An index outside the table is the caller's error at
    the boundary of the library; inside, it is clamped to the table.
  }];
  let arguments = (ins Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_ReshapeOp : Attn_TensorOp<"reshape", [Pure]> {
  let summary = "`as`: dimensions of one name move, the others are regrouped in order";
  let description = [{
    Dimensions on both sides under one name are the same. The remaining input dimensions, in input order, are the remaining
    output dimensions, in output order, regrouped: one to many or many to one; ones may come and go. Only static
    dimensions regroup. A mere permutation is a reshape too.
  }];
  let arguments = (ins Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_SliceOp : Attn_TensorOp<"slice", [Pure]> {
  let summary = "a constant interval of one dimension, or (when the output lacks it) one place of it";
  let description = [{
    `attn.slice "N" at 384 (%x : tensor<?x1152xf32> [T, N]) -> tensor<?x384xf32> [T, Q]`: the output has the input's
    dimensions, the cut one under any name, its size the length of the interval. Along a sequence dimension only
    one place can be taken; where the sequence is too short for it the result is 0.
  }];
  let arguments = (ins StrAttr:$along, I64Attr:$offset, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$along `at` $offset custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_ConcatOp : Attn_TensorOp<"concat", [Pure]> {
  let summary = "tensors end to end along the static dimension of the output called `along`";
  let description = [{
    `places[i]` names the dimension of input i that is joined. Other dimensions match by name; an input that lacks one is repeated.
  }];
  let arguments = (ins StrAttr:$along, StrArrayAttr:$places, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$along $places custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_PatchesOp : Attn_TensorOp<"patches", [Pure]> {
  let summary = "windows of an image, for convolution as a product";
  let description = [{
    Input [C, Y, X], output [Y2, X2, C, KY, KX]: out[y, x, c, a, b] = in[c, y*stride + a - pad, x*stride + b - pad], 0 outside.
  }];
  let arguments = (ins I64Attr:$stride, DefaultValuedAttr<I64Attr, "0">:$pad, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "`stride` $stride (`pad` $pad^)? custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_AttendOp : Attn_TensorOp<"attend", [Pure]> {
  let summary = "attention: scores, mask, weights, weighted sum of values";
  let description = [{
    Inputs: q [T, heads.., D], k [S, heads'.., D], v [S, heads''.., N], then captured tensors. q's first dimension is the queries and
    its last the row; k's and v's first dimension are the keys (same sequence and length); heads' and heads'' are subsets of
    heads, matched by name. Output 0: y [T, heads.., N]. Then, if `weights`, the weights [T, heads.., S]; then, if `lse`, the log-sum-exp [T, heads..].

    s = scale * sum_d q[d] k[d] if the score region reads its first argument (then rows must have one size).
    score region (s: f32, i: i32, j: i32, h: i32, q: tensor<DxT>, k: tensor<D'xT>, captures…) -> f32; mask region (i, j, h: i32, captures…) -> i1,
    true means visible; sink region (h: i32, captures…) -> f32. Empty regions: score is s, everything is visible, no sink.
    i, j number rows from 0; where the queries are the cached sequence, i begins at `past`. h is the row-major number of q's head.
    Regions hold one block of scalar `arith`, `math` operations, `attn.at` and `attn.fold`.

    softmax: w = exp(s) / (sum exp(s) [+ exp(sink)]) over visible keys; softmax1: 1 is added to the sum; sigmoid: w = sigmoid(s);
    ratio: w = s / sum s, a zero sum gives 0. No visible key: 0. A score of -inf is a hidden place. Hidden keys never
    influence the result, whatever their values. The mask is never folded into the score.
  }];
  let arguments = (ins Attn_WeighAttr:$weigh, F64Attr:$scale, UnitAttr:$weights, UnitAttr:$lse,
                       Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Variadic<Attn_Tensor>:$outputs);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$mask, MaxSizedRegion<1>:$sink);
  let assemblyFormat = [{
    $weigh `scale` $scale (`weights` $weights^)? (`lse` $lse^)? custom<Tensors>($inputs, type($inputs), $in_dims)
    `->` custom<ResultList>(type($outputs), $out_dims) (`score` $score^)? (`mask` $mask^)? (`sink` $sink^)? attr-dict
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = dimsDeclaration # [{
    ::mlir::Value query() { return getInputs()[0]; }
    ::mlir::Value key() { return getInputs()[1]; }
    ::mlir::Value value() { return getInputs()[2]; }
    ::mlir::OperandRange captures() { return getInputs().drop_front(3); }
  }];
}

def Attn_TapOp : Attn_TensorOp<"tap", [AttrSizedOperandSegments]> {
  let summary = "shows a value under a name to whoever asked for it; costs nothing otherwise";
  let description = [{ `attn.tap "hidden.{0}"[%l] (%x : … [T, E])`. Removed by the compiler unless probes are asked for. }];
  let arguments = (ins StrAttr:$name, Variadic<I32>:$turns, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims);
  let assemblyFormat = "$name (`[` $turns^ `]`)? custom<Tensors>($inputs, type($inputs), $in_dims) attr-dict";
  let extraClassDeclaration = [{ ::attn::DimsAttr inDims(size_t i) { return ::llvm::cast<::attn::DimsAttr>(getInDims()[i]); } }];
}

// -------------------------------------------------------------------------------------------------------------- state

def Attn_StateOp : Attn_Op<"state", [Symbol]> {
  let summary = "rows that a session keeps from call to call";
  let description = [{
    Declares a place of the session under one symbol: `cache`, to which every call adds its rows, or `once`, which is filled
    when it is empty. With `turns` it stands for as many places as the enclosing repeats have turns together. The type's
    first dimension counts the rows. Every export that names the symbol sees the same rows.

        attn.state cache @k {turns = array<i64: 12>} : tensor<?x12x64xf32>
  }];
  let arguments = (ins Attn_StateKindAttr:$kind, SymbolNameAttr:$sym_name,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$turns, TypeAttrOf<AnyRankedTensor>:$type);
  let assemblyFormat = "$kind $sym_name attr-dict `:` $type";
  let hasVerifier = 1;
}

def Attn_SessionOp : Attn_TensorOp<"session", [Pure]> {
  let summary = "a number of the session, a tensor without dimensions";
  let description = [{
    `attn.session past -> tensor<i32> []`: how many rows the caches held before this call (0 in a function that caches nothing);
    `capacity`: how many they may hold.
  }];
  let arguments = (ins Attn_SessionNumberAttr:$number, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$number `->` custom<Results>(type($output), $out_dims) attr-dict";
  let extraClassDeclaration = [{ ::attn::DimsAttr outDims(size_t i = 0) { return ::llvm::cast<::attn::DimsAttr>(getOutDims()[i]); } }];
}

class Attn_StateUse<string mnemonic> : Attn_TensorOp<mnemonic, [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins FlatSymbolRefAttr:$state, Variadic<I32>:$turns, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Attn_Tensor:$output);
  let assemblyFormat = "$state (`[` $turns^ `]`)? custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<Results>(type($output), $out_dims) attr-dict";
}

def Attn_CacheOp : Attn_StateUse<"cache"> {
  let summary = "all rows so far: those of earlier calls, then those of this one";
  let description = [{
    `attn.cache @k[%l] (%x : tensor<?x12x64xf32> [T, H, D]) -> tensor<?x12x64xf32> [S:all.T, H, D]`. T is the function's cached
    sequence (`attn.cached`); `all.T` is past + T rows long.
  }];
}

def Attn_OnceOp : Attn_StateUse<"once"> {
  let summary = "the rows of the call that filled the place";
  let description = [{
    `attn.once @m[%l] (%x : tensor<?x12x64xf32> [S, H, D]) -> tensor<?x12x64xf32> [M:kept.S, H, D]`. Where S has rows they are kept
    and are the result; where it has none the result is what was kept. `kept.S` is as many rows long.
  }];
}

// ------------------------------------------------------------------------------------------------------------ control

def Attn_RepeatOp : Attn_Op<"repeat", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the same block for each number of an interval, carrying values along";
  let description = [{
    `%r = attn.repeat 0 to 6 (%x : tensor<?x384xf32> [T, E]) { ^bb0(%l: i32, %c: tensor<?x384xf32>): … attn.yield %n : … }`.
    The block gets the number and the carried values; it yields the next carried values, then the values to stack.
    Results: the last carried values, then the stacked ones with a new first dimension (of size upper - lower).
    `in_dims` name the carried values, `out_dims` all results.
  }];
  let arguments = (ins I64Attr:$lower, I64Attr:$upper, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Variadic<Attn_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$lower `to` $upper custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<ResultList>(type($outputs), $out_dims) $body attr-dict";
  let extraClassDeclaration = [{
    ::attn::DimsAttr inDims(size_t i) { return ::llvm::cast<::attn::DimsAttr>(getInDims()[i]); }
    ::attn::DimsAttr outDims(size_t i = 0) { return ::llvm::cast<::attn::DimsAttr>(getOutDims()[i]); }
    ::mlir::Value turn() { return getBody().front().getArgument(0); }
  }];
  let hasVerifier = 1;
}

def Attn_ScanOp : Attn_Op<"scan", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the same block for each row along a sequence, in order, carrying values along";
  let description = [{
    The first `sources` inputs have the sequence dimension `along` first; the block gets one row of each and the carried
    values, and yields the next carried values, then the values to stack. Results: the last carried values (the first ones if
    there is no row), then the stacked ones with the sequence as their new first dimension.

        %c, %y = attn.scan "T" rows 1 (%e : tensor<?x32xf32> [T, E], %s : tensor<2x16xf32> [L, H])
            -> (tensor<2x16xf32> [L, H], tensor<?x16xf32> [T, H]) { ^bb0(%row: tensor<32xf32>, %state: tensor<2x16xf32>): … }
  }];
  let arguments = (ins StrAttr:$along, I64Attr:$sources, Variadic<Attn_Tensor>:$inputs, Attn_DimsArray:$in_dims, Attn_DimsArray:$out_dims);
  let results = (outs Variadic<Attn_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$along `rows` $sources custom<Tensors>($inputs, type($inputs), $in_dims) `->` custom<ResultList>(type($outputs), $out_dims) $body attr-dict";
  let extraClassDeclaration = [{
    ::attn::DimsAttr inDims(size_t i) { return ::llvm::cast<::attn::DimsAttr>(getInDims()[i]); }
    ::attn::DimsAttr outDims(size_t i = 0) { return ::llvm::cast<::attn::DimsAttr>(getOutDims()[i]); }
    /// The values carried into the first turn.
    ::mlir::OperandRange carried() { return getInputs().drop_front(getSources()); }
  }];
  let hasVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["MapOp", "LinearOp", "AttendOp", "RepeatOp", "ScanOp", "FoldOp"]>]> {
  let summary = "the values of a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ /* nothing to yield */ }]>];
}

// ------------------------------------------------------------------------------- scalar operations inside attend's regions

def Attn_AtOp : Attn_Op<"at", [Pure]> {
  let summary = "one number of a tensor; inside regions of attend only";
  let description = [{ `%b = attn.at %table[%bucket, %h] : tensor<32x8xf32>`. As many int32 indices as dimensions. Not read where an enclosing select or and/or does not need it; an index outside is clamped. }];
  let arguments = (ins Attn_Tensor:$tensor, Variadic<I32>:$indices);
  let results = (outs Attn_Scalar:$result);
  let assemblyFormat = "$tensor `[` $indices `]` attr-dict `:` type($tensor) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_FoldOp : Attn_Op<"fold", [Pure, SingleBlock]> {
  let summary = "a sum, maximum or minimum over the places of a row; inside regions of attend only";
  let description = [{
    `%s = attn.fold 64 { ^bb0(%d: i32): %a = attn.at %q[%d] : … ; … attn.yield %p : f32 }`: the sum of the block's value for d = 0 .. 63;
    with `{kind = #attn<reduction max>}` its maximum.
  }];
  let arguments = (ins I64Attr:$count, DefaultValuedAttr<Attn_ReductionAttr, "::attn::Reduction::sum">:$kind);
  let results = (outs F32:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count $body attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif
