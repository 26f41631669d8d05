//===- TileOps.td - the tile dialect --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile dialect computes on whole tiles of numbers as values: a tile is loaded from raw memory, mapped, reduced,
// multiplied and stored. Nothing here knows a register, a lane, a core or a cache; lowering/cpu/ chooses which dimension
// of a tile lies on the lanes, which tiles get memory and which loops become one.
//
// Tiles have static shapes; `valid` says at run time how much of one counts. Elements of a loaded tile beyond `valid` are
// never read and unspecified, as are all elements that an operation computes beyond its own `valid`: whoever uses a tile
// says with its own `valid` how much it needs, at most what the tile has. Sizes and strides are i64, in elements.
//
// A loaded tile may be read where it is used, not where it is loaded: between the two nothing may change its memory but
// a store of the same elements to the same place.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TILE_OPS_TD
#define ATTN_TILE_OPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attn::tile";
  let summary = "whole tiles as values, with no machine in sight";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect"];
}

def Tile_TileType : TypeDef<Tile_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "a tile of one or two static dimensions of f32, i32, i1 or bf16";
  let description = [{
    `!tile.tile<48x64xf32>`. An i1 takes one byte in memory, 0 or not. Tiles of bf16 come from memory, maps,
    `tile.round` and `tile.packed`; the last two are what products take.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t dim(int64_t d) const { return getShape()[d]; }
  }];
}

def Tile_Pointer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "a pointer", "::mlir::LLVM::LLVMPointerType">,
                   BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;
def Tile_Scalar : AnyTypeOf<[F32, I32, I1, BF16]>;

def Tile_Reduction : I32EnumAttr<"Reduction", "what a reduction computes", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"top", 3>]> {
  let cppNamespace = "::attn::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReductionAttr : EnumAttr<Tile_Dialect, Tile_Reduction, "reduction">;

def Tile_Form : I32EnumAttr<"Form", "how the second operand of a product lies", [
  I32EnumAttrCase<"kn", 0>, I32EnumAttrCase<"nk", 1>]> {
  let cppNamespace = "::attn::tile";
  let genSpecializedAttr = 0;
}
def Tile_FormAttr : EnumAttr<Tile_Dialect, Tile_Form, "form">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "a tile of memory";
  let description = [{
    Element (i, j) is at base + i * strides[0] + j * strides[1], for i < valid[0], j < valid[1]. `of %n` says that n rows lie
    there, the tile's own included: those behind it are likely to be loaded next.

        %x = tile.load %p strides [%s, 1] valid [%n, 64] : !tile.tile<48x64xf32>
  }];
  let arguments = (ins Tile_Pointer:$base, Variadic<I64>:$strides, DenseI64ArrayAttr:$static_strides,
                       Variadic<I64>:$valid, DenseI64ArrayAttr:$static_valid, Optional<I64>:$all);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $base `strides` custom<DynamicIndexList>($strides, $static_strides)
    `valid` custom<DynamicIndexList>($valid, $static_valid) (`of` $all^)? attr-dict `:` type($result)
  }];
  let builders = [OpBuilder<(ins "TileType":$type, "::mlir::Value":$base, "::llvm::ArrayRef<::mlir::OpFoldResult>":$strides,
                                 "::llvm::ArrayRef<::mlir::OpFoldResult>":$valid, CArg<"::mlir::Value", "{}">:$all)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> mixedStrides();
    ::llvm::SmallVector<::mlir::OpFoldResult> mixedValid();
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "writes the valid part of a tile to memory";
  let description = [{ `tile.store %t, %p strides [%s, 1] valid [%n, 64] : !tile.tile<48x64xf32>`; nothing else is written. }];
  let arguments = (ins Tile_TileType:$value, Tile_Pointer:$base, Variadic<I64>:$strides, DenseI64ArrayAttr:$static_strides,
                       Variadic<I64>:$valid, DenseI64ArrayAttr:$static_valid);
  let assemblyFormat = [{
    $value `,` $base `strides` custom<DynamicIndexList>($strides, $static_strides)
    `valid` custom<DynamicIndexList>($valid, $static_valid) attr-dict `:` type($value)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$base, "::llvm::ArrayRef<::mlir::OpFoldResult>":$strides,
                                 "::llvm::ArrayRef<::mlir::OpFoldResult>":$valid)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> mixedStrides();
    ::llvm::SmallVector<::mlir::OpFoldResult> mixedValid();
  }];
  let hasVerifier = 1;
}

