// RUN: %attn-opt %s --attn-cpu-tiles=target=x86-64-v3 --canonicalize --cse | FileCheck %s
// Products: what lies on the lanes, what is copied, where sums go.

// The module's one product function, and its guarded form.
// CHECK-DAG: llvm.func internal @attn_dot(
// CHECK-DAG: llvm.func internal @attn_dot_guard_wide(

// A packed panel is read as it lies, the rows number by number; the sums start at 0.
// CHECK-LABEL: func.func @panel(
// CHECK-SAME: %[[X:[a-z0-9]+]]: !llvm.ptr, %[[W:[a-z0-9]+]]: !llvm.ptr, %[[Y:[a-z0-9]+]]: !llvm.ptr
// CHECK-NOT: scf.for
// CHECK: llvm.call @attn_dot(%[[X]], %{{.*}}, %{{.*}}, %[[W]], {{.*}}, %false,
func.func @panel(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %n: i64) {
  %a = tile.load %x strides [40, 1] valid [%n, 40] : <8x40xf32>
  %b = tile.load %w strides [16, 1] valid [40, 16] : <40x16xf32>
  %c = tile.dot kn %a, %b valid [%n, 16, 40] : <8x40xf32>, <40x16xf32> -> <8x16xf32>
  tile.store %c, %y strides [16, 1] valid [%n, 16] : <8x16xf32>
  return
}

// Rows against rows: the first operand is turned onto the lanes, the second read as it lies.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !llvm.ptr, %[[K:[a-z0-9]+]]: !llvm.ptr, %[[Y:[a-z0-9]+]]: !llvm.ptr
// CHECK: llvm.call @attn_turn(%[[Q]], %{{[^,]*}}, %[[TURNED:[^,]*]], {{.*}}) :
// CHECK: llvm.call @attn_dot(%[[K]], {{[^%]*%[^%]*%[^%]*}}%[[TURNED]],
// CHECK: llvm.call @attn_turn(%{{.*}}, %{{.*}}, %[[Y]],
func.func @rows(%q: !llvm.ptr, %k: !llvm.ptr, %y: !llvm.ptr) {
  %a = tile.load %q strides [24, 1] valid [16, 24] : <16x24xf32>
  %b = tile.load %k strides [24, 1] valid [8, 24] : <8x24xf32>
  %c = tile.dot nk %a, %b valid [16, 8, 24] : <16x24xf32>, <8x24xf32> -> <16x8xf32>
  tile.store %c, %y strides [8, 1] valid [16, 8] : <16x8xf32>
  return
}

// Rows 4,096 bytes apart fall on each other in the cache: copied first, and the next ones asked for.
// CHECK-LABEL: func.func @colliding_rows(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !llvm.ptr, %[[K:[a-z0-9]+]]: !llvm.ptr
// CHECK: %[[AHEAD:.*]] = llvm.getelementptr %[[K]][65536]
// CHECK-NOT: llvm.call @attn_dot(%[[K]],
// CHECK: llvm.call @attn_dot({{.*}}, %[[AHEAD]], %{{.*}}, %{{.*}}) :
func.func @colliding_rows(%q: !llvm.ptr, %k: !llvm.ptr, %y: !llvm.ptr) {
  %a = tile.load %q strides [1024, 1] valid [16, 24] : <16x24xf32>
  %b = tile.load %k strides [1024, 1] valid [64, 24] : <64x24xf32>
  %c = tile.dot nk %a, %b valid [16, 64, 24] : <16x24xf32>, <64x24xf32> -> <16x64xf32>
  tile.store %c, %y strides [64, 1] valid [16, 64] : <16x64xf32>
  return
}

// What a loop carries has one buffer: the product adds to it in place, nothing is copied.
// CHECK-LABEL: func.func @carried(
// CHECK: %[[SUMS:.*]] = llvm.alloca
// CHECK-NOT: llvm.alloca
// CHECK: llvm.store %{{.*}} : vector<8xf32>
// CHECK: scf.for
// CHECK-NEXT: llvm.call @attn_dot({{.*}}, %[[SUMS]], {{.*}}, %true,
// CHECK-NEXT: }
func.func @carried(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  %z = tile.fill %zero : f32 -> <8x16xf32>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %z) -> (!tile.tile<8x16xf32>) : i64 {
    %a = tile.load %x strides [40, 1] valid [8, 40] : <8x40xf32>
    %b = tile.load %w strides [16, 1] valid [40, 16] : <40x16xf32>
    %c = tile.dot kn %a, %b, %s : !tile.tile<8x16xf32> valid [8, 16, 40] : <8x40xf32>, <40x16xf32> -> <8x16xf32>
    scf.yield %c : !tile.tile<8x16xf32>
  }
  tile.store %r, %y strides [16, 1] valid [8, 16] : <8x16xf32>
  return
}

