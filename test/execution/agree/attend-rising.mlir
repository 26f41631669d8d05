// Scores that rise along the keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,15,16,17,63,64,65,129,193,257,1025
// RUN: attn-agree --quiet %s --lengths=0,1,17,64,193 --mcpu=x86-64-v3

// A score grows by a quarter a key: the running maximum moves at every one.
func.func @rising(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0.5"},
                  %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "ramp 0.0625"},
                  %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N]
  return %y : tensor<?x8xf32>
}
