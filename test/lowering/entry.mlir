// The entry function: the arena's size when asked, tables, launches; a repeat is one loop over a table of weights.
// RUN: attnc %s --emit=tile --mcpu=x86-64-v3 | FileCheck %s

attn.weight @bias {parts = ["layer.{0}.bias"], turns = array<i64: 6>} : tensor<8xf32>

// CHECK-LABEL: llvm.func internal @attn_entry_deep(
// CHECK-SAME: %[[CALL:.*]]: !llvm.ptr) -> i32
// CHECK: llvm.icmp "eq"
// CHECK: llvm.cond_br
// CHECK: llvm.return
// One loop, 6 turns; the turn's weight is taken from the call's table of weights.
// CHECK: scf.for %[[TURN:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[NUMBER:.*]] = arith.trunci %[[TURN]] : i64 to i32
// CHECK: %[[SLOT:.*]] = arith.extsi %[[NUMBER]] : i32 to i64
// CHECK: llvm.getelementptr %{{.*}}[%[[SLOT]]] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
// CHECK: llvm.call @attn_rt_parallel_for(%[[CALL]],
// CHECK-NOT: llvm.call
// CHECK: }
func.func @deep(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.name = "", attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r = attn.repeat 0 to 6 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %b = attn.param @bias[%l] : tensor<8xf32>
    %n = attn.map (%c : tensor<?x8xf32> [T, E], %b : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
    ^bb1(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      attn.yield %s : f32
    }
    attn.yield %n : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// A kernel is made once, wherever it serves.
// CHECK-LABEL: llvm.func internal @attn_entry_again(
// CHECK: %[[KERNEL:.*]] = llvm.mlir.addressof @attn_kernel_softmax : !llvm.ptr
// CHECK: llvm.call @attn_rt_parallel_for(%{{.*}}, %[[KERNEL]],
// CHECK: llvm.call @attn_rt_parallel_for(%{{.*}}, %[[KERNEL]],
// CHECK: llvm.func internal @attn_kernel_softmax(
// CHECK-NOT: llvm.func internal @attn_kernel_softmax
func.func @again(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[S, F]>})
    -> (tensor<?x8xf32> {attn.name = "", attn.dims = #attn.dims<[S, F]>}) attributes {attn.export, attn.sequences = ["S"]} {
  %a = attn.softmax "F" (%x : tensor<?x8xf32> [S, F]) -> tensor<?x8xf32> [S, F]
  %b = attn.softmax "F" (%a : tensor<?x8xf32> [S, F]) -> tensor<?x8xf32> [S, F]
  return %b : tensor<?x8xf32>
}

// What a session keeps: the place's pointers come from the call, the kernel takes its sequence's and writes behind the rows that
// were there; lengths along all.T are past + T.
attn.state cache @kept {turns = array<i64: 6>} : tensor<?x8xf32>

// CHECK-LABEL: llvm.func internal @attn_entry_caching(
// CHECK: %[[PAST:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: scf.for %[[TURN:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[NUMBER:.*]] = arith.trunci %[[TURN]] : i64 to i32
// CHECK: %[[SLOT:.*]] = arith.extsi %[[NUMBER]] : i32 to i64
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[SLOT]]] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
// CHECK: %[[ROWS:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.mlir.addressof @attn_kernel_cache
// CHECK: llvm.func internal @attn_kernel_cache(
func.func @caching(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.name = "", attn.dims = #attn.dims<[T, E]>})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %r = attn.repeat 0 to 6 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    %k = attn.cache @kept[%l] (%c : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [S:all.T, E]
    %m = attn.reduce max (%k : tensor<?x8xf32> [S:all.T, E]) -> tensor<8xf32> [E]
    %n = attn.map (%c : tensor<?x8xf32> [T, E], %m : tensor<8xf32> [E]) -> tensor<?x8xf32> [T, E] {
    ^bb1(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      attn.yield %s : f32
    }
    attn.yield %n : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
