// Every constraint on elementwise operations, sums, products that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

func.func @pos_c1() {
  // expected-error @below {{positions are int32 along one sequence dimension (pos_c1)}}
  %y = attn.pos tensor<?xf32> [T]
  return
}

// -----

func.func @pos_c1_static() {
  // expected-error @below {{positions are int32 along one sequence dimension (pos_c1)}}
  %y = attn.pos tensor<3xi32> [T]
  return
}

// -----

func.func @map_c1(%x: tensor<2x3xf32>) {
  // expected-error @below {{input dimension `B` is not one of the output's [A = 2] (map_c1)}}
  %y = attn.map (%x : tensor<2x3xf32> [A, B]) -> tensor<2xf32> [A] {
  ^bb0(%a: f32):
    attn.yield %a : f32
  }
  return
}

// -----

func.func @reduce_c1(%x: tensor<2xf32>) {
  // expected-error @below {{2 inputs where 1 belong (reduce_c1)}}
  %y = attn.reduce sum (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A]) -> tensor<f32> []
  return
}

// -----

func.func @reduce_c2(%x: tensor<2xf32>) {
  // expected-error @below {{output dimension `B` is not one of the input's [A = 2] (reduce_c2)}}
  %y = attn.reduce sum (%x : tensor<2xf32> [A]) -> tensor<3xf32> [B]
  return
}

// -----

func.func @reduce_c3(%x: tensor<2xi32>) {
  // expected-error @below {{a tensor of 'i32' where f32 belongs (reduce_c3)}}
  %y = attn.reduce sum (%x : tensor<2xi32> [A]) -> tensor<i32> []
  return
}

// -----

func.func @contract_c1(%x: tensor<2xf32>) {
  // expected-error @below {{1 inputs where 2 belong (contract_c1)}}
  %y = attn.contract (%x : tensor<2xf32> [A]) -> tensor<f32> []
  return
}

// -----

func.func @contract_c2(%x: tensor<2xf32>) {
  // expected-error @below {{output dimension `B` is in neither input (contract_c2)}}
  %y = attn.contract (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A]) -> tensor<2xf32> [B]
  return
}

// -----

func.func @contract_c3(%x: tensor<2x3xf32>, %z: tensor<2xf32>) {
  // expected-error @below {{`B` would be summed but is in one input only (contract_c3)}}
  %y = attn.contract (%x : tensor<2x3xf32> [A, B], %z : tensor<2xf32> [A]) -> tensor<f32> []
  return
}

// -----

func.func @contract_c4(%x: tensor<2xi32>) {
  // expected-error @below {{a tensor of 'i32' where f32 belongs (contract_c4)}}
  %y = attn.contract (%x : tensor<2xi32> [A], %x : tensor<2xi32> [A]) -> tensor<i32> []
  return
}

// -----

