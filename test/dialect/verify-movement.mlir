// Every constraint on operations that move numbers that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

func.func @gather_c1(%x: tensor<2xf32>) {
  // expected-error @below {{0 index tensors for a table [A = 2] (gather_c1)}}
  %y = attn.gather (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @gather_c1_no_table() {
  // expected-error @below {{no table (gather_c1)}}
  %y = attn.gather () -> tensor<2xf32> [A]
  return
}

// -----

func.func @gather_c2(%x: tensor<2xf32>) {
  // expected-error @below {{an index tensor does not hold int32 (gather_c2)}}
  %y = attn.gather (%x : tensor<2xf32> [A], %x : tensor<2xf32> [B]) -> tensor<2xf32> [B]
  return
}

// -----

func.func @gather_c3(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{the output is [B = 4, E = 3], not [E = 3, B = 4] (gather_c3)}}
  %y = attn.gather (%x : tensor<2x3xf32> [A, E], %i : tensor<4xi32> [B]) -> tensor<3x4xf32> [E, B]
  return
}

// -----

func.func @gather_c4(%x: tensor<2xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{table and output differ in element type (gather_c4)}}
  %y = attn.gather (%x : tensor<2xf32> [A], %i : tensor<4xi32> [B]) -> tensor<4xi32> [B]
  return
}

// -----

