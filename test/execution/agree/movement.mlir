// Numbers that only move: gather, reshape, slice, concat, patches; exact to the bit.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: sed 's/WIDTH/24/g; s/EIGHTH/3/g' %s | attn-agree --quiet - --tolerance=0 --lengths=0,1,15,16,17,63,64,65,129,257
// RUN: sed 's/WIDTH/40/g; s/EIGHTH/5/g' %s | attn-agree --quiet - --tolerance=0 --lengths=0,1,17,65 --passes=none
// RUN: sed 's/WIDTH/24/g; s/EIGHTH/3/g' %s | attn-agree --quiet - --tolerance=0 --lengths=0,1,17,65 --mcpu=x86-64-v3
// RUN: sed 's/WIDTH/24/g; s/EIGHTH/3/g' %s | attn-agree --quiet - --tolerance=0 --lengths=0,1,17,65 --mcpu=x86-64

attn.weight @table {parts = ["table"]} : tensor<11xWIDTHxf32>

func.func @gathered(%ids: tensor<?xi32> {attn.name = "ids", attn.dims = #attn.dims<[T]>, test.fill = "below 14"},
                    %t: tensor<?xWIDTHxf32> {attn.name = "t", attn.dims = #attn.dims<[S, E]>})
    -> (tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %w = attn.param @table : tensor<11xWIDTHxf32>
  %y = attn.gather (%w : tensor<11xWIDTHxf32> [V, E], %ids : tensor<?xi32> [T]) -> tensor<?xWIDTHxf32> [T, E]
  %p = attn.pos tensor<?xi32> [T]
  %z = attn.gather (%w : tensor<11xWIDTHxf32> [V, E], %p : tensor<?xi32> [T]) -> tensor<?xWIDTHxf32> [T, E]
  return %y, %z : tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>
}

func.func @gathered_twice(%t: tensor<4x8xf32> {attn.name = "t", attn.dims = #attn.dims<[A, B]>},
                          %i: tensor<?xi32> {attn.name = "i", attn.dims = #attn.dims<[T]>},
                          %j: tensor<3xi32> {attn.name = "j", attn.dims = #attn.dims<[C]>})
    -> (tensor<?x3xf32> {attn.dims = #attn.dims<[T, C]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.gather (%t : tensor<4x8xf32> [A, B], %i : tensor<?xi32> [T], %j : tensor<3xi32> [C]) -> tensor<?x3xf32> [T, C]
  return %y : tensor<?x3xf32>
}

// Split, turned, merged again in the other order.
func.func @reshaped(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<8x?xEIGHTHxf32> {attn.dims = #attn.dims<[H, T, D]>}, tensor<WIDTHx?xf32> {attn.dims = #attn.dims<[E, T]>},
        tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, G]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %a = attn.reshape (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<8x?xEIGHTHxf32> [H, T, D]
  %b = attn.reshape (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<WIDTHx?xf32> [E, T]
  %d = attn.reshape (%a : tensor<8x?xEIGHTHxf32> [H, T, D]) -> tensor<?xEIGHTHx8xf32> [T, D, H]
  %c = attn.reshape (%d : tensor<?xEIGHTHx8xf32> [T, D, H]) -> tensor<?xWIDTHxf32> [T, G]
  return %a, %b, %c : tensor<8x?xEIGHTHxf32>, tensor<WIDTHx?xf32>, tensor<?xWIDTHxf32>
}

// Places that a short sequence does not have are 0.
func.func @sliced(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x9xf32> {attn.dims = #attn.dims<[T, F]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>},
        tensor<WIDTHxf32> {attn.dims = #attn.dims<[E]>}, tensor<WIDTHxf32> {attn.dims = #attn.dims<[E]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %a = attn.slice "E" at 5 (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?x9xf32> [T, F]
  %b = attn.slice "E" at 23 (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xf32> [T]
  %c = attn.slice "T" at 0 (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<WIDTHxf32> [E]
  %d = attn.slice "T" at 16 (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<WIDTHxf32> [E]
  return %a, %b, %c, %d : tensor<?x9xf32>, tensor<?xf32>, tensor<WIDTHxf32>, tensor<WIDTHxf32>
}

func.func @joined(%x: tensor<?x3xf32> {attn.name = "x", attn.dims = #attn.dims<[T, A]>},
                  %c: tensor<2xf32> {attn.name = "c", attn.dims = #attn.dims<[B]>},
                  %t: tensor<4x?xf32> {attn.name = "t", attn.dims = #attn.dims<[C, T]>},
                  %r: tensor<5xWIDTHxf32> {attn.name = "r", attn.dims = #attn.dims<[N, E]>})
    -> (tensor<?x9xf32> {attn.dims = #attn.dims<[T, M]>}, tensor<7xWIDTHxf32> {attn.dims = #attn.dims<[K, E]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.concat "M" ["A", "B", "C"] (%x : tensor<?x3xf32> [T, A], %c : tensor<2xf32> [B], %t : tensor<4x?xf32> [C, T])
      -> tensor<?x9xf32> [T, M]
  %z = attn.concat "K" ["B", "N"] (%c : tensor<2xf32> [B], %r : tensor<5xWIDTHxf32> [N, E]) -> tensor<7xWIDTHxf32> [K, E]
  return %y, %z : tensor<?x9xf32>, tensor<7xWIDTHxf32>
}

// An image for each sequence of a batch; the sequence itself is only looked at.
func.func @patched(%image: tensor<2x9x7xf32> {attn.name = "image", attn.dims = #attn.dims<[C, Y, X]>},
                   %x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    -> (tensor<4x3x2x3x3xf32> {attn.dims = #attn.dims<[Y2, X2, C, KY, KX]>},
        tensor<9x7x2x3x3xf32> {attn.dims = #attn.dims<[Y2, X2, C, KY, KX]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.patches stride 2 (%image : tensor<2x9x7xf32> [C, Y, X]) -> tensor<4x3x2x3x3xf32> [Y2, X2, C, KY, KX]
  %z = attn.patches stride 1 pad 1 (%image : tensor<2x9x7xf32> [C, Y, X]) -> tensor<9x7x2x3x3xf32> [Y2, X2, C, KY, KX]
  return %y, %z : tensor<4x3x2x3x3xf32>, tensor<9x7x2x3x3xf32>
}

// A table that is a sequence may be empty: then the rows are 0.
func.func @gathered_from_a_sequence(%ids: tensor<?xi32> {attn.name = "ids", attn.dims = #attn.dims<[T]>, test.fill = "below 14"},
                                    %t: tensor<?xWIDTHxf32> {attn.name = "t", attn.dims = #attn.dims<[S, E]>},
                                    %u: tensor<?xf32> {attn.name = "u", attn.dims = #attn.dims<[S]>})
    -> (tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.gather (%t : tensor<?xWIDTHxf32> [S, E], %ids : tensor<?xi32> [T]) -> tensor<?xWIDTHxf32> [T, E]
  %z = attn.gather (%u : tensor<?xf32> [S], %ids : tensor<?xi32> [T]) -> tensor<?xf32> [T]
  return %y, %z : tensor<?xWIDTHxf32>, tensor<?xf32>
}
