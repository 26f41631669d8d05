// RUN: %attn-opt %s --attn-cpu-tiles=target=x86-64 --attn-cpu-math=target=x86-64 | FileCheck %s --check-prefix=SSE
// RUN: %attn-opt %s --attn-cpu-tiles=target=x86-64-v3 --attn-cpu-math=target=x86-64-v3 | FileCheck %s --check-prefix=AVX2
// RUN: %attn-opt %s --attn-cpu-tiles=target=x86-64-v4 --attn-cpu-math=target=x86-64-v4 | FileCheck %s --check-prefix=AVX512
// RUN: %attn-opt %s --attn-cpu-tiles=target=aarch64 --attn-cpu-math=target=aarch64 | FileCheck %s --check-prefix=NEON
// The width of vectors follows the features, not the name; without fused multiply-add there is none, nor an instruction
// that rounds.

// SSE-LABEL: @exponentials
// SSE: step %{{.*}} :
// SSE-NOT: math.fma
// SSE-NOT: math.roundeven
// SSE: vector<4xf32>
// SSE: return

// AVX2-LABEL: @exponentials
// AVX2: math.roundeven %{{.*}} : vector<8xf32>
// AVX2: math.fma %{{.*}} : vector<8xf32>
// AVX2-NOT: scalef

// AVX512-LABEL: @exponentials
// AVX512: math.fma %{{.*}} : vector<16xf32>
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"

// NEON-LABEL: @exponentials
// NEON: math.fma %{{.*}} : vector<4xf32>
func.func @exponentials(%p: !llvm.ptr, %n: i64) {
  %x = tile.load %p strides [1] valid [%n] : <64xf32>
  %y = tile.map (%x) valid [%n] : (!tile.tile<64xf32>) -> !tile.tile<64xf32> {
  ^bb0(%i: i32, %a: f32):
    %e = math.exp %a : f32
    tile.yield %e : f32
  }
  tile.store %y, %p strides [1] valid [%n] : <64xf32>
  return
}