func.func @softmax_c1(%x: tensor<2xf32>) {
  // expected-error @below {{2 inputs where 1 belong (softmax_c1)}}
  %y = attn.softmax "A" (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @softmax_c2(%x: tensor<2xf32>) {
  // expected-error @below {{`B` is not a dimension of [A = 2] (softmax_c2)}}
  %y = attn.softmax "B" (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @softmax_c3(%x: tensor<2x3xf32>) {
  // expected-error @below {{the output [A = 2, C = 3] has other dimensions than the input [A = 2, B = 3] (softmax_c3)}}
  %y = attn.softmax "A" (%x : tensor<2x3xf32> [A, B]) -> tensor<2x3xf32> [A, C]
  return
}

// -----

func.func @softmax_c4(%x: tensor<2xi32>) {
  // expected-error @below {{a tensor of 'i32' where f32 belongs (softmax_c4)}}
  %y = attn.softmax "A" (%x : tensor<2xi32> [A]) -> tensor<2xi32> [A]
  return
}

// -----

func.func @normalise_c1() {
  // expected-error @below {{no input (normalise_c1)}}
  %y = attn.normalise layer eps 0.1 () -> tensor<2xf32> [A]
  return
}

// -----

func.func @normalise_c1_rms_has_no_bias(%x: tensor<2xf32>) {
  // expected-error @below {{3 inputs where at most 2 belong (normalise_c1)}}
  %y = attn.normalise rms eps 0.1 (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A], %x : tensor<2xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @normalise_c2(%x: tensor<?xf32>) {
  // expected-error @below {{the last dimension of [T] is not static (normalise_c2)}}
  %y = attn.normalise layer eps 0.1 (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T]
  return
}

// -----

func.func @normalise_c3(%x: tensor<2x3xf32>, %w: tensor<2xf32>) {
  // expected-error @below {{weight and bias are [B = 3], not [A = 2] (normalise_c3)}}
  %y = attn.normalise layer eps 0.1 (%x : tensor<2x3xf32> [A, B], %w : tensor<2xf32> [A]) -> tensor<2x3xf32> [A, B]
  return
}

// -----

func.func @normalise_c4(%x: tensor<2x3xf32>) {
  // expected-error @below {{the output [A = 2] has other dimensions than the input [A = 2, B = 3] (normalise_c4)}}
  %y = attn.normalise layer eps 0.1 (%x : tensor<2x3xf32> [A, B]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @normalise_c5(%x: tensor<2xi32>) {
  // expected-error @below {{a tensor of 'i32' where f32 belongs (normalise_c5)}}
  %y = attn.normalise layer eps 0.1 (%x : tensor<2xi32> [A]) -> tensor<2xi32> [A]
  return
}

// -----

attn.weight @w {parts = ["w"]} : tensor<3x2xf32>
func.func @linear_c1() {
  // expected-error @below {{no input (linear_c1)}}
  %y = attn.linear @w () -> tensor<3xf32> [F] {
    %a = arith.constant 0.0 : f32
    attn.yield %a : f32
  }
  return
}

// -----

attn.weight @w {parts = ["w"]} : tensor<3x2xf32>
func.func @linear_c2(%x: tensor<?xf32>) {
  // expected-error @below {{the last dimension of [T] is not static (linear_c2)}}
  %y = attn.linear @w (%x : tensor<?xf32> [T]) -> tensor<3xf32> [F] {
  ^bb0(%a: f32):
    attn.yield %a : f32
  }
  return
}

// -----

attn.weight @w {parts = ["w"]} : tensor<3x2xf32>
func.func @linear_c3(%x: tensor<4xf32>) {
  // expected-error @below {{rows of 4 numbers times a weight of rows of 2 (linear_c3)}}
  %y = attn.linear @w (%x : tensor<4xf32> [E]) -> tensor<3xf32> [F] {
  ^bb0(%a: f32):
    attn.yield %a : f32
  }
  return
}

// -----

attn.weight @w {parts = ["w"]} : tensor<3x2xf32>
func.func @linear_c4(%x: tensor<?x2xf32>) {
  // expected-error @below {{the output [F = 3, T] is not [T, E = 2] without its last dimension, then [3] (linear_c4)}}
  %y = attn.linear @w (%x : tensor<?x2xf32> [T, E]) -> tensor<3x?xf32> [F, T] {
  ^bb0(%a: f32):
    attn.yield %a : f32
  }
  return
}

// -----

attn.weight @w {parts = ["w"]} : tensor<3x2xf32>
func.func @linear_c5(%x: tensor<2xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{input dimension `G` is not one of the output's [F = 3] (linear_c5)}}
  %y = attn.linear @w (%x : tensor<2xf32> [E], %b : tensor<4xf32> [G]) -> tensor<3xf32> [F] {
  ^bb0(%a: f32, %c: f32):
    attn.yield %a : f32
  }
  return
}

// -----

attn.weight @w {parts = ["w"]} : tensor<3x2xf32>
func.func @linear_c6(%x: tensor<2xi32>) {
  // expected-error @below {{a tensor of 'i32' where f32 belongs (linear_c6)}}
  %y = attn.linear @w (%x : tensor<2xi32> [E]) -> tensor<3xf32> [F] {
  ^bb0(%a: i32):
    %c = arith.sitofp %a : i32 to f32
    attn.yield %c : f32
  }
  return
}
