// Tensors that do not lie as they are written: parts of a joint projection, turned heads, merged heads, single queries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,15,16,17,63,64,65,129,193
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,17,65 --passes=none
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,17,65 --mcpu=x86-64-v3
//
// Many sequences, most of them short.
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=3,0,1,2,0,0,5,1,1,7,70,2,0,1,4,1,1,0,2,33,1,1,6,0

attn.weight @qkv {parts = ["q", "k", "v"], rows = array<i64: 3, 3, 3>} : tensor<9x8x24xf32>
attn.weight @out {parts = ["out"]} : tensor<24x24xf32>

// One projection, three slices of it, attention, heads merged, projected back, the input added.
func.func @block(%x: tensor<?x24xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %all = attn.linear @qkv (%x : tensor<?x24xf32> [T, E]) -> tensor<?x9x8xf32> [T, N, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %q = attn.slice "N" at 0 (%all : tensor<?x9x8xf32> [T, N, D]) -> tensor<?x3x8xf32> [T, H, D]
  %k = attn.slice "N" at 3 (%all : tensor<?x9x8xf32> [T, N, D]) -> tensor<?x3x8xf32> [T, H, D]
  %v = attn.slice "N" at 6 (%all : tensor<?x9x8xf32> [T, N, D]) -> tensor<?x3x8xf32> [T, H, D]
  %y = attn.attend softmax scale 0.35 (%q : tensor<?x3x8xf32> [T, H, D], %k : tensor<?x3x8xf32> [S:T, H, D],
      %v : tensor<?x3x8xf32> [S:T, H, M]) -> tensor<?x3x8xf32> [T, H, M]
  %m = attn.reshape (%y : tensor<?x3x8xf32> [T, H, D]) -> tensor<?x24xf32> [T, F]
  %z = attn.linear @out (%m : tensor<?x24xf32> [T, F], %x : tensor<?x24xf32> [T, E]) -> tensor<?x24xf32> [T, E] {
  ^bb0(%acc: f32, %old: f32):
    %s = arith.addf %acc, %old : f32
    attn.yield %s : f32
  }
  return %z : tensor<?x24xf32>
}

// Heads first, as [H, T, D] has them, and the row inside out.
func.func @turned(%q: tensor<3x?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[H, T, D]>},
                  %k: tensor<8x3x?xf32> {attn.name = "k", attn.dims = #attn.dims<[D, H, S]>},
                  %v: tensor<3x?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[H, S, N]>})
    -> (tensor<3x?x8xf32> {attn.dims = #attn.dims<[H, T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %a = attn.reshape (%q : tensor<3x?x8xf32> [H, T, D]) -> tensor<?x3x8xf32> [T, H, D]
  %b = attn.reshape (%k : tensor<8x3x?xf32> [D, H, S]) -> tensor<?x3x8xf32> [S, H, D]
  %c = attn.reshape (%v : tensor<3x?x8xf32> [H, S, N]) -> tensor<?x3x8xf32> [S, H, N]
  %y = attn.attend softmax scale 0.35 (%a : tensor<?x3x8xf32> [T, H, D], %b : tensor<?x3x8xf32> [S, H, D],
      %c : tensor<?x3x8xf32> [S, H, N]) -> tensor<?x3x8xf32> [T, H, N]
  %z = attn.reshape (%y : tensor<?x3x8xf32> [T, H, N]) -> tensor<3x?x8xf32> [H, T, N]
  return %z : tensor<3x?x8xf32>
}

// One query, of no sequence; and three keys of no sequence.
func.func @static_sides(%q: tensor<1x2x8xf32> {attn.name = "q", attn.dims = #attn.dims<[A, H, D]>},
                        %x: tensor<?x2x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, H, D]>},
                        %k: tensor<3x8xf32> {attn.name = "k", attn.dims = #attn.dims<[B, D]>})
    -> (tensor<1x2x8xf32> {attn.dims = #attn.dims<[A, H, N]>}, tensor<?x2x8xf32> {attn.dims = #attn.dims<[T, H, N]>},
        tensor<?x2x3xf32> {attn.dims = #attn.dims<[T, H, B]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.attend softmax scale 0.35 (%q : tensor<1x2x8xf32> [A, H, D], %x : tensor<?x2x8xf32> [T, H, D], %x : tensor<?x2x8xf32> [T, H, N])
      -> tensor<1x2x8xf32> [A, H, N]
  %z, %w = attn.attend softmax scale 0.35 weights (%x : tensor<?x2x8xf32> [T, H, D], %k : tensor<3x8xf32> [B, D], %k : tensor<3x8xf32> [B, N])
      -> (tensor<?x2x8xf32> [T, H, N], tensor<?x2x3xf32> [T, H, B])
  return %y, %z, %w : tensor<1x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x3xf32>
}

// Written by hand: products, a scale, a causal mask, softmax; the passes make an attend of it or leave it.
func.func @by_hand(%q: tensor<?x2x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, H, D]>},
                   %k: tensor<?x2x8xf32> {attn.name = "k", attn.dims = #attn.dims<[T, H, D]>},
                   %v: tensor<?x2x8xf32> {attn.name = "v", attn.dims = #attn.dims<[T, H, N]>})
    -> (tensor<?x2x8xf32> {attn.dims = #attn.dims<[T, H, N]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %i = attn.pos tensor<?xi32> [T]
  %s = attn.contract (%q : tensor<?x2x8xf32> [T, H, D], %k : tensor<?x2x8xf32> [S:T, H, D]) -> tensor<2x?x?xf32> [H, T, S:T]
  %m = attn.map (%s : tensor<2x?x?xf32> [H, T, S:T], %i : tensor<?xi32> [T], %i : tensor<?xi32> [S:T]) -> tensor<2x?x?xf32> [H, T, S:T] {
  ^bb0(%e: f32, %a: i32, %b: i32):
    %scale = arith.constant 0.35 : f32
    %low = arith.constant 0xFF800000 : f32
    %f = arith.mulf %e, %scale : f32
    %c = arith.cmpi sle, %b, %a : i32
    %n = arith.select %c, %f, %low : f32
    attn.yield %n : f32
  }
  %w = attn.softmax "S" (%m : tensor<2x?x?xf32> [H, T, S:T]) -> tensor<2x?x?xf32> [H, T, S:T]
  %y = attn.contract (%w : tensor<2x?x?xf32> [H, T, S:T], %v : tensor<?x2x8xf32> [S:T, H, N]) -> tensor<?x2x8xf32> [T, H, N]
  return %y : tensor<?x2x8xf32>
}