def Tile_FillOp : Tile_Op<"fill", [Pure]> {
  let summary = "a tile of one number";
  let description = [{ `%z = tile.fill %zero : f32 -> !tile.tile<48x64xf32>` }];
  let arguments = (ins Tile_Scalar:$scalar);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($scalar) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "a function of the elements of tiles";
  let description = [{
    r[i, j] = f(i, j, a[i, j], b[i, j], …). `f` is the region: index arguments (i32, relative to the tile; one a dimension of
    the result), one scalar argument an input, and scalar `arith`, `math` operations, `tile.at`, `tile.peek`, `scf.for` over
    them; values of the surrounding code are used directly. `along[n]` is the result's dimension along which input n of rank
    1 lies, -1 for an input of the result's shape; no `along` at all means -1 everywhere.

        %r = tile.map (%x, %b) along [-1, 1] valid [%n, 48] : (!tile.tile<8x48xf32>, !tile.tile<48xf32>) -> !tile.tile<8x48xf32> {
        ^bb0(%i: i32, %j: i32, %a: f32, %c: f32):
          %s = arith.addf %a, %c : f32
          tile.yield %s : f32
        }
  }];
  let arguments = (ins Variadic<Tile_TileType>:$inputs, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$along,
                       Variadic<I64>:$valid, DenseI64ArrayAttr:$static_valid);
  let results = (outs Tile_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` (`along` $along^)? `valid` custom<DynamicIndexList>($valid, $static_valid) attr-dict
    `:` functional-type($inputs, $result) $body
  }];
  let builders = [OpBuilder<(ins "TileType":$type, "::mlir::ValueRange":$inputs, "::llvm::ArrayRef<int64_t>":$along,
                                 "::llvm::ArrayRef<::mlir::OpFoldResult>":$valid,
                                 "::llvm::function_ref<::mlir::Value(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange indices, ::mlir::ValueRange elements)>":$body)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> mixedValid();
    /// The result's dimension along which input `n` lies, or -1.
    int64_t inputAlong(size_t n) { return getAlong().empty() ? -1 : getAlong()[n]; }
    ::mlir::Block *block() { return &getBody().front(); }
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, AttrSizedOperandSegments]> {
  let summary = "sum, maximum or minimum along one dimension";
  let description = [{
    `%m = tile.reduce max %s along 1 valid [%n, %k] : !tile.tile<48x64xf32> -> !tile.tile<48xf32>`; of a tile of rank 1: a scalar.
    The order of a sum's additions depends on the valid length along the dimension only; with `ordered` it is a chain in
    ascending order, on any machine and whatever lies on the lanes, that begins with `from`. Over no element: 0, -inf, inf. `top` is `max` that passes
    over NaN, in one instruction.
  }];
  let arguments = (ins Tile_ReductionAttr:$kind, Tile_TileType:$input, I64Attr:$along, UnitAttr:$ordered,
                       Optional<Tile_TileType>:$from, Variadic<I64>:$valid, DenseI64ArrayAttr:$static_valid);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $kind (`ordered` $ordered^)? $input (`from` $from^)? `along` $along `valid` custom<DynamicIndexList>($valid, $static_valid)
    attr-dict `:` type($input) (`,` type($from)^)? `->` type($result)
  }];
  let builders = [OpBuilder<(ins "Reduction":$kind, "::mlir::Value":$input, "int64_t":$along, "::llvm::ArrayRef<::mlir::OpFoldResult>":$valid,
                                 CArg<"bool", "false">:$ordered, CArg<"::mlir::Value", "{}">:$from)>];
  let extraClassDeclaration = [{ ::llvm::SmallVector<::mlir::OpFoldResult> mixedValid(); }];
  let hasVerifier = 1;
}

def Tile_RoundOp : Tile_Op<"round", [Pure]> {
  let summary = "a tile of bfloat16 numbers for a product";
  let description = [{
    `%b = tile.round %a along 1 valid [%n, 64] : !tile.tile<48x64xf32> -> !tile.tile<48x64xbf16>`: each number to the nearest
    bfloat16, of two equally near ones to the even; NaN stays NaN. The tile may be one of bf16 already. `along` is the dimension over which products of the result
    sum, and they sum over all of it that is valid.
  }];
  let arguments = (ins Tile_TileType:$input, I64Attr:$along, Variadic<I64>:$valid, DenseI64ArrayAttr:$static_valid);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $input `along` $along `valid` custom<DynamicIndexList>($valid, $static_valid) attr-dict `:` type($input) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "int64_t":$along, "::llvm::ArrayRef<::mlir::OpFoldResult>":$valid)>];
  let extraClassDeclaration = [{ ::llvm::SmallVector<::mlir::OpFoldResult> mixedValid(); }];
  let hasVerifier = 1;
}

def Tile_PackedOp : Tile_Op<"packed"> {
  let summary = "a tile of packed bfloat16 numbers for a product";
  let description = [{
    `%b = tile.packed %p : !tile.tile<384x48xbf16>`: numbers that a pack function has laid out as products over dimension 0 of
    this machine take them (lowering/PackWeight.h), `%p` at the first; all of them are valid.
  }];
  let arguments = (ins Tile_Pointer:$base);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$base attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [AttrSizedOperandSegments]> {
  let summary = "a product of two tiles, added to a third";
  let description = [{
    r[m, n] = acc[m, n] + sum_k a[m, k] * b[k, n] (form `kn`; b[n, k] in form `nk`), m, n, k below `valid`. Each element is one
    chain of multiply-adds in ascending k that begins with acc (0 without one). With `guard` true, terms whose a[m, k] is
    0 count 0 whatever b holds. `few` says that a has few rows: the lanes go along n, and b is not worth a copy.
    a and b are both of f32 or both of bf16; then products are exact and sums are f32, a chain over pairs of neighbouring k
    from an even one on (how the two of a pair are added is the machine's own way, the same for every product).

        %o2 = tile.dot kn %p, %v, %o guard %g valid [%m, 64, %k] : !tile.tile<48x64xf32>, !tile.tile<64x32xf32> -> !tile.tile<48x32xf32>
  }];
  let arguments = (ins Tile_FormAttr:$form, Tile_TileType:$a, Tile_TileType:$b, Optional<Tile_TileType>:$acc, Optional<I1>:$guard,
                       UnitAttr:$few, Variadic<I64>:$valid, DenseI64ArrayAttr:$static_valid);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $form (`few` $few^)? $a `,` $b (`,` $acc^ `:` type($acc))? (`guard` $guard^)? `valid` custom<DynamicIndexList>($valid, $static_valid) attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "Form":$form, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc, "::mlir::Value":$guard,
                                 "::llvm::ArrayRef<::mlir::OpFoldResult>":$valid, CArg<"bool", "false">:$few)>];
  let extraClassDeclaration = [{ ::llvm::SmallVector<::mlir::OpFoldResult> mixedValid(); }];
  let hasVerifier = 1;
}

def Tile_AtOp : Tile_Op<"at", [Pure]> {
  let summary = "one element of a tile; inside map regions";
  let description = [{ `%a = tile.at %q[%i, %d] : !tile.tile<48x64xf32>`: i32 indices relative to the tile, below what is valid of it. }];
  let arguments = (ins Tile_TileType:$tile, Variadic<I32>:$indices);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$tile `[` $indices `]` attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PeekOp : Tile_Op<"peek", [MemoryEffects<[MemRead]>]> {
  let summary = "one number of memory; inside map regions";
  let description = [{
    `%b = tile.peek %p[%n] : i32 -> f32`: the element at base + index, which must be readable at every element that the map
    computes. For the tensors that a score or mask captures.
  }];
  let arguments = (ins Tile_Pointer:$base, AnyTypeOf<[I32, I64]>:$index);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$base `[` $index `]` attr-dict `:` type($index) `->` type($result)";
}

def Tile_ScaleOp : Tile_Op<"scale", [Pure, AllTypesMatch<["x", "exponent", "result"]>]> {
  let summary = "x times a power of two whose exponent is a float32 of integer value";
  let description = [{
    `%p = tile.scale %x, %e : f32`: x * 2^e. e may be any number of integer value at most 127, huge negative ones too; where
    |x * 2^e| is below 2^-126 the result may be 0. NaN gives NaN. For scalars in map regions and vectors of them.
  }];
  let arguments = (ins AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$x, AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$exponent);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = "$x `,` $exponent attr-dict `:` type($result)";
}

def Tile_ExpOp : Tile_Op<"exp", [Pure, AllTypesMatch<["x", "over", "result"]>]> {
  let summary = "e^x over a power of two";
  let description = [{
    `%p = tile.exp %x over %m : f32`: e^x / 2^m, where m is a whole number, not less than x log2 e rounded. The same bits for
    every m, but for the exponent; below 2^-126 the result may be 0. Of any finite x the result is finite, also where |x| is so
    large (2^23) that neighbouring numbers are further apart than powers of e; -inf gives 0, whatever m, NaN NaN. A `rough` one
    may be off by a part in 9,000 and 2^-23 |x| of it, for what bfloat16 is good enough for. For scalars in map regions and
    vectors of them.
  }];
  let arguments = (ins AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$x, AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$over,
                       UnitAttr:$rough);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = "$x `over` $over (`rough` $rough^)? attr-dict `:` type($result)";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"MapOp">]> {
  let summary = "the value of a map's region";
  let arguments = (ins Tile_Scalar:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif
