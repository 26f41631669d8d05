// Scans: recurrent states, several sources, stacks and none, rows of several ranks, repeats and attention inside, scans inside of repeats.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,15,16,17,63,64,65,129
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,17,65,4 --passes=none
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,17,65,4 --passes=only
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=0,1,17,65,4 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --tolerance=5e-6 --lengths=5,70 --mcpu=x86-64

attn.weight @in {parts = ["in"]} : tensor<3x10x12xf32>
attn.weight @hidden {parts = ["hidden"]} : tensor<3x10x10xf32>
attn.weight @bias {parts = ["bias"]} : tensor<3x10xf32>
attn.weight @out {parts = ["out"]} : tensor<7x10xf32>
attn.weight @layer {parts = ["layer.{0}"], turns = array<i64: 2>} : tensor<10x10xf32>
attn.weight @query {parts = ["query"]} : tensor<12x10xf32>

// A GRU: reset and update gates, a candidate; the state comes from the call before, every state is shown through a product.
func.func @gru(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
               %s: tensor<10xf32> {attn.name = "s", attn.dims = #attn.dims<[H]>, test.carry = 1})
    -> (tensor<?x7xf32> {attn.dims = #attn.dims<[T, V]>}, tensor<10xf32> {attn.dims = #attn.dims<[H]>})
    attributes {attn.export, attn.sequences = ["T"], test.chunks = "T"} {
  %bias = attn.param @bias : tensor<3x10xf32>
  %c, %y = attn.scan "T" rows 1 (%x : tensor<?x12xf32> [T, E], %s : tensor<10xf32> [H]) -> (tensor<10xf32> [H], tensor<?x7xf32> [T, V]) {
  ^bb0(%row: tensor<12xf32>, %h: tensor<10xf32>):
    %a = attn.linear @in (%row : tensor<12xf32> [E], %bias : tensor<3x10xf32> [G, H]) -> tensor<3x10xf32> [G, H] {
    ^bb0(%acc: f32, %b: f32):
      %r = arith.addf %acc, %b : f32
      attn.yield %r : f32
    }
    %b = attn.linear @hidden (%h : tensor<10xf32> [K]) -> tensor<3x10xf32> [G, H] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %ra = attn.slice "G" at 0 (%a : tensor<3x10xf32> [G, H]) -> tensor<10xf32> [H]
    %rb = attn.slice "G" at 0 (%b : tensor<3x10xf32> [G, H]) -> tensor<10xf32> [H]
    %za = attn.slice "G" at 1 (%a : tensor<3x10xf32> [G, H]) -> tensor<10xf32> [H]
    %zb = attn.slice "G" at 1 (%b : tensor<3x10xf32> [G, H]) -> tensor<10xf32> [H]
    %na = attn.slice "G" at 2 (%a : tensor<3x10xf32> [G, H]) -> tensor<10xf32> [H]
    %nb = attn.slice "G" at 2 (%b : tensor<3x10xf32> [G, H]) -> tensor<10xf32> [H]
    %n = attn.map (%ra : tensor<10xf32> [H], %rb : tensor<10xf32> [H], %za : tensor<10xf32> [H], %zb : tensor<10xf32> [H],
                   %na : tensor<10xf32> [H], %nb : tensor<10xf32> [H], %h : tensor<10xf32> [H]) -> tensor<10xf32> [H] {
    ^bb0(%u0: f32, %u1: f32, %u2: f32, %u3: f32, %u4: f32, %u5: f32, %old: f32):
      %one = arith.constant 1.0 : f32
      %r0 = arith.addf %u0, %u1 : f32
      %r1 = arith.negf %r0 : f32
      %r2 = math.exp %r1 : f32
      %r3 = arith.addf %r2, %one : f32
      %r = arith.divf %one, %r3 : f32
      %z0 = arith.addf %u2, %u3 : f32
      %z1 = arith.negf %z0 : f32
      %z2 = math.exp %z1 : f32
      %z3 = arith.addf %z2, %one : f32
      %z = arith.divf %one, %z3 : f32
      %c0 = arith.mulf %r, %u5 : f32
      %c1 = arith.addf %u4, %c0 : f32
      %c = math.tanh %c1 : f32
      %d = arith.subf %old, %c : f32
      %e = arith.mulf %z, %d : f32
      %f = arith.addf %c, %e : f32
      attn.yield %f : f32
    }
    %o = attn.linear @out (%n : tensor<10xf32> [H]) -> tensor<7xf32> [V] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    attn.yield %n, %o : tensor<10xf32>, tensor<7xf32>
  }
  return %y, %c : tensor<?x7xf32>, tensor<10xf32>
}

// Three sources of ranks 3, 2 and 1, one of whole numbers; two carried values that change places; two stacks.
func.func @sources(%x: tensor<?x2x6xf32> {attn.name = "x", attn.dims = #attn.dims<[T, A, B]>},
                   %y: tensor<?x6xf32> {attn.name = "y", attn.dims = #attn.dims<[T, B]>},
                   %n: tensor<?xi32> {attn.name = "n", attn.dims = #attn.dims<[T]>},
                   %s: tensor<6xf32> {attn.name = "s", attn.dims = #attn.dims<[B]>, test.carry = 2},
                   %u: tensor<6xf32> {attn.name = "u", attn.dims = #attn.dims<[B]>, test.carry = 3})
    -> (tensor<?x2x6xf32> {attn.dims = #attn.dims<[T, A, B]>}, tensor<?xi32> {attn.dims = #attn.dims<[T]>}, tensor<6xf32> {attn.dims = #attn.dims<[B]>},
        tensor<6xf32> {attn.dims = #attn.dims<[B]>}) attributes {attn.export, attn.sequences = ["T"], test.chunks = "T"} {
  %p, %q, %z, %m = attn.scan "T" rows 3 (%x : tensor<?x2x6xf32> [T, A, B], %y : tensor<?x6xf32> [T, B], %n : tensor<?xi32> [T], %s : tensor<6xf32> [B], %u : tensor<6xf32> [B])
      -> (tensor<6xf32> [B], tensor<6xf32> [B], tensor<?x2x6xf32> [T, A, B], tensor<?xi32> [T]) {
  ^bb0(%a: tensor<2x6xf32>, %b: tensor<6xf32>, %i: tensor<i32>, %c: tensor<6xf32>, %d: tensor<6xf32>):
    %e = attn.map (%c : tensor<6xf32> [B], %b : tensor<6xf32> [B], %i : tensor<i32> []) -> tensor<6xf32> [B] {
    ^bb0(%r: f32, %t: f32, %k: i32):
      %f = arith.sitofp %k : i32 to f32
      %half = arith.constant 0.5 : f32
      %g = arith.mulf %r, %half : f32
      %h = arith.mulf %t, %f : f32
      %o = arith.addf %g, %h : f32
      attn.yield %o : f32
    }
    %f = attn.map (%a : tensor<2x6xf32> [A, B], %e : tensor<6xf32> [B], %d : tensor<6xf32> [B]) -> tensor<2x6xf32> [A, B] {
    ^bb0(%r: f32, %t: f32, %v: f32):
      %o = arith.mulf %r, %t : f32
      %w = arith.subf %o, %v : f32
      attn.yield %w : f32
    }
    %g = attn.map (%i : tensor<i32> []) -> tensor<i32> [] {
    ^bb0(%k: i32):
      %two = arith.constant 2 : i32
      %o = arith.muli %k, %two : i32
      attn.yield %o : i32
    }
    attn.yield %d, %e, %f, %g : tensor<6xf32>, tensor<6xf32>, tensor<2x6xf32>, tensor<i32>
  }
  return %z, %m, %p, %q : tensor<?x2x6xf32>, tensor<?xi32>, tensor<6xf32>, tensor<6xf32>
}

// Layers of state: a repeat inside of each turn, over a carried value of rank 2 whose rows it takes and stacks.
func.func @layers(%x: tensor<?x10xf32> {attn.name = "x", attn.dims = #attn.dims<[T, H]>},
                  %s: tensor<2x10xf32> {attn.name = "s", attn.dims = #attn.dims<[L, H]>, test.carry = 1})
    -> (tensor<?x10xf32> {attn.dims = #attn.dims<[T, H]>}, tensor<2x10xf32> {attn.dims = #attn.dims<[L, H]>})
    attributes {attn.export, attn.sequences = ["T"], test.chunks = "T"} {
  %c, %y = attn.scan "T" rows 1 (%x : tensor<?x10xf32> [T, H], %s : tensor<2x10xf32> [L, H]) -> (tensor<2x10xf32> [L, H], tensor<?x10xf32> [T, H]) {
  ^bb0(%row: tensor<10xf32>, %state: tensor<2x10xf32>):
    %top, %all = attn.repeat 0 to 2 (%row : tensor<10xf32> [H]) -> (tensor<10xf32> [H], tensor<2x10xf32> [L, H]) {
    ^bb0(%l: i32, %v: tensor<10xf32>):
      %i = attn.map () -> tensor<i32> [] {
        attn.yield %l : i32
      }
      %own = attn.gather (%state : tensor<2x10xf32> [L, H], %i : tensor<i32> []) -> tensor<10xf32> [H]
      %n = attn.linear @layer[%l] (%own : tensor<10xf32> [K], %v : tensor<10xf32> [H]) -> tensor<10xf32> [H] {
      ^bb0(%acc: f32, %below: f32):
        %r = arith.addf %acc, %below : f32
        %t = math.tanh %r : f32
        attn.yield %t : f32
      }
      attn.yield %n, %n : tensor<10xf32>, tensor<10xf32>
    }
    attn.yield %all, %top : tensor<2x10xf32>, tensor<10xf32>
  }
  return %y, %c : tensor<?x10xf32>, tensor<2x10xf32>
}

// Bahdanau: every step looks back at the source through an additive score; its weights are shown.
func.func @looks(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                 %m: tensor<?x12xf32> {attn.name = "m", attn.dims = #attn.dims<[S, E]>},
                 %s: tensor<10xf32> {attn.name = "s", attn.dims = #attn.dims<[H]>, test.carry = 2})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x?xf32> {attn.dims = #attn.dims<[T, S]>}, tensor<10xf32> {attn.dims = #attn.dims<[H]>})
    attributes {attn.export, attn.sequences = ["T", "S"], test.chunks = "T"} {
  %c, %y, %w = attn.scan "T" rows 1 (%x : tensor<?x12xf32> [T, E], %s : tensor<10xf32> [H])
      -> (tensor<10xf32> [H], tensor<?x12xf32> [T, E], tensor<?x?xf32> [T, S]) {
  ^bb0(%row: tensor<12xf32>, %h: tensor<10xf32>):
    %q = attn.linear @query (%h : tensor<10xf32> [H], %row : tensor<12xf32> [E]) -> tensor<12xf32> [E] {
    ^bb0(%acc: f32, %e: f32):
      %r = arith.addf %acc, %e : f32
      attn.yield %r : f32
    }
    %q2 = attn.reshape (%q : tensor<12xf32> [E]) -> tensor<1x12xf32> [Q, E]
    %a, %u = attn.attend softmax scale 1.0 weights (%q2 : tensor<1x12xf32> [Q, E], %m : tensor<?x12xf32> [S, E], %m : tensor<?x12xf32> [S, N])
        -> (tensor<1x12xf32> [Q, N], tensor<1x?xf32> [Q, S]) score {
    ^bb0(%d: f32, %i: i32, %j: i32, %hd: i32, %qr: tensor<12xf32>, %kr: tensor<12xf32>):
      %f = attn.fold 12 {
      ^bb0(%p: i32):
        %v0 = attn.at %qr[%p] : tensor<12xf32> -> f32
        %v1 = attn.at %kr[%p] : tensor<12xf32> -> f32
        %v2 = arith.addf %v0, %v1 : f32
        %v3 = math.tanh %v2 : f32
        attn.yield %v3 : f32
      }
      attn.yield %f : f32
    }
    %a1 = attn.reshape (%a : tensor<1x12xf32> [Q, N]) -> tensor<12xf32> [N]
    %u1 = attn.reshape (%u : tensor<1x?xf32> [Q, S]) -> tensor<?xf32> [S]
    %in = attn.linear @in (%a1 : tensor<12xf32> [E]) -> tensor<3x10xf32> [G, H] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %first = attn.slice "G" at 0 (%in : tensor<3x10xf32> [G, H]) -> tensor<10xf32> [H]
    %n = attn.map (%h : tensor<10xf32> [H], %first : tensor<10xf32> [H]) -> tensor<10xf32> [H] {
    ^bb0(%p: f32, %r: f32):
      %t = arith.addf %p, %r : f32
      %v = math.tanh %t : f32
      attn.yield %v : f32
    }
    attn.yield %n, %a1, %u1 : tensor<10xf32>, tensor<12xf32>, tensor<?xf32>
  }
  return %y, %w, %c : tensor<?x12xf32>, tensor<?x?xf32>, tensor<10xf32>
}

// Scans inside of a repeat; the second one stacks nothing, the third carries nothing. Softmax and normalisation of a row.
func.func @within(%x: tensor<?x10xf32> {attn.name = "x", attn.dims = #attn.dims<[T, H]>})
    -> (tensor<?x10xf32> {attn.dims = #attn.dims<[T, H]>}, tensor<2x10xf32> {attn.dims = #attn.dims<[L, H]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %zero = arith.constant dense<0.0> : tensor<10xf32>
  %y, %sums = attn.repeat 0 to 2 (%x : tensor<?x10xf32> [T, H]) -> (tensor<?x10xf32> [T, H], tensor<2x10xf32> [L, H]) {
  ^bb0(%l: i32, %v: tensor<?x10xf32>):
    %c, %z = attn.scan "T" rows 1 (%v : tensor<?x10xf32> [T, H], %zero : tensor<10xf32> [H]) -> (tensor<10xf32> [H], tensor<?x10xf32> [T, H]) {
    ^bb0(%row: tensor<10xf32>, %s: tensor<10xf32>):
      %n = attn.linear @layer[%l] (%s : tensor<10xf32> [K], %row : tensor<10xf32> [H]) -> tensor<10xf32> [H] {
      ^bb0(%acc: f32, %below: f32):
        %k = arith.sitofp %l : i32 to f32
        %r = arith.addf %acc, %below : f32
        %q = arith.addf %r, %k : f32
        %t = math.tanh %q : f32
        attn.yield %t : f32
      }
      %m = attn.normalise layer eps 1.0e-3 (%n : tensor<10xf32> [H]) -> tensor<10xf32> [H]
      attn.yield %n, %m : tensor<10xf32>, tensor<10xf32>
    }
    %sum = attn.scan "T" rows 1 (%z : tensor<?x10xf32> [T, H], %c : tensor<10xf32> [H]) -> tensor<10xf32> [H] {
    ^bb0(%row: tensor<10xf32>, %s: tensor<10xf32>):
      %n = attn.map (%row : tensor<10xf32> [H], %s : tensor<10xf32> [H]) -> tensor<10xf32> [H] {
      ^bb0(%p: f32, %r: f32):
        %half = arith.constant 0.5 : f32
        %t = arith.mulf %r, %half : f32
        %o = arith.addf %p, %t : f32
        attn.yield %o : f32
      }
      attn.yield %n : tensor<10xf32>
    }
    %w = attn.scan "T" rows 1 (%z : tensor<?x10xf32> [T, H]) -> tensor<?x10xf32> [T, H] {
    ^bb0(%row: tensor<10xf32>):
      %n = attn.softmax "H" (%row : tensor<10xf32> [H]) -> tensor<10xf32> [H]
      attn.yield %n : tensor<10xf32>
    }
    attn.yield %w, %sum : tensor<?x10xf32>, tensor<10xf32>
  }
  return %y, %sums : tensor<?x10xf32>, tensor<2x10xf32>
}

// The carried value is itself as long as a sequence, another one than the scan's.
func.func @ragged(%x: tensor<?x10xf32> {attn.name = "x", attn.dims = #attn.dims<[T, H]>},
                  %m: tensor<?x10xf32> {attn.name = "m", attn.dims = #attn.dims<[S, H]>, test.carry = 0})
    -> (tensor<?x10xf32> {attn.dims = #attn.dims<[S, H]>}, tensor<?x?xf32> {attn.dims = #attn.dims<[T, S]>})
    attributes {attn.export, attn.sequences = ["T", "S"], test.chunks = "T"} {
  %c, %y = attn.scan "T" rows 1 (%x : tensor<?x10xf32> [T, H], %m : tensor<?x10xf32> [S, H]) -> (tensor<?x10xf32> [S, H], tensor<?x?xf32> [T, S]) {
  ^bb0(%row: tensor<10xf32>, %s: tensor<?x10xf32>):
    %n = attn.map (%s : tensor<?x10xf32> [S, H], %row : tensor<10xf32> [H]) -> tensor<?x10xf32> [S, H] {
    ^bb0(%p: f32, %r: f32):
      %half = arith.constant 0.5 : f32
      %t = arith.mulf %p, %half : f32
      %o = arith.addf %t, %r : f32
      attn.yield %o : f32
    }
    %w = attn.contract (%n : tensor<?x10xf32> [S, H], %row : tensor<10xf32> [H]) -> tensor<?xf32> [S]
    attn.yield %n, %w : tensor<?x10xf32>, tensor<?xf32>
  }
  return %c, %y : tensor<?x10xf32>, tensor<?x?xf32>
}
