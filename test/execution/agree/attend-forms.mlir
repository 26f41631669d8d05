// Weighers, sinks, further results, scores of one's own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,15,16,17,63,64,65,129,193,257
// RUN: attn-agree --quiet %s --lengths=0,1,17,64,193 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --lengths=0,1,17,64,193 --mcpu=x86-64

func.func @weighers(%q: tensor<?x3x16xf32> {attn.name = "q", attn.dims = #attn.dims<[T, H, D]>},
                    %k: tensor<?x3x16xf32> {attn.name = "k", attn.dims = #attn.dims<[S, H, D]>},
                    %v: tensor<?x3x16xf32> {attn.name = "v", attn.dims = #attn.dims<[S, H, N]>},
                    %sinks: tensor<3xf32> {attn.name = "sinks", attn.dims = #attn.dims<[H]>})
    -> (tensor<?x3x16xf32> {attn.dims = #attn.dims<[T, H, N]>}, tensor<?x3x16xf32> {attn.dims = #attn.dims<[T, H, N]>},
        tensor<?x3x16xf32> {attn.dims = #attn.dims<[T, H, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %a = attn.attend softmax1 scale 0.25 (%q : tensor<?x3x16xf32> [T, H, D], %k : tensor<?x3x16xf32> [S, H, D],
      %v : tensor<?x3x16xf32> [S, H, N]) -> tensor<?x3x16xf32> [T, H, N]
  %b = attn.attend sigmoid scale 0.25 (%q : tensor<?x3x16xf32> [T, H, D], %k : tensor<?x3x16xf32> [S, H, D],
      %v : tensor<?x3x16xf32> [S, H, N]) -> tensor<?x3x16xf32> [T, H, N]
  %c = attn.attend softmax scale 0.25 (%q : tensor<?x3x16xf32> [T, H, D], %k : tensor<?x3x16xf32> [S, H, D],
      %v : tensor<?x3x16xf32> [S, H, N], %sinks : tensor<3xf32> [H]) -> tensor<?x3x16xf32> [T, H, N] sink {
  ^bb0(%h: i32, %table: tensor<3xf32>):
    %n = attn.at %table[%h] : tensor<3xf32> -> f32
    attn.yield %n : f32
  }
  return %a, %b, %c : tensor<?x3x16xf32>, tensor<?x3x16xf32>, tensor<?x3x16xf32>
}

// Scores that are weights already: 1 - |q - k| where that is more than 0; rows may add up to nothing.
func.func @ratio(%q: tensor<?x1xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                 %k: tensor<?x1xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                 %v: tensor<?x1xf32> {attn.name = "v", attn.dims = #attn.dims<[S, D]>})
    -> (tensor<?x1xf32> {attn.dims = #attn.dims<[T, D]>}, tensor<?x?xf32> {attn.dims = #attn.dims<[T, S]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y, %w = attn.attend ratio scale 1.0 weights (%q : tensor<?x1xf32> [T, D], %k : tensor<?x1xf32> [S, D], %v : tensor<?x1xf32> [S, D])
      -> (tensor<?x1xf32> [T, D], tensor<?x?xf32> [T, S]) score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<1xf32>, %kr: tensor<1xf32>):
    %zero = arith.constant 0 : i32
    %none = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %a = attn.at %qr[%zero] : tensor<1xf32> -> f32
    %b = attn.at %kr[%zero] : tensor<1xf32> -> f32
    %d = arith.subf %a, %b : f32
    %e = math.absf %d : f32
    %f = arith.subf %one, %e : f32
    %g = arith.maximumf %f, %none : f32
    attn.yield %g : f32
  }
  return %y, %w : tensor<?x1xf32>, tensor<?x?xf32>
}

func.func @all_results(%q: tensor<?x2x16xf32> {attn.name = "q", attn.dims = #attn.dims<[T, H, D]>},
                       %k: tensor<?x2x16xf32> {attn.name = "k", attn.dims = #attn.dims<[S, H, D]>},
                       %v: tensor<?x2x16xf32> {attn.name = "v", attn.dims = #attn.dims<[S, H, N]>})
    -> (tensor<?x2x16xf32> {attn.dims = #attn.dims<[T, H, N]>}, tensor<?x2x?xf32> {attn.dims = #attn.dims<[T, H, S]>},
        tensor<?x2xf32> {attn.dims = #attn.dims<[T, H]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y, %w, %l = attn.attend softmax scale 0.25 weights lse (%q : tensor<?x2x16xf32> [T, H, D],
      %k : tensor<?x2x16xf32> [S, H, D], %v : tensor<?x2x16xf32> [S, H, N])
      -> (tensor<?x2x16xf32> [T, H, N], tensor<?x2x?xf32> [T, H, S], tensor<?x2xf32> [T, H]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %two = arith.constant 2 : i32
    %a = arith.addi %j, %h : i32
    %b = arith.cmpi sle, %a, %i : i32
    attn.yield %b : i1
  }
  return %y, %w, %l : tensor<?x2x16xf32>, tensor<?x2x?xf32>, tensor<?x2xf32>
}

// The logarithm of the sum where a sink or a 1 is in it: also for the first rows, which see no key.
func.func @sums(%q: tensor<?x2x16xf32> {attn.name = "q", attn.dims = #attn.dims<[T, H, D]>},
                %k: tensor<?x2x16xf32> {attn.name = "k", attn.dims = #attn.dims<[S, H, D]>},
                %v: tensor<?x2x16xf32> {attn.name = "v", attn.dims = #attn.dims<[S, H, N]>})
    -> (tensor<?x2x16xf32> {attn.dims = #attn.dims<[T, H, N]>}, tensor<?x2xf32> {attn.dims = #attn.dims<[T, H]>},
        tensor<?x2x16xf32> {attn.dims = #attn.dims<[T, H, N]>}, tensor<?x2xf32> {attn.dims = #attn.dims<[T, H]>})
    attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y, %l = attn.attend softmax scale 0.25 lse (%q : tensor<?x2x16xf32> [T, H, D],
      %k : tensor<?x2x16xf32> [S, H, D], %v : tensor<?x2x16xf32> [S, H, N])
      -> (tensor<?x2x16xf32> [T, H, N], tensor<?x2xf32> [T, H]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %two = arith.constant 2 : i32
    %a = arith.addi %j, %two : i32
    %b = arith.cmpi sle, %a, %i : i32
    attn.yield %b : i1
  } sink {
  ^bb0(%h: i32):
    %n = arith.sitofp %h : i32 to f32
    %c = arith.constant 2.5 : f32
    %m = arith.mulf %n, %c : f32
    attn.yield %m : f32
  }
  %z, %m = attn.attend softmax1 scale 0.25 lse (%q : tensor<?x2x16xf32> [T, H, D],
      %k : tensor<?x2x16xf32> [S, H, D], %v : tensor<?x2x16xf32> [S, H, N])
      -> (tensor<?x2x16xf32> [T, H, N], tensor<?x2xf32> [T, H]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %two = arith.constant 2 : i32
    %a = arith.addi %j, %two : i32
    %b = arith.cmpi sle, %a, %i : i32
    attn.yield %b : i1
  }
  return %y, %l, %z, %m : tensor<?x2x16xf32>, tensor<?x2xf32>, tensor<?x2x16xf32>, tensor<?x2xf32>
}

// Bahdanau's score: w . tanh(q + k), summed over the row.
func.func @additive(%q: tensor<?x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                    %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                    %v: tensor<?x5xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>},
                    %w: tensor<24xf32> {attn.name = "w", attn.dims = #attn.dims<[D]>})
    -> (tensor<?x5xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x5xf32> [S, N],
      %w : tensor<24xf32> [D]) -> tensor<?x5xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<24xf32>, %kr: tensor<24xf32>, %wr: tensor<24xf32>):
    %sum = attn.fold 24 {
    ^bb0(%d: i32):
      %a = attn.at %qr[%d] : tensor<24xf32> -> f32
      %b = attn.at %kr[%d] : tensor<24xf32> -> f32
      %c = arith.addf %a, %b : f32
      %t = math.tanh %c : f32
      %u = attn.at %wr[%d] : tensor<24xf32> -> f32
      %p = arith.mulf %t, %u : f32
      attn.yield %p : f32
    }
    attn.yield %sum : f32
  }
  return %y : tensor<?x5xf32>
}

// A learned bias by the distance of rows and the head, capped: c tanh((s + b) / c).
func.func @biased_and_capped(%q: tensor<?x2x16xf32> {attn.name = "q", attn.dims = #attn.dims<[T, H, D]>},
                             %k: tensor<?x2x16xf32> {attn.name = "k", attn.dims = #attn.dims<[T, H, D]>},
                             %v: tensor<?x2x16xf32> {attn.name = "v", attn.dims = #attn.dims<[T, H, N]>},
                             %b: tensor<7x2xf32> {attn.name = "b", attn.dims = #attn.dims<[B, H]>},
                             %doc: tensor<?xi32> {attn.name = "doc", attn.dims = #attn.dims<[T]>, test.fill = "below 3"})
    -> (tensor<?x2x16xf32> {attn.dims = #attn.dims<[T, H, N]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %y = attn.attend softmax scale 0.25 (%q : tensor<?x2x16xf32> [T, H, D], %k : tensor<?x2x16xf32> [S:T, H, D],
      %v : tensor<?x2x16xf32> [S:T, H, N], %b : tensor<7x2xf32> [B, H], %doc : tensor<?xi32> [T])
      -> tensor<?x2x16xf32> [T, H, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<16xf32>, %kr: tensor<16xf32>, %t: tensor<7x2xf32>, %docs: tensor<?xi32>):
    %three = arith.constant 3 : i32
    %cap = arith.constant 5.0 : f32
    %d = arith.subi %j, %i : i32
    %e = arith.addi %d, %three : i32
    %n = attn.at %t[%e, %h] : tensor<7x2xf32> -> f32
    %u = arith.addf %s, %n : f32
    %w = arith.divf %u, %cap : f32
    %x = math.tanh %w : f32
    %z = arith.mulf %x, %cap : f32
    attn.yield %z : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %t: tensor<7x2xf32>, %docs: tensor<?xi32>):
    %a = attn.at %docs[%i] : tensor<?xi32> -> i32
    %c = attn.at %docs[%j] : tensor<?xi32> -> i32
    %same = arith.cmpi eq, %a, %c : i32
    attn.yield %same : i1
  }
  return %y : tensor<?x2x16xf32>
}
