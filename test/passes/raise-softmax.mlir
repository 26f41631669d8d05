// RUN: %attn-opt %s --attn-raise-softmax --attn-simplify --split-input-file | FileCheck %s
// RUN: %bin/attn-judge %s --nan-to-zero --passes=attn-raise-softmax,attn-simplify
// attn-raise-softmax: the ways to write a softmax, and one that isn't.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @spelled_out
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[w:.*]] = attn.softmax "E" (%[[x]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E]
// CHECK-NEXT: return %[[w]]
func.func @spelled_out(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %m = attn.reduce max (%x : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %e = attn.map (%x : tensor<?x8xf32> [T, E], %m : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    attn.yield %d : f32
  }
  %l = attn.reduce sum (%e : tensor<?x8xf32> [T, F]) -> tensor<?xf32> [T]
  %w = attn.map (%e : tensor<?x8xf32> [T, E], %l : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    attn.yield %c : f32
  }
  return %w : tensor<?x8xf32>
}

// -----

// No maximum, the reciprocal, more behind it.
// CHECK-LABEL: @reciprocal
// CHECK: %[[s:.*]] = attn.map {{.*}} -> tensor<?x8xf32> [T, E] {
// CHECK: %[[w:.*]] = attn.softmax "E" (%[[s]] : tensor<?x8xf32> [T, E])
// CHECK: attn.map (%[[w]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
// CHECK-NEXT: ^bb0(%[[u:.*]]: f32):
// CHECK-NEXT: math.sqrt %[[u]]
func.func @reciprocal(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %e = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32):
    %half = arith.constant 0.5 : f32
    %b = arith.mulf %a, %half : f32
    %d = math.exp %b : f32
    attn.yield %d : f32
  }
  %l = attn.reduce sum (%e : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %w = attn.map (%l : tensor<?xf32> [T], %e : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%b: f32, %a: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.divf %one, %b : f32
    %c = arith.mulf %r, %a : f32
    %d = math.sqrt %c : f32
    attn.yield %d : f32
  }
  return %w : tensor<?x8xf32>
}

// -----

// Divided after the product with the values.
// CHECK-LABEL: @after_product
// CHECK: %[[w:.*]] = attn.softmax "S" (%{{.*}} : tensor<?x?xf32> [T, S]) -> tensor<?x?xf32> [T, S]
// CHECK-NEXT: %[[y:.*]] = attn.contract (%[[w]] : tensor<?x?xf32> [T, S], %{{.*}} : tensor<?x8xf32> [S, E]) -> tensor<?x8xf32> [T, E]
// CHECK-NEXT: return %[[y]]
func.func @after_product(%x: tensor<?x?xf32>, %v: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %m = attn.reduce max (%x : tensor<?x?xf32> [T, S]) -> tensor<?xf32> [T]
  %e = attn.map (%x : tensor<?x?xf32> [T, S], %m : tensor<?xf32> [T]) -> tensor<?x?xf32> [T, S] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    attn.yield %d : f32
  }
  %l = attn.reduce sum (%e : tensor<?x?xf32> [T, S]) -> tensor<?xf32> [T]
  %p = attn.contract (%e : tensor<?x?xf32> [T, S], %v : tensor<?x8xf32> [S, E]) -> tensor<?x8xf32> [T, E]
  %y = attn.map (%p : tensor<?x8xf32> [T, E], %l : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    attn.yield %c : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @no_softmax_over_another_dimension
// CHECK-NOT: attn.softmax
// CHECK-LABEL: @no_softmax_when_read_elsewhere
// CHECK-NOT: attn.softmax
func.func @no_softmax_over_another_dimension(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = attn.map (%x : tensor<8x8xf32> [T, E]) -> tensor<8x8xf32> [T, E] {
  ^bb0(%a: f32):
    %d = math.exp %a : f32
    attn.yield %d : f32
  }
  %l = attn.reduce sum (%e : tensor<8x8xf32> [T, E]) -> tensor<8xf32> [T]
  %w = attn.map (%e : tensor<8x8xf32> [T, E], %l : tensor<8xf32> [E]) -> tensor<8x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    attn.yield %c : f32
  }
  return %w : tensor<8x8xf32>
}
func.func @no_softmax_when_read_elsewhere(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = attn.map (%x : tensor<8x8xf32> [T, E]) -> tensor<8x8xf32> [T, E] {
  ^bb0(%a: f32):
    %d = math.exp %a : f32
    attn.yield %d : f32
  }
  %l = attn.reduce sum (%e : tensor<8x8xf32> [T, E]) -> tensor<8xf32> [T]
  %w = attn.map (%e : tensor<8x8xf32> [T, E], %l : tensor<8xf32> [T]) -> tensor<8x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    attn.yield %c : f32
  }
  return %w, %e : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// exp(x - (m + log(sum(exp(x - m)))))
// CHECK-LABEL: @logarithm
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[w:.*]] = attn.softmax "E" (%[[x]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E]
// CHECK-NEXT: return %[[w]]
func.func @logarithm(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %m = attn.reduce max (%x : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %e = attn.map (%x : tensor<?x8xf32> [T, E], %m : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    attn.yield %d : f32
  }
  %s = attn.reduce sum (%e : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %l = attn.map (%s : tensor<?xf32> [T], %m : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32, %b: f32):
    %c = math.log %a : f32
    %d = arith.addf %b, %c : f32
    attn.yield %d : f32
  }
  %w = attn.map (%x : tensor<?x8xf32> [T, E], %l : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    attn.yield %d : f32
  }
  return %w : tensor<?x8xf32>
}

// -----

// The maximum stands inside of a scale; the exponentials are written twice.
// CHECK-LABEL: @scaled_and_twice
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[s:.*]] = attn.map (%[[x]] : tensor<?x8xf32> [T, E])
// CHECK-NEXT: ^bb0(%[[a:.*]]: f32):
// CHECK: %[[b:.*]] = arith.mulf %[[a]], %{{.*}} : f32
// CHECK-NEXT: attn.yield %[[b]]
// CHECK: %[[w:.*]] = attn.softmax "E" (%[[s]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E]
// CHECK-NEXT: return %[[w]]
func.func @scaled_and_twice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %m = attn.reduce max (%x : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %e = attn.map (%x : tensor<?x8xf32> [T, E], %m : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %half = arith.constant 0.5 : f32
    %c = arith.subf %a, %b : f32
    %d = arith.mulf %c, %half : f32
    %f = math.exp %d : f32
    attn.yield %f : f32
  }
  %s = attn.reduce sum (%e : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %w = attn.map (%x : tensor<?x8xf32> [T, E], %m : tensor<?xf32> [T], %s : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32, %l: f32):
    %half = arith.constant 0.5 : f32
    %c = arith.subf %a, %b : f32
    %d = arith.mulf %c, %half : f32
    %f = math.exp %d : f32
    %g = arith.divf %f, %l : f32
    attn.yield %g : f32
  }
  return %w : tensor<?x8xf32>
}

// -----

// What is added to a whole row may be -inf, which hides it: it stays.
// CHECK-LABEL: @hides_rows
// CHECK: %[[s:.*]] = attn.map (%{{.*}} : tensor<?x8xf32> [T, E], %{{.*}} : tensor<?xf32> [T])
// CHECK: arith.addf
// CHECK: attn.softmax "E" (%[[s]] : tensor<?x8xf32> [T, E])
func.func @hides_rows(%x: tensor<?x8xf32>, %r: tensor<?xf32>) -> tensor<?x8xf32> {
  %e = attn.map (%x : tensor<?x8xf32> [T, E], %r : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    %d = math.exp %c : f32
    attn.yield %d : f32
  }
  %l = attn.reduce sum (%e : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %w = attn.map (%e : tensor<?x8xf32> [T, E], %l : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    attn.yield %c : f32
  }
  return %w : tensor<?x8xf32>
}
