// RUN: %attn-opt %s | %attn-opt | FileCheck %s
// The text form of each tile operation.

// CHECK-LABEL: @product
func.func private @product(%x: !llvm.ptr, %w: !llvm.ptr, %b: !llvm.ptr, %y: !llvm.ptr, %s: i64, %n: i64, %g: i1) {
  // CHECK: tile.load %{{.*}} strides [%{{.*}}, 1] valid [%{{.*}}, 384] : <64x384xf32>
  %a = tile.load %x strides [%s, 1] valid [%n, 384] : <64x384xf32>
  %p = tile.load %w strides [48, 1] valid [384, 48] : <384x48xf32>
  %c = tile.load %b strides [1] valid [48] : <48xf32>
  %zero = arith.constant 0.0 : f32
  // CHECK: tile.fill %{{.*}} : f32 -> <64x48xf32>
  %z = tile.fill %zero : f32 -> <64x48xf32>
  // CHECK: tile.dot kn %{{.*}}, %{{.*}}, %{{.*}} : !tile.tile<64x48xf32> guard %{{.*}} valid [%{{.*}}, 48, 384] : <64x384xf32>, <384x48xf32> -> <64x48xf32>
  %d = tile.dot kn %a, %p, %z : !tile.tile<64x48xf32> guard %g valid [%n, 48, 384] : <64x384xf32>, <384x48xf32> -> <64x48xf32>
  // CHECK: tile.map(%{{.*}}, %{{.*}}) along [-1, 1] valid [%{{.*}}, 48]
  %r = tile.map (%d, %c) along [-1, 1] valid [%n, 48] : (!tile.tile<64x48xf32>, !tile.tile<48xf32>) -> !tile.tile<64x48xf32> {
  ^bb0(%i: i32, %j: i32, %e: f32, %f: f32):
    // CHECK: tile.peek
    %t = tile.peek %b[%j] : i32 -> f32
    // CHECK: tile.at
    %u = tile.at %d[%i, %j] : <64x48xf32> -> f32
    %h = arith.addf %e, %f : f32
    tile.yield %h : f32
  }
  // CHECK: tile.reduce max %{{.*}} along 1 valid [%{{.*}}, 48] : <64x48xf32> -> !tile.tile<64xf32>
  %m = tile.reduce max %r along 1 valid [%n, 48] : <64x48xf32> -> !tile.tile<64xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}} strides [%{{.*}}, 1] valid [%{{.*}}, 48]
  tile.store %r, %y strides [%s, 1] valid [%n, 48] : <64x48xf32>
  return
}
