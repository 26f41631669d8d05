// RUN: %attn-opt %s --attn-raise-normalise --attn-simplify --split-input-file | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-raise-normalise,attn-simplify
// attn-raise-normalise: the ways to write a normalisation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @layernorm
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>, %[[w:.*]]: tensor<8xf32>, %[[b:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[y:.*]] = attn.normalise layer eps 0.0010000000474974513 (%[[x]] : tensor<?x8xf32> [T, E], %[[w]] : tensor<8xf32> [E], %[[b]] : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E]
// CHECK-NEXT: return %[[y]]
func.func @layernorm(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %m = attn.reduce mean (%x : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %c = attn.map (%x : tensor<?x8xf32> [T, E], %m : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32, %v: f32):
    %s = arith.subf %u, %v : f32
    attn.yield %s : f32
  }
  %sq = attn.map (%c : tensor<?x8xf32> [T, F]) -> tensor<?x8xf32> [T, F] {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    attn.yield %s : f32
  }
  %var = attn.reduce mean (%sq : tensor<?x8xf32> [T, G]) -> tensor<?xf32> [T]
  %r = attn.map (%var : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%u: f32):
    %eps = arith.constant 1.0e-3 : f32
    %s = arith.addf %u, %eps : f32
    %t = math.rsqrt %s : f32
    attn.yield %t : f32
  }
  %y = attn.map (%c : tensor<?x8xf32> [T, E], %r : tensor<?xf32> [T], %w : tensor<8xf32> [E], %b : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32, %v: f32, %p: f32, %q: f32):
    %s = arith.mulf %u, %v : f32
    %t = arith.mulf %s, %p : f32
    %z = arith.addf %t, %q : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @rmsnorm_inside_more
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>, %[[w:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[y:.*]] = attn.normalise rms eps 0.0010000000474974513 (%[[x]] : tensor<?x8xf32> [T, E], %[[w]] : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E]
// CHECK-NEXT: attn.map (%[[y]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
// CHECK-NEXT: ^bb0(%[[u:.*]]: f32):
// CHECK-NEXT:   math.tanh %[[u]]
func.func @rmsnorm_inside_more(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %sq = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %two = arith.constant 2.0 : f32
    %s = math.powf %u, %two : f32
    attn.yield %s : f32
  }
  %ms = attn.reduce mean (%sq : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %y = attn.map (%ms : tensor<?xf32> [T], %x : tensor<?x8xf32> [T, E], %w : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%v: f32, %u: f32, %p: f32):
    %eps = arith.constant 1.0e-3 : f32
    %s = arith.addf %v, %eps : f32
    %r = math.rsqrt %s : f32
    %f = arith.mulf %r, %p : f32
    %t = arith.mulf %u, %f : f32
    %z = math.tanh %t : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// Divided by a root; sums divided by their number; no weight; the normalised dimension first.
// CHECK-LABEL: @spelled_out
// CHECK-SAME: (%[[x:.*]]: tensor<8x?xf32>)
// CHECK: %[[t:.*]] = attn.reshape (%[[x]] : tensor<8x?xf32> [E, T]) -> tensor<?x8xf32> [T, E]
// CHECK: %[[n:.*]] = attn.normalise layer eps 0.0010000000474974513 (%[[t]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E]
// CHECK: attn.reshape (%[[n]] : tensor<?x8xf32> [T, E]) -> tensor<8x?xf32> [E, T]
// CHECK-NOT: attn.map
// CHECK: return
func.func @spelled_out(%x: tensor<8x?xf32>) -> tensor<8x?xf32> {
  %m = attn.reduce sum (%x : tensor<8x?xf32> [E, T]) -> tensor<?xf32> [T]
  %c = attn.map (%x : tensor<8x?xf32> [E, T], %m : tensor<?xf32> [T]) -> tensor<8x?xf32> [E, T] {
  ^bb0(%u: f32, %v: f32):
    %n = arith.constant 8.0 : f32
    %mean = arith.divf %v, %n : f32
    %s = arith.subf %u, %mean : f32
    attn.yield %s : f32
  }
  %sq = attn.map (%x : tensor<8x?xf32> [E, T], %m : tensor<?xf32> [T]) -> tensor<8x?xf32> [E, T] {
  ^bb0(%u: f32, %v: f32):
    %n = arith.constant 0.125 : f32
    %mean = arith.mulf %n, %v : f32
    %s = arith.subf %u, %mean : f32
    %t = arith.mulf %s, %s : f32
    attn.yield %t : f32
  }
  %var = attn.reduce sum (%sq : tensor<8x?xf32> [E, T]) -> tensor<?xf32> [T]
  %y = attn.map (%c : tensor<8x?xf32> [E, T], %var : tensor<?xf32> [T]) -> tensor<8x?xf32> [E, T] {
  ^bb0(%u: f32, %v: f32):
    %n = arith.constant 8.0 : f32
    %eps = arith.constant 1.0e-3 : f32
    %mean = arith.divf %v, %n : f32
    %s = arith.addf %eps, %mean : f32
    %r = math.sqrt %s : f32
    %t = arith.divf %u, %r : f32
    attn.yield %t : f32
  }
  return %y : tensor<8x?xf32>
}

// -----

// 1 / sqrt, other factors, a weight computed from a parameter, and a scale by another tensor.
// CHECK-LABEL: @more_factors
// CHECK: %[[w:.*]] = attn.map {{.*}} -> tensor<8xf32> [E]
// CHECK: %[[n:.*]] = attn.normalise rms eps 0.000000e+00 (%{{.*}} : tensor<?x8xf32> [T, E], %[[w]] : tensor<8xf32> [E])
// CHECK: attn.map (%{{.*}} : tensor<?xf32> [T], %[[n]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
// CHECK-NEXT: ^bb0(%[[g:.*]]: f32, %[[a:.*]]: f32):
// CHECK-NEXT: arith.mulf %[[a]], %[[g]]
// CHECK-NEXT: attn.yield
func.func @more_factors(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %g: tensor<?xf32> {attn.dims = #attn.dims<[T]>}) -> tensor<?x8xf32> {
  %w1 = attn.map (%w : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %one = arith.constant 1.0 : f32
    %s = arith.addf %u, %one : f32
    attn.yield %s : f32
  }
  %sq = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    attn.yield %s : f32
  }
  %ms = attn.reduce mean (%sq : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  %y = attn.map (%ms : tensor<?xf32> [T], %x : tensor<?x8xf32> [T, E], %w1 : tensor<8xf32> [E], %g : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%v: f32, %u: f32, %p: f32, %q: f32):
    %one = arith.constant 1.0 : f32
    %s = math.sqrt %v : f32
    %r = arith.divf %one, %s : f32
    %f = arith.mulf %r, %q : f32
    %t = arith.mulf %u, %p : f32
    %z = arith.mulf %f, %t : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}
