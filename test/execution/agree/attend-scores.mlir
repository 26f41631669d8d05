// Scores falling and equal along the keys; rows without a visible key; what hidden keys hold.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,15,16,17,63,64,65,129,193,257,1025
// RUN: attn-agree --quiet %s --lengths=0,1,17,64,193 --mcpu=x86-64-v3

func.func @falling(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same -0.5"},
                   %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "ramp 0.01"},
                   %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N]
  return %y : tensor<?x8xf32>
}

// Equal scores and values that count the keys: each result is the mean of the visible numbers, in windows of three.
func.func @equal(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
                 %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                 %v: tensor<?x1xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>, test.fill = "ramp 1"})
    -> (tensor<?x1xf32> {attn.dims = #attn.dims<[T, N]>}, tensor<?x1xf32> {attn.dims = #attn.dims<[T, N]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %all = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x1xf32> [S, N])
      -> tensor<?x1xf32> [T, N]
  %some = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x1xf32> [S, N])
      -> tensor<?x1xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %three = arith.constant 3 : i32
    %d = arith.subi %i, %j : i32
    %zero = arith.constant 0 : i32
    %a = arith.cmpi sge, %d, %zero : i32
    %b = arith.cmpi slt, %d, %three : i32
    %c = arith.andi %a, %b : i1
    attn.yield %c : i1
  }
  return %all, %some : tensor<?x1xf32>, tensor<?x1xf32>
}

// Keys and values from row 12 on are no numbers, and hidden; odd queries see nothing at all.
func.func @poison(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                  %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "poison 12"},
                  %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>, test.fill = "poison 12"})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 0.25 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %twelve = arith.constant 12 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %a = arith.cmpi slt, %j, %twelve : i32
    %odd = arith.andi %i, %one : i32
    %b = arith.cmpi eq, %odd, %zero : i32
    %c = arith.andi %a, %b : i1
    attn.yield %c : i1
  }
  // hidden by a score of -inf instead
  %z = attn.attend softmax scale 0.25 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<8xf32>, %kr: tensor<8xf32>):
    %twelve = arith.constant 12 : i32
    %low = arith.constant 0xFF800000 : f32
    %a = arith.cmpi slt, %j, %twelve : i32
    %n = arith.select %a, %s, %low : f32
    attn.yield %n : f32
  }
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// The last key is visible, and no number: every result must say so.
func.func @visible_nan(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                       %k: tensor<3x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                       %v: tensor<3x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>, test.fill = "poison 2"})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.attend softmax scale 0.25 (%q : tensor<?x8xf32> [T, D], %k : tensor<3x8xf32> [S, D], %v : tensor<3x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N]
  return %y : tensor<?x8xf32>
}
