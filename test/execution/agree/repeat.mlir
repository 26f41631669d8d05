// Repeats: several carried values that change places, stacks, a turn's number in regions, repeats inside repeats, no turn.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,15,16,17,63,64,65,129
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,17,65 --passes=none
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,17,65 --mcpu=x86-64-v3

attn.weight @square {parts = ["square.{0}.{1}"], turns = array<i64: 3, 2>} : tensor<8x8xf32>
attn.weight @scale {parts = ["scale.{0}"], turns = array<i64: 3>} : tensor<8xf32>

func.func @swapped(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                   %y: tensor<?x8xf32> {attn.name = "y", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>},
        tensor<3x?x8xf32> {attn.dims = #attn.dims<[N, T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %a, %b, %all = attn.repeat 0 to 3 (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E])
      -> (tensor<?x8xf32> [T, E], tensor<?x8xf32> [T, E], tensor<3x?x8xf32> [N, T, E]) {
  ^bb0(%l: i32, %p: tensor<?x8xf32>, %q: tensor<?x8xf32>):
    %w = attn.param @scale[%l] : tensor<8xf32>
    %s = attn.map (%p : tensor<?x8xf32> [T, E], %q : tensor<?x8xf32> [T, E], %w : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%u: f32, %v: f32, %z: f32):
      %n = arith.sitofp %l : i32 to f32
      %m = arith.mulf %u, %z : f32
      %r = arith.addf %m, %v : f32
      %o = arith.addf %r, %n : f32
      attn.yield %o : f32
    }
    attn.yield %q, %s, %p : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %a, %b, %all : tensor<?x8xf32>, tensor<?x8xf32>, tensor<3x?x8xf32>
}

func.func @nested(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.repeat 0 to 3 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %z = attn.repeat 0 to 2 (%c : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%m: i32, %d: tensor<?x8xf32>):
      %e = attn.linear @square[%l, %m] (%d : tensor<?x8xf32> [T, E], %c : tensor<?x8xf32> [T, F]) -> tensor<?x8xf32> [T, F] {
      ^bb0(%acc: f32, %old: f32):
        %s = arith.addf %acc, %old : f32
        attn.yield %s : f32
      }
      attn.yield %e : tensor<?x8xf32>
    }
    attn.yield %z : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// A value from outside that every turn reads, attention in each.
func.func @attending(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                     %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, E]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.repeat 0 to 3 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %a = attn.attend softmax scale 0.35 (%c : tensor<?x8xf32> [T, E], %k : tensor<?x8xf32> [S, E], %k : tensor<?x8xf32> [S, N])
        -> tensor<?x8xf32> [T, N]
    %z = attn.map (%a : tensor<?x8xf32> [T, E], %c : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %v : f32
      attn.yield %s : f32
    }
    attn.yield %z : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

func.func @no_turn(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.repeat 1 to 1 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %z = attn.reduce sum (%c : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
    %w = attn.map (%z : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%u: f32):
      attn.yield %u : f32
    }
    attn.yield %w : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