// Under a guard the slow form is called, else the fast one.
// CHECK-LABEL: func.func @guarded(
// CHECK-SAME: %[[G:[a-z0-9]+]]: i1
// CHECK: scf.if %[[G]]
// CHECK: llvm.call @attn_dot_guard_wide(
// CHECK: else
// CHECK: llvm.call @attn_dot(
func.func @guarded(%p: !llvm.ptr, %v: !llvm.ptr, %y: !llvm.ptr, %g: i1) {
  %s = tile.load %p strides [1, 16] valid [16, 8] : <16x8xf32>
  %w = tile.map (%s) valid [16, 8] : (!tile.tile<16x8xf32>) -> !tile.tile<16x8xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32):
    tile.yield %x : f32
  }
  %b = tile.load %v strides [5, 1] valid [8, 5] : <8x5xf32>
  %c = tile.dot kn %w, %b guard %g valid [16, 5, 8] : <16x8xf32>, <8x5xf32> -> <16x5xf32>
  tile.store %c, %y strides [5, 1] valid [16, 5] : <16x5xf32>
  return
}

// One row of queries: the keys are turned onto the lanes, the values read as they lie, each once. Meanwhile the keys and
// the values behind this tile are asked for, or the last ones that there are.
// CHECK-LABEL: func.func @few(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !llvm.ptr, %[[K:[a-z0-9]+]]: !llvm.ptr, %[[V:[a-z0-9]+]]: !llvm.ptr, %[[Y:[a-z0-9]+]]: !llvm.ptr, %[[ALL:[a-z0-9]+]]: i64
// CHECK: %[[MORE:.*]] = arith.subi %[[ALL]], %c16_i64
// CHECK: %[[NEXT:.*]] = arith.minsi %[[MORE]], %c16_i64
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[NEXT]], %c0_i64
// CHECK: %[[FAR:.*]] = arith.muli %[[FIRST]], %c256_i64
// CHECK: %[[KEYS:.*]] = llvm.getelementptr %[[K]][%[[FAR]]]
// CHECK: llvm.call @attn_turn(%[[K]], %c256_i64, %[[TURNED:[^,]*]], {{.*}}, %[[KEYS]], %c256_i64, %c2_i64) :
// CHECK: llvm.call @attn_dot({{.*}}, %[[TURNED]],
// CHECK: %[[VALUES:.*]] = llvm.getelementptr %[[V]][%[[FAR]]]
// CHECK: llvm.call @attn_dot({{.*}}, %[[V]], %c256_i64, {{.*}}, %[[VALUES]], %c256_i64, %c2_i64) :
// CHECK-NOT: llvm.call
func.func @few(%q: !llvm.ptr, %k: !llvm.ptr, %v: !llvm.ptr, %y: !llvm.ptr, %all: i64) {
  %a = tile.load %q strides [24, 1] valid [1, 24] : !tile.tile<1x24xf32>
  %values = tile.load %v strides [256, 1] valid [16, 32] of %all : !tile.tile<16x32xf32>
  %keys = tile.load %k strides [256, 1] valid [16, 24] of %all : !tile.tile<16x24xf32>
  %s = tile.dot nk few %a, %keys valid [1, 16, 24] : <1x24xf32>, <16x24xf32> -> <1x16xf32>
  %r = tile.dot kn few %s, %values valid [1, 32, 16] : <1x16xf32>, <16x32xf32> -> <1x32xf32>
  tile.store %r, %y strides [32, 1] valid [1, 32] : !tile.tile<1x32xf32>
  return
}

// A sum in order along the lanes: one number after the other, from where it begins.
// CHECK-LABEL: func.func @ordered(
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr, %[[B:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr)
// CHECK: scf.for %[[ROW:.*]] = %c0_i64 to %c4_i64
// CHECK: %[[P:.*]] = llvm.getelementptr %[[B]][%[[ROW]]]
// CHECK: %[[FIRST:.*]] = llvm.load %[[P]]
// CHECK: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %[[FIRST]])
// CHECK: %[[X:.*]] = llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[TOTAL]], %[[X]] : f32
// CHECK-NEXT: scf.yield %[[SUM]] : f32
func.func @ordered(%x: !llvm.ptr, %b: !llvm.ptr, %y: !llvm.ptr) {
  %a = tile.load %x strides [24, 1] valid [4, 24] : !tile.tile<4x24xf32>
  %f = tile.load %b strides [1] valid [4] : !tile.tile<4xf32>
  %s = tile.reduce sum ordered %a from %f along 1 valid [4, 24] : !tile.tile<4x24xf32>, !tile.tile<4xf32> -> !tile.tile<4xf32>
  tile.store %s, %y strides [1] valid [4] : !tile.tile<4xf32>
  return
}