func.func @reshape_c1(%x: tensor<2xf32>) {
  // expected-error @below {{2 inputs where 1 belong (reshape_c1)}}
  %y = attn.reshape (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @reshape_c1_type(%x: tensor<2xf32>) {
  // expected-error @below {{input and output differ in element type (reshape_c1)}}
  %y = attn.reshape (%x : tensor<2xf32> [A]) -> tensor<2xi32> [A]
  return
}

// -----

func.func @reshape_c2(%x: tensor<?x2xf32>) {
  // expected-error @below {{sequence dimension `T` is on one side only: [T, A = 2] to [B:T] (reshape_c2)}}
  %y = attn.reshape (%x : tensor<?x2xf32> [T, A]) -> tensor<?xf32> [B:T]
  return
}

// -----

func.func @reshape_c3_neither_one_to_many_nor_many_to_one(%x: tensor<2x6xf32>) {
  // expected-error @below {{[A = 2, B = 6] cannot be regrouped in order into [C = 4, D = 3] (reshape_c3)}}
  %y = attn.reshape (%x : tensor<2x6xf32> [A, B]) -> tensor<4x3xf32> [C, D]
  return
}

// -----

func.func @reshape_c3_number(%x: tensor<2x6xf32>) {
  // expected-error @below {{[A = 2, B = 6] cannot be regrouped in order into [A = 2, C = 5] (reshape_c3)}}
  %y = attn.reshape (%x : tensor<2x6xf32> [A, B]) -> tensor<2x5xf32> [A, C]
  return
}

// -----

func.func @slice_c1(%x: tensor<2xf32>) {
  // expected-error @below {{2 inputs where 1 belong (slice_c1)}}
  %y = attn.slice "A" at 0 (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @slice_c2(%x: tensor<2xf32>) {
  // expected-error @below {{`B` is not a dimension of [A = 2] (slice_c2)}}
  %y = attn.slice "B" at 0 (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A]
  return
}

// -----

func.func @slice_c3(%x: tensor<2x3xf32>) {
  // expected-error @below {{the output [B = 3, A = 1] is not [A = 2, B = 3] with `A` cut or left out (slice_c3)}}
  %y = attn.slice "A" at 0 (%x : tensor<2x3xf32> [A, B]) -> tensor<3x1xf32> [B, A]
  return
}

// -----

func.func @slice_c4(%x: tensor<5xf32>) {
  // expected-error @below {{places 3 to 6 of A = 5 (slice_c4)}}
  %y = attn.slice "A" at 3 (%x : tensor<5xf32> [A]) -> tensor<3xf32> [A]
  return
}

// -----

func.func @slice_c4_one_place(%x: tensor<5xf32>) {
  // expected-error @below {{places 5 to 6 of A = 5 (slice_c4)}}
  %y = attn.slice "A" at 5 (%x : tensor<5xf32> [A]) -> tensor<f32> []
  return
}

// -----

func.func @slice_c4_before_the_first(%x: tensor<5xf32>) {
  // expected-error @below {{places -1 to 0 of A = 5 (slice_c4)}}
  %y = attn.slice "A" at -1 (%x : tensor<5xf32> [A]) -> tensor<f32> []
  return
}

// -----

func.func @slice_c5(%x: tensor<?xf32>) {
  // expected-error @below {{one place from 0 on is taken along sequence dimension `T` (slice_c5)}}
  %y = attn.slice "T" at 0 (%x : tensor<?xf32> [T]) -> tensor<3xf32> [A]
  return
}

// -----

func.func @concat_c1(%x: tensor<2xf32>) {
  // expected-error @below {{2 places for 1 inputs (concat_c1)}}
  %y = attn.concat "C" ["A", "B"] (%x : tensor<2xf32> [A]) -> tensor<2xf32> [C]
  return
}

// -----

func.func @concat_c2(%x: tensor<2xf32>) {
  // expected-error @below {{`B` is not a static dimension of [C = 2] (concat_c2)}}
  %y = attn.concat "B" ["A"] (%x : tensor<2xf32> [A]) -> tensor<2xf32> [C]
  return
}

// -----

func.func @concat_c3(%x: tensor<?x2xf32>) {
  // expected-error @below {{`T` is not a static dimension of [T, A = 2] (concat_c3)}}
  %y = attn.concat "C" ["T"] (%x : tensor<?x2xf32> [T, A]) -> tensor<2x2xf32> [C, A]
  return
}

// -----

func.func @concat_c4(%x: tensor<2x3xf32>) {
  // expected-error @below {{input dimension `B` is neither joined nor one of the output's (concat_c4)}}
  %y = attn.concat "C" ["A"] (%x : tensor<2x3xf32> [A, B]) -> tensor<2xf32> [C]
  return
}

// -----

func.func @concat_c5(%x: tensor<2xf32>) {
  // expected-error @below {{the joined sizes add up to 4, not C = 5 (concat_c5)}}
  %y = attn.concat "C" ["A", "A"] (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A]) -> tensor<5xf32> [C]
  return
}

// -----

func.func @concat_c6(%x: tensor<2xi32>) {
  // expected-error @below {{inputs and output differ in element type (concat_c6)}}
  %y = attn.concat "C" ["A"] (%x : tensor<2xi32> [A]) -> tensor<2xf32> [C]
  return
}

// -----

func.func @concat_others_have_one_size(%x: tensor<2x3xf32>, %z: tensor<2x4xf32>) {
  // expected-error @below {{`B` has two sizes: B = 3 and B = 4 (tensor_c5)}}
  %y = attn.concat "C" ["A", "A"] (%x : tensor<2x3xf32> [A, B], %z : tensor<2x4xf32> [A, B]) -> tensor<4x3xf32> [C, B]
  return
}

// -----

func.func @patches_c1(%x: tensor<4x4xf32>) {
  // expected-error @below {{a static [C, Y, X] becomes a static [Y2, X2, C, KY, KX], not [Y = 4, X = 4] [A = 4, B = 4, C = 1, D = 1, E = 1] (patches_c1)}}
  %y = attn.patches stride 1 (%x : tensor<4x4xf32> [Y, X]) -> tensor<4x4x1x1x1xf32> [A, B, C, D, E]
  return
}

// -----

func.func @patches_c2(%x: tensor<1x4x4xf32>) {
  // expected-error @below {{stride 0, pad 0 (patches_c2)}}
  %y = attn.patches stride 0 (%x : tensor<1x4x4xf32> [C, Y, X]) -> tensor<4x4x1x1x1xf32> [A, B, C, D, E]
  return
}

// -----

func.func @patches_c3(%x: tensor<1x4x4xf32>) {
  // expected-error @below {{1 channels become 2 (patches_c3)}}
  %y = attn.patches stride 1 (%x : tensor<1x4x4xf32> [C, Y, X]) -> tensor<4x4x2x1x1xf32> [A, B, G, D, E]
  return
}

// -----

func.func @patches_c4(%x: tensor<1x9x9xf32>) {
  // expected-error @below {{4 windows of E = 3 fit X = 9, not B = 3 (patches_c4)}}
  %y = attn.patches stride 2 (%x : tensor<1x9x9xf32> [C, Y, X]) -> tensor<4x3x1x3x3xf32> [A, B, C, D, E]
  return
}

// -----

func.func @patches_c5(%x: tensor<1x9x9xi32>) {
  // expected-error @below {{input and output differ in element type (patches_c5)}}
  %y = attn.patches stride 2 (%x : tensor<1x9x9xi32> [C, Y, X]) -> tensor<4x4x1x3x3xf32> [A, B, C, D, E]
  return
}
