// RUN: %attn-opt %s --attn-recognise-attention --attn-simplify --split-input-file | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-recognise-attention,attn-simplify
// attn-recognise-attention: the ways to write attention by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CHECK-LABEL: @plain
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} : tensor<?x4x16xf32> [T, H, D], %{{.*}} : tensor<?x4x16xf32> [S, H, D], %{{.*}} : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
// CHECK-NOT: score
func.func @plain(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @scaled
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 2.500000e-01 (
// CHECK-NOT: score
func.func @scaled(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %t = attn.map (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32):
    %c = arith.constant 4.0 : f32
    %d = arith.divf %a, %c : f32
    attn.yield %d : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @bias_by_head_and_key
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 2.500000e-01
// CHECK: score {
// CHECK: ^bb0(%[[s:.*]]: f32, %{{.*}}: i32, %[[j:.*]]: i32, %[[h:.*]]: i32, %{{.*}}: tensor<16xf32>, %{{.*}}: tensor<16xf32>, %[[b:.*]]: tensor<?x4xf32>):
// CHECK-NEXT: %[[e:.*]] = attn.at %[[b]][%[[j]], %[[h]]]
// CHECK-NEXT: arith.addf %[[s]], %[[e]]
func.func @bias_by_head_and_key(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}, %b: tensor<?x4xf32> {attn.dims = #attn.dims<[S, H]>, attn.name = "b"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %t = attn.map (%s : tensor<?x4x?xf32> [T, H, S], %b : tensor<?x4xf32> [S, H]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %e: f32):
    %c = arith.constant 0.25 : f32
    %d = arith.mulf %a, %c : f32
    %f = arith.addf %d, %e : f32
    attn.yield %f : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @mask_by_select
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax
// CHECK-NOT: score
// CHECK: mask {
// CHECK: ^bb0(%{{.*}}: i32, %[[j:.*]]: i32, %{{.*}}: i32, %[[b:.*]]: tensor<?xi32>):
// CHECK: attn.at %[[b]][%[[j]]]
// CHECK: arith.cmpi
func.func @mask_by_select(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}, %b: tensor<?xi32> {attn.dims = #attn.dims<[S]>, attn.name = "b"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %t = attn.map (%s : tensor<?x4x?xf32> [T, H, S], %b : tensor<?xi32> [S]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %e: i32):
    %none = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %e, %zero : i32
    %f = arith.select %c, %a, %none : f32
    attn.yield %f : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @dimensions_in_any_order
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax
// CHECK: attn.reshape
func.func @dimensions_in_any_order(%q: tensor<4x?x16xf32> {attn.dims = #attn.dims<[H, T, D]>, attn.name = "q"}, %k: tensor<16x4x?xf32> {attn.dims = #attn.dims<[D, H, S]>, attn.name = "k"}, %v: tensor<4x?x24xf32> {attn.dims = #attn.dims<[H, S, N]>, attn.name = "v"}) -> (tensor<4x?x24xf32> {attn.dims = #attn.dims<[H, T, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%k : tensor<16x4x?xf32> [D, H, S], %q : tensor<4x?x16xf32> [H, T, D]) -> tensor<4x?x?xf32> [H, T, S]
  %w = attn.softmax "S" (%s : tensor<4x?x?xf32> [H, T, S]) -> tensor<4x?x?xf32> [H, T, S]
  %y = attn.contract (%v : tensor<4x?x24xf32> [H, S, N], %w : tensor<4x?x?xf32> [H, T, S]) -> tensor<4x?x24xf32> [H, T, N]
  return %y : tensor<4x?x24xf32>
}

// -----
// CHECK-LABEL: @grouped_heads
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} : tensor<?x2x3x16xf32> [T, G, R, D], %{{.*}} : tensor<?x2x16xf32> [S, G, D], %{{.*}} : tensor<?x2x24xf32> [S, G, N]) -> tensor<?x2x3x24xf32> [T, G, R, N]
func.func @grouped_heads(%q: tensor<?x2x3x16xf32> {attn.dims = #attn.dims<[T, G, R, D]>, attn.name = "q"}, %k: tensor<?x2x16xf32> {attn.dims = #attn.dims<[S, G, D]>, attn.name = "k"}, %v: tensor<?x2x24xf32> {attn.dims = #attn.dims<[S, G, N]>, attn.name = "v"}) -> (tensor<?x2x3x24xf32> {attn.dims = #attn.dims<[T, G, R, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x2x3x16xf32> [T, G, R, D], %k : tensor<?x2x16xf32> [S, G, D]) -> tensor<?x2x3x?xf32> [T, G, R, S]
  %w = attn.softmax "S" (%s : tensor<?x2x3x?xf32> [T, G, R, S]) -> tensor<?x2x3x?xf32> [T, G, R, S]
  %y = attn.contract (%w : tensor<?x2x3x?xf32> [T, G, R, S], %v : tensor<?x2x24xf32> [S, G, N]) -> tensor<?x2x3x24xf32> [T, G, R, N]
  return %y : tensor<?x2x3x24xf32>
}

// -----
// Rows of two dimensions, values of two, one query of each head.
// CHECK-LABEL: @rows_and_values_of_two_dimensions
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} : tensor<1x4x6xf32> [Q, H, D], %{{.*}} : tensor<?x4x6xf32> [S, H, D], %{{.*}} : tensor<?x4x10xf32> [S, H, N]) -> tensor<1x4x10xf32> [Q, H, N]
// CHECK: attn.reshape {{.*}} -> tensor<4x5x2xf32> [H, A, B]
func.func @rows_and_values_of_two_dimensions(%q: tensor<4x2x3xf32>, %k: tensor<?x4x3x2xf32>, %v: tensor<?x5x4x2xf32>) -> tensor<4x5x2xf32> {
  %s = attn.contract (%q : tensor<4x2x3xf32> [H, X, Y], %k : tensor<?x4x3x2xf32> [S, H, Y, X]) -> tensor<4x?xf32> [H, S]
  %w = attn.softmax "S" (%s : tensor<4x?xf32> [H, S]) -> tensor<4x?xf32> [H, S]
  %y = attn.contract (%w : tensor<4x?xf32> [H, S], %v : tensor<?x5x4x2xf32> [S, A, H, B]) -> tensor<4x5x2xf32> [H, A, B]
  return %y : tensor<4x5x2xf32>
}

// -----
// Keys, queries and values that are numbers.
// CHECK-LABEL: @rows_of_no_dimension
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} : tensor<?x1xf32> [T, D], %{{.*}} : tensor<?x1xf32> [S, D], %{{.*}} : tensor<?x1xf32> [S, N]) -> tensor<?x1xf32> [T, N]
// CHECK: attn.reshape {{.*}} -> tensor<?xf32> [T]
func.func @rows_of_no_dimension(%q: tensor<?xf32>, %k: tensor<?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
  %s = attn.contract (%q : tensor<?xf32> [T], %k : tensor<?xf32> [S]) -> tensor<?x?xf32> [T, S]
  %w = attn.softmax "S" (%s : tensor<?x?xf32> [T, S]) -> tensor<?x?xf32> [T, S]
  %y = attn.contract (%w : tensor<?x?xf32> [T, S], %v : tensor<?xf32> [S]) -> tensor<?xf32> [T]
  return %y : tensor<?xf32>
}

// -----
// A causal mask made of positions by hand: nothing of the size queries x keys is left.
// CHECK-LABEL: @causal_by_hand
// CHECK-SAME: (%[[q:.*]]: tensor<?x8xf32>, %[[k:.*]]: tensor<?x8xf32> {{{.*}}}, %[[v:.*]]: tensor<?x8xf32> {{{.*}}})
// CHECK-NEXT: %[[y:.*]] = attn.attend softmax scale 5.000000e-01 (%[[q]] : tensor<?x8xf32> [T, D], %[[k]] : tensor<?x8xf32> [S:T, D], %[[v]] : tensor<?x8xf32> [S:T, N]) -> tensor<?x8xf32> [T, N] mask {
// CHECK-NEXT: ^bb0(%[[i:.*]]: i32, %[[j:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT:   %[[c:.*]] = arith.cmpi sle, %[[j]], %[[i]]
// CHECK-NEXT:   attn.yield %[[c]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[y]]
func.func @causal_by_hand(%q: tensor<?x8xf32>, %k: tensor<?x8xf32> {attn.dims = #attn.dims<["S:T", D]>}, %v: tensor<?x8xf32> {attn.dims = #attn.dims<["S:T", N]>}) -> tensor<?x8xf32> {
  %p = attn.pos tensor<?xi32> [T]
  %b = attn.map (%p : tensor<?xi32> [S:T], %p : tensor<?xi32> [T]) -> tensor<?x?xf32> [T, S:T] {
  ^bb0(%j: i32, %i: i32):
    %c = arith.cmpi sle, %j, %i : i32
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0xFF800000 : f32
    %s = arith.select %c, %zero, %none : f32
    attn.yield %s : f32
  }
  %half = attn.map (%q : tensor<?x8xf32> [T, D]) -> tensor<?x8xf32> [T, D] {
  ^bb0(%a: f32):
    %c = arith.constant 0.5 : f32
    %s = arith.mulf %a, %c : f32
    attn.yield %s : f32
  }
  %s = attn.contract (%half : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S:T, D]) -> tensor<?x?xf32> [T, S:T]
  %m = attn.map (%s : tensor<?x?xf32> [T, S:T], %b : tensor<?x?xf32> [T, S:T]) -> tensor<?x?xf32> [T, S:T] {
  ^bb0(%a: f32, %c: f32):
    %s0 = arith.addf %a, %c : f32
    attn.yield %s0 : f32
  }
  %w = attn.softmax "S" (%m : tensor<?x?xf32> [T, S:T]) -> tensor<?x?xf32> [T, S:T]
  %y = attn.contract (%w : tensor<?x?xf32> [T, S:T], %v : tensor<?x8xf32> [S:T, N]) -> tensor<?x8xf32> [T, N]
  return %y : tensor<?x8xf32>
}

// -----
// In a function that caches, i begins at `past`: what is given for each row of this call is read at i - past, a position is i. Keys of
// this call alone are numbered from 0, their positions are not.
attn.state cache @rows : tensor<?x16xf32>
// CHECK-LABEL: @cached
// CHECK: %[[pos:[a-z0-9]+]] = attn.pos tensor<?xi32> [T]
// CHECK: %[[past:[a-z0-9]+]] = attn.session past -> tensor<i32> []
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} [T, E1], %{{.*}} [S:all.T, E1], %{{.*}} [S:all.T, E], %[[past]] : tensor<i32> [], %{{.*}} : tensor<?xf32> [T])
// CHECK: score {
// CHECK-NEXT: ^bb0(%[[s:[a-z0-9]+]]: f32, %[[i:[a-z0-9]+]]: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: tensor<16xf32>, %{{.*}}: tensor<16xf32>, %[[p:[a-z0-9]+]]: tensor<i32>, %[[t:[a-z0-9]+]]: tensor<?xf32>):
// CHECK-NEXT: %[[n:[a-z0-9]+]] = attn.at %[[p]][]
// CHECK-NEXT: %[[row:[a-z0-9]+]] = arith.subi %[[i]], %[[n]]
// CHECK-NEXT: %[[f:[a-z0-9]+]] = attn.at %[[t]][%[[row]]]
// CHECK-NEXT: arith.mulf %[[s]], %[[f]]
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[i:[a-z0-9]+]]: i32, %[[j:[a-z0-9]+]]: i32,
// CHECK-NEXT: arith.cmpi sle, %[[j]], %[[i]]
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} [T, E1], %{{.*}} [Q:T, E1], %{{.*}} [Q:T, E], %[[pos]] : tensor<?xi32> [Q:T])
// CHECK: mask {
// CHECK-NEXT: ^bb0(%[[i:[a-z0-9]+]]: i32, %[[j:[a-z0-9]+]]: i32, %{{.*}}: i32, %[[q:[a-z0-9]+]]: tensor<?xi32>):
// CHECK-NEXT: %[[key:[a-z0-9]+]] = attn.at %[[q]][%[[j]]]
// CHECK-NEXT: arith.cmpi sle, %[[key]], %[[i]]
func.func @cached(%x: tensor<?x16xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>}, %t: tensor<?xf32> {attn.name = "t", attn.dims = #attn.dims<[T]>})
    -> (tensor<?x16xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x16xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %all = attn.cache @rows (%x : tensor<?x16xf32> [T, E]) -> tensor<?x16xf32> [S:all.T, E]
  %i = attn.pos tensor<?xi32> [T]
  %j = attn.pos tensor<?xi32> [S:all.T]
  %p = attn.contract (%x : tensor<?x16xf32> [T, E], %all : tensor<?x16xf32> [S:all.T, E]) -> tensor<?x?xf32> [T, S:all.T]
  %s = attn.map (%p : tensor<?x?xf32> [T, S:all.T], %t : tensor<?xf32> [T], %i : tensor<?xi32> [T], %j : tensor<?xi32> [S:all.T]) -> tensor<?x?xf32> [T, S:all.T] {
  ^bb0(%a: f32, %f: f32, %m: i32, %n: i32):
    %low = arith.constant 0xFF800000 : f32
    %u = arith.mulf %a, %f : f32
    %c = arith.cmpi sle, %n, %m : i32
    %r = arith.select %c, %u, %low : f32
    attn.yield %r : f32
  }
  %w = attn.softmax "S" (%s : tensor<?x?xf32> [T, S:all.T]) -> tensor<?x?xf32> [T, S:all.T]
  %y = attn.contract (%w : tensor<?x?xf32> [T, S:all.T], %all : tensor<?x16xf32> [S:all.T, E]) -> tensor<?x16xf32> [T, E]
  %p2 = attn.contract (%x : tensor<?x16xf32> [T, E], %x : tensor<?x16xf32> [Q:T, E]) -> tensor<?x?xf32> [T, Q:T]
  %s2 = attn.map (%p2 : tensor<?x?xf32> [T, Q:T], %i : tensor<?xi32> [T], %i : tensor<?xi32> [Q:T]) -> tensor<?x?xf32> [T, Q:T] {
  ^bb0(%a: f32, %m: i32, %n: i32):
    %low = arith.constant 0xFF800000 : f32
    %c = arith.cmpi sle, %n, %m : i32
    %r = arith.select %c, %a, %low : f32
    attn.yield %r : f32
  }
  %w2 = attn.softmax "Q" (%s2 : tensor<?x?xf32> [T, Q:T]) -> tensor<?x?xf32> [T, Q:T]
  %z = attn.contract (%w2 : tensor<?x?xf32> [T, Q:T], %x : tensor<?x16xf32> [Q:T, E]) -> tensor<?x16xf32> [T, E]
  return %y, %z : tensor<?x16xf32>, tensor<?x16xf32>
}
