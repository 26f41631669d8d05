// Scores of 10,000 and more: a weight is known as well as its score is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scores are numbers of float32, so the weights are exact but for their own rounding. Without fused multiply-adds
// that ends at 11,000; there a weight is off by at most 4 * 2^-24 * |score|.
//
// RUN: attn-agree --quiet %s --lengths=0,1,15,16,17,63,64,65,129,257,1025
// RUN: attn-agree --quiet %s --lengths=0,1,17,64,193 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --tolerance=2.4e-2 --lengths=0,1,17,64,193 --mcpu=x86-64

// j - 10000
func.func @below(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "same 0"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<8xf32>, %kr: tensor<8xf32>):
    %n = arith.sitofp %j : i32 to f32
    %a = arith.constant 1.0 : f32
    %b = arith.constant -10000.0 : f32
    %m = arith.mulf %n, %a : f32
    %t = arith.addf %m, %b : f32
    attn.yield %t : f32
  }
  return %y : tensor<?x8xf32>
}

// 10000 - j / 8
func.func @above(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "same 0"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<8xf32>, %kr: tensor<8xf32>):
    %n = arith.sitofp %j : i32 to f32
    %a = arith.constant -0.125 : f32
    %b = arith.constant 10000.0 : f32
    %m = arith.mulf %n, %a : f32
    %t = arith.addf %m, %b : f32
    attn.yield %t : f32
  }
  return %y : tensor<?x8xf32>
}

// 100000 + j / 16
func.func @hundred_thousand(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "same 0"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<8xf32>, %kr: tensor<8xf32>):
    %n = arith.sitofp %j : i32 to f32
    %a = arith.constant 0.0625 : f32
    %b = arith.constant 100000.0 : f32
    %m = arith.mulf %n, %a : f32
    %t = arith.addf %m, %b : f32
    attn.yield %t : f32
  }
  return %y : tensor<?x8xf32>
}

// A product that grows by 8192 a key: the last takes all.
func.func @steep(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 64"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "ramp 16"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N]
  return %y : tensor<?x8xf32>
}

// A product that falls by 8192 a key: the first takes all.
func.func @falling(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same -64"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "ramp 16"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N]
  return %y : tensor<?x8xf32>
}

// The lowest number of float32 everywhere is a score like any other, not a hidden key: the mean of the values.
func.func @lowest(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "same 0"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<8xf32>, %kr: tensor<8xf32>):
    %t = arith.constant -3.40282347E+38 : f32
    attn.yield %t : f32
  }
  return %y : tensor<?x8xf32>
}

// Keys from number 3 on have scores of -1e30, and no weight beside scores of 0; rows alone with them share it.
func.func @sentinel(%q: tensor<?x8xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>, test.fill = "same 0"},
    %k: tensor<?x8xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>, test.fill = "same 0"},
    %v: tensor<?x8xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x8xf32> [T, D], %k : tensor<?x8xf32> [S, D], %v : tensor<?x8xf32> [S, N])
      -> tensor<?x8xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<8xf32>, %kr: tensor<8xf32>):
    %three = arith.constant 3 : i32
    %near = arith.cmpi slt, %j, %three : i32
    %zero = arith.constant 0.0 : f32
    %far = arith.constant -1.0e+30 : f32
    %t = arith.select %near, %zero, %far : f32
    attn.yield %t : f32
  }
  return %y : tensor<?x8xf32>
}
