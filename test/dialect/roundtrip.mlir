// What is printed reads as the same, also in generic form and as bytecode.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s > %t.once
// RUN: %attn-opt %t.once > %t.twice && diff %t.once %t.twice
// RUN: %attn-opt %s -mlir-print-op-generic | %attn-opt > %t.generic && diff %t.once %t.generic
// RUN: %attn-opt %s -emit-bytecode | %attn-opt > %t.bytes && diff %t.once %t.bytes
// RUN: FileCheck %s < %t.once

// The files that use every operation.
// RUN: cat %S/interpreter/elementwise.mlir %S/interpreter/attend.mlir %S/interpreter/movement.mlir > %t.all.mlir
// RUN: cat %S/interpreter/state.mlir %S/interpreter/scan.mlir >> %t.all.mlir
// RUN: %attn-opt %t.all.mlir > %t.all.once && %attn-opt %t.all.mlir -mlir-print-op-generic | %attn-opt > %t.all.generic
// RUN: diff %t.all.once %t.all.generic

// CHECK: attn.weight @w {parts = ["a.{0}", "b.{0}"], rows = array<i64: 1, 2>, stored = "in_out", turns = array<i64: 2>} : tensor<3x4xf32>
attn.weight @w {parts = ["a.{0}", "b.{0}"], rows = array<i64: 1, 2>, turns = array<i64: 2>, stored = "in_out"} : tensor<3x4xf32>

// CHECK: attn.state cache @keys {turns = array<i64: 2>} : tensor<?x4xf32>
attn.state cache @keys {turns = array<i64: 2>} : tensor<?x4xf32>
// CHECK: attn.state once @memory : tensor<?x4xi32>
attn.state once @memory : tensor<?x4xi32>

// CHECK-LABEL: @sessions
// CHECK: attn.once @memory (%{{.*}} : tensor<?x4xi32> [S, E]) -> tensor<?x4xi32> [M:kept.S, E]
// CHECK: attn.session past -> tensor<i32> []
// CHECK: attn.session capacity -> tensor<i32> []
// CHECK: attn.cache @keys[%{{.*}}] (%{{.*}} : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [S:all.T, E]
// CHECK: attn.scan "T" rows 1 (%{{.*}} : tensor<?x4xf32> [T, E], %{{.*}} : tensor<i32> []) -> (tensor<i32> [], tensor<?x4xf32> [T, E]) {
func.func @sessions(%x: tensor<?x4xf32> {attn.dims = #attn.dims<[T, E]>}, %y: tensor<?x4xi32> {attn.dims = #attn.dims<[S, E]>})
    -> (tensor<?x4xf32>) attributes {attn.cached = "T"} {
  %m = attn.once @memory (%y : tensor<?x4xi32> [S, E]) -> tensor<?x4xi32> [M:kept.S, E]
  %p = attn.session past -> tensor<i32> []
  %c = attn.session capacity -> tensor<i32> []
  %u = attn.repeat 0 to 2 (%x : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E] {
  ^bb0(%l: i32, %v: tensor<?x4xf32>):
    %k = attn.cache @keys[%l] (%v : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [S:all.T, E]
    attn.yield %v : tensor<?x4xf32>
  }
  %d, %z = attn.scan "T" rows 1 (%u : tensor<?x4xf32> [T, E], %p : tensor<i32> []) -> (tensor<i32> [], tensor<?x4xf32> [T, E]) {
  ^bb0(%row: tensor<4xf32>, %n: tensor<i32>):
    attn.yield %n, %row : tensor<i32>, tensor<4xf32>
  }
  return %z : tensor<?x4xf32>
}

// Names that are no identifiers are quoted, with or without a sequence.
// CHECK-LABEL: @names
// CHECK: attn.reshape (%{{.*}} : tensor<?x6xf32> [S:T, "F|F"]) -> tensor<?x6xf32> [S:T, G]
// CHECK: attn.reshape (%{{.*}} : tensor<?x6xf32> ["a b:T", E]) -> tensor<?x2x3xf32> ["a b:T", _0, D]
func.func @names(%x: tensor<?x6xf32> {attn.dims = #attn.dims<[T, "F|F"]>}) -> tensor<?x2x3xf32> {
  %r = attn.reshape (%x : tensor<?x6xf32> [S:T, "F|F"]) -> tensor<?x6xf32> [S:T, G]
  %y = attn.reshape (%x : tensor<?x6xf32> [S:T, "F|F"]) -> tensor<6x?xf32> ["F|F", S:T]
  %z = attn.slice "F|F" at 1 (%x : tensor<?x6xf32> [T, "F|F"]) -> tensor<?x2xf32> [T, "F"]
  %u = attn.reshape (%y : tensor<6x?xf32> ["F|F", T]) -> tensor<?x6xf32> [T, "F|F"]
  %m = attn.map (%u : tensor<?x6xf32> ["a b:T", E]) -> tensor<?x6xf32> ["a b:T", E] {
  ^bb0(%a: f32):
    attn.yield %a : f32
  }
  %v = attn.reshape (%m : tensor<?x6xf32> ["a b:T", E]) -> tensor<?x2x3xf32> ["a b:T", _0, D]
  return %v : tensor<?x2x3xf32>
}

// CHECK-LABEL: @repeats
// CHECK: attn.repeat 0 to 2 (%{{.*}} : tensor<4xf32> [E]) -> (tensor<4xf32> [E], tensor<2x3xf32> [N, F]) {
// CHECK: attn.tap "state.{0}"[%{{.*}}] (%{{.*}} : tensor<4xf32> [E])
// CHECK: attn.linear @w[%{{.*}}] (%{{.*}} : tensor<4xf32> [E]) -> tensor<3xf32> [F] {
func.func @repeats(%x: tensor<4xf32>) -> tensor<2x3xf32> {
  %y, %all = attn.repeat 0 to 2 (%x : tensor<4xf32> [E]) -> (tensor<4xf32> [E], tensor<2x3xf32> [N, F]) {
  ^bb0(%l: i32, %c: tensor<4xf32>):
    attn.tap "state.{0}"[%l] (%c : tensor<4xf32> [E])
    %w = attn.param @w[%l] : tensor<3x4xf32>
    %z = attn.linear @w[%l] (%c : tensor<4xf32> [E]) -> tensor<3xf32> [F] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    attn.yield %c, %z : tensor<4xf32>, tensor<3xf32>
  }
  return %all : tensor<2x3xf32>
}
