// RUN: %attn-opt %s --attn-fuse-projections --split-input-file --verify-diagnostics | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-fuse-projections
// attn-fuse-projections: products of one tensor become one, or a remark says why not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK: attn.weight @q_k {parts = ["q.{0}", "k.{0}"], rows = array<i64: 3, 3>, turns = array<i64: 2>} : tensor<6x4x8xf32>
// CHECK-NEXT: attn.weight @qb_kb {parts = ["qb.{0}", "kb.{0}"], rows = array<i64: 3, 3>, turns = array<i64: 2>} : tensor<6x4xf32>
// CHECK-LABEL: @projections
// CHECK-SAME: (%[[l:.*]]: i32, %[[x:.*]]: tensor<?x8xf32>)
// CHECK: %[[b:.*]] = attn.param @qb_kb[%[[l]]] : tensor<6x4xf32>
// CHECK: %[[j:.*]] = attn.linear @q_k[%[[l]]] (%[[x]] : tensor<?x8xf32> [T, E], %[[b]] : tensor<6x4xf32> [N, D]) -> tensor<?x6x4xf32> [T, N, D] {
// CHECK: %[[q:.*]] = attn.slice "N" at 0 (%[[j]] : tensor<?x6x4xf32> [T, N, D]) -> tensor<?x3x4xf32> [T, H, D]
// CHECK: %[[k:.*]] = attn.slice "N" at 3 (%[[j]] : tensor<?x6x4xf32> [S:T, N, C]) -> tensor<?x3x4xf32> [S:T, H, C]
// CHECK: return %[[q]], %[[k]]
attn.weight @q {parts = ["q.{0}"], turns = array<i64: 2>} : tensor<3x4x8xf32>
attn.weight @k {parts = ["k.{0}"], turns = array<i64: 2>} : tensor<3x4x8xf32>
attn.weight @qb {parts = ["qb.{0}"], turns = array<i64: 2>} : tensor<3x4xf32>
attn.weight @kb {parts = ["kb.{0}"], turns = array<i64: 2>} : tensor<3x4xf32>
func.func @projections(%l: i32, %x: tensor<?x8xf32>) -> (tensor<?x3x4xf32>, tensor<?x3x4xf32>) {
  %qb = attn.param @qb[%l] : tensor<3x4xf32>
  // expected-remark @below {{joined products with `q`, `k`}}
  %q = attn.linear @q[%l] (%x : tensor<?x8xf32> [T, E], %qb : tensor<3x4xf32> [H, D]) -> tensor<?x3x4xf32> [T, H, D] {
  ^bb0(%acc: f32, %b: f32):
    %s = arith.addf %acc, %b : f32
    attn.yield %s : f32
  }
  %kb = attn.param @kb[%l] : tensor<3x4xf32>
  %k = attn.linear @k[%l] (%x : tensor<?x8xf32> [S:T, E], %kb : tensor<3x4xf32> [H, C]) -> tensor<?x3x4xf32> [S:T, H, C] {
  ^bb0(%acc: f32, %b: f32):
    %s = arith.addf %acc, %b : f32
    attn.yield %s : f32
  }
  return %q, %k : tensor<?x3x4xf32>, tensor<?x3x4xf32>
}

// -----

