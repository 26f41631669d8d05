// Every constraint on attention that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

func.func @attend_c1(%q: tensor<2xf32>) {
  // expected-error @below {{query, key and value are tensors of rank 2 or more (attend_c1)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<2xf32> [T], %q : tensor<2xf32> [T], %q : tensor<2xf32> [T])
      -> tensor<2xf32> [T]
  return
}

// -----

func.func @attend_c2(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{`G` of [S, G = 2, D = 4] is not a head of the query [T, H = 2, D = 4] (attend_c2)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, G, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N]
  return
}

// -----

func.func @attend_c3(%q: tensor<?x?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x3xf32>) {
  // expected-error @below {{`H` of [T, H, D = 4] is not static: heads and rows are (attend_c3)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x?x4xf32> [T, H, D], %k : tensor<?x4xf32> [S, D], %v : tensor<?x3xf32> [S, N])
      -> tensor<?x?x3xf32> [T, H, N]
  return
}

// -----

func.func @attend_c4(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{keys [S, H = 2, D = 4] and values [T, H = 2, N = 3] differ in number (attend_c4)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [T, H, N])
      -> tensor<?x2x3xf32> [T, H, N]
  return
}

// -----

func.func @attend_c5(%q: tensor<?x4xf32>, %k: tensor<?x5xf32>, %v: tensor<?x3xf32>) {
  // expected-error @below {{the product of rows of 4 and 5 numbers (attend_c5)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x4xf32> [T, D], %k : tensor<?x5xf32> [S, E], %v : tensor<?x3xf32> [S, N])
      -> tensor<?x3xf32> [T, N]
  return
}

// -----

func.func @attend_c6(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{1 results where 2 belong (attend_c6)}}
  %y = attn.attend softmax scale 1.0 weights (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N]
  return
}

// -----

func.func @attend_c7(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{the result is [T, H = 2, N = 3], not [H = 2, T, N = 3] (attend_c7)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<2x?x3xf32> [H, T, N]
  return
}

// -----

func.func @attend_c8(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{the weights are [T, H = 2] and the keys' dimension, not [T, S, H = 2] (attend_c8)}}
  %y, %w = attn.attend softmax scale 1.0 weights (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> (tensor<?x2x3xf32> [T, H, N], tensor<?x?x2xf32> [T, S, H])
  return
}

// -----

func.func @attend_c9(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{the log-sum-exp is [T, H = 2], not [T] (attend_c9)}}
  %y, %w = attn.attend softmax scale 1.0 lse (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> (tensor<?x2x3xf32> [T, H, N], tensor<?xf32> [T])
  return
}

// -----

func.func @attend_c10(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xi32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{a tensor of 'i32' where f32 belongs (attend_c10)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xi32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N]
  return
}

// -----

func.func @attend_c11(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{a sink and a log-sum-exp belong to softmax and softmax1 (attend_c11)}}
  %y, %w = attn.attend sigmoid scale 1.0 lse (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> (tensor<?x2x3xf32> [T, H, N], tensor<?x2xf32> [T, H])
  return
}

// -----

func.func @attend_c11_sink(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{a sink and a log-sum-exp belong to softmax and softmax1 (attend_c11)}}
  %y = attn.attend ratio scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] sink {
  ^bb0(%h: i32):
    %s = arith.constant 0.0 : f32
    attn.yield %s : f32
  }
  return
}

// -----

func.func @at_c1(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<4xf32>, %kr: tensor<4xf32>):
    // expected-error @below {{2 indices for 'tensor<4xf32>' (at_c1)}}
    %n = attn.at %qr[%i, %j] : tensor<4xf32> -> f32
    attn.yield %n : f32
  }
  return
}

// -----

func.func @at_c2(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<4xf32>, %kr: tensor<4xf32>):
    // expected-error @below {{the result is not one 'f32' (at_c2)}}
    %n = attn.at %qr[%i] : tensor<4xf32> -> i32
    attn.yield %s : f32
  }
  return
}

// -----

func.func @fold_c1(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<4xf32>, %kr: tensor<4xf32>):
    // expected-error @below {{counts to -1 (fold_c1)}}
    %n = attn.fold -1 {
    ^bb0(%d: i32):
      attn.yield %s : f32
    }
    attn.yield %n : f32
  }
  return
}

// -----

func.func @fold_c2(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<4xf32>, %kr: tensor<4xf32>):
    // expected-error @below {{a mean is a sum divided by its count (fold_c2)}}
    %n = attn.fold 4 {
    ^bb0(%d: i32):
      attn.yield %s : f32
    } {kind = #attn<reduction mean>}
    attn.yield %n : f32
  }
  return
}

// -----

func.func @fold_region_c1(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<4xf32>, %kr: tensor<4xf32>):
    // expected-error @below {{the body region's arguments are not those of the operation (region_c1)}}
    // expected-note @below {{expected ('i32')}}
    %n = attn.fold 2 {
    ^bb0(%d: f32):
      attn.yield %d : f32
    }
    attn.yield %n : f32
  }
  return
}

// -----

func.func @fold_region_c5(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<4xf32>, %kr: tensor<4xf32>):
    // expected-error @below {{the body region does not yield one 'f32' (region_c5)}}
    %n = attn.fold 2 {
    ^bb0(%d: i32):
      attn.yield %d : i32
    }
    attn.yield %n : f32
  }
  return
}
