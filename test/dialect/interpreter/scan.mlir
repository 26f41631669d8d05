// Scans: carried and stacked values, several sources, no row, scans inside of repeats and repeats inside of scans.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-interpret --test %s
// RUN: attn-opt %s | attn-interpret --test -

attn.weight @double {parts = ["double"], test.value = "[[2]]"} : tensor<1x1xf32>

// c <- 2 c + x, from 1: 2 + 3 = 5, 10 + 4 = 14, 28 + 5 = 33. What is stacked is the state before each row. No row: nothing happens.
func.func @carries_and_stacks(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[T, E]>, test.value = ["[[3], [4], [5]]", "[]"]})
    -> (tensor<1xf32> {test.expect = ["[33]", "[1]"]}, tensor<?x1xf32> {test.expect = ["[[1], [5], [14]]", "[]"]}) {
  %one = arith.constant dense<1.0> : tensor<1xf32>
  %c, %y = attn.scan "T" rows 1 (%x : tensor<?x1xf32> [T, E], %one : tensor<1xf32> [E]) -> (tensor<1xf32> [E], tensor<?x1xf32> [T, E]) {
  ^bb0(%row: tensor<1xf32>, %s: tensor<1xf32>):
    %n = attn.linear @double (%s : tensor<1xf32> [E], %row : tensor<1xf32> [F]) -> tensor<1xf32> [F] {
    ^bb0(%acc: f32, %r: f32):
      %t = arith.addf %acc, %r : f32
      attn.yield %t : f32
    }
    attn.yield %n, %s : tensor<1xf32>, tensor<1xf32>
  }
  return %c, %y : tensor<1xf32>, tensor<?x1xf32>
}