// Grouped heads: the joint weight is a matrix.
// CHECK: attn.weight @q_k {parts = ["q", "k"], rows = array<i64: 12, 6>, stored = "in_out"} : tensor<18x8xf32>
// CHECK-LABEL: @grouped
// CHECK: %[[j:.*]] = attn.linear @q_k ({{.*}}) -> tensor<?x18xf32> [T, N] {
// CHECK: %[[q:.*]] = attn.slice "N" at 0 (%[[j]] : tensor<?x18xf32> [T, N]) -> tensor<?x12xf32> [T, N]
// CHECK: attn.reshape (%[[q]] : tensor<?x12xf32> [T, N]) -> tensor<?x2x2x3xf32> [T, G, R, D]
// CHECK: %[[k:.*]] = attn.slice "N" at 12 (%[[j]] : tensor<?x18xf32> [T, N]) -> tensor<?x6xf32> [T, N]
// CHECK: attn.reshape (%[[k]] : tensor<?x6xf32> [T, N]) -> tensor<?x2x3xf32> [T, G, D]
attn.weight @q {parts = ["q"], stored = "in_out"} : tensor<2x2x3x8xf32>
attn.weight @k {parts = ["k"], stored = "in_out"} : tensor<2x3x8xf32>
func.func @grouped(%x: tensor<?x8xf32>) -> (tensor<?x2x2x3xf32>, tensor<?x2x3xf32>) {
  // expected-remark @below {{joined products with `q`, `k`}}
  %q = attn.linear @q (%x : tensor<?x8xf32> [T, E]) -> tensor<?x2x2x3xf32> [T, G, R, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %k = attn.linear @k (%x : tensor<?x8xf32> [T, E]) -> tensor<?x2x3xf32> [T, G, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  return %q, %k : tensor<?x2x2x3xf32>, tensor<?x2x3xf32>
}

// -----

// What the names have in common is said once.
// CHECK: attn.weight @layer.attention.query_key.weight {
attn.weight @layer.attention.query.weight {parts = ["a"]} : tensor<4x8xf32>
attn.weight @layer.attention.key.weight {parts = ["b"]} : tensor<4x8xf32>
func.func @names(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // expected-remark @below {{joined products with `layer.attention.query.weight`, `layer.attention.key.weight`}}
  %a = attn.linear @layer.attention.query.weight (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %b = attn.linear @layer.attention.key.weight (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// Two functions share the joint symbol; a weight read elsewhere keeps its own.
// CHECK: attn.weight @a {
// CHECK-NEXT: attn.weight @a_b {
// CHECK-NOT: attn.weight
// CHECK: attn.linear @a_b
// CHECK: attn.linear @a_b
attn.weight @a {parts = ["a"]} : tensor<4x8xf32>
attn.weight @b {parts = ["b"]} : tensor<4x8xf32>
func.func @first(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x8xf32>) {
  // expected-remark @below {{joined products with `a`, `b`}}
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %b = attn.linear @b (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %w = attn.param @a : tensor<4x8xf32>
  return %a, %b, %w : tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x8xf32>
}
func.func @second(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // expected-remark @below {{joined products with `a`, `b`}}
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %b = attn.linear @b (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// CHECK-LABEL: @no_join
// CHECK-COUNT-3: attn.linear
attn.weight @a {parts = ["a"]} : tensor<4x8xf32>
attn.weight @b {parts = ["b"], stored = "in_out"} : tensor<4x8xf32>
attn.weight @c {parts = ["c"]} : tensor<4x8xf32>
func.func @no_join(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  // expected-remark @below {{product with `b` is not joined with others of its rows: its weight is stored otherwise}}
  %b = attn.linear @b (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  // expected-remark @below {{product with `c` is not joined with others of its rows: its epilogue is another}}
  %c = attn.linear @c (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    %t = math.tanh %acc : f32
    attn.yield %t : f32
  }
  return %a, %b, %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// CHECK-LABEL: @no_join_of_turns
// CHECK-COUNT-2: attn.linear
// CHECK-LABEL: @no_join_of_inputs
// CHECK-COUNT-2: attn.linear
attn.weight @a {parts = ["a.{0}"], turns = array<i64: 4>} : tensor<4x8xf32>
attn.weight @b {parts = ["b.{0}"], turns = array<i64: 4>} : tensor<4x8xf32>
func.func @no_join_of_turns(%l: i32, %m: i32, %x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = attn.linear @a[%l] (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  // expected-remark @below {{product with `b` is not joined with others of its rows: its weight is another turn's}}
  %b = attn.linear @b[%m] (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}
func.func @no_join_of_inputs(%l: i32, %x: tensor<?x8xf32>, %u: tensor<?x4xf32>, %v: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = attn.linear @a[%l] (%x : tensor<?x8xf32> [T, E], %u : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32, %r: f32):
    %s = arith.addf %acc, %r : f32
    attn.yield %s : f32
  }
  // expected-remark @below {{product with `b` is not joined with others of its rows: its epilogue's tensors can't lie behind one another}}
  %b = attn.linear @b[%l] (%x : tensor<?x8xf32> [T, E], %v : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32, %r: f32):
    %s = arith.addf %acc, %r : f32
    attn.yield %s : f32
  }
  return %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
}
