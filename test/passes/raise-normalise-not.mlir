// RUN: %attn-opt %s --attn-raise-normalise --split-input-file --verify-diagnostics | FileCheck %s
// attn-raise-normalise: what looks like a normalisation and isn't, and why.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CHECK-NOT: attn.normalise

func.func @eps_outside(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %sq = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    attn.yield %s : f32
  }
  %ms = attn.reduce mean (%sq : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  // expected-remark @below {{no normalisation: eps is added outside the root}}
  %y = attn.map (%ms : tensor<?xf32> [T], %x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%v: f32, %u: f32):
    %eps = arith.constant 1.0e-3 : f32
    %s = math.sqrt %v : f32
    %t = arith.addf %s, %eps : f32
    %z = arith.divf %u, %t : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

func.func @sum_of_squares(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %sq = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    attn.yield %s : f32
  }
  %ms = attn.reduce sum (%sq : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  // expected-remark @below {{no normalisation: a sum stands where the mean of squares should}}
  %y = attn.map (%ms : tensor<?xf32> [T], %x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%v: f32, %u: f32):
    %s = math.rsqrt %v : f32
    %z = arith.mulf %u, %s : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

func.func @another_tensor(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %sq = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    attn.yield %s : f32
  }
  %ms = attn.reduce mean (%sq : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  // expected-remark @below {{no normalisation: what is scaled isn't what the mean of squares is taken of}}
  %y = attn.map (%ms : tensor<?xf32> [T], %w : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%v: f32, %u: f32):
    %s = math.rsqrt %v : f32
    %z = arith.mulf %u, %s : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

func.func @eps_of_a_tensor(%x: tensor<?x8xf32>, %w: tensor<?xf32>) -> tensor<?x8xf32> {
  %sq = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %s = arith.mulf %u, %u : f32
    attn.yield %s : f32
  }
  %ms = attn.reduce mean (%sq : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
  // expected-remark @below {{no normalisation: what is added under the root is no constant}}
  %y = attn.map (%ms : tensor<?xf32> [T], %w : tensor<?xf32> [T], %x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%v: f32, %e: f32, %u: f32):
    %a = arith.addf %v, %e : f32
    %s = math.rsqrt %a : f32
    %z = arith.mulf %u, %s : f32
    attn.yield %z : f32
  }
  return %y : tensor<?x8xf32>
}
