// What sessions keep: caches, places filled once, their lengths and numbers, over several calls.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-interpret --test %s
// RUN: attn-opt %s | attn-interpret --test -

attn.state cache @rows : tensor<?x1xf32>
attn.state cache @turns {turns = array<i64: 2, 2>} : tensor<?xi32>
attn.state cache @values : tensor<?x1xf32>
attn.state once @kept : tensor<?x1xf32>
attn.state once @both {turns = array<i64: 2>} : tensor<?x1xf32>

// Rows follow those of earlier calls; positions go on; a call may bring no row.
func.func @caches_grow(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[T, E]>, test.value = ["[[1], [2]]", "[]", "[[3]]"]})
    -> (tensor<?x1xf32> {test.expect = ["[[1], [2]]", "[[1], [2]]", "[[1], [2], [3]]"]}, tensor<?xi32> {test.expect = ["[0, 1]", "[]", "[2]"]},
        tensor<?xi32> {test.expect = ["[0, 1]", "[0, 1]", "[0, 1, 2]"]}, tensor<i32> {test.expect = ["0", "2", "2"]},
        tensor<i32> {test.expect = "8"}) attributes {attn.cached = "T", test.capacity = 8} {
  %all = attn.cache @rows (%x : tensor<?x1xf32> [T, E]) -> tensor<?x1xf32> [S:all.T, E]
  %pos = attn.pos tensor<?xi32> [Q:T]
  %keys = attn.pos tensor<?xi32> [S:all.T]
  %past = attn.session past -> tensor<i32> []
  %capacity = attn.session capacity -> tensor<i32> []
  return %all, %pos, %keys, %past, %capacity : tensor<?x1xf32>, tensor<?xi32>, tensor<?xi32>, tensor<i32>, tensor<i32>
}

// A new session knows nothing of the one before. Another function of one session sees its rows; one that caches nothing sees no
// past and numbers its rows from 0.
func.func @writes(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[T, E]>, test.value = "[[4], [5]]"})
    -> (tensor<?x1xf32> {test.expect = "[[4], [5]]"}) attributes {attn.cached = "T", test.session = "shared"} {
  %all = attn.cache @rows (%x : tensor<?x1xf32> [T, E]) -> tensor<?x1xf32> [all.T, E]
  return %all : tensor<?x1xf32>
}
func.func @caches_nothing(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[T, E]>, test.value = "[[4], [5]]"})
    -> (tensor<?xi32> {test.expect = "[0, 1]"}, tensor<i32> {test.expect = "0"}) attributes {test.session = "shared"} {
  %pos = attn.pos tensor<?xi32> [T]
  %past = attn.session past -> tensor<i32> []
  return %pos, %past : tensor<?xi32>, tensor<i32>
}
func.func @reads(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[U, E]>, test.value = ["[[6]]", "[[7]]"]},
                 %y: tensor<?xf32> {attn.dims = #attn.dims<[T]>, test.value = "[0, 0, 0]"})
    -> (tensor<?x1xf32> {test.expect = ["[[4], [5], [6]]", "[[4], [5], [6], [7]]"]}, tensor<?xi32> {test.expect = "[0, 1, 2]"})
    attributes {attn.cached = "U", test.session = "shared"} {
  %all = attn.cache @rows (%x : tensor<?x1xf32> [U, E]) -> tensor<?x1xf32> [all.U, E]
  %pos = attn.pos tensor<?xi32> [T]
  return %all, %pos : tensor<?x1xf32>, tensor<?xi32>
}

// Turn (l, m) keeps the ids plus 10 l + m.
func.func @cached_in_turns(%ids: tensor<?xi32> {attn.dims = #attn.dims<[T]>, test.value = ["[1]", "[2, 3]"]})
    -> (tensor<2x2x?xi32> {test.expect = ["[[[1], [2]], [[11], [12]]]", "[[[1, 2, 3], [2, 3, 4]], [[11, 12, 13], [12, 13, 14]]]"]})
    attributes {attn.cached = "T"} {
  %r = attn.repeat 0 to 2 () -> tensor<2x2x?xi32> [L, M, all.T] {
  ^bb0(%l: i32):
    %s = attn.repeat 0 to 2 () -> tensor<2x?xi32> [M, all.T] {
    ^bb0(%m: i32):
      %x = attn.map (%ids : tensor<?xi32> [T]) -> tensor<?xi32> [T] {
      ^bb0(%id: i32):
        %ten = arith.constant 10 : i32
        %a = arith.muli %l, %ten : i32
        %b = arith.addi %a, %m : i32
        %c = arith.addi %b, %id : i32
        attn.yield %c : i32
      }
      %all = attn.cache @turns[%l, %m] (%x : tensor<?xi32> [T]) -> tensor<?xi32> [all.T]
      attn.yield %all : tensor<?xi32>
    }
    attn.yield %s : tensor<2x?xi32>
  }
  return %r : tensor<2x2x?xi32>
}

// Query i sees keys i - 1 and i: the mean of two values, whatever the calls. The second result is 10 i + j of the last visible key.
func.func @queries_go_on(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[T, E]>, test.value = ["[[2]]", "[[4], [8]]", "[[16]]"]})
    -> (tensor<?x1xf32> {test.expect = ["[[2]]", "[[3], [6]]", "[[12]]"]}, tensor<?x1xf32> {test.expect = ["[[0]]", "[[11], [22]]", "[[33]]"]})
    attributes {attn.cached = "T"} {
  %all = attn.cache @rows (%x : tensor<?x1xf32> [T, E]) -> tensor<?x1xf32> [S:all.T, E]
  %y = attn.attend softmax scale 0.0 (%x : tensor<?x1xf32> [T, E], %all : tensor<?x1xf32> [S:all.T, E], %all : tensor<?x1xf32> [S:all.T, N])
      -> tensor<?x1xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %d = arith.subi %i, %j : i32
    %zero = arith.constant 0 : i32
    %two = arith.constant 2 : i32
    %a = arith.cmpi sge, %d, %zero : i32
    %b = arith.cmpi slt, %d, %two : i32
    %c = arith.andi %a, %b : i1
    attn.yield %c : i1
  }
  %ones = attn.map (%all : tensor<?x1xf32> [S:all.T, E]) -> tensor<?x1xf32> [S:all.T, E] {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    attn.yield %one : f32
  }
  %z, %lse = attn.attend softmax scale 1.0 lse (%x : tensor<?x1xf32> [T, E], %ones : tensor<?x1xf32> [S:all.T, E], %ones : tensor<?x1xf32> [S:all.T, N])
      -> (tensor<?x1xf32> [T, N], tensor<?xf32> [T]) score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %q: tensor<1xf32>, %k: tensor<1xf32>):
    %ten = arith.constant 10 : i32
    %a = arith.muli %i, %ten : i32
    %b = arith.addi %a, %j : i32
    %c = arith.sitofp %b : i32 to f32
    attn.yield %c : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi eq, %i, %j : i32
    attn.yield %c : i1
  }
  %w = attn.reshape (%lse : tensor<?xf32> [T]) -> tensor<?x1xf32> [T, E]
  return %y, %w : tensor<?x1xf32>, tensor<?x1xf32>
}

