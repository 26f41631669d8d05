// RUN: %attn-opt %s --attn-hoist --split-input-file | FileCheck %s
// RUN: %attn-opt %s --attn-hoist --split-input-file --verify-diagnostics -o /dev/null
// RUN: %bin/attn-judge %s --passes=attn-hoist
// attn-hoist: what is the same in every turn of a loop is computed once, before it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A table of cosines, with what it is made of, but not the cheap sum beside it.
// CHECK-LABEL: @table
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>, %[[f:.*]]: tensor<8xf32>)
// CHECK: %[[pos:.*]] = attn.pos
// CHECK: %[[angle:.*]] = attn.map (%[[pos]] : tensor<?xi32> [T], %[[f]] : tensor<8xf32> [E])
// CHECK: %[[cos:.*]] = attn.map (%[[angle]] : tensor<?x8xf32> [T, E])
// CHECK: math.cos
// CHECK: attn.repeat 0 to 6
// CHECK: ^bb0(%{{.*}}: i32, %[[c:.*]]: tensor<?x8xf32>):
// CHECK: %[[sum:.*]] = attn.map (%[[f]] : tensor<8xf32> [E], %[[f]] : tensor<8xf32> [E])
// CHECK: attn.map (%[[c]] : tensor<?x8xf32> [T, E], %[[cos]] : tensor<?x8xf32> [T, E], %[[sum]] : tensor<8xf32> [E])
func.func @table(%x: tensor<?x8xf32>, %f: tensor<8xf32>) -> tensor<?x8xf32> {
  // expected-remark @below {{1 operation is the same in every turn and computed once}}
  %r = attn.repeat 0 to 6 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %pos = attn.pos tensor<?xi32> [T]
    %angle = attn.map (%pos : tensor<?xi32> [T], %f : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%p: i32, %g: f32):
      %q = arith.sitofp %p : i32 to f32
      %m = arith.mulf %q, %g : f32
      attn.yield %m : f32
    }
    %cos = attn.map (%angle : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%a: f32):
      %y = math.cos %a : f32
      attn.yield %y : f32
    }
    %sum = attn.map (%f : tensor<8xf32> [E], %f : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      attn.yield %y : f32
    }
    %n = attn.map (%c : tensor<?x8xf32> [T, E], %cos : tensor<?x8xf32> [T, E], %sum : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %y = arith.mulf %a, %b : f32
      %z = arith.addf %y, %s : f32
      attn.yield %z : f32
    }
    attn.yield %n : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

// What comes from the turn or from a carried value stays: a region that reads the turn, a reduction of the carried value.
// CHECK-LABEL: @turn
// CHECK-NOT: attn.map
// CHECK-NOT: attn.reduce
// CHECK: attn.repeat
// CHECK: attn.map
// CHECK: attn.reduce
func.func @turn(%x: tensor<?x8xf32>, %f: tensor<8xf32>) -> tensor<?x8xf32> {
  %r = attn.repeat 0 to 3 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %e = attn.map (%f : tensor<8xf32> [E]) -> tensor<8xf32> [E] {
    ^bb0(%a: f32):
      %t = arith.sitofp %l : i32 to f32
      %m = arith.mulf %a, %t : f32
      %y = math.exp %m : f32
      attn.yield %y : f32
    }
    %s = attn.reduce sum (%c : tensor<?x8xf32> [T, E]) -> tensor<?xf32> [T]
    %n = attn.map (%c : tensor<?x8xf32> [T, E], %e : tensor<8xf32> [E], %s : tensor<?xf32> [T]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%a: f32, %b: f32, %u: f32):
      %y = arith.mulf %a, %b : f32
      %z = arith.subf %y, %u : f32
      attn.yield %z : f32
    }
    attn.yield %n : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

// Out of both loops at once.
// CHECK-LABEL: @nested
// CHECK-SAME: (%[[x:.*]]: tensor<?x8xf32>, %[[m:.*]]: tensor<?x8xf32>)
// CHECK: %[[sum:.*]] = attn.reduce sum (%[[m]]
// CHECK: %[[most:.*]] = attn.reduce max (%[[sum]]
// CHECK: attn.repeat 0 to 2
// CHECK: attn.repeat 0 to 3
// CHECK-NOT: attn.reduce
// CHECK: attn.map (%{{.*}} : tensor<?x8xf32> [T, E], %[[most]] : tensor<f32> [])
func.func @nested(%x: tensor<?x8xf32>, %m: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-remark @below {{2 operations are the same in every turn and computed once}}
  %r = attn.repeat 0 to 2 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    // expected-remark @below {{2 operations are the same in every turn and computed once}}
    %q = attn.repeat 0 to 3 (%c : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
    ^bb0(%k: i32, %d: tensor<?x8xf32>):
      %sum = attn.reduce sum (%m : tensor<?x8xf32> [T, E]) -> tensor<8xf32> [E]
      %most = attn.reduce max (%sum : tensor<8xf32> [E]) -> tensor<f32> []
      %n = attn.map (%d : tensor<?x8xf32> [T, E], %most : tensor<f32> []) -> tensor<?x8xf32> [T, E] {
      ^bb0(%a: f32, %b: f32):
        %y = arith.addf %a, %b : f32
        attn.yield %y : f32
      }
      attn.yield %n : tensor<?x8xf32>
    }
    attn.yield %q : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
