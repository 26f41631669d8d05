// Every constraint on scalar regions that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

func.func @map_region_c1(%x: tensor<2xf32>) {
  // expected-error @below {{the body region's arguments are not those of the operation (region_c1)}}
  // expected-note @below {{expected ('f32')}}
  %y = attn.map (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%a: i32):
    %c = arith.sitofp %a : i32 to f32
    attn.yield %c : f32
  }
  return
}

// -----

attn.weight @w {parts = ["w"]} : tensor<3x2xf32>
func.func @linear_region_c1(%x: tensor<2xf32>) {
  // expected-error @below {{the body region's arguments are not those of the operation (region_c1)}}
  // expected-note @below {{expected ('f32')}}
  %y = attn.linear @w (%x : tensor<2xf32> [E]) -> tensor<3xf32> [F] {
    %c = arith.constant 0.0 : f32
    attn.yield %c : f32
  }
  return
}

// -----

func.func @map_region_c5(%x: tensor<2xf32>) {
  // expected-error @below {{the body region does not yield one 'f32' (region_c5)}}
  %y = attn.map (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%a: f32):
    attn.yield %a, %a : f32, f32
  }
  return
}

// -----

func.func @score_region_c1(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{the score region's arguments are not those of the operation (region_c1)}}
  // expected-note @below {{expected ('f32', 'i32', 'i32', 'i32', 'tensor<4xf32>', 'tensor<4xf32>')}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32):
    attn.yield %s : f32
  }
  return
}

// -----

func.func @mask_region_c5(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{the mask region does not yield one 'i1' (region_c5)}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    attn.yield %i : i32
  }
  return
}

// -----

func.func @sink_region_c1(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  // expected-error @below {{the sink region's arguments are not those of the operation (region_c1)}}
  // expected-note @below {{expected ('i32')}}
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] sink {
    %s = arith.constant 0.0 : f32
    attn.yield %s : f32
  }
  return
}

// -----

func.func @region_c2(%x: tensor<2xf32>) {
  %y = attn.map (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%a: f32):
    // expected-error @below {{is not one of the scalar operations of regions (region_c2)}}
    %b = math.atan %a : f32
    attn.yield %b : f32
  }
  return
}

// -----

func.func @region_c2_type(%x: tensor<2xf32>) {
  %y = attn.map (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%a: f32):
    // expected-error @below {{is not one of the scalar operations of regions (region_c2)}}
    %b = arith.constant 1 : i64
    attn.yield %a : f32
  }
  return
}

// -----

func.func @region_c2_tensor_operation(%x: tensor<2xf32>) {
  %y = attn.map (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%a: f32):
    // expected-error @below {{is not one of the scalar operations of regions (region_c2)}}
    %b = attn.reduce sum (%x : tensor<2xf32> [A]) -> tensor<f32> []
    attn.yield %a : f32
  }
  return
}

// -----

func.func @region_c3(%x: tensor<2xf32>, %i: i32) {
  %y = attn.map (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%a: f32):
    // expected-error @below {{stands in regions of `attn.attend` only (region_c3)}}
    %b = attn.at %x[%i] : tensor<2xf32> -> f32
    attn.yield %b : f32
  }
  return
}

// -----

func.func @region_c4(%q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x4xf32> [T, H, D], %k : tensor<?x2x4xf32> [S, H, D], %v : tensor<?x2x3xf32> [S, H, N])
      -> tensor<?x2x3xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<4xf32>, %kr: tensor<4xf32>):
    // expected-error @below {{takes a tensor from outside of the region (region_c4)}}
    %n = attn.at %k[%j, %h, %i] : tensor<?x2x4xf32> -> f32
    attn.yield %n : f32
  }
  return
}
