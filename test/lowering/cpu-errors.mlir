// RUN: %attn-opt %s --split-input-file --attn-cpu-tiles=target=x86-64-v3 --attn-cpu-math=target=x86-64-v3 --verify-diagnostics
// RUN: not %attn-opt %S/tile.mlir --attn-cpu-tiles=target=pdp11 2>&1 | FileCheck %s
// What lowering to vectors refuses.

// CHECK: error: unknown machine `pdp11`

func.func @leaves(%p: !llvm.ptr, %c: i1) {
  %a = tile.load %p strides [1] valid [16] : <16xf32>
  // expected-error@+1 {{tiles leave `scf.if`, only loops may carry them}}
  %b = scf.if %c -> !tile.tile<16xf32> {
    scf.yield %a : !tile.tile<16xf32>
  } else {
    scf.yield %a : !tile.tile<16xf32>
  }
  tile.store %b, %p strides [1] valid [16] : <16xf32>
  return
}

// -----

func.func @changes(%p: !llvm.ptr, %c: i1) {
  %a = tile.load %p strides [1] valid [16] : <16xf32>
  %b = tile.load %p strides [2] valid [16] : <16xf32>
  // expected-error@+1 {{a loop that carries tiles hands them over as they are}}
  %d = scf.while (%x = %a) : (!tile.tile<16xf32>) -> !tile.tile<16xf32> {
    scf.condition(%c) %b : !tile.tile<16xf32>
  } do {
  ^bb0(%y: !tile.tile<16xf32>):
    scf.yield %y : !tile.tile<16xf32>
  }
  tile.store %d, %p strides [1] valid [16] : <16xf32>
  return
}

// -----

// expected-error@+1 {{rows too wide: a tile of them needs 4000000 bytes of a thread's stack, more than 3145728}}
func.func @large(%p: !llvm.ptr, %q: !llvm.ptr) {
  %a = tile.load %p strides [1] valid [1000000] : <1000000xf32>
  %b = tile.map (%a) valid [1000000] : (!tile.tile<1000000xf32>) -> !tile.tile<1000000xf32> {
  ^bb0(%i: i32, %x: f32):
    tile.yield %x : f32
  }
  %s = tile.reduce sum %b along 0 valid [1000000] : <1000000xf32> -> f32
  %c = tile.map (%b) valid [1000000] : (!tile.tile<1000000xf32>) -> !tile.tile<1000000xf32> {
  ^bb0(%i: i32, %x: f32):
    %y = arith.addf %x, %s : f32
    tile.yield %y : f32
  }
  tile.store %c, %q strides [1] valid [1000000] : <1000000xf32>
  return
}

// -----

func.func @function(%x: f32) -> f32 {
  // expected-error@+1 {{`math.atan` of 'f32' has no expansion for x86-64-v3}}
  %y = math.atan %x : f32
  return %y : f32
}
