// What sessions keep once: keys and values of an encoder, in repeats, beside caches, shared by functions; look-ups in what is kept.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,15,16,17,63,64,65,129
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,4 --passes=none
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,4 --passes=only
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,4 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --lengths=5,70 --mcpu=x86-64

attn.weight @q {parts = ["q.{0}"], turns = array<i64: 2>} : tensor<2x6x12xf32>
attn.weight @k {parts = ["k.{0}"], turns = array<i64: 2>} : tensor<2x6x12xf32>
attn.weight @v {parts = ["v.{0}"], turns = array<i64: 2>} : tensor<2x6x12xf32>
attn.weight @o {parts = ["o.{0}"], turns = array<i64: 2>} : tensor<12x12xf32>

attn.state once @memory : tensor<?x12xf32>
attn.state once @words : tensor<?xi32>
attn.state once @keys {turns = array<i64: 2>} : tensor<?x2x6xf32>
attn.state once @values {turns = array<i64: 2>} : tensor<?x2x6xf32>
attn.state cache @rows {turns = array<i64: 2>} : tensor<?x12xf32>

// Keys, values and whole numbers are kept; keys of word 0 are hidden. Nothing is cached: queries count from 0 in every call, so the mask
// does not look at them.
func.func @cross(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                 %m: tensor<?x12xf32> {attn.name = "m", attn.dims = #attn.dims<[S, E]>},
                 %w: tensor<?xi32> {attn.name = "w", attn.dims = #attn.dims<[S]>, test.fill = "below 3"})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<12xf32> {attn.dims = #attn.dims<[E]>})
    attributes {attn.export, attn.sequences = ["T", "S"], test.chunks = "T"} {
  %k = attn.once @memory (%m : tensor<?x12xf32> [S, E]) -> tensor<?x12xf32> [M:kept.S, E]
  %n = attn.once @words (%w : tensor<?xi32> [S]) -> tensor<?xi32> [M:kept.S]
  %y = attn.attend softmax scale 0.3 (%x : tensor<?x12xf32> [T, E], %k : tensor<?x12xf32> [M:kept.S, E], %k : tensor<?x12xf32> [M:kept.S, N], %n : tensor<?xi32> [M:kept.S])
      -> tensor<?x12xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %d: tensor<?xi32>):
    %a = attn.at %d[%j] : tensor<?xi32> -> i32
    %zero = arith.constant 0 : i32
    %c = arith.cmpi ne, %a, %zero : i32
    attn.yield %c : i1
  }
  %pos = attn.pos tensor<?xi32> [M:kept.S]
  %z = attn.map (%k : tensor<?x12xf32> [M:kept.S, E], %pos : tensor<?xi32> [M:kept.S]) -> tensor<?x12xf32> [M:kept.S, E] {
  ^bb0(%a: f32, %p: i32):
    %f = arith.sitofp %p : i32 to f32
    %r = arith.mulf %a, %f : f32
    attn.yield %r : f32
  }
  %sum = attn.reduce sum (%z : tensor<?x12xf32> [M:kept.S, E]) -> tensor<12xf32> [E]
  return %y, %sum : tensor<?x12xf32>, tensor<12xf32>
}

// The same place, seen by another function, which calls the sequence otherwise and gives no rows.
func.func @recalls(%m: tensor<?x12xf32> {attn.name = "m", attn.dims = #attn.dims<[U, E]>})
    -> (tensor<12xf32> {attn.dims = #attn.dims<[E]>}) attributes {attn.export, attn.sequences = ["U"], test.after = "cross"} {
  %k = attn.once @memory (%m : tensor<?x12xf32> [U, E]) -> tensor<?x12xf32> [M:kept.U, E]
  %most = attn.reduce max (%k : tensor<?x12xf32> [M:kept.U, E]) -> tensor<12xf32> [E]
  return %most : tensor<12xf32>
}

// A decoder: in each layer a cache, then keys and values of the encoder.
func.func @decode(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                  %m: tensor<?x12xf32> {attn.name = "m", attn.dims = #attn.dims<[S, E]>})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T", "S"], attn.cached = "T"} {
  %y = attn.repeat 0 to 2 (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [T, E] {
  ^bb0(%l: i32, %s: tensor<?x12xf32>):
    %all = attn.cache @rows[%l] (%s : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [A:all.T, E]
    %a = attn.attend softmax scale 0.3 (%s : tensor<?x12xf32> [T, E], %all : tensor<?x12xf32> [A:all.T, E], %all : tensor<?x12xf32> [A:all.T, N]) -> tensor<?x12xf32> [T, N] mask {
    ^bb0(%i: i32, %j: i32, %h: i32):
      %c = arith.cmpi sle, %j, %i : i32
      attn.yield %c : i1
    }
    %q = attn.linear @q[%l] (%a : tensor<?x12xf32> [T, E]) -> tensor<?x2x6xf32> [T, H, D] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %k = attn.linear @k[%l] (%m : tensor<?x12xf32> [S, E]) -> tensor<?x2x6xf32> [S, H, D] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %v = attn.linear @v[%l] (%m : tensor<?x12xf32> [S, E]) -> tensor<?x2x6xf32> [S, H, D] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %ks = attn.once @keys[%l] (%k : tensor<?x2x6xf32> [S, H, D]) -> tensor<?x2x6xf32> [M:kept.S, H, D]
    %vs = attn.once @values[%l] (%v : tensor<?x2x6xf32> [S, H, D]) -> tensor<?x2x6xf32> [M:kept.S, H, D]
    %b = attn.attend softmax scale 0.4 (%q : tensor<?x2x6xf32> [T, H, D], %ks : tensor<?x2x6xf32> [M:kept.S, H, D], %vs : tensor<?x2x6xf32> [M:kept.S, H, N])
        -> tensor<?x2x6xf32> [T, H, N]
    %n = attn.reshape (%b : tensor<?x2x6xf32> [T, H, N]) -> tensor<?x12xf32> [T, E]
    %o = attn.linear @o[%l] (%n : tensor<?x12xf32> [T, E], %s : tensor<?x12xf32> [T, F]) -> tensor<?x12xf32> [T, F] {
    ^bb0(%acc: f32, %old: f32):
      %r = arith.addf %acc, %old : f32
      attn.yield %r : f32
    }
    attn.yield %o : tensor<?x12xf32>
  }
  return %y : tensor<?x12xf32>
}
