// --precision=bf16 where bfloat16 holds every factor: what is left are float32 sums and a rough e^x.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --precision=bf16 --pointwise --tolerance=2.1e-4 --lengths=0,1,2,15,16,17,63,64,65,129,193,257
// RUN: attn-agree --quiet %s --precision=bf16 --pointwise --tolerance=2.1e-4 --lengths=0,1,17,64,65,193 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --precision=bf16 --pointwise --tolerance=2.1e-4 --lengths=0,1,17,64,65,193 --mcpu=x86-64
// RUN: sed /ROUGH/,/END/d %s | attn-agree --quiet - --precision=bf16 --pointwise --tolerance=2e-7 --lengths=0,1,2,63,64,65,257
// RUN: sed /ROUGH/,/END/d %s | attn-agree --quiet - --precision=bf16 --pointwise --tolerance=2e-7 --lengths=0,1,64,65 --mcpu=x86-64-v3

// Scores j / 8: weights are not rounded where they are a result, twice at most 1.02e-4 off. ROUGH
func.func @weights(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0.25"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "ramp 0.0625"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x?xf32> {attn.dims = #attn.dims<[T, S]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y, %w, %l = attn.attend softmax scale 1.0 weights lse (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D],
      %v : tensor<?x8xf32> [S, N]) -> (tensor<?x8xf32> [T, N], tensor<?x?xf32> [T, S], tensor<?xf32> [T])
  return %w, %l : tensor<?x?xf32>, tensor<?xf32>
}
// END

// The mean of 0, 1, 2, … of up to 257 keys: sums of whole numbers that bfloat16 would not hold.
func.func @mean(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
    %v: tensor<?x9xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>, test.fill = "ramp 1"})
    -> (tensor<?x9xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x9xf32> [S, N])
      -> tensor<?x9xf32> [T, N]
  return %y : tensor<?x9xf32>
}

// The same of the keys up to one's own.
func.func @mean_before(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0.125"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[T, N]>, test.fill = "ramp 1"})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S:T, D],
      %v : tensor<?x8xf32> [S:T, N]) -> tensor<?x8xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %b = arith.cmpi sle, %j, %i : i32
    attn.yield %b : i1
  }
  return %y : tensor<?x8xf32>
}
