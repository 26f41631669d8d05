// RUN: %attn-opt %s --attn-simplify | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-simplify
// attn-simplify: scalar arithmetic.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @divided_by_a_constant
// CHECK: %[[c:.*]] = arith.constant 1.250000e-01
// CHECK: arith.mulf %{{.*}}, %[[c]]
func.func @divided_by_a_constant(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = attn.map (%x : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %c = arith.constant 8.0 : f32
    %s = arith.divf %u, %c : f32
    attn.yield %s : f32
  }
  return %y : tensor<8xf32>
}

// 1 / 1e39 is no normal number, nor is 1 / 0.
// CHECK-LABEL: @no_reciprocal
// CHECK-COUNT-2: arith.divf
func.func @no_reciprocal(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = attn.map (%x : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %c = arith.constant 3.0e38 : f32
    %d = arith.constant 0.0 : f32
    %s = arith.divf %u, %c : f32
    %t = arith.divf %s, %d : f32
    attn.yield %t : f32
  }
  return %y : tensor<8xf32>
}

// CHECK-LABEL: @zeros
// CHECK-SAME: (%[[x:.*]]: tensor<8xf32>)
// CHECK-NEXT: return %[[x]]
func.func @zeros(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = attn.map (%x : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %zero = arith.constant 0.0 : f32
    %s = arith.addf %zero, %u : f32
    %t = arith.addf %s, %zero : f32
    %v = arith.subf %t, %zero : f32
    attn.yield %v : f32
  }
  return %y : tensor<8xf32>
}

// CHECK-LABEL: @no_zero_on_the_left
// CHECK: arith.subf
func.func @no_zero_on_the_left(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = attn.map (%x : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %zero = arith.constant 0.0 : f32
    %s = arith.subf %zero, %u : f32
    attn.yield %s : f32
  }
  return %y : tensor<8xf32>
}

// CHECK-LABEL: @tensor_of_one_number
// CHECK-NEXT: attn.map (%{{.*}} : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
// CHECK: arith.constant 3.0
// CHECK: arith.mulf
func.func @tensor_of_one_number(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.constant dense<3.0> : tensor<8xf32>
  %y = attn.map (%x : tensor<8xf32> [E], %c : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    attn.yield %s : f32
  }
  return %y : tensor<8xf32>
}
