// RUN: %attn-opt %s --attn-simplify --split-input-file | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-simplify
// attn-simplify: products with weights, and weights under other types.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: attn.weight @w
// CHECK-NOT: attn.weight
// CHECK: func.func @product
// CHECK-SAME: (%[[l:.*]]: i32, %[[x:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[y:.*]] = attn.linear @w[%[[l]]] (%[[x]] : tensor<?x8xf32> [T, E]) -> tensor<?x4x2xf32> [T, H, D] {
// CHECK-NEXT: ^bb0(%[[acc:.*]]: f32):
// CHECK-NEXT:   attn.yield %[[acc]]
// CHECK: return %[[y]]
attn.weight @w {parts = ["w.{0}"], turns = array<i64: 3>} : tensor<4x2x8xf32>
attn.weight @unused {parts = ["u"]} : tensor<4x2xf32>
func.func @product(%l: i32, %x: tensor<?x8xf32>) -> tensor<?x4x2xf32> {
  %w = attn.param @w[%l] : tensor<4x2x8xf32>
  %y = attn.contract (%x : tensor<?x8xf32> [T, E], %w : tensor<4x2x8xf32> [H, D, E]) -> tensor<?x4x2xf32> [T, H, D]
  return %y : tensor<?x4x2xf32>
}

// -----

// A table read by number and as a matrix is one symbol.
// CHECK-LABEL: attn.weight @wte
// CHECK-NOT: attn.weight
// CHECK: func.func @tied
// CHECK: attn.gather
// CHECK: attn.linear @wte
attn.weight @wte {parts = ["wte.weight"]} : tensor<100x8xf32>
func.func @tied(%ids: tensor<?xi32>) -> tensor<?x100xf32> {
  %w = attn.param @wte : tensor<100x8xf32>
  %x = attn.gather (%w : tensor<100x8xf32> [V, E], %ids : tensor<?xi32> [T]) -> tensor<?x8xf32> [T, E]
  %y = attn.contract (%x : tensor<?x8xf32> [T, E], %w : tensor<100x8xf32> [V, E]) -> tensor<?x100xf32> [T, V]
  return %y : tensor<?x100xf32>
}

// -----

// The weight comes first, the rows have the summed dimension first, the result wants another order.
// CHECK-LABEL: func.func @any_order
// CHECK-SAME: (%[[x:.*]]: tensor<8x?xf32>)
// CHECK-NEXT: %[[t:.*]] = attn.reshape (%[[x]] : tensor<8x?xf32> [E, T]) -> tensor<?x8xf32> [T, E]
// CHECK-NEXT: %[[y:.*]] = attn.linear @w (%[[t]] : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F]
// CHECK: attn.reshape (%[[y]] : tensor<?x4xf32> [T, F]) -> tensor<4x?xf32> [F, T]
attn.weight @w {parts = ["w"]} : tensor<4x8xf32>
func.func @any_order(%x: tensor<8x?xf32>) -> tensor<4x?xf32> {
  %w = attn.param @w : tensor<4x8xf32>
  %y = attn.contract (%w : tensor<4x8xf32> [F, E], %x : tensor<8x?xf32> [E, T]) -> tensor<4x?xf32> [F, T]
  return %y : tensor<4x?xf32>
}

// -----

// CHECK-LABEL: attn.weight @w_0 {parts = ["w"], stored = "in_out"} : tensor<4x8xf32>
// CHECK-NOT: attn.weight
// CHECK: func.func @over_first_dimension
// CHECK: attn.linear @w_0 (%{{.*}} [T, E]) -> tensor<?x4xf32> [T, F]
attn.weight @w {parts = ["w"]} : tensor<8x4xf32>
func.func @over_first_dimension(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %w = attn.param @w : tensor<8x4xf32>
  %y = attn.contract (%x : tensor<?x8xf32> [T, E], %w : tensor<8x4xf32> [E, F]) -> tensor<?x4xf32> [T, F]
  return %y : tensor<?x4xf32>
}

// -----

// Stored [E, F] and declared [F, E]; summed over F: the file's last dimension is the matrix's last.
// CHECK-LABEL: attn.weight @w_0 {parts = ["w"]} : tensor<8x4xf32>
// CHECK: func.func @both_ways
// CHECK-DAG: attn.linear @w_0 (%{{.*}} [T, F]) -> tensor<?x8xf32> [T, E]
// CHECK-DAG: attn.linear @w (%{{.*}} [T, E]) -> tensor<?x4xf32> [T, F]
attn.weight @w {parts = ["w"], stored = "in_out"} : tensor<4x8xf32>
func.func @both_ways(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = attn.param @w : tensor<4x8xf32>
  %y = attn.contract (%x : tensor<?x8xf32> [T, E], %w : tensor<4x8xf32> [F, E]) -> tensor<?x4xf32> [T, F]
  %z = attn.contract (%y : tensor<?x4xf32> [T, F], %w : tensor<4x8xf32> [F, E]) -> tensor<?x8xf32> [T, E]
  return %z : tensor<?x8xf32>
}

