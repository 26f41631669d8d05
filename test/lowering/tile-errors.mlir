// RUN: %attn-opt %s --split-input-file --verify-diagnostics
// What the tile dialect's verifiers refuse, one demand a function.

// expected-error @below {{a tile has one or two dimensions, not 3}}
func.func private @rank(!tile.tile<2x3x4xf32>)

// -----

// expected-error @below {{a tile's sizes are positive}}
func.func private @size(!tile.tile<0x3xf32>)

// -----

// expected-error @below {{a tile holds f32, i32, i1 or bf16, not 'f64'}}
func.func private @element(!tile.tile<2x3xf64>)

// -----

func.func private @strides(%p: !llvm.ptr) {
  // expected-error @below {{has 1 of `strides`, expected 2}}
  %a = tile.load %p strides [1] valid [2, 3] : <2x3xf32>
  return
}

// -----

func.func private @valid(%p: !llvm.ptr) {
  // expected-error @below {{`valid` 5 exceeds the tile's 3}}
  %a = tile.load %p strides [3, 1] valid [2, 5] : <2x3xf32>
  return
}

// -----

func.func private @fill(%x: i32) {
  // expected-error @below {{fills '!tile.tile<2x3xf32>' with 'i32'}}
  %a = tile.fill %x : i32 -> <2x3xf32>
  return
}

// -----

