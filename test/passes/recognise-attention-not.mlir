// RUN: %attn-opt %s --attn-recognise-attention --split-input-file --verify-diagnostics | FileCheck %s
// attn-recognise-attention: what looks like attention and isn't, and why.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CHECK-LABEL: @weights_escape
// CHECK-NOT: attn.attend
func.func @weights_escape(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: the weights are read elsewhere too, so all of them must exist}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  // expected-note @below {{they are read here}}
  %l = attn.reduce sum (%w : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4xf32> [T, H]
  attn.tap "l" (%l : tensor<?x4xf32> [T, H])
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @scores_escape
// CHECK-NOT: attn.attend
func.func @scores_escape(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: the scores are read elsewhere too}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  // expected-note @below {{they are read here}}
  attn.tap "s" (%s : tensor<?x4x?xf32> [T, H, S])
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @softmax_over_heads
// CHECK-NOT: attn.attend
func.func @softmax_over_heads(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "H" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: the softmax runs along `H`, but the values are summed over `S`}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @no_product
// CHECK-NOT: attn.attend
func.func @no_product(%s: tensor<?x4x?xf32> {attn.dims = #attn.dims<[T, H, S]>, attn.name = "s"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: the scores are not made of a product of queries and keys}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @two_products
// CHECK-NOT: attn.attend
func.func @two_products(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  // expected-note @below {{this is one of them}}
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-note @below {{this is one of them}}
  %u = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %t = attn.map (%s : tensor<?x4x?xf32> [T, H, S], %u : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    attn.yield %c : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: the scores are made of several products}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @summed_over_heads
// CHECK-NOT: attn.attend
func.func @summed_over_heads(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: the softmax runs along `S`, but the values are summed over `H` and `S` together; what is summed over `S` alone is attention, and the rest a sum of its result}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x24xf32> [T, N]
  return %y : tensor<?x24xf32>
}

// -----
// CHECK-LABEL: @values_of_queries
// CHECK-NOT: attn.attend
func.func @values_of_queries(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x?x24xf32> {attn.dims = #attn.dims<[T, S, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: each query has values of its own: queries and values share the sequence `T`}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x?x24xf32> [T, S, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @mask_after_softmax
// CHECK-NOT: attn.attend
func.func @mask_after_softmax(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}, %b: tensor<?xf32> {attn.dims = #attn.dims<[S]>, attn.name = "b"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %p = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-note @below {{this changes them}}
  %w = attn.map (%p : tensor<?x4x?xf32> [T, H, S], %b : tensor<?xf32> [S]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    attn.yield %d : f32
  }
  // expected-remark @below {{no attention: the weights are scaled after the softmax}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @product_escapes
// CHECK-NOT: attn.attend
func.func @product_escapes(%q: tensor<?x16xf32>, %k: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x?xf32>) {
  // expected-note @below {{they are a result of `product_escapes`}}
  %s = attn.contract (%q : tensor<?x16xf32> [T, D], %k : tensor<?x16xf32> [S, D]) -> tensor<?x?xf32> [T, S]
  %t = attn.map (%s : tensor<?x?xf32> [T, S]) -> tensor<?x?xf32> [T, S] {
  ^bb0(%a: f32):
    %c = math.tanh %a : f32
    attn.yield %c : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x?xf32> [T, S]) -> tensor<?x?xf32> [T, S]
  // expected-remark @below {{no attention: the products of queries and keys are read elsewhere too}}
  %y = attn.contract (%w : tensor<?x?xf32> [T, S], %k : tensor<?x16xf32> [S, N]) -> tensor<?x16xf32> [T, N]
  return %y, %s : tensor<?x16xf32>, tensor<?x?xf32>
}

// -----
// CHECK-LABEL: @summed_over_a_sequence
// CHECK-NOT: attn.attend
func.func @summed_over_a_sequence(%q: tensor<?x4xf32>, %k: tensor<?x6xf32>) -> tensor<4x?xf32> {
  %s = attn.contract (%q : tensor<?x4xf32> [T, A], %k : tensor<?x6xf32> [T, B]) -> tensor<4x6xf32> [A, B]
  %w = attn.softmax "B" (%s : tensor<4x6xf32> [A, B]) -> tensor<4x6xf32> [A, B]
  // expected-remark @below {{no attention: the product of queries and keys sums over the sequence `T`}}
  %y = attn.contract (%w : tensor<4x6xf32> [A, B], %k : tensor<?x6xf32> [T, B]) -> tensor<4x?xf32> [A, T]
  return %y : tensor<4x?xf32>
}

// -----
// CHECK-LABEL: @softmax_over_shared_dimension
// CHECK-NOT: attn.attend
func.func @softmax_over_shared_dimension(%q: tensor<?x4x16xf32>, %k: tensor<?x4x16xf32>, %v: tensor<4x8xf32>) -> tensor<?x?x8xf32> {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x?x4xf32> [T, S, H]
  %w = attn.softmax "H" (%s : tensor<?x?x4xf32> [T, S, H]) -> tensor<?x?x4xf32> [T, S, H]
  // expected-remark @below {{no attention: the softmax runs along `H`, which queries and keys share}}
  %y = attn.contract (%w : tensor<?x?x4xf32> [T, S, H], %v : tensor<4x8xf32> [H, N]) -> tensor<?x?x8xf32> [T, S, N]
  return %y : tensor<?x?x8xf32>
}

// -----
// CHECK-LABEL: @queries_of_two_sequences
// CHECK-NOT: attn.attend
func.func @queries_of_two_sequences(%q: tensor<?x?x16xf32>, %k: tensor<?x16xf32>) -> tensor<?x?x16xf32> {
  %s = attn.contract (%q : tensor<?x?x16xf32> [T, U, D], %k : tensor<?x16xf32> [S, D]) -> tensor<?x?x?xf32> [T, U, S]
  %w = attn.softmax "S" (%s : tensor<?x?x?xf32> [T, U, S]) -> tensor<?x?x?xf32> [T, U, S]
  // expected-remark @below {{no attention: the queries have a second sequence, `T`}}
  %y = attn.contract (%w : tensor<?x?x?xf32> [T, U, S], %k : tensor<?x16xf32> [S, N]) -> tensor<?x?x16xf32> [T, U, N]
  return %y : tensor<?x?x16xf32>
}

// -----
// CHECK-LABEL: @keys_with_more_heads
// CHECK-NOT: attn.attend
func.func @keys_with_more_heads(%q: tensor<?x16xf32>, %k: tensor<?x4x16xf32>) -> tensor<?x4x16xf32> {
  %s = attn.contract (%q : tensor<?x16xf32> [T, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  // expected-remark @below {{no attention: the keys have a dimension `H` that the queries lack; queries that have it too make it one of heads}}
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %k : tensor<?x4x16xf32> [S, H, N]) -> tensor<?x4x16xf32> [T, H, N]
  return %y : tensor<?x4x16xf32>
}

// -----
// CHECK-LABEL: @values_of_two_sequences
// CHECK-NOT: attn.attend
func.func @values_of_two_sequences(%q: tensor<?x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = attn.contract (%q : tensor<?x16xf32> [T, D], %k : tensor<?x16xf32> [S, D]) -> tensor<?x?xf32> [T, S]
  %w = attn.softmax "S" (%s : tensor<?x?xf32> [T, S]) -> tensor<?x?xf32> [T, S]
  // expected-remark @below {{no attention: the values have a second sequence, `U`}}
  %y = attn.contract (%w : tensor<?x?xf32> [T, S], %v : tensor<?x?xf32> [S, U]) -> tensor<?x?xf32> [T, U]
  return %y : tensor<?x?xf32>
}