// -----

// A convolution's weight: the type has one dimension for what the file has as three.
// CHECK-LABEL: attn.weight @w_0 {attn.file = array<i64: 4, 3, 2, 2>, parts = ["w"]} : tensor<4x12xf32>
// CHECK: func.func @over_several
// CHECK: %[[x:.*]] = attn.reshape (%{{.*}} : tensor<5x3x2x2xf32> [X, C, A, B]) -> tensor<5x12xf32> [X, K]
// CHECK: attn.linear @w_0 (%[[x]] : tensor<5x12xf32> [X, K]) -> tensor<5x4xf32> [X, E]
attn.weight @w {parts = ["w"]} : tensor<4x3x2x2xf32>
func.func @over_several(%x: tensor<5x2x3x2xf32>) -> tensor<5x4xf32> {
  %w = attn.param @w : tensor<4x3x2x2xf32>
  %y = attn.contract (%x : tensor<5x2x3x2xf32> [X, A, C, B], %w : tensor<4x3x2x2xf32> [E, C, A, B]) -> tensor<5x4xf32> [X, E]
  return %y : tensor<5x4xf32>
}

// -----

// CHECK-LABEL: func.func @no_linear_over_the_middle
// CHECK: attn.contract
// CHECK-LABEL: func.func @no_linear_side_by_side
// CHECK: attn.contract
// CHECK-LABEL: func.func @no_linear_over_first_two
// CHECK: attn.contract
attn.weight @w {parts = ["w"]} : tensor<2x8x4xf32>
func.func @no_linear_over_the_middle(%x: tensor<?x8xf32>) -> tensor<?x2x4xf32> {
  %w = attn.param @w : tensor<2x8x4xf32>
  %y = attn.contract (%x : tensor<?x8xf32> [T, E], %w : tensor<2x8x4xf32> [A, E, F]) -> tensor<?x2x4xf32> [T, A, F]
  return %y : tensor<?x2x4xf32>
}
func.func @no_linear_side_by_side(%x: tensor<?x2x4xf32>) -> tensor<?x2x8xf32> {
  %w = attn.param @w : tensor<2x8x4xf32>
  %y = attn.contract (%x : tensor<?x2x4xf32> [T, A, F], %w : tensor<2x8x4xf32> [A, E, F]) -> tensor<?x2x8xf32> [T, A, E]
  return %y : tensor<?x2x8xf32>
}
func.func @no_linear_over_first_two(%x: tensor<?x2x8xf32>) -> tensor<?x4xf32> {
  %w = attn.param @w : tensor<2x8x4xf32>
  %y = attn.contract (%x : tensor<?x2x8xf32> [T, A, E], %w : tensor<2x8x4xf32> [A, E, F]) -> tensor<?x4xf32> [T, F]
  return %y : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: attn.weight @b_0 {parts = ["b"], rows = array<i64: 2>} : tensor<2x4xf32>
// CHECK-NOT: attn.weight
// CHECK: func.func @regrouped
// CHECK-NEXT: %[[b:.*]] = attn.param @b_0 : tensor<2x4xf32>
// CHECK-NEXT: return %[[b]]
attn.weight @b {parts = ["b"], rows = array<i64: 8>} : tensor<8xf32>
func.func @regrouped() -> tensor<2x4xf32> {
  %b = attn.param @b : tensor<8xf32>
  %r = attn.reshape (%b : tensor<8xf32> [E]) -> tensor<2x4xf32> [H, D]
  return %r : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @no_declaration_that_merges
// CHECK: attn.reshape {{.*}} -> tensor<8xf32>
// CHECK-LABEL: func.func @no_declaration_that_turns
// CHECK: attn.reshape {{.*}} -> tensor<4x2xf32>
attn.weight @b {parts = ["b"]} : tensor<2x4xf32>
func.func @no_declaration_that_merges() -> tensor<8xf32> {
  %b = attn.param @b : tensor<2x4xf32>
  %r = attn.reshape (%b : tensor<2x4xf32> [H, D]) -> tensor<8xf32> [E]
  return %r : tensor<8xf32>
}
func.func @no_declaration_that_turns() -> tensor<4x2xf32> {
  %b = attn.param @b : tensor<2x4xf32>
  %r = attn.reshape (%b : tensor<2x4xf32> [H, D]) -> tensor<4x2xf32> [D, H]
  return %r : tensor<4x2xf32>
}
