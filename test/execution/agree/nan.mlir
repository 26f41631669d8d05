// NaN among the numbers of a maximum and a minimum is the result, whichever dimension goes and wherever the NaN stands.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=0,1,2,3,4,17,64,65
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=0,1,2,3,4,17,64,65 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=0,1,2,3,4,17,64,65 --mcpu=x86-64

// Rows from number 2 on are NaN.
func.func @extremes(%x: tensor<?x37xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>, test.fill = "poison 2"})
    -> (tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<37xf32> {attn.dims = #attn.dims<[E]>}, tensor<37xf32> {attn.dims = #attn.dims<[E]>}, tensor<f32> {attn.dims = #attn.dims<[]>}, tensor<37xf32> {attn.dims = #attn.dims<[E]>}, tensor<37xf32> {attn.dims = #attn.dims<[E]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %a = attn.reduce max (%x : tensor<?x37xf32> [T, E]) -> tensor<?xf32> [T]
  %b = attn.reduce min (%x : tensor<?x37xf32> [T, E]) -> tensor<?xf32> [T]
  %c = attn.reduce max (%x : tensor<?x37xf32> [T, E]) -> tensor<37xf32> [E]
  %d = attn.reduce min (%x : tensor<?x37xf32> [T, E]) -> tensor<37xf32> [E]
  %e = attn.reduce max (%x : tensor<?x37xf32> [T, E]) -> tensor<f32> []
  // the sequence as the last dimension: NaN stands in the middle of a row
  %t = attn.reshape (%x : tensor<?x37xf32> [T, E]) -> tensor<37x?xf32> [E, T]
  %f = attn.reduce max (%t : tensor<37x?xf32> [E, T]) -> tensor<37xf32> [E]
  %g = attn.reduce min (%t : tensor<37x?xf32> [E, T]) -> tensor<37xf32> [E]
  return %a, %b, %c, %d, %e, %f, %g : tensor<?xf32>, tensor<?xf32>, tensor<37xf32>, tensor<37xf32>, tensor<f32>, tensor<37xf32>, tensor<37xf32>
}
