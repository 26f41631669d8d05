// Whole numbers divided by 0 and by -1: the divisors run through -3, -2, -1, 0, 1, ….
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=34,5,0,3
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=34,5 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=34,5 --passes=none

func.func @quotients(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    -> (tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %pos = attn.pos tensor<?xi32> [T]
  %r0 = attn.map (%pos : tensor<?xi32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%p: i32):
    %three = arith.constant 3 : i32
    %d = arith.subi %p, %three : i32
    %z = arith.divsi %p, %d : i32
    %f = arith.sitofp %z : i32 to f32
    attn.yield %f : f32
  }
  %r1 = attn.map (%pos : tensor<?xi32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%p: i32):
    %three = arith.constant 3 : i32
    %d = arith.subi %p, %three : i32
    %z = arith.remsi %p, %d : i32
    %f = arith.sitofp %z : i32 to f32
    attn.yield %f : f32
  }
  %r2 = attn.map (%pos : tensor<?xi32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%p: i32):
    %three = arith.constant 3 : i32
    %d = arith.subi %p, %three : i32
    %z = arith.floordivsi %p, %d : i32
    %f = arith.sitofp %z : i32 to f32
    attn.yield %f : f32
  }
  %r3 = attn.map (%pos : tensor<?xi32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%p: i32):
    %three = arith.constant 3 : i32
    %d = arith.subi %p, %three : i32
    %z = arith.ceildivsi %p, %d : i32
    %f = arith.sitofp %z : i32 to f32
    attn.yield %f : f32
  }
  %r4 = attn.map (%pos : tensor<?xi32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%p: i32):
    %none = arith.constant 0 : i32
    %z = arith.floordivsi %p, %none : i32
    %f = arith.sitofp %z : i32 to f32
    attn.yield %f : f32
  }
  return %r0, %r1, %r2, %r3, %r4 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
