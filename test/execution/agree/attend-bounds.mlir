// Masks whose keys are bounded: window, its mirror image, prefix, band, one diagonal, a choice; heads that share keys.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,17,64,65,129,193,257
// RUN: attn-agree --quiet %s --lengths=0,1,64,129 --mcpu=x86-64-v3

// The last 70, itself counted.
func.func @window(%q: tensor<?x2x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, H, D]>},
                  %k: tensor<?x2x24xf32> {attn.name = "k", attn.dims = #attn.dims<[T, H, D]>},
                  %v: tensor<?x2x20xf32> {attn.name = "v", attn.dims = #attn.dims<[T, H, N]>})
    -> (tensor<?x2x20xf32> {attn.dims = #attn.dims<[T, H, N]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.attend softmax scale 0.2 (%q : tensor<?x2x24xf32> [T, H, D], %k : tensor<?x2x24xf32> [S:T, H, D],
      %v : tensor<?x2x20xf32> [S:T, H, N]) -> tensor<?x2x20xf32> [T, H, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %w = arith.constant 70 : i32
    %a = arith.cmpi sle, %j, %i : i32
    %d = arith.subi %i, %j : i32
    %b = arith.cmpi slt, %d, %w : i32
    %c = arith.andi %a, %b : i1
    attn.yield %c : i1
  }
  return %y : tensor<?x2x20xf32>
}

// Only what comes after: most keys of the first queries, none of the last one; rows without a visible key are 0.
func.func @after(%q: tensor<?x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                 %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                 %v: tensor<?x24xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>}, tensor<?xf32> {attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y, %l = attn.attend softmax scale 0.2 lse (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x24xf32> [S, N])
      -> (tensor<?x24xf32> [T, N], tensor<?xf32> [T]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sgt, %j, %i : i32
    attn.yield %c : i1
  }
  return %y, %l : tensor<?x24xf32>, tensor<?xf32>
}

// The first 80 see each other, the rest is causal; with a sink, and the weights asked for.
func.func @prefix(%q: tensor<?x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                  %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                  %v: tensor<?x24xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>}, tensor<?x?xf32> {attn.dims = #attn.dims<[T, S]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y, %w = attn.attend softmax scale 0.2 weights (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x24xf32> [S, N])
      -> (tensor<?x24xf32> [T, N], tensor<?x?xf32> [T, S]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %n = arith.constant 80 : i32
    %a = arith.cmpi sle, %j, %i : i32
    %b = arith.cmpi slt, %j, %n : i32
    %c = arith.ori %a, %b : i1
    attn.yield %c : i1
  } sink {
  ^bb0(%h: i32):
    %s = arith.constant 0.75 : f32
    attn.yield %s : f32
  }
  return %y, %w : tensor<?x24xf32>, tensor<?x?xf32>
}

// 30 to each side, by weighers without a maximum.
func.func @band(%q: tensor<?x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                %v: tensor<?x24xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend sigmoid scale 0.2 (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x24xf32> [S, N])
      -> tensor<?x24xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %w = arith.constant 30 : i32
    %d = arith.subi %i, %j : i32
    %s = math.absi %d : i32
    %c = arith.cmpi sle, %s, %w : i32
    attn.yield %c : i1
  }
  return %y : tensor<?x24xf32>
}

// The key 100 before, alone; a score of its own and a second conjunct that no bound comes from.
func.func @diagonal(%q: tensor<?x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                    %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                    %v: tensor<?x24xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax1 scale 0.2 (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x24xf32> [S, N])
      -> tensor<?x24xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<24xf32>, %kr: tensor<24xf32>):
    %t = math.tanh %s : f32
    attn.yield %t : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %w = arith.constant 100 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %d = arith.subi %i, %j : i32
    %a = arith.cmpi eq, %d, %w : i32
    %low = arith.andi %j, %one : i32
    %b = arith.cmpi eq, %low, %zero : i32
    %c = arith.andi %a, %b : i1
    attn.yield %c : i1
  }
  return %y : tensor<?x24xf32>
}

// Below key 64 what came before, from there on what comes after.
func.func @choice(%q: tensor<?x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                  %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                  %v: tensor<?x24xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 0.2 (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x24xf32> [S, N])
      -> tensor<?x24xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %n = arith.constant 64 : i32
    %a = arith.cmpi slt, %j, %n : i32
    %b = arith.cmpi sle, %j, %i : i32
    %e = arith.cmpi sge, %j, %i : i32
    %c = arith.select %a, %b, %e : i1
    attn.yield %c : i1
  }
  return %y : tensor<?x24xf32>
}

// Nothing is visible, and everything.
func.func @constants(%q: tensor<?x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                     %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                     %v: tensor<?x24xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>}, tensor<?x24xf32> {attn.dims = #attn.dims<[T, N]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 0.2 (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x24xf32> [S, N])
      -> tensor<?x24xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.constant false
    attn.yield %c : i1
  }
  %z = attn.attend softmax scale 0.2 (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x24xf32> [S, N])
      -> tensor<?x24xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.constant true
    attn.yield %c : i1
  }
  return %y, %z : tensor<?x24xf32>, tensor<?x24xf32>
}

// Three heads share keys, all share values: every result, by head.
func.func @shared(%q: tensor<?x3x2x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, R, G, D]>},
                  %k: tensor<?x2x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, G, D]>},
                  %v: tensor<?x20xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>},
                  %s: tensor<6xf32> {attn.name = "s", attn.dims = #attn.dims<[H]>})
    -> (tensor<?x3x2x20xf32> {attn.dims = #attn.dims<[T, R, G, N]>}, tensor<?x3x2x?xf32> {attn.dims = #attn.dims<[T, R, G, S]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y, %w = attn.attend softmax scale 0.2 weights (%q : tensor<?x3x2x24xf32> [T, R, G, D], %k : tensor<?x2x24xf32> [S, G, D],
      %v : tensor<?x20xf32> [S, N], %s : tensor<6xf32> [H])
      -> (tensor<?x3x2x20xf32> [T, R, G, N], tensor<?x3x2x?xf32> [T, R, G, S]) score {
  ^bb0(%a: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<24xf32>, %kr: tensor<24xf32>, %t: tensor<6xf32>):
    %zero = arith.constant 0 : i32
    %x = attn.at %qr[%zero] : tensor<24xf32> -> f32
    %y = attn.at %kr[%h] : tensor<24xf32> -> f32
    %p = arith.mulf %x, %y : f32
    %b = arith.addf %a, %p : f32
    attn.yield %b : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %t: tensor<6xf32>):
    %d = arith.subi %j, %h : i32
    %c = arith.cmpi sle, %d, %i : i32
    attn.yield %c : i1
  } sink {
  ^bb0(%h: i32, %t: tensor<6xf32>):
    %a = attn.at %t[%h] : tensor<6xf32> -> f32
    attn.yield %a : f32
  }
  return %y, %w : tensor<?x3x2x20xf32>, tensor<?x3x2x?xf32>
}
