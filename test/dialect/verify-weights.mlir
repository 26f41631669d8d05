// Every constraint on weights, their uses and exports that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{a weight is a static f32 tensor of rank 1 or more (weight_c1)}}
attn.weight @weight_c1 {parts = ["w"]} : tensor<?x2xf32>

// -----

// expected-error @below {{no tensor of the file (weight_c2)}}
attn.weight @weight_c2 {parts = []} : tensor<2xf32>

// -----

// expected-error @below {{`rows` does not part dimension 0 among `parts` (weight_c3)}}
attn.weight @weight_c3 {parts = ["a", "b"], rows = array<i64: 2, 2>} : tensor<5xf32>

// -----

// expected-error @below {{`rows` does not part dimension 0 among `parts` (weight_c3)}}
attn.weight @weight_c3_without_rows {parts = ["a", "b"]} : tensor<5xf32>

// -----

// expected-error @below {{stored `out`, not `out_in` or `in_out` (weight_c4)}}
attn.weight @weight_c4 {parts = ["w"], stored = "out"} : tensor<2xf32>

// -----

// expected-error @below {{0 turns (weight_c5)}}
attn.weight @weight_c5 {parts = ["w.{0}"], turns = array<i64: 0>} : tensor<2xf32>

// -----

// expected-error @below {{`w.{0}.{1}` has more holes than there are turns (weight_c6)}}
attn.weight @weight_c6 {parts = ["w.{0}.{1}"], turns = array<i64: 2>} : tensor<2xf32>

// -----

func.func @param_c1() {
  // expected-error @below {{@param_c1 is not a weight (param_c1)}}
  %w = attn.param @param_c1 : tensor<2xf32>
  return
}

// -----

// expected-note @below {{declared here}}
attn.weight @w {parts = ["w.{0}"], turns = array<i64: 2>} : tensor<2xf32>
func.func @param_c2() {
  // expected-error @below {{0 turns for a weight of 1 (param_c2)}}
  %w = attn.param @w : tensor<2xf32>
  return
}

// -----

// expected-note @below {{declared here}}
attn.weight @w {parts = ["w"]} : tensor<2xf32>
func.func @param_c3() {
  // expected-error @below {{is not of the weight's type 'tensor<2xf32>' (param_c3)}}
  %w = attn.param @w : tensor<3xf32>
  return
}

// -----

// expected-error @below {{parameter 0 is no tensor with `attn.dims` (function_c1)}}
func.func @function_c1(%x: tensor<2xf32> {attn.name = "x"}) attributes {attn.export, attn.sequences = []} {
  return
}

// -----

// expected-error @below {{result 0 is no tensor with `attn.dims` (function_c1)}}
func.func @function_c1_result(%x: tensor<2xf32> {attn.name = "x", attn.dims = #attn.dims<[A]>}) -> tensor<2xf32>
    attributes {attn.export, attn.sequences = []} {
  return %x : tensor<2xf32>
}

// -----

// expected-error @below {{parameter 0 has no `attn.name` (function_c2)}}
func.func @function_c2(%x: tensor<2xf32> {attn.dims = #attn.dims<[A]>}) attributes {attn.export, attn.sequences = []} {
  return
}

// -----

// expected-error @below {{`attn.sequences` does not list the sequences of the parameters (function_c3)}}
// expected-note @below {{expected ["T", "S"]}}
func.func @function_c3(%x: tensor<?x2xf32> {attn.name = "x", attn.dims = #attn.dims<[T, A]>},
                       %y: tensor<?x?xf32> {attn.name = "y", attn.dims = #attn.dims<[Q:S, T]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  return
}

// -----

// expected-error @below {{result 0 is [S] but was made as [T] (function_c4)}}
func.func @function_c4(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>},
                       %y: tensor<?xf32> {attn.name = "y", attn.dims = #attn.dims<[S]>})
    -> (tensor<?xf32> {attn.dims = #attn.dims<[S]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{`attn.cached` does not name the sequence along which the function caches (function_c5)}}
func.func @function_c5(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  return
}

// -----

attn.state cache @k : tensor<?xf32>
// expected-error @below {{`attn.cached` does not name the sequence along which the function caches (function_c5)}}
func.func @function_c5_unknown(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "S"} {
  %y = attn.map () -> tensor<?xf32> [S] {
    %c = arith.constant 1.0 : f32
    attn.yield %c : f32
  }
  %all = attn.cache @k (%y : tensor<?xf32> [S]) -> tensor<?xf32> [A:all.S]
  return
}

// -----

// expected-error @below {{a parameter is as long as `all.T` (function_c6)}}
func.func @function_c6(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[S:all.T]>})
    attributes {attn.export, attn.sequences = ["all.T"]} {
  return
}

// -----

attn.state once @k : tensor<?xf32>
// expected-error @below {{result 0 is as long as `kept.T` (function_c6)}}
func.func @function_c6_result(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    -> (tensor<?xf32> {attn.dims = #attn.dims<[S:kept.T]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.once @k (%x : tensor<?xf32> [T]) -> tensor<?xf32> [S:kept.T]
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{only a function is an export (function_c1)}}
module @only_functions attributes {attn.export} {}
