// Scores that read the rows of query and key: several queries, one query, heads that share keys, several calls' lengths.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,15,17,64,65,131
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,131 --attention=split 2> %t.notes
// RUN: attn-agree --quiet %s --lengths=0,1,15,17,65,131 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --lengths=0,1,17,65 --mcpu=x86-64

// w . tanh(q + k), its rows causal; the three heads of R share keys.
func.func @additive(%q: tensor<?x2x3x20xf32> {attn.name = "q", attn.dims = #attn.dims<[T, G, R, D]>},
                    %k: tensor<?x2x20xf32> {attn.name = "k", attn.dims = #attn.dims<[S, G, D]>},
                    %v: tensor<?x2x5xf32> {attn.name = "v", attn.dims = #attn.dims<[S, G, N]>},
                    %w: tensor<20xf32> {attn.name = "w", attn.dims = #attn.dims<[D]>})
    -> (tensor<?x2x3x5xf32> {attn.dims = #attn.dims<[T, G, R, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x2x3x20xf32> [T, G, R, D], %k : tensor<?x2x20xf32> [S, G, D],
      %v : tensor<?x2x5xf32> [S, G, N], %w : tensor<20xf32> [D]) -> tensor<?x2x3x5xf32> [T, G, R, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<20xf32>, %kr: tensor<20xf32>, %wr: tensor<20xf32>):
    %sum = attn.fold 20 {
    ^bb0(%d: i32):
      %a = attn.at %qr[%d] : tensor<20xf32> -> f32
      %b = attn.at %kr[%d] : tensor<20xf32> -> f32
      %c = arith.addf %a, %b : f32
      %t = math.tanh %c : f32
      %u = attn.at %wr[%d] : tensor<20xf32> -> f32
      %p = arith.mulf %t, %u : f32
      attn.yield %p : f32
    }
    attn.yield %sum : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %wr: tensor<20xf32>):
    %b = arith.cmpi sle, %j, %i : i32
    attn.yield %b : i1
  }
  return %y : tensor<?x2x3x5xf32>
}

// One query of one head, the keys on the lanes: -|q - k|^2.
func.func @distance_of_one(%q: tensor<1x24xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                           %k: tensor<?x24xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                           %v: tensor<?x7xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<1x7xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<1x24xf32> [T, D], %k : tensor<?x24xf32> [S, D], %v : tensor<?x7xf32> [S, N])
      -> tensor<1x7xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<24xf32>, %kr: tensor<24xf32>):
    %sum = attn.fold 24 {
    ^bb0(%d: i32):
      %a = attn.at %qr[%d] : tensor<24xf32> -> f32
      %b = attn.at %kr[%d] : tensor<24xf32> -> f32
      %c = arith.subf %a, %b : f32
      %p = arith.mulf %c, %c : f32
      attn.yield %p : f32
    }
    %n = arith.negf %sum : f32
    attn.yield %n : f32
  }
  return %y : tensor<1x7xf32>
}

// q . k / (|q| |k|): the product from the tiles, two sums over one row each.
func.func @cosine(%q: tensor<?x33xf32> {attn.name = "q", attn.dims = #attn.dims<[T, D]>},
                  %k: tensor<?x33xf32> {attn.name = "k", attn.dims = #attn.dims<[S, D]>},
                  %v: tensor<?x33xf32> {attn.name = "v", attn.dims = #attn.dims<[S, N]>})
    -> (tensor<?x33xf32> {attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x33xf32> [T, D], %k : tensor<?x33xf32> [S, D], %v : tensor<?x33xf32> [S, N])
      -> tensor<?x33xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<33xf32>, %kr: tensor<33xf32>):
    %qq = attn.fold 33 {
    ^bb0(%d: i32):
      %a = attn.at %qr[%d] : tensor<33xf32> -> f32
      %p = arith.mulf %a, %a : f32
      attn.yield %p : f32
    }
    %kk = attn.fold 33 {
    ^bb0(%d: i32):
      %a = attn.at %kr[%d] : tensor<33xf32> -> f32
      %p = arith.mulf %a, %a : f32
      attn.yield %p : f32
    }
    %x = math.rsqrt %qq : f32
    %z = math.rsqrt %kk : f32
    %c = arith.mulf %s, %x : f32
    %n = arith.mulf %c, %z : f32
    attn.yield %n : f32
  }
  return %y : tensor<?x33xf32>
}
