// Every scalar operation of the list on the numbers of rows, one result each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,257
// RUN: attn-agree --quiet %s --lengths=0,1,17,65 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --lengths=0,1,17,65 --mcpu=x86-64

func.func @functions(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r0 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %n = arith.negf %x0 : f32
    %z = math.absf %n : f32
    attn.yield %z : f32
  }
  %r1 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.ceil %x0 : f32
    attn.yield %z : f32
  }
  %r2 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.cos %x0 : f32
    attn.yield %z : f32
  }
  %r3 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.erf %x0 : f32
    attn.yield %z : f32
  }
  %r4 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.exp %x0 : f32
    attn.yield %z : f32
  }
  %r5 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.exp2 %x0 : f32
    attn.yield %z : f32
  }
  %r6 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.floor %x0 : f32
    attn.yield %z : f32
  }
  %r7 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %p = math.absf %x0 : f32
    %z = math.log %p : f32
    attn.yield %z : f32
  }
  %r8 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %p = math.absf %x0 : f32
    %z = math.log2 %p : f32
    attn.yield %z : f32
  }
  %r9 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.roundeven %x0 : f32
    attn.yield %z : f32
  }
  %r10 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %p = math.absf %x0 : f32
    %z = math.rsqrt %p : f32
    attn.yield %z : f32
  }
  %r11 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.sin %x0 : f32
    attn.yield %z : f32
  }
  %r12 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %p = math.absf %x0 : f32
    %z = math.sqrt %p : f32
    attn.yield %z : f32
  }
  %r13 = attn.map (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32):
    %z = math.tanh %x0 : f32
    attn.yield %z : f32
  }
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @arithmetic(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>}, %y: tensor<?x8xf32> {attn.name = "y", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r0 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = arith.addf %x0, %y0 : f32
    attn.yield %z : f32
  }
  %r1 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = arith.subf %x0, %y0 : f32
    attn.yield %z : f32
  }
  %r2 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = arith.mulf %x0, %y0 : f32
    attn.yield %z : f32
  }
  %r3 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = arith.maximumf %x0, %y0 : f32
    attn.yield %z : f32
  }
  %r4 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = arith.minimumf %x0, %y0 : f32
    attn.yield %z : f32
  }
  %r5 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = arith.maxnumf %x0, %y0 : f32
    attn.yield %z : f32
  }
  %r6 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = arith.minnumf %x0, %y0 : f32
    attn.yield %z : f32
  }
  %r7 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.constant 0.25 : f32
    %p = math.absf %y0 : f32
    %q = arith.addf %p, %c : f32
    %z = arith.divf %x0, %q : f32
    attn.yield %z : f32
  }
  %r8 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.constant 4.0 : f32
    %p = arith.mulf %x0, %c : f32
    %o = arith.constant 0.75 : f32
    %z = arith.remf %p, %o : f32
    attn.yield %z : f32
  }
  %r9 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %p = math.absf %x0 : f32
    %z = math.powf %p, %y0 : f32
    attn.yield %z : f32
  }
  %r10 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %z = math.fma %x0, %y0, %x0 : f32
    attn.yield %z : f32
  }
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @comparisons(%x: tensor<?x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>}, %y: tensor<?x8xf32> {attn.name = "y", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r0 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf oeq, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r1 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf ogt, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r2 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf oge, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r3 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf olt, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r4 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf ole, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r5 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf one, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r6 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf ord, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r7 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf ueq, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r8 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf ugt, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r9 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf uge, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r10 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf ult, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r11 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf ule, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r12 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf une, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  %r13 = attn.map (%x : tensor<?x8xf32> [T, E], %y : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%x0: f32, %y0: f32):
    %c = arith.cmpf uno, %x0, %y0 : f32
    %o = arith.constant 1.0 : f32
    %n = arith.constant 0.0 : f32
    %z = arith.select %c, %o, %n : f32
    attn.yield %z : f32
  }
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

func.func @integers(%i: tensor<?x8xi32> {attn.name = "i", attn.dims = #attn.dims<[T, E]>}, %j: tensor<?x8xi32> {attn.name = "j", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x8xi32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r0 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.addi %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r1 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.subi %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r2 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.muli %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r3 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.maxsi %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r4 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.minsi %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r5 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.andi %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r6 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.ori %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r7 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %z = arith.xori %i0, %j0 : i32
    attn.yield %z : i32
  }
  %r8 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.constant 3 : i32
    %s = arith.constant 7 : i32
    %m = arith.subi %i0, %s : i32
    %z = arith.divsi %m, %c : i32
    attn.yield %z : i32
  }
  %r9 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.constant 3 : i32
    %s = arith.constant 7 : i32
    %m = arith.subi %i0, %s : i32
    %z = arith.remsi %m, %c : i32
    attn.yield %z : i32
  }
  %r10 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.constant 3 : i32
    %s = arith.constant 7 : i32
    %m = arith.subi %i0, %s : i32
    %z = arith.floordivsi %m, %c : i32
    attn.yield %z : i32
  }
  %r11 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.constant 3 : i32
    %s = arith.constant 7 : i32
    %m = arith.subi %i0, %s : i32
    %z = arith.ceildivsi %m, %c : i32
    attn.yield %z : i32
  }
  %r12 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %d = arith.subi %i0, %j0 : i32
    %z = math.absi %d : i32
    attn.yield %z : i32
  }
  %r13 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.cmpi eq, %i0, %j0 : i32
    %z = arith.extui %c : i1 to i32
    attn.yield %z : i32
  }
  %r14 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.cmpi ne, %i0, %j0 : i32
    %z = arith.extui %c : i1 to i32
    attn.yield %z : i32
  }
  %r15 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.cmpi slt, %i0, %j0 : i32
    %z = arith.extui %c : i1 to i32
    attn.yield %z : i32
  }
  %r16 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.cmpi sle, %i0, %j0 : i32
    %z = arith.extui %c : i1 to i32
    attn.yield %z : i32
  }
  %r17 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.cmpi sgt, %i0, %j0 : i32
    %z = arith.extui %c : i1 to i32
    attn.yield %z : i32
  }
  %r18 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.cmpi sge, %i0, %j0 : i32
    %z = arith.extui %c : i1 to i32
    attn.yield %z : i32
  }
  %r19 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.cmpi slt, %i0, %j0 : i32
    %z = arith.extsi %c : i1 to i32
    attn.yield %z : i32
  }
  %r20 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %t = arith.trunci %i0 : i32 to i1
    %z = arith.extui %t : i1 to i32
    attn.yield %z : i32
  }
  %r21 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %c = arith.constant -2.75 : f32
    %f = arith.sitofp %i0 : i32 to f32
    %g = arith.mulf %f, %c : f32
    %z = arith.fptosi %g : f32 to i32
    attn.yield %z : i32
  }
  %r22 = attn.map (%i : tensor<?x8xi32> [T, E], %j : tensor<?x8xi32> [T, E]) -> tensor<?x8xi32> [T, E] {
  ^bb0(%i0: i32, %j0: i32):
    %t = arith.trunci %i0 : i32 to i1
    %u = arith.uitofp %t : i1 to f32
    %z = arith.fptosi %u : f32 to i32
    attn.yield %z : i32
  }
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22 : tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xi32>
}
