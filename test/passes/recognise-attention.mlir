// RUN: %attn-opt %s --attn-recognise-attention --attn-simplify --split-input-file | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-recognise-attention,attn-simplify
// attn-recognise-attention: the ways to write attention by hand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CHECK-LABEL: @plain
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} : tensor<?x4x16xf32> [T, H, D], %{{.*}} : tensor<?x4x16xf32> [S, H, D], %{{.*}} : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
// CHECK-NOT: score
func.func @plain(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %w = attn.softmax "S" (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @scaled
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 2.500000e-01 (
// CHECK-NOT: score
func.func @scaled(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %t = attn.map (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32):
    %c = arith.constant 4.0 : f32
    %d = arith.divf %a, %c : f32
    attn.yield %d : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @bias_by_head_and_key
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 1.000000e+00
// CHECK: score {
// CHECK: ^bb0(%[[s:.*]]: f32, %{{.*}}: i32, %[[j:.*]]: i32, %[[h:.*]]: i32, %{{.*}}: tensor<16xf32>, %{{.*}}: tensor<16xf32>, %[[b:.*]]: tensor<?x4xf32>):
// CHECK: %[[r:.*]] = arith.remsi
// CHECK: attn.at %[[b]][%[[j]], %[[r]]]
func.func @bias_by_head_and_key(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}, %b: tensor<?x4xf32> {attn.dims = #attn.dims<[S, H]>, attn.name = "b"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %t = attn.map (%s : tensor<?x4x?xf32> [T, H, S], %b : tensor<?x4xf32> [S, H]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %e: f32):
    %c = arith.constant 0.25 : f32
    %d = arith.mulf %a, %c : f32
    %f = arith.addf %d, %e : f32
    attn.yield %f : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @mask_by_select
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax
// CHECK-NOT: score
// CHECK: mask {
// CHECK: ^bb0(%{{.*}}: i32, %[[j:.*]]: i32, %{{.*}}: i32, %[[b:.*]]: tensor<?xi32>):
// CHECK: attn.at %[[b]][%[[j]]]
// CHECK: arith.cmpi
func.func @mask_by_select(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}, %b: tensor<?xi32> {attn.dims = #attn.dims<[S]>, attn.name = "b"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %t = attn.map (%s : tensor<?x4x?xf32> [T, H, S], %b : tensor<?xi32> [S]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %e: i32):
    %none = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %e, %zero : i32
    %f = arith.select %c, %a, %none : f32
    attn.yield %f : f32
  }
  %w = attn.softmax "S" (%t : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4x?xf32> [T, H, S]
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @spelled_out
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 1.000000e+00
// CHECK-NOT: attn.reduce
func.func @spelled_out(%q: tensor<?x4x16xf32> {attn.dims = #attn.dims<[T, H, D]>, attn.name = "q"}, %k: tensor<?x4x16xf32> {attn.dims = #attn.dims<[S, H, D]>, attn.name = "k"}, %v: tensor<?x4x24xf32> {attn.dims = #attn.dims<[S, H, N]>, attn.name = "v"}) -> (tensor<?x4x24xf32> {attn.dims = #attn.dims<[T, H, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x4x16xf32> [T, H, D], %k : tensor<?x4x16xf32> [S, H, D]) -> tensor<?x4x?xf32> [T, H, S]
  %m = attn.reduce max (%s : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4xf32> [T, H]
  %e = attn.map (%s : tensor<?x4x?xf32> [T, H, S], %m : tensor<?x4xf32> [T, H]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    attn.yield %d : f32
  }
  %l = attn.reduce sum (%e : tensor<?x4x?xf32> [T, H, S]) -> tensor<?x4xf32> [T, H]
  %w = attn.map (%e : tensor<?x4x?xf32> [T, H, S], %l : tensor<?x4xf32> [T, H]) -> tensor<?x4x?xf32> [T, H, S] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    attn.yield %c : f32
  }
  %y = attn.contract (%w : tensor<?x4x?xf32> [T, H, S], %v : tensor<?x4x24xf32> [S, H, N]) -> tensor<?x4x24xf32> [T, H, N]
  return %y : tensor<?x4x24xf32>
}

// -----
// CHECK-LABEL: @dimensions_in_any_order
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax
// CHECK: attn.reshape
func.func @dimensions_in_any_order(%q: tensor<4x?x16xf32> {attn.dims = #attn.dims<[H, T, D]>, attn.name = "q"}, %k: tensor<16x4x?xf32> {attn.dims = #attn.dims<[D, H, S]>, attn.name = "k"}, %v: tensor<4x?x24xf32> {attn.dims = #attn.dims<[H, S, N]>, attn.name = "v"}) -> (tensor<4x?x24xf32> {attn.dims = #attn.dims<[H, T, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%k : tensor<16x4x?xf32> [D, H, S], %q : tensor<4x?x16xf32> [H, T, D]) -> tensor<4x?x?xf32> [H, T, S]
  %w = attn.softmax "S" (%s : tensor<4x?x?xf32> [H, T, S]) -> tensor<4x?x?xf32> [H, T, S]
  %y = attn.contract (%v : tensor<4x?x24xf32> [H, S, N], %w : tensor<4x?x?xf32> [H, T, S]) -> tensor<4x?x24xf32> [H, T, N]
  return %y : tensor<4x?x24xf32>
}

// -----
// CHECK-LABEL: @grouped_heads
// CHECK-NOT: attn.contract
// CHECK: attn.attend softmax scale 1.000000e+00 (%{{.*}} : tensor<?x2x3x16xf32> [T, G, R, D], %{{.*}} : tensor<?x2x16xf32> [S, G, D], %{{.*}} : tensor<?x2x24xf32> [S, G, N]) -> tensor<?x2x3x24xf32> [T, G, R, N]
func.func @grouped_heads(%q: tensor<?x2x3x16xf32> {attn.dims = #attn.dims<[T, G, R, D]>, attn.name = "q"}, %k: tensor<?x2x16xf32> {attn.dims = #attn.dims<[S, G, D]>, attn.name = "k"}, %v: tensor<?x2x24xf32> {attn.dims = #attn.dims<[S, G, N]>, attn.name = "v"}) -> (tensor<?x2x3x24xf32> {attn.dims = #attn.dims<[T, G, R, N]>, attn.name = "y"}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %s = attn.contract (%q : tensor<?x2x3x16xf32> [T, G, R, D], %k : tensor<?x2x16xf32> [S, G, D]) -> tensor<?x2x3x?xf32> [T, G, R, S]
  %w = attn.softmax "S" (%s : tensor<?x2x3x?xf32> [T, G, R, S]) -> tensor<?x2x3x?xf32> [T, G, R, S]
  %y = attn.contract (%w : tensor<?x2x3x?xf32> [T, G, R, S], %v : tensor<?x2x24xf32> [S, G, N]) -> tensor<?x2x3x24xf32> [T, G, R, N]
  return %y : tensor<?x2x3x24xf32>
}
