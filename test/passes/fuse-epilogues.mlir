// RUN: %attn-opt %s --attn-fuse-epilogues --split-input-file | FileCheck %s
// RUN: %attn-opt %s --attn-fuse-epilogues=biases --split-input-file | FileCheck %s --check-prefix=BIASES
// RUN: %bin/attn-judge %s --passes=attn-fuse-epilogues
// attn-fuse-epilogues: what is done to a product becomes its region.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @bias_and_residual
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>)
// CHECK: %[[b:.*]] = attn.param @b
// CHECK-NEXT: %[[y:.*]] = attn.linear @w (%[[x]] : tensor<?x8xf32> [T, F1], %[[b]] : tensor<8xf32> [F], %[[x]] : tensor<?x8xf32> [T, F]) -> tensor<?x8xf32> [T, F] {
// CHECK-NEXT: ^bb0(%[[acc:.*]]: f32, %[[u:.*]]: f32, %[[v:.*]]: f32):
// CHECK-NEXT:   %[[s:.*]] = arith.addf %[[acc]], %[[u]]
// CHECK-NEXT:   %[[t:.*]] = arith.addf %[[v]], %[[s]]
// CHECK-NEXT:   attn.yield %[[t]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[y]]
// BIASES-LABEL: @bias_and_residual
// BIASES: attn.linear @w (%{{.*}} : tensor<?x8xf32> [T, F], %{{.*}} : tensor<8xf32> [E])
// BIASES: attn.map
attn.weight @w {parts = ["w"]} : tensor<8x8xf32>
attn.weight @b {parts = ["b"]} : tensor<8xf32>
func.func @bias_and_residual(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %b = attn.param @b : tensor<8xf32>
  %p = attn.linear @w (%x : tensor<?x8xf32> [T, F], %b : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%acc: f32, %u: f32):
    %s = arith.addf %acc, %u : f32
    attn.yield %s : f32
  }
  %y = attn.map (%x : tensor<?x8xf32> [T, F], %p : tensor<?x8xf32> [T, F]) -> tensor<?x8xf32> [T, F] {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    attn.yield %s : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// Of two products the later one takes the gate.
// CHECK-LABEL: @gate
// CHECK: %[[up:.*]] = attn.linear @a
// CHECK: attn.linear @b (%{{.*}} [T, E], %[[up]] : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
// CHECK-NOT: attn.map
// BIASES-LABEL: @gate
// BIASES: attn.map
attn.weight @a {parts = ["a"]} : tensor<4x8xf32>
attn.weight @b {parts = ["b"]} : tensor<4x8xf32>
func.func @gate(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %b = attn.linear @b (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %y = attn.map (%b : tensor<?x4xf32> [T, F], %a : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%u: f32, %v: f32):
    %s = arith.mulf %u, %v : f32
    attn.yield %s : f32
  }
  return %y : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: @transposed_result
// CHECK: %[[y:.*]] = attn.linear {{.*}} -> tensor<?x4xf32> [T, F]
// CHECK: math.tanh
// CHECK: attn.reshape (%[[y]] : tensor<?x4xf32> [T, F]) -> tensor<4x?xf32> [F, T]
attn.weight @a {parts = ["a"]} : tensor<4x8xf32>
func.func @transposed_result(%x: tensor<?x8xf32>) -> tensor<4x?xf32> {
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %y = attn.map (%a : tensor<?x4xf32> [T, F]) -> tensor<4x?xf32> [F, T] {
  ^bb0(%u: f32):
    %s = math.tanh %u : f32
    attn.yield %s : f32
  }
  return %y : tensor<4x?xf32>
}

// -----

// CHECK-LABEL: @no_fuse_with_another_reader
// CHECK: attn.map
// CHECK-LABEL: @no_fuse_when_repeated
// CHECK: attn.map
// CHECK-LABEL: @no_fuse_into_a_loop
// CHECK: attn.map
// CHECK-LABEL: @no_fuse_of_a_condition
// CHECK: attn.map
attn.weight @a {parts = ["a"]} : tensor<4x8xf32>
func.func @no_fuse_with_another_reader(%x: tensor<?x8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %y = attn.map (%a : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%u: f32):
    %s = math.tanh %u : f32
    attn.yield %s : f32
  }
  return %a, %y : tensor<?x4xf32>, tensor<?x4xf32>
}
func.func @no_fuse_when_repeated(%x: tensor<8xf32>, %z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = attn.linear @a (%x : tensor<8xf32> [E]) -> tensor<4xf32> [F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %y = attn.map (%a : tensor<4xf32> [F], %z : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    attn.yield %s : f32
  }
  return %y : tensor<?x4xf32>
}
func.func @no_fuse_into_a_loop(%x: tensor<?x8xf32>, %z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %r = attn.repeat 0 to 3 (%z : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%l: i32, %c: tensor<?x4xf32>):
    %y = attn.map (%a : tensor<?x4xf32> [T, F], %c : tensor<?x4xf32> [T, F]) -> tensor<?x4xf32> [T, F] {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %v : f32
      attn.yield %s : f32
    }
    attn.yield %y : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}
func.func @no_fuse_of_a_condition(%x: tensor<?x8xf32>) -> tensor<?x4xi1> {
  %a = attn.linear @a (%x : tensor<?x8xf32> [T, E]) -> tensor<?x4xf32> [T, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %y = attn.map (%a : tensor<?x4xf32> [T, F]) -> tensor<?x4xi1> [T, F] {
  ^bb0(%u: f32):
    %zero = arith.constant 0.0 : f32
    %s = arith.cmpf ogt, %u, %zero : f32
    attn.yield %s : i1
  }
  return %y : tensor<?x4xi1>
}
