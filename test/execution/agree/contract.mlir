// Products of two tensors, summed over what the result lacks: a width, a sequence, both, heads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: sed s/WIDTH/24/g %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,15,16,17,63,64,65,129,257
// RUN: sed s/WIDTH/72/g %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65 --passes=none
// RUN: sed s/WIDTH/40/g %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65 --mcpu=x86-64-v3

func.func @rows(%a: tensor<?x2xWIDTHxf32> {attn.name = "a", attn.dims = #attn.dims<[T, H, E]>},
                %b: tensor<?x2xWIDTHxf32> {attn.name = "b", attn.dims = #attn.dims<[S, H, E]>})
    -> (tensor<2x?x?xf32> {attn.dims = #attn.dims<[H, T, S]>}, tensor<?x?xf32> {attn.dims = #attn.dims<[S, T]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %x = attn.contract (%a : tensor<?x2xWIDTHxf32> [T, H, E], %b : tensor<?x2xWIDTHxf32> [S, H, E]) -> tensor<2x?x?xf32> [H, T, S]
  %y = attn.contract (%a : tensor<?x2xWIDTHxf32> [T, H, E], %b : tensor<?x2xWIDTHxf32> [S, H, E]) -> tensor<?x?xf32> [S, T]
  return %x, %y : tensor<2x?x?xf32>, tensor<?x?xf32>
}

func.func @along_the_sequence(%a: tensor<?xWIDTHxf32> {attn.name = "a", attn.dims = #attn.dims<[T, E]>},
                              %b: tensor<?x5xf32> {attn.name = "b", attn.dims = #attn.dims<[T, F]>})
    -> (tensor<WIDTHx5xf32> {attn.dims = #attn.dims<[E, F]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %x = attn.contract (%a : tensor<?xWIDTHxf32> [T, E], %b : tensor<?x5xf32> [T, F]) -> tensor<WIDTHx5xf32> [E, F]
  return %x : tensor<WIDTHx5xf32>
}

func.func @side_by_side(%a: tensor<?xWIDTHxf32> {attn.name = "a", attn.dims = #attn.dims<[T, E]>},
                        %b: tensor<WIDTHx7xf32> {attn.name = "b", attn.dims = #attn.dims<[E, F]>},
                        %c: tensor<?xWIDTHxf32> {attn.name = "c", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x7xf32> {attn.dims = #attn.dims<[T, F]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %x = attn.contract (%a : tensor<?xWIDTHxf32> [T, E], %b : tensor<WIDTHx7xf32> [E, F]) -> tensor<?x7xf32> [T, F]
  %y = attn.contract (%a : tensor<?xWIDTHxf32> [T, E], %c : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xf32> [T]
  return %x, %y : tensor<?x7xf32>, tensor<?xf32>
}