// Filled by the first call, whole for the others; along another sequence queries count from 0.
func.func @once_fills(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[S, E]>, test.value = ["[[1], [3]]", "[]", "[]"]},
                      %q: tensor<?x1xf32> {attn.dims = #attn.dims<[T, E]>, test.value = ["[]", "[[0]]", "[[0], [0]]"]})
    -> (tensor<?x1xf32> {test.expect = "[[1], [3]]"}, tensor<?x1xf32> {test.expect = ["[]", "[[1]]", "[[1], [2]]"]})
    attributes {test.session = "once"} {
  %m = attn.once @kept (%x : tensor<?x1xf32> [S, E]) -> tensor<?x1xf32> [M:kept.S, E]
  %y = attn.attend softmax scale 1.0 (%q : tensor<?x1xf32> [T, E], %m : tensor<?x1xf32> [M:kept.S, E], %m : tensor<?x1xf32> [M:kept.S, N])
      -> tensor<?x1xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sle, %j, %i : i32
    attn.yield %c : i1
  }
  return %m, %y : tensor<?x1xf32>, tensor<?x1xf32>
}
func.func @once_is_shared(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[U, E]>, test.value = "[]"})
    -> (tensor<?x1xf32> {test.expect = "[[1], [3]]"}) attributes {test.session = "once"} {
  %m = attn.once @kept (%x : tensor<?x1xf32> [U, E]) -> tensor<?x1xf32> [M:kept.U, E]
  return %m : tensor<?x1xf32>
}

// A place for each turn, in a function that caches too; the sums of what both keep.
func.func @once_in_turns(%x: tensor<?x1xf32> {attn.dims = #attn.dims<[S, E]>, test.value = ["[[1], [2], [3]]", "[]"]},
                         %t: tensor<?x1xf32> {attn.dims = #attn.dims<[T, E]>, test.value = ["[[10]]", "[[20]]"]})
    -> (tensor<2x1xf32> {test.expect = ["[[6], [9]]", "[[6], [9]]"]}, tensor<1xf32> {test.expect = ["[10]", "[30]"]})
    attributes {attn.cached = "T"} {
  %sums = attn.repeat 0 to 2 () -> tensor<2x1xf32> [L, E] {
  ^bb0(%l: i32):
    %y = attn.map (%x : tensor<?x1xf32> [S, E]) -> tensor<?x1xf32> [S, E] {
    ^bb0(%a: f32):
      %n = arith.sitofp %l : i32 to f32
      %b = arith.addf %a, %n : f32
      attn.yield %b : f32
    }
    %m = attn.once @both[%l] (%y : tensor<?x1xf32> [S, E]) -> tensor<?x1xf32> [M:kept.S, E]
    %s = attn.reduce sum (%m : tensor<?x1xf32> [M:kept.S, E]) -> tensor<1xf32> [E]
    attn.yield %s : tensor<1xf32>
  }
  %all = attn.cache @values (%t : tensor<?x1xf32> [T, E]) -> tensor<?x1xf32> [all.T, E]
  %sum = attn.reduce sum (%all : tensor<?x1xf32> [all.T, E]) -> tensor<1xf32> [E]
  return %sums, %sum : tensor<2x1xf32>, tensor<1xf32>
}
