// Elementwise functions, reductions, softmax, normalisation, products of two tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: sed s/WIDTH/24/g %s | attn-agree --quiet - --lengths=0,1,15,16,17,63,64,65,129,257,1025
// RUN: sed s/WIDTH/40/g %s | attn-agree --quiet - --lengths=0,1,17,65 --passes=none
// RUN: sed s/WIDTH/72/g %s | attn-agree --quiet - --lengths=0,1,17,65
// RUN: sed s/WIDTH/192/g %s | attn-agree --quiet - --lengths=0,1,17,65
// RUN: sed s/WIDTH/1/g %s | attn-agree --quiet - --lengths=0,1,17,65 --passes=none
// RUN: sed s/WIDTH/40/g %s | attn-agree --quiet - --lengths=0,1,17,65 --mcpu=x86-64-v3

// A row, a column, one number and their positions, and the result transposed.
func.func @broadcast(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                     %r: tensor<WIDTHxf32> {attn.name = "r", attn.dims = #attn.dims<[E]>},
                     %c: tensor<?xf32> {attn.name = "c", attn.dims = #attn.dims<[T]>},
                     %n: tensor<f32> {attn.name = "n", attn.dims = #attn.dims<[]>})
    -> (tensor<WIDTHx?xf32> {attn.dims = #attn.dims<[E, T]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %p = attn.pos tensor<?xi32> [T]
  %y = attn.map (%x : tensor<?xWIDTHxf32> [T, E], %r : tensor<WIDTHxf32> [E], %c : tensor<?xf32> [T], %n : tensor<f32> [],
      %p : tensor<?xi32> [T]) -> tensor<WIDTHx?xf32> [E, T] {
  ^bb0(%u: f32, %v: f32, %w: f32, %z: f32, %i: i32):
    %three = arith.constant 3 : i32
    %m = arith.remsi %i, %three : i32
    %f = arith.sitofp %m : i32 to f32
    %a = arith.mulf %u, %v : f32
    %b = arith.addf %a, %w : f32
    %d = arith.subf %b, %z : f32
    %e = arith.addf %d, %f : f32
    attn.yield %e : f32
  }
  return %y : tensor<WIDTHx?xf32>
}

func.func @filled(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    -> (tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?xi32> {attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.map () -> tensor<?xWIDTHxf32> [T, E] {
    %c = arith.constant 0.75 : f32
    attn.yield %c : f32
  }
  %p = attn.pos tensor<?xi32> [T]
  return %y, %p : tensor<?xWIDTHxf32>, tensor<?xi32>
}

func.func @reduced(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>},
        tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>},
        tensor<WIDTHxf32> {attn.dims = #attn.dims<[E]>}, tensor<WIDTHxf32> {attn.dims = #attn.dims<[E]>},
        tensor<WIDTHxf32> {attn.dims = #attn.dims<[E]>}, tensor<f32> {attn.dims = #attn.dims<[]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %a = attn.reduce sum (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xf32> [T]
  %b = attn.reduce mean (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xf32> [T]
  %c = attn.reduce max (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xf32> [T]
  %d = attn.reduce min (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xf32> [T]
  %e = attn.reduce mean (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<WIDTHxf32> [E]
  %f = attn.reduce max (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<WIDTHxf32> [E]
  %g = attn.reduce min (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<WIDTHxf32> [E]
  %h = attn.reduce sum (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<f32> []
  return %a, %b, %c, %d, %e, %f, %g, %h : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<WIDTHxf32>,
      tensor<WIDTHxf32>, tensor<WIDTHxf32>, tensor<f32>
}

// Along the row, along the sequence, and of rows that are -inf.
func.func @softmaxed(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>},
        tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %a = attn.softmax "E" (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xWIDTHxf32> [T, E]
  %b = attn.softmax "T" (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xWIDTHxf32> [T, E]
  %p = attn.pos tensor<?xi32> [T]
  %low = attn.map (%x : tensor<?xWIDTHxf32> [T, E], %p : tensor<?xi32> [T]) -> tensor<?xWIDTHxf32> [T, E] {
  ^bb0(%u: f32, %i: i32):
    %inf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %odd = arith.andi %i, %one : i32
    %is = arith.cmpi eq, %odd, %one : i32
    %neg = arith.cmpf olt, %u, %zero : f32
    %hide = arith.ori %is, %neg : i1
    %v = arith.select %hide, %inf, %u : f32
    attn.yield %v : f32
  }
  %c = attn.softmax "E" (%low : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xWIDTHxf32> [T, E]
  return %a, %b, %c : tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>
}

func.func @normalised(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                      %w: tensor<WIDTHxf32> {attn.name = "w", attn.dims = #attn.dims<[E]>},
                      %b: tensor<WIDTHxf32> {attn.name = "b", attn.dims = #attn.dims<[E]>})
    -> (tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>},
        tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.normalise layer eps 1.0e-2 (%x : tensor<?xWIDTHxf32> [T, E], %w : tensor<WIDTHxf32> [E], %b : tensor<WIDTHxf32> [E])
      -> tensor<?xWIDTHxf32> [T, E]
  %z = attn.normalise rms eps 1.0e-2 (%x : tensor<?xWIDTHxf32> [T, E], %w : tensor<WIDTHxf32> [E]) -> tensor<?xWIDTHxf32> [T, E]
  %u = attn.normalise layer eps 1.0e-2 (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xWIDTHxf32> [T, E]
  return %y, %z, %u : tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>, tensor<?xWIDTHxf32>
}
