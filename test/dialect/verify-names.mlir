// Every constraint on names and sizes of tensors that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

func.func @tensor_c1(%x: tensor<2xf32>) {
  // expected-error @below {{`in_dims` names 0 tensors of 1 (tensor_c1)}}
  %y = "attn.reshape"(%x) {in_dims = [], out_dims = [#attn.dims<[A]>]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @tensor_c1_no_rank(%x: tensor<*xf32>) {
  // expected-error @below {{a tensor has no rank (tensor_c1)}}
  %y = attn.reshape (%x : tensor<*xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @tensor_c2(%x: tensor<2xf32>) {
  // expected-error @below {{2 names for a tensor of rank 1 (tensor_c2)}}
  %y = attn.reshape (%x : tensor<2xf32> [A, B]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @tensor_c3(%x: tensor<2x3xf32>) {
  // expected-error @below {{the name `A` stands twice in [A = 2, A = 3] (tensor_c3)}}
  %y = attn.reshape (%x : tensor<2x3xf32> [A, A]) -> tensor<6xf32> [B]
  return
}

// -----

func.func @tensor_c3_with_sequences(%x: tensor<?x?xf32>) {
  // expected-error @below {{the name `A` stands twice in [A:T, A:S] (tensor_c3)}}
  %y = attn.reduce sum (%x : tensor<?x?xf32> [A:T, A:S]) -> tensor<f32> []
  return
}

// -----

func.func @tensor_c4(%x: tensor<2xf32>) {
  // expected-error @below {{`A:T` names a sequence, but the dimension has size 2 (tensor_c4)}}
  %y = attn.reshape (%x : tensor<2xf32> [A:T]) -> tensor<2xf32> [B]
  return
}

// -----

func.func @tensor_c5(%x: tensor<2xf32>, %z: tensor<3xf32>) {
  // expected-error @below {{`A` has two sizes: A = 2 and A = 3 (tensor_c5)}}
  %y = attn.contract (%x : tensor<2xf32> [A], %z : tensor<3xf32> [A]) -> tensor<f32> []
  return
}

// -----

func.func @tensor_c5_sequences(%x: tensor<?xf32>, %z: tensor<?xf32>) {
  // expected-error @below {{`A` has two sizes: A:T and A:S (tensor_c5)}}
  %y = attn.contract (%x : tensor<?xf32> [A:T], %z : tensor<?xf32> [A:S]) -> tensor<f32> []
  return
}

// -----

func.func @tensor_c5_dynamic_and_static(%x: tensor<?xf32>, %z: tensor<3xf32>) {
  // expected-error @below {{`A` has two sizes: A and A = 3 (tensor_c5)}}
  %y = attn.contract (%x : tensor<?xf32> [A], %z : tensor<3xf32> [A]) -> tensor<f32> []
  return
}

// -----

// expected-note @below {{made here}}
func.func @tensor_c6(%x: tensor<?x2xf32> {attn.dims = #attn.dims<[T, A]>}) {
  // expected-error @below {{a tensor is [S, A = 2] here but was made as [T, A = 2] (tensor_c6)}}
  %y = attn.reduce sum (%x : tensor<?x2xf32> [S, A]) -> tensor<?xf32> [S]
  return
}

// -----

func.func @tensor_element(%x: tensor<2xf64>) {
  // expected-error @below {{operand #0 must be variadic of tensor of 32-bit float or 32-bit signless integer or 1-bit signless integer values, but got 'tensor<2xf64>'}}
  %y = attn.reshape (%x : tensor<2xf64> [A]) -> tensor<2xf32> [A]
  return
}
