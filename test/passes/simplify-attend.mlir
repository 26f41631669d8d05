// RUN: %attn-opt %s --attn-simplify --split-input-file | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-simplify
// attn-simplify: what stands in attention's regions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @trivial_regions
// CHECK-NEXT: attn.attend softmax scale 5.000000e-01 ({{.*}}) -> tensor<?x8xf32> [T, N]{{$}}
func.func @trivial_regions(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %b: tensor<?xf32>) -> tensor<?x8xf32> {
  %y = attn.attend softmax scale 0.5 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %k : tensor<?x8xf32> [S, N], %b : tensor<?xf32> [S]) -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>, %t: tensor<?xf32>):
    attn.yield %s : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %t: tensor<?xf32>):
    %true = arith.constant true
    attn.yield %true : i1
  }
  return %y : tensor<?x8xf32>
}

// -----

// A mask in the score joins the one that is there; what is left scales s.
// CHECK-LABEL: @mask_in_score
// CHECK: attn.attend softmax scale 1.500000e+00
// CHECK-NOT: score
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[i:.*]]: i32, %[[j:.*]]: i32, %{{.*}}: i32, %[[t:.*]]: tensor<?xi32>):
// CHECK:   arith.cmpi ne
// CHECK:   arith.cmpi sgt, %[[j]], %[[i]]
// CHECK:   arith.xori
// CHECK:   arith.andi
// CHECK:   attn.at %[[t]][%[[j]]]
// CHECK:   arith.andi
func.func @mask_in_score(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %b: tensor<?xi32>) -> tensor<?x8xf32> {
  %y = attn.attend softmax scale 0.5 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %k : tensor<?x8xf32> [S, N], %b : tensor<?xi32> [S]) -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>, %t: tensor<?xi32>):
    %three = arith.constant 3.0 : f32
    %none = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %x = arith.mulf %three, %s : f32
    %v = attn.at %t[%j] : tensor<?xi32> -> i32
    %is = arith.cmpi sge, %v, %one : i32
    %bias = arith.select %is, %zero, %none : f32
    %w = arith.addf %bias, %x : f32
    %after = arith.cmpi sgt, %j, %i : i32
    %z = arith.select %after, %none, %w : f32
    attn.yield %z : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %t: tensor<?xi32>):
    %four = arith.constant 4 : i32
    %m = arith.cmpi ne, %j, %four : i32
    attn.yield %m : i1
  }
  return %y : tensor<?x8xf32>
}

// -----

// The condition reads the score: it stays where it is.
// CHECK-LABEL: @no_mask_of_scores
// CHECK: score {
// CHECK: arith.select
// CHECK-NOT: mask
func.func @no_mask_of_scores(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.attend softmax scale 0.5 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %k : tensor<?x8xf32> [S, N]) -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>):
    %none = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %p = attn.fold 8 {
    ^bb0(%d: i32):
      %a = attn.at %c[%d] : tensor<8xf32> -> f32
      attn.yield %a : f32
    }
    %is = arith.cmpf oge, %p, %zero : f32
    %z = arith.select %is, %s, %none : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// q . k written as a sum, with a bias: T5's score.
// CHECK-LABEL: @dot_plus_bias
// CHECK: attn.attend softmax scale 1.000000e+00
// CHECK-NEXT: ^bb0(%[[s:.*]]: f32,
// CHECK-NEXT:   %[[b:.*]] = attn.at
// CHECK-NEXT:   arith.addf %[[s]], %[[b]]
// CHECK-NOT: attn.fold
func.func @dot_plus_bias(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %b: tensor<2xf32>) -> tensor<?x2x8xf32> {
  %y = attn.attend softmax scale 0.25 (%q : tensor<?x2x8xf32> [T, H, D], %k : tensor<?x2x8xf32> [S, H, D], %k : tensor<?x2x8xf32> [S, H, N], %b : tensor<2xf32> [H]) -> tensor<?x2x8xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>, %t: tensor<2xf32>):
    %p = attn.fold 8 {
    ^bb0(%d: i32):
      %a = attn.at %r[%d] : tensor<8xf32> -> f32
      %e = attn.at %c[%d] : tensor<8xf32> -> f32
      %f = arith.mulf %e, %a : f32
      attn.yield %f : f32
    }
    %u = attn.at %t[%h] : tensor<2xf32> -> f32
    %z = arith.addf %p, %u : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x2x8xf32>
}

// -----