// Two sources, two carried values that change places, rows of rank 0: a, b <- b, a + x p from 0, 1.
// x p = 1 10, 2 20, 3 30: (1, 10), (10, 41), (41, 100).
func.func @sources(%x: tensor<?xf32> {attn.dims = #attn.dims<[T]>, test.value = "[1, 2, 3]"},
                   %p: tensor<?xi32> {attn.dims = #attn.dims<[T]>, test.value = "[10, 20, 30]"})
    -> (tensor<f32> {test.expect = "41"}, tensor<f32> {test.expect = "100"}, tensor<?xf32> {test.expect = "[10, 41, 100]"},
        tensor<?xi32> {test.expect = "[10, 20, 30]"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %a, %b, %all, %ids = attn.scan "T" rows 2 (%x : tensor<?xf32> [S:T], %p : tensor<?xi32> [T], %zero : tensor<f32> [], %one : tensor<f32> [])
      -> (tensor<f32> [], tensor<f32> [], tensor<?xf32> [T], tensor<?xi32> [T]) {
  ^bb0(%u: tensor<f32>, %v: tensor<i32>, %s: tensor<f32>, %t: tensor<f32>):
    %n = attn.map (%s : tensor<f32> [], %u : tensor<f32> [], %v : tensor<i32> []) -> tensor<f32> [] {
    ^bb0(%i: f32, %j: f32, %k: i32):
      %f = arith.sitofp %k : i32 to f32
      %m = arith.mulf %j, %f : f32
      %o = arith.addf %i, %m : f32
      attn.yield %o : f32
    }
    attn.yield %t, %n, %n, %v : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>
  }
  return %a, %b, %all, %ids : tensor<f32>, tensor<f32>, tensor<?xf32>, tensor<?xi32>
}

// Rows of a matrix; the state is a sequence along S, to which row 0 of each turn is added: the carried value has its own length.
// In the turn a repeat adds the turn's number twice: 0 + 1 = 1 a row.
func.func @nested(%x: tensor<?x2x1xf32> {attn.dims = #attn.dims<[T, L, E]>, test.value = "[[[1], [2]], [[3], [4]]]"},
                  %s: tensor<?x1xf32> {attn.dims = #attn.dims<[S, E]>, test.value = "[[10], [20], [30]]"})
    -> (tensor<?x1xf32> {test.expect = "[[16], [26], [36]]"}, tensor<?x2x1xf32> {test.expect = "[[[1], [2]], [[3], [4]]]"}) {
  %c, %y = attn.scan "T" rows 1 (%x : tensor<?x2x1xf32> [T, L, E], %s : tensor<?x1xf32> [S, E])
      -> (tensor<?x1xf32> [S, E], tensor<?x2x1xf32> [T, L, E]) {
  ^bb0(%row: tensor<2x1xf32>, %state: tensor<?x1xf32>):
    %first = attn.slice "L" at 0 (%row : tensor<2x1xf32> [L, E]) -> tensor<1xf32> [E]
    %n = attn.map (%state : tensor<?x1xf32> [S, E], %first : tensor<1xf32> [E]) -> tensor<?x1xf32> [S, E] {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      attn.yield %t : f32
    }
    %r = attn.repeat 0 to 2 (%n : tensor<?x1xf32> [S, E]) -> tensor<?x1xf32> [S, E] {
    ^bb0(%l: i32, %v: tensor<?x1xf32>):
      %w = attn.map (%v : tensor<?x1xf32> [S, E]) -> tensor<?x1xf32> [S, E] {
      ^bb0(%a: f32):
        %f = arith.sitofp %l : i32 to f32
        %t = arith.addf %a, %f : f32
        attn.yield %t : f32
      }
      attn.yield %w : tensor<?x1xf32>
    }
    attn.yield %r, %row : tensor<?x1xf32>, tensor<2x1xf32>
  }
  return %c, %y : tensor<?x1xf32>, tensor<?x2x1xf32>
}

// One query a row over a captured sequence: softmax of q k with q = ln 3 row, k = 0, 1: weights 1/4, 3/4 of 0, 4 for row 1.
// The state is the query that comes next: 0 first (the mean, 2), then what the row holds.
func.func @attends(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[T, D]>, test.value = "[[1.0986123], [-1.0986123]]"},
                   %k: tensor<?x1xf32> {attn.dims = #attn.dims<[S, D]>, test.value = "[[0], [1]]"})
    -> (tensor<?x1xf32> {test.expect = "[[2], [3]]"}, tensor<?x?xf32> {test.expect = "[[0.5, 0.5], [0.25, 0.75]]"},
        tensor<1x1xf32> {test.expect = "[[-1.0986123]]"}) {
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %v = attn.map (%k : tensor<?x1xf32> [S, D]) -> tensor<?x1xf32> [S, D] {
  ^bb0(%a: f32):
    %four = arith.constant 4.0 : f32
    %b = arith.mulf %a, %four : f32
    attn.yield %b : f32
  }
  %c, %y, %w = attn.scan "T" rows 1 (%x : tensor<?x1xf32> [T, D], %zero : tensor<1x1xf32> [Q, D])
      -> (tensor<1x1xf32> [Q, D], tensor<?x1xf32> [T, N], tensor<?x?xf32> [T, S]) {
  ^bb0(%row: tensor<1xf32>, %q: tensor<1x1xf32>):
    %a, %u = attn.attend softmax scale 1.0 weights (%q : tensor<1x1xf32> [Q, D], %k : tensor<?x1xf32> [S, D], %v : tensor<?x1xf32> [S, N])
        -> (tensor<1x1xf32> [Q, N], tensor<1x?xf32> [Q, S])
    %b = attn.reshape (%a : tensor<1x1xf32> [Q, N]) -> tensor<1xf32> [N]
    %t = attn.reshape (%u : tensor<1x?xf32> [Q, S]) -> tensor<?xf32> [S]
    %n = attn.reshape (%row : tensor<1xf32> [D]) -> tensor<1x1xf32> [Q, D]
    attn.yield %n, %b, %t : tensor<1x1xf32>, tensor<1xf32>, tensor<?xf32>
  }
  return %y, %w, %c : tensor<?x1xf32>, tensor<?x?xf32>, tensor<1x1xf32>
}
