// Attention in every form, against the interpreter: widths, lengths, heads, masks, weighers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: sed s/WIDTH/24/g %s | attn-agree --quiet - --lengths=0,1,15,16,17,63,64,65,129,193,257
// RUN: sed s/WIDTH/40/g %s | attn-agree --quiet - --lengths=0,1,17,63,65
// RUN: sed s/WIDTH/64/g %s | attn-agree --quiet - --lengths=0,1,15,16,17,63,64,65,129,193,257,1025
// RUN: sed s/WIDTH/72/g %s | attn-agree --quiet - --lengths=0,1,17,63,65
// RUN: sed s/WIDTH/80/g %s | attn-agree --quiet - --lengths=0,1,17,63,65
// RUN: sed s/WIDTH/128/g %s | attn-agree --quiet - --lengths=0,1,16,64,193
// RUN: sed s/WIDTH/192/g %s | attn-agree --quiet - --lengths=0,1,17,63,65
// RUN: sed s/WIDTH/64/g %s | attn-agree --quiet - --lengths=0,1,17,64,193 --mcpu=x86-64-v3

// Queries and keys differ in number.
func.func @plain(%q: tensor<?x2xWIDTHxf32> {attn.name = "q", attn.dims = #attn.dims<[T, H, D]>},
                 %k: tensor<?x2xWIDTHxf32> {attn.name = "k", attn.dims = #attn.dims<[S, H, D]>},
                 %v: tensor<?x2xWIDTHxf32> {attn.name = "v", attn.dims = #attn.dims<[S, H, N]>})
    -> (tensor<?x2xWIDTHxf32> {attn.dims = #attn.dims<[T, H, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 0.125 (%q : tensor<?x2xWIDTHxf32> [T, H, D], %k : tensor<?x2xWIDTHxf32> [S, H, D],
      %v : tensor<?x2xWIDTHxf32> [S, H, N]) -> tensor<?x2xWIDTHxf32> [T, H, N]
  return %y : tensor<?x2xWIDTHxf32>
}

// Two query heads a key head, values without heads, of another width; only what came before is visible.
func.func @grouped_causal(%q: tensor<?x2x2xWIDTHxf32> {attn.name = "q", attn.dims = #attn.dims<[T, G, R, D]>},
                          %k: tensor<?x2xWIDTHxf32> {attn.name = "k", attn.dims = #attn.dims<[T, G, D]>},
                          %v: tensor<?x20xf32> {attn.name = "v", attn.dims = #attn.dims<[T, N]>})
    -> (tensor<?x2x2x20xf32> {attn.dims = #attn.dims<[T, G, R, N]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.attend softmax scale 0.125 (%q : tensor<?x2x2xWIDTHxf32> [T, G, R, D], %k : tensor<?x2xWIDTHxf32> [S:T, G, D],
      %v : tensor<?x20xf32> [S:T, N]) -> tensor<?x2x2x20xf32> [T, G, R, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sle, %j, %i : i32
    attn.yield %c : i1
  }
  return %y : tensor<?x2x2x20xf32>
}