// s and the sum side by side: one is a multiple of the other.
// CHECK-LABEL: @dot_beside_s
// CHECK: attn.attend softmax scale 2.500000e-01
// CHECK-NOT: attn.fold
// CHECK: arith.constant 4.0
func.func @dot_beside_s(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.attend softmax scale 0.25 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %k : tensor<?x8xf32> [S, N]) -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>):
    %p = attn.fold 8 {
    ^bb0(%d: i32):
      %a = attn.at %r[%d] : tensor<8xf32> -> f32
      %e = attn.at %c[%d] : tensor<8xf32> -> f32
      %f = arith.mulf %e, %a : f32
      attn.yield %f : f32
    }
    %t = math.tanh %p : f32
    %z = arith.addf %s, %t : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @no_product_of_other_sums
// CHECK: attn.fold
func.func @no_product_of_other_sums(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = attn.attend softmax scale 0.25 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %k : tensor<?x8xf32> [S, N]) -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>):
    %p = attn.fold 4 {
    ^bb0(%d: i32):
      %a = attn.at %r[%d] : tensor<8xf32> -> f32
      %e = attn.at %c[%d] : tensor<8xf32> -> f32
      %f = arith.mulf %e, %a : f32
      attn.yield %f : f32
    }
    attn.yield %p : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// Scales on queries, seen through a reshape, and on keys.
// CHECK-LABEL: @scaled_operands
// CHECK-NOT: attn.map
// CHECK: attn.attend softmax scale 1.250000e-01
func.func @scaled_operands(%x: tensor<?x16xf32>, %k: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %a = attn.map (%x : tensor<?x16xf32> [T, E]) -> tensor<?x16xf32> [T, E] {
  ^bb0(%u: f32):
    %c = arith.constant 2.0 : f32
    %s = arith.divf %u, %c : f32
    attn.yield %s : f32
  }
  %q = attn.reshape (%a : tensor<?x16xf32> [T, E]) -> tensor<?x2x8xf32> [T, H, D]
  %b = attn.map (%k : tensor<?x2x8xf32> [S, H, D]) -> tensor<?x2x8xf32> [S, H, D] {
  ^bb0(%u: f32):
    %c = arith.constant 0.25 : f32
    %s = arith.mulf %c, %u : f32
    attn.yield %s : f32
  }
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x8xf32> [T, H, D], %b : tensor<?x2x8xf32> [S, H, D], %k : tensor<?x2x8xf32> [S, H, N]) -> tensor<?x2x8xf32> [T, H, N]
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: @no_scale_when_rows_are_read
// CHECK: attn.map
func.func @no_scale_when_rows_are_read(%x: tensor<?x8xf32>, %k: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %q = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %c = arith.constant 0.5 : f32
    %s = arith.mulf %u, %c : f32
    attn.yield %s : f32
  }
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %k : tensor<?x8xf32> [S, N]) -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>):
    %zero = arith.constant 0 : i32
    %a = attn.at %r[%zero] : tensor<8xf32> -> f32
    %z = arith.addf %s, %a : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// A bias looked up by distance, transposed: it moves into the score.
// CHECK-LABEL: @look_up_inside
// CHECK-SAME: (%[[x:.*]]: tensor<?x2x8xf32>, %[[t:.*]]: tensor<7x2xf32>)
// CHECK-NEXT: attn.attend softmax scale 1.000000e+00 (%[[x]] : tensor<?x2x8xf32> [T, H, D], %[[x]] : tensor<?x2x8xf32> [S:T, H, D], %[[x]] : tensor<?x2x8xf32> [S:T, H, N], %[[t]] : tensor<7x2xf32> [V, H])
// CHECK-NEXT: ^bb0(%[[s:.*]]: f32, %[[i:.*]]: i32, %[[j:.*]]: i32, %[[h:.*]]: i32, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32>, %[[c:.*]]: tensor<7x2xf32>):
// CHECK:   %[[d:.*]] = arith.subi %[[j]], %[[i]]
// CHECK:   %[[e:.*]] = arith.addi %[[d]]
// CHECK:   attn.at %[[c]][%[[e]], %[[h]]]
func.func @look_up_inside(%x: tensor<?x2x8xf32>, %table: tensor<7x2xf32>) -> tensor<?x2x8xf32> {
  %p = attn.pos tensor<?xi32> [T]
  %d = attn.map (%p : tensor<?xi32> [T], %p : tensor<?xi32> [S:T]) -> tensor<?x?xi32> [T, S:T] {
  ^bb0(%i: i32, %j: i32):
    %three = arith.constant 3 : i32
    %a = arith.subi %j, %i : i32
    %b = arith.addi %a, %three : i32
    attn.yield %b : i32
  }
  %b = attn.gather (%table : tensor<7x2xf32> [V, H], %d : tensor<?x?xi32> [T, S:T]) -> tensor<?x?x2xf32> [T, S:T, H]
  %c = attn.reshape (%b : tensor<?x?x2xf32> [T, S:T, H]) -> tensor<2x?x?xf32> [H, T, S:T]
  %y = attn.attend softmax scale 1.0 (%x : tensor<?x2x8xf32> [T, H, D], %x : tensor<?x2x8xf32> [S:T, H, D], %x : tensor<?x2x8xf32> [S:T, H, N], %c : tensor<2x?x?xf32> [H, T, S:T]) -> tensor<?x2x8xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %k: tensor<8xf32>, %t: tensor<2x?x?xf32>):
    %u = attn.at %t[%h, %i, %j] : tensor<2x?x?xf32> -> f32
    %z = arith.addf %s, %u : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x2x8xf32>
}

