// Functions where they bend: zeros, infinities, NaN, the ends of float32's range; each number right to 1e-6 of itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=34,5
// RUN: attn-agree --quiet %s --pointwise --tolerance=1e-6 --lengths=34,5 --mcpu=x86-64-v3

func.func @functions(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>, test.fill = "edges 0"})
    -> (tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r0 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.absf %a : f32
    attn.yield %z : f32
  }
  %r1 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.ceil %a : f32
    attn.yield %z : f32
  }
  %r2 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.erf %a : f32
    attn.yield %z : f32
  }
  %r3 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.exp %a : f32
    attn.yield %z : f32
  }
  %r4 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.exp2 %a : f32
    attn.yield %z : f32
  }
  %r5 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.floor %a : f32
    attn.yield %z : f32
  }
  %r6 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.log %a : f32
    attn.yield %z : f32
  }
  %r7 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.log2 %a : f32
    attn.yield %z : f32
  }
  %r8 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.roundeven %a : f32
    attn.yield %z : f32
  }
  %r9 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.rsqrt %a : f32
    attn.yield %z : f32
  }
  %r10 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.sqrt %a : f32
    attn.yield %z : f32
  }
  %r11 = attn.map (%x : tensor<?xf32> [T]) -> tensor<?xf32> [T] {
  ^bb0(%a: f32):
    %z = math.tanh %a : f32
    attn.yield %z : f32
  }
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
