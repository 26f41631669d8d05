// RUN: %attn-opt %s --attn-simplify --split-input-file | FileCheck %s
// RUN: %bin/attn-judge %s --passes=attn-simplify
// attn-simplify: elementwise operations, reshapes and slices.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @compose_maps
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>, %[[b:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[y:.*]] = attn.map (%[[x]] : tensor<?x8xf32> [T, E], %[[b]] : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
// CHECK-NEXT: ^bb0(%[[a:.*]]: f32, %[[c:.*]]: f32):
// CHECK-NEXT:   %[[s:.*]] = arith.addf %[[a]], %[[c]]
// CHECK-NEXT:   %[[t:.*]] = math.tanh %[[s]]
// CHECK-NEXT:   attn.yield %[[t]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[y]]
func.func @compose_maps(%x: tensor<?x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %a = attn.map (%x : tensor<?x8xf32> [T, A], %b : tensor<8xf32> [A]) -> tensor<?x8xf32> [T, A] {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    attn.yield %s : f32
  }
  %y = attn.map (%a : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32):
    %s = math.tanh %u : f32
    attn.yield %s : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @no_compose_when_recomputed
// CHECK: attn.map {{.*}} -> tensor<8xf32> [E] {
// CHECK: attn.map {{.*}} -> tensor<?x8xf32> [T, E] {
func.func @no_compose_when_recomputed(%x: tensor<?x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %a = attn.map (%b : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %s = math.exp %u : f32
    attn.yield %s : f32
  }
  %y = attn.map (%x : tensor<?x8xf32> [T, E], %a : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    attn.yield %s : f32
  }
  return %y : tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @no_compose_with_two_readers
// CHECK-COUNT-2: attn.map
func.func @no_compose_with_two_readers(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>) {
  %a = attn.map (%x : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %s = math.exp %u : f32
    attn.yield %s : f32
  }
  %y = attn.map (%a : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
  ^bb0(%u: f32):
    %s = math.tanh %u : f32
    attn.yield %s : f32
  }
  %m = attn.reduce sum (%a : tensor<8xf32> [E]) -> tensor<f32> []
  return %y, %m : tensor<8xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: @constants_move_in
// CHECK-NEXT: attn.map (%{{.*}} : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
// CHECK-NEXT: ^bb0(%[[u:.*]]: f32):
// CHECK-DAG:    %[[six:.*]] = arith.constant 6.0
// CHECK:        arith.mulf %[[u]], %[[six]]
// CHECK-NOT:  attn.map
func.func @constants_move_in(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %two = attn.map () -> tensor<f32> [] {
    %c = arith.constant 2.0 : f32
    attn.yield %c : f32
  }
  %y = attn.map (%x : tensor<?x8xf32> [T, E], %two : tensor<f32> [], %two : tensor<f32> []) -> tensor<?x8xf32> [T, E] {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %three = arith.constant 3.0 : f32
    %f = arith.mulf %v, %three : f32
    %s = arith.mulf %u, %f : f32
    attn.yield %s : f32
  }
  return %y, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// CHECK-LABEL: @inputs_once
// CHECK: attn.map (%{{.*}} : tensor<4x4xf32> [A, B], %{{.*}} : tensor<4x4xf32> [B, A]) ->
// CHECK-NEXT: ^bb0(%[[u:.*]]: f32, %[[v:.*]]: f32):
// CHECK-NEXT: %[[s:.*]] = arith.mulf %[[u]], %[[u]]
// CHECK-NEXT: arith.addf %[[s]], %[[v]]
func.func @inputs_once(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = attn.map (%x : tensor<4x4xf32> [A, B], %x : tensor<4x4xf32> [A, B], %x : tensor<4x4xf32> [B, A], %y : tensor<4x4xf32> [A, B]) -> tensor<4x4xf32> [A, B] {
  ^bb0(%u: f32, %v: f32, %w: f32, %unused: f32):
    %s = arith.mulf %u, %v : f32
    %t = arith.addf %s, %w : f32
    attn.yield %t : f32
  }
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[x:.*]]: tensor<?x12x4xf32>)
// CHECK-NEXT: return %[[x]], %[[x]], %[[x]], %[[x]]
func.func @identities(%x: tensor<?x12x4xf32>) -> (tensor<?x12x4xf32>, tensor<?x12x4xf32>, tensor<?x12x4xf32>, tensor<?x12x4xf32>) {
  %renamed = attn.reshape (%x : tensor<?x12x4xf32> [T, H, D]) -> tensor<?x12x4xf32> [T, I, N]
  %flat = attn.reshape (%x : tensor<?x12x4xf32> [T, H, D]) -> tensor<?x48xf32> [T, E]
  %back = attn.reshape (%flat : tensor<?x48xf32> [T, F]) -> tensor<?x12x4xf32> [T, H, D]
  %turned = attn.reshape (%x : tensor<?x12x4xf32> [T, H, D]) -> tensor<12x?x4xf32> [H, T, D]
  %straight = attn.reshape (%turned : tensor<12x?x4xf32> [G, A:T, B]) -> tensor<?x12x4xf32> [A:T, G, B]
  %whole = attn.slice "H" at 0 (%x : tensor<?x12x4xf32> [T, H, D]) -> tensor<?x12x4xf32> [T, G, D]
  %same = attn.map (%whole : tensor<?x12x4xf32> [T, H, D]) -> tensor<?x12x4xf32> [T, H, D] {
  ^bb0(%u: f32):
    attn.yield %u : f32
  }
  return %renamed, %back, %straight, %same : tensor<?x12x4xf32>, tensor<?x12x4xf32>, tensor<?x12x4xf32>, tensor<?x12x4xf32>
}

// -----

// Equal types, other elements: these stay.
// CHECK-LABEL: @not_identities
// CHECK: attn.reshape {{.*}}[T, S]{{.*}}[S, T]
// CHECK: attn.reshape {{.*}}[T, A, B]{{.*}}[T, B, C]
// CHECK: attn.reshape {{.*}}[P:T, Q, R]{{.*}}[P:T, R, Q]
func.func @not_identities(%x: tensor<?x?xf32>, %y: tensor<?x6x6xf32>) -> (tensor<?x?xf32>, tensor<?x6x6xf32>, tensor<?x6x6xf32>) {
  %a = attn.reshape (%x : tensor<?x?xf32> [T, S]) -> tensor<?x?xf32> [S, T]
  %b = attn.reshape (%y : tensor<?x6x6xf32> [T, A, B]) -> tensor<?x6x6xf32> [T, B, C]
  %c = attn.reshape (%y : tensor<?x6x6xf32> [T, G, D]) -> tensor<6x?x6xf32> [D, T, G]
  %d = attn.reshape (%c : tensor<6x?x6xf32> [R, P:T, Q]) -> tensor<?x6x6xf32> [P:T, R, Q]
  return %a, %b, %d : tensor<?x?xf32>, tensor<?x6x6xf32>, tensor<?x6x6xf32>
}

// -----

// CHECK-LABEL: @read_through_transposition
// CHECK-SAME: (%[[x:.*]]: tensor<?x12x4xf32>)
// CHECK-NEXT: %[[s:.*]] = attn.reduce max (%[[x]] : tensor<?x12x4xf32> [R:T, G, B]) -> tensor<12x?xf32> [G, R:T]
// CHECK-NEXT: return %[[s]]
func.func @read_through_transposition(%x: tensor<?x12x4xf32>) -> tensor<12x?xf32> {
  %turned = attn.reshape (%x : tensor<?x12x4xf32> [T, H, D]) -> tensor<12x?x4xf32> [H, T, D]
  %m = attn.reduce max (%turned : tensor<12x?x4xf32> [G, R:T, B]) -> tensor<12x?xf32> [G, R:T]
  return %m : tensor<12x?xf32>
}

// -----

// CHECK-LABEL: @equal_once
// CHECK: attn.pos
// CHECK-NOT: attn.pos
// CHECK: return
func.func @equal_once(%x: tensor<?xf32> {attn.dims = #attn.dims<[T]>}) -> (tensor<?xi32>, tensor<?xi32>) {
  %a = attn.pos tensor<?xi32> [T]
  %b = attn.pos tensor<?xi32> [T]
  return %a, %b : tensor<?xi32>, tensor<?xi32>
}

// -----

// A turn's number inside regions comes along, and is no input.
// CHECK-LABEL: @turns_inside
// CHECK: ^bb0(%[[l:.*]]: i32, %[[c:.*]]: tensor<?x8xf32>):
// CHECK-NEXT: %[[y:.*]] = attn.map (%[[c]] : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
// CHECK-NEXT: ^bb0(%[[u:.*]]: f32):
// CHECK-NEXT:   %[[n:.*]] = arith.sitofp %[[l]]
// CHECK-NEXT:   %[[s:.*]] = arith.addf %[[u]], %[[n]]
// CHECK-NEXT:   attn.yield %[[s]]
// CHECK-NEXT: }
// CHECK-NEXT: attn.yield %[[y]]
func.func @turns_inside(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = attn.repeat 0 to 3 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %n = attn.map () -> tensor<i32> [] {
      attn.yield %l : i32
    }
    %f = attn.map (%n : tensor<i32> []) -> tensor<8xf32> [E] {
    ^bb0(%u: i32):
      %s = arith.sitofp %l : i32 to f32
      attn.yield %s : f32
    }
    %y = attn.map (%c : tensor<?x8xf32> [T, E], %n : tensor<i32> []) -> tensor<?x8xf32> [T, E] {
    ^bb0(%u: f32, %v: i32):
      %w = arith.sitofp %v : i32 to f32
      %s = arith.addf %u, %w : f32
      attn.yield %s : f32
    }
    attn.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
