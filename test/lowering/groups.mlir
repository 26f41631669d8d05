// RUN: %attn-opt %s --attn-cpu-tiles=target=x86-64-v3 --canonicalize --cse | FileCheck %s
// Neighbouring maps, reductions and stores over the same elements are one loop.

// CHECK-LABEL: @one_loop
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load %{{.*}} -> vector<8xf32>
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK-NOT: scf.for
// CHECK: return
func.func @one_loop(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %n: i64) {
  %a = tile.load %p strides [64, 1] valid [%n, 64] : <16x64xf32>
  %b = tile.load %q strides [64, 1] valid [%n, 64] : <16x64xf32>
  %s = tile.map (%a, %b) valid [%n, 64] : (!tile.tile<16x64xf32>, !tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tile.yield %z : f32
  }
  %t = tile.map (%s) valid [%n, 64] : (!tile.tile<16x64xf32>) -> !tile.tile<16x64xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32):
    %z = arith.mulf %x, %x : f32
    tile.yield %z : f32
  }
  tile.store %t, %r strides [64, 1] valid [%n, 64] : <16x64xf32>
  return
}

// What needs a whole row's sum waits for it: two loops over the columns inside… one after the other, none fused.
// CHECK-LABEL: @sum_first
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.shuffle
// CHECK: scf.for
// CHECK: arith.divf
func.func @sum_first(%p: !llvm.ptr, %q: !llvm.ptr) {
  %a = tile.load %p strides [64, 1] valid [4, 64] : <4x64xf32>
  %s = tile.reduce sum %a along 1 valid [4, 64] : <4x64xf32> -> !tile.tile<4xf32>
  %t = tile.map (%a, %s) along [-1, 0] valid [4, 64] : (!tile.tile<4x64xf32>, !tile.tile<4xf32>) -> !tile.tile<4x64xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32, %y: f32):
    %z = arith.divf %x, %y : f32
    tile.yield %z : f32
  }
  tile.store %t, %q strides [64, 1] valid [4, 64] : <4x64xf32>
  return
}

// The end of a row is read and written under a mask, its other lanes count nothing.
// CHECK-LABEL: @tail
// CHECK: arith.cmpi {{slt|sgt}}, %{{.*}} : vector<8xi32>
// CHECK: llvm.intr.masked.load
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xf32>
func.func @tail(%p: !llvm.ptr, %n: i64) -> f32 {
  %a = tile.load %p strides [1] valid [%n] : <64xf32>
  %m = tile.reduce max %a along 0 valid [%n] : <64xf32> -> f32
  return %m : f32
}

// A condition that is the same on all lanes stays a number; the column's number is a vector.
// CHECK-LABEL: @region
// CHECK: arith.muli %{{.*}} : i32
// CHECK: arith.cmpi {{slt|sgt}}, %{{.*}} : vector<8xi32>
func.func @region(%p: !llvm.ptr) {
  %a = tile.load %p strides [64, 1] valid [4, 64] : <4x64xf32>
  %t = tile.map (%a) valid [4, 64] : (!tile.tile<4x64xf32>) -> !tile.tile<4x64xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32):
    %z = arith.constant 0.0 : f32
    %ii = arith.muli %i, %i : i32
    %c = arith.cmpi slt, %j, %ii : i32
    %s = arith.select %c, %x, %z : f32
    tile.yield %s : f32
  }
  tile.store %t, %p strides [64, 1] valid [4, 64] : <4x64xf32>
  return
}

// A region with a loop of its own: four vectors of it side by side, whose sums the loop carries together and which
// share what is the same for all; what is left of the row one by one.
// CHECK-LABEL: @abreast
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK-NOT: !llvm.ptr -> f32
// CHECK-COUNT-4: arith.mulf
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<8xf32>)
func.func @abreast(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr, %n: i64) {
  %a = tile.load %p strides [64, 1] valid [2, %n] : <2x64xf32>
  %s = tile.map () valid [2, %n] : () -> !tile.tile<2x64xf32> {
  ^bb0(%i: i32, %j: i32):
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c16 = arith.constant 16 : i64
    %zero = arith.constant 0.0 : f32
    %t = scf.for %d = %c0 to %c16 step %c1 iter_args(%sum = %zero) -> (f32) : i64 {
      %w = tile.peek %q[%d] : i64 -> f32
      %x = tile.at %a[%i, %j] : <2x64xf32> -> f32
      %y = arith.mulf %w, %x : f32
      %z = arith.addf %sum, %y : f32
      scf.yield %z : f32
    }
    tile.yield %t : f32
  }
  tile.store %s, %r strides [64, 1] valid [2, %n] : <2x64xf32>
  return
}
