// Products with weights: tails in every direction, heads, epilogues, turns, a weight used as a tensor too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: sed 's/WIDTH/24/g; s/OUT/7/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,15,16,17,63,64,65,129,257,1025
// RUN: sed 's/WIDTH/40/g; s/OUT/48/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65
// RUN: sed 's/WIDTH/64/g; s/OUT/96/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,8,193
// RUN: sed 's/WIDTH/72/g; s/OUT/49/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65 --passes=none
// RUN: sed 's/WIDTH/128/g; s/OUT/100/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65
// RUN: sed 's/WIDTH/192/g; s/OUT/1/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65
// RUN: sed 's/WIDTH/1/g; s/OUT/33/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65
// RUN: sed 's/WIDTH/40/g; s/OUT/50/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65 --mcpu=x86-64-v3
// RUN: sed 's/WIDTH/40/g; s/OUT/50/g' %s | attn-agree --quiet - --tolerance=5e-6 --lengths=0,1,17,65 --mcpu=x86-64

attn.weight @w {parts = ["w"]} : tensor<OUTxWIDTHxf32>
attn.weight @turned {parts = ["turned"], stored = "in_out"} : tensor<OUTxWIDTHxf32>
attn.weight @heads {parts = ["one", "two"], rows = array<i64: 1, 2>, stored = "in_out"} : tensor<3x5xWIDTHxf32>
attn.weight @layers {parts = ["layers.{0}"], turns = array<i64: 3>} : tensor<WIDTHxWIDTHxf32>

func.func @with_epilogue(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                         %b: tensor<OUTxf32> {attn.name = "b", attn.dims = #attn.dims<[F]>},
                         %r: tensor<OUTx?xf32> {attn.name = "r", attn.dims = #attn.dims<[F, T]>})
    -> (tensor<?xOUTxf32> {attn.dims = #attn.dims<[T, F]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.linear @w (%x : tensor<?xWIDTHxf32> [T, E], %b : tensor<OUTxf32> [F], %r : tensor<OUTx?xf32> [F, T])
      -> tensor<?xOUTxf32> [T, F] {
  ^bb0(%acc: f32, %c: f32, %d: f32):
    %s = arith.addf %acc, %c : f32
    %t = math.tanh %s : f32
    %u = arith.addf %t, %d : f32
    attn.yield %u : f32
  }
  return %y : tensor<?xOUTxf32>
}

func.func @plain_and_as_a_tensor(%x: tensor<?x2xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, H, E]>})
    -> (tensor<?x2xOUTxf32> {attn.dims = #attn.dims<[T, H, F]>}, tensor<?x2xOUTxf32> {attn.dims = #attn.dims<[T, H, F]>},
        tensor<OUTxWIDTHxf32> {attn.dims = #attn.dims<[F, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.linear @w (%x : tensor<?x2xWIDTHxf32> [T, H, E]) -> tensor<?x2xOUTxf32> [T, H, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %z = attn.linear @turned (%x : tensor<?x2xWIDTHxf32> [T, H, E]) -> tensor<?x2xOUTxf32> [T, H, F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %p = attn.param @w : tensor<OUTxWIDTHxf32>
  return %y, %z, %p : tensor<?x2xOUTxf32>, tensor<?x2xOUTxf32>, tensor<OUTxWIDTHxf32>
}

// The rows come from a transposed tensor; the weight is two of the file's.
func.func @strided_rows_to_heads(%x: tensor<WIDTHx?xf32> {attn.name = "x", attn.dims = #attn.dims<[E, T]>})
    -> (tensor<?x3x5xf32> {attn.dims = #attn.dims<[T, H, D]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r = attn.reshape (%x : tensor<WIDTHx?xf32> [E, T]) -> tensor<?xWIDTHxf32> [T, E]
  %y = attn.linear @heads (%r : tensor<?xWIDTHxf32> [T, E]) -> tensor<?x3x5xf32> [T, H, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  return %y : tensor<?x3x5xf32>
}

// One row for the whole sequence, and none of a sequence at all.
func.func @single_rows(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<OUTxf32> {attn.dims = #attn.dims<[F]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %m = attn.reduce mean (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<WIDTHxf32> [E]
  %y = attn.linear @w (%m : tensor<WIDTHxf32> [E]) -> tensor<OUTxf32> [F] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  return %y : tensor<OUTxf32>
}

// Three layers, each adding to what it was given; every state is kept too.
func.func @repeated(%x: tensor<?xWIDTHxf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?xWIDTHxf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.repeat 0 to 3 (%x : tensor<?xWIDTHxf32> [T, E]) -> tensor<?xWIDTHxf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?xWIDTHxf32>):
    %z = attn.linear @layers[%l] (%c : tensor<?xWIDTHxf32> [T, E], %c : tensor<?xWIDTHxf32> [T, F]) -> tensor<?xWIDTHxf32> [T, F] {
    ^bb0(%acc: f32, %old: f32):
      %n = arith.sitofp %l : i32 to f32
      %s = arith.addf %acc, %old : f32
      %t = arith.addf %s, %n : f32
      attn.yield %t : f32
    }
    attn.yield %z : tensor<?xWIDTHxf32>
  }
  return %y : tensor<?xWIDTHxf32>
}