func.func private @map_shape(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{input 0 has the shape of '!tile.tile<2x3xf32>', not of the result '!tile.tile<2x4xf32>'}}
  %b = tile.map (%a) valid [2, 4] : (!tile.tile<2x3xf32>) -> !tile.tile<2x4xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_along(%a: !tile.tile<3xf32>) {
  // expected-error @below {{input 0 of type '!tile.tile<3xf32>' does not lie along dimension 1 of '!tile.tile<2x4xf32>'}}
  %b = tile.map (%a) along [1] valid [2, 4] : (!tile.tile<3xf32>) -> !tile.tile<2x4xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_along_count(%a: !tile.tile<3xf32>) {
  // expected-error @below {{has 1 inputs and 2 of `along`}}
  %b = tile.map (%a) along [0, 0] valid [3] : (!tile.tile<3xf32>) -> !tile.tile<3xf32> {
  ^bb0(%i: i32, %x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_arguments(%a: !tile.tile<3xf32>) {
  // expected-error @below {{its region takes 1 values, expected 2}}
  %b = tile.map (%a) valid [3] : (!tile.tile<3xf32>) -> !tile.tile<3xf32> {
  ^bb0(%x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_argument(%a: !tile.tile<3xi32>) {
  // expected-error @below {{argument of its region for input 0 has another type}}
  %b = tile.map (%a) valid [3] : (!tile.tile<3xi32>) -> !tile.tile<3xf32> {
  ^bb0(%i: i32, %x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_yield(%a: !tile.tile<3xf32>) {
  // expected-error @below {{its region does not yield 'f32'}}
  %b = tile.map (%a) valid [3] : (!tile.tile<3xf32>) -> !tile.tile<3xf32> {
  ^bb0(%i: i32, %x: f32):
    tile.yield %i : i32
  }
  return
}

// -----

func.func private @reduce_dimension(%a: !tile.tile<3xf32>) {
  // expected-error @below {{has no dimension 1 in '!tile.tile<3xf32>'}}
  %b = tile.reduce sum %a along 1 valid [3] : <3xf32> -> f32
  return
}

// -----

func.func private @reduce_result(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{gives '!tile.tile<3xf32>', expected '!tile.tile<2xf32>'}}
  %b = tile.reduce sum %a along 1 valid [2, 3] : <2x3xf32> -> !tile.tile<3xf32>
  return
}

// -----

func.func private @dot_rank(%a: !tile.tile<3xf32>, %b: !tile.tile<3x2xf32>) {
  // expected-error @below {{multiplies tiles of two dimensions}}
  %c = tile.dot kn %a, %b valid [3, 2, 3] : <3xf32>, <3x2xf32> -> <3x2xf32>
  return
}

// -----

func.func private @dot_mixed(%a: !tile.tile<4x3xf32>, %b: !tile.tile<3x2xf32>) {
  %r = tile.round %b along 0 valid [3, 2] : !tile.tile<3x2xf32> -> !tile.tile<3x2xbf16>
  // expected-error @below {{multiplies f32, or bf16, and gives f32}}
  %c = tile.dot kn %a, %r valid [4, 2, 3] : <4x3xf32>, <3x2xbf16> -> <4x2xf32>
  return
}

// -----

func.func private @dot_along(%a: !tile.tile<4x3xf32>, %b: !tile.tile<3x2xf32>) {
  %l = tile.round %a along 1 valid [4, 3] : !tile.tile<4x3xf32> -> !tile.tile<4x3xbf16>
  %r = tile.round %b along 1 valid [3, 2] : !tile.tile<3x2xf32> -> !tile.tile<3x2xbf16>
  // expected-error @below {{multiplies tiles of bf16 that are not rounded along the dimension it sums over}}
  %c = tile.dot kn %l, %r valid [4, 2, 3] : <4x3xbf16>, <3x2xbf16> -> <4x2xf32>
  return
}

// -----

func.func private @round_type(%a: !tile.tile<4x3xi32>) {
  // expected-error @below {{rounds a tile of two dimensions of f32 to bf16, not '!tile.tile<4x3xi32>' to '!tile.tile<4x3xbf16>'}}
  %b = tile.round %a along 1 valid [4, 3] : !tile.tile<4x3xi32> -> !tile.tile<4x3xbf16>
  return
}

// -----

func.func private @round_along(%a: !tile.tile<4x3xf32>) {
  // expected-error @below {{has no dimension 2 in '!tile.tile<4x3xf32>'}}
  %b = tile.round %a along 2 valid [4, 3] : !tile.tile<4x3xf32> -> !tile.tile<4x3xbf16>
  return
}

// -----

func.func private @packed_type(%p: !llvm.ptr) {
  // expected-error @below {{is a tile of two dimensions of bf16, not '!tile.tile<4x3xf32>'}}
  %b = tile.packed %p : !tile.tile<4x3xf32>
  return
}

// -----

func.func private @round_user(%a: !tile.tile<4x3xf32>, %p: !llvm.ptr) {
  // expected-error @below {{is read by `tile.store`, only products take it}}
  %b = tile.round %a along 1 valid [4, 3] : !tile.tile<4x3xf32> -> !tile.tile<4x3xbf16>
  tile.store %b, %p strides [3, 1] valid [4, 3] : <4x3xbf16>
  return
}

// -----

func.func private @dot_element(%a: !tile.tile<4x3xi32>, %b: !tile.tile<3x2xf32>) {
  // expected-error @below {{multiplies f32, or bf16, and gives f32}}
  %c = tile.dot kn %a, %b valid [4, 2, 3] : <4x3xi32>, <3x2xf32> -> <4x2xf32>
  return
}

// -----

func.func private @dot_shape(%a: !tile.tile<4x3xf32>, %b: !tile.tile<2x5xf32>) {
  // expected-error @below {{shapes do not fit: '!tile.tile<4x3xf32>', '!tile.tile<2x5xf32>' -> '!tile.tile<4x5xf32>'}}
  %c = tile.dot kn %a, %b valid [4, 5, 3] : <4x3xf32>, <2x5xf32> -> <4x5xf32>
  return
}

// -----

func.func private @at(%a: !tile.tile<4x3xf32>, %i: i32) {
  // expected-error @below {{has 1 indices for '!tile.tile<4x3xf32>'}}
  %c = tile.at %a[%i] : <4x3xf32> -> f32
  return
}

// -----

func.func private @at_result(%a: !tile.tile<4xf32>, %i: i32) {
  // expected-error @below {{gives 'i32', expected 'f32'}}
  %c = tile.at %a[%i] : <4xf32> -> i32
  return
}

// -----

func.func private @reduce_ordered(%a: !tile.tile<4x3xf32>) {
  // expected-error @below {{is ordered, but no sum of f32 along one of two dimensions}}
  %c = tile.reduce max ordered %a along 1 valid [4, 3] : <4x3xf32> -> !tile.tile<4xf32>
  return
}

// -----

func.func private @reduce_from(%a: !tile.tile<4x3xf32>, %b: !tile.tile<4xf32>) {
  // expected-error @below {{begins with '!tile.tile<4xf32>', expected an ordered sum and '!tile.tile<4xf32>'}}
  %c = tile.reduce sum %a from %b along 1 valid [4, 3] : !tile.tile<4x3xf32>, !tile.tile<4xf32> -> !tile.tile<4xf32>
  return
}