// -----

// CHECK-LABEL: @captures_once
// CHECK: (%{{.*}} [T, D], %{{.*}} [S, D], %{{.*}} [S, N], %{{.*}} : tensor<?xf32> [S]) ->
func.func @captures_once(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %b: tensor<?xf32>) -> tensor<?x8xf32> {
  %y = attn.attend softmax scale 0.5 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %k : tensor<?x8xf32> [S, N], %b : tensor<?xf32> [S], %b : tensor<?xf32> [S]) -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %r: tensor<8xf32>, %c: tensor<8xf32>, %t: tensor<?xf32>, %u: tensor<?xf32>):
    %a = attn.at %t[%j] : tensor<?xf32> -> f32
    %e = attn.at %u[%j] : tensor<?xf32> -> f32
    %f = arith.mulf %a, %e : f32
    %z = arith.addf %s, %f : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// A window that widens from turn to turn.
// CHECK-LABEL: @mask_by_turn
// CHECK: ^bb0(%[[l:.*]]: i32, %{{.*}}: tensor<?x8xf32>):
// CHECK-NEXT: attn.attend
// CHECK-SAME: mask {
// CHECK-NEXT: ^bb0(%[[i:.*]]: i32, %[[j:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:   %[[d:.*]] = arith.subi %[[i]], %[[j]]
// CHECK-NEXT:   %[[m:.*]] = arith.cmpi sle, %[[d]], %[[l]]
// CHECK-NEXT:   attn.yield %[[m]]
func.func @mask_by_turn(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = attn.repeat 0 to 3 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %y = attn.attend softmax scale 0.5 (%c : tensor<?x8xf32> [T, D], %c : tensor<?x8xf32> [S:T, D], %c : tensor<?x8xf32> [S:T, N]) -> tensor<?x8xf32> [T, N] score {
    ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %p: tensor<8xf32>, %k: tensor<8xf32>):
      %none = arith.constant 0xFF800000 : f32
      %d = arith.subi %i, %j : i32
      %m = arith.cmpi sle, %d, %l : i32
      %z = arith.select %m, %s, %none : f32
      attn.yield %z : f32
    }
    attn.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

// Places compared in float32, as `fill(0, T, S) + pos` makes them: |i - j + 0| < 3 and j <= i - 1, but not where a number is read.
// CHECK-LABEL: @places
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[i:.*]]: i32, %[[j:.*]]: i32, %{{.*}}: i32, %[[c:.*]]: tensor<?xf32>):
// CHECK: %[[d:.*]] = arith.subi %[[i]], %[[j]] : i32
// CHECK: %[[a:.*]] = math.absi %[[d]] : i32
// CHECK: %[[near:.*]] = arith.cmpi slt, %[[a]], %{{.*}} : i32
// CHECK: %[[b:.*]] = arith.subi %[[i]], %{{.*}} : i32
// CHECK: %[[past:.*]] = arith.cmpi sle, %[[j]], %[[b]] : i32
// CHECK: arith.cmpf olt
func.func @places(%x: tensor<?x8xf32>, %t: tensor<?xf32>) -> tensor<?x8xf32> {
  %y = attn.attend softmax scale 0.5 (%x : tensor<?x8xf32> [T, D], %x : tensor<?x8xf32> [S:T, D], %x : tensor<?x8xf32> [S:T, N], %t : tensor<?xf32> [S:T]) -> tensor<?x8xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %c: tensor<?xf32>):
    %three = arith.constant 3.0 : f32
    %one = arith.constant 1.0 : f32
    %m = arith.sitofp %i : i32 to f32
    %n = arith.sitofp %j : i32 to f32
    %d = arith.subf %m, %n : f32
    %a = math.absf %d : f32
    %near = arith.cmpf olt, %a, %three : f32
    %b = arith.subf %m, %one : f32
    %past = arith.cmpf ole, %n, %b : f32
    %r = attn.at %c[%j] : tensor<?xf32> -> f32
    %low = arith.cmpf olt, %r, %m : f32
    %both = arith.andi %near, %past : i1
    %all = arith.andi %both, %low : i1
    attn.yield %all : i1
  }
  return %y : tensor<?x8xf32>
}
