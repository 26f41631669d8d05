// What sessions cache: grouped heads, masks and scores that number rows across calls, places in repeats, weights that are asked for,
// rows of numbers and of rank 1, numbers of the session, two functions that share their rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: attn-agree --quiet %s --lengths=0,1,15,16,17,63,64,65,129
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,131 --attention=split 2> %t.notes
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,4 --passes=none
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,4 --passes=only
// RUN: attn-agree --quiet %s --lengths=0,1,17,65,4 --mcpu=x86-64-v3
// RUN: attn-agree --quiet %s --lengths=5,70 --mcpu=x86-64

attn.weight @q {parts = ["q"]} : tensor<2x3x8x12xf32>
attn.weight @k {parts = ["k"]} : tensor<2x8x12xf32>
attn.weight @v {parts = ["v"]} : tensor<2x8x12xf32>
attn.weight @lq {parts = ["lq.{0}"], turns = array<i64: 3>} : tensor<2x6x12xf32>
attn.weight @lk {parts = ["lk.{0}"], turns = array<i64: 3>} : tensor<2x6x12xf32>
attn.weight @lv {parts = ["lv.{0}"], turns = array<i64: 3>} : tensor<2x6x12xf32>
attn.weight @lo {parts = ["lo.{0}"], turns = array<i64: 3>} : tensor<12x12xf32>
attn.weight @table {parts = ["table"]} : tensor<9x2xf32>

attn.state cache @keys : tensor<?x2x8xf32>
attn.state cache @values : tensor<?x2x8xf32>
attn.state cache @layer_keys {turns = array<i64: 3>} : tensor<?x2x6xf32>
attn.state cache @layer_values {turns = array<i64: 3>} : tensor<?x2x6xf32>
attn.state cache @nested {turns = array<i64: 2, 2>} : tensor<?x12xf32>
attn.state cache @ids : tensor<?xi32>
attn.state cache @rows : tensor<?x12xf32>

// Three query heads a key head, causal.
func.func @grouped(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x2x3x8xf32> {attn.dims = #attn.dims<[T, G, R, N]>}, tensor<?x2x3xf32> {attn.dims = #attn.dims<[T, G, R]>})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %q = attn.linear @q (%x : tensor<?x12xf32> [T, E]) -> tensor<?x2x3x8xf32> [T, G, R, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %k = attn.linear @k (%x : tensor<?x12xf32> [T, E]) -> tensor<?x2x8xf32> [T, G, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %v = attn.linear @v (%x : tensor<?x12xf32> [T, E]) -> tensor<?x2x8xf32> [T, G, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  %ks = attn.cache @keys (%k : tensor<?x2x8xf32> [T, G, D]) -> tensor<?x2x8xf32> [S:all.T, G, D]
  %vs = attn.cache @values (%v : tensor<?x2x8xf32> [T, G, D]) -> tensor<?x2x8xf32> [S:all.T, G, D]
  %y, %lse = attn.attend softmax scale 0.35 lse (%q : tensor<?x2x3x8xf32> [T, G, R, D], %ks : tensor<?x2x8xf32> [S:all.T, G, D], %vs : tensor<?x2x8xf32> [S:all.T, G, N])
      -> (tensor<?x2x3x8xf32> [T, G, R, N], tensor<?x2x3xf32> [T, G, R]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sle, %j, %i : i32
    attn.yield %c : i1
  }
  return %y, %lse : tensor<?x2x3x8xf32>, tensor<?x2x3xf32>
}

// The last five rows, a learned bias by distance, heads; keys and values are what another function caches too.
func.func @window(%x: tensor<?x2x8xf32> {attn.name = "x", attn.dims = #attn.dims<[T, G, D]>})
    -> (tensor<?x2x8xf32> {attn.dims = #attn.dims<[T, G, D]>})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "T", test.after = "grouped"} {
  %table = attn.param @table : tensor<9x2xf32>
  %ks = attn.cache @keys (%x : tensor<?x2x8xf32> [T, G, D]) -> tensor<?x2x8xf32> [S:all.T, G, D]
  %vs = attn.cache @values (%x : tensor<?x2x8xf32> [T, G, D]) -> tensor<?x2x8xf32> [S:all.T, G, D]
  %y = attn.attend softmax scale 0.35 (%x : tensor<?x2x8xf32> [T, G, D], %ks : tensor<?x2x8xf32> [S:all.T, G, D], %vs : tensor<?x2x8xf32> [S:all.T, G, N],
                                       %table : tensor<9x2xf32> [B, G])
      -> tensor<?x2x8xf32> [T, G, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<8xf32>, %kr: tensor<8xf32>, %t: tensor<9x2xf32>):
    %d = arith.subi %i, %j : i32
    %b = attn.at %t[%d, %h] : tensor<9x2xf32> -> f32
    %r = arith.addf %s, %b : f32
    attn.yield %r : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %t: tensor<9x2xf32>):
    %d = arith.subi %i, %j : i32
    %zero = arith.constant 0 : i32
    %width = arith.constant 5 : i32
    %a = arith.cmpi sge, %d, %zero : i32
    %b = arith.cmpi slt, %d, %width : i32
    %c = arith.andi %a, %b : i1
    attn.yield %c : i1
  }
  return %y : tensor<?x2x8xf32>
}

// Positions go on from call to call; those of the keys begin at 0; the numbers of the session.
func.func @positions(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?xi32> {attn.dims = #attn.dims<[T]>}, tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<i32> {attn.dims = #attn.dims<[]>},
        tensor<i32> {attn.dims = #attn.dims<[]>}) attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %past = attn.session past -> tensor<i32> []
  %capacity = attn.session capacity -> tensor<i32> []
  %pos = attn.pos tensor<?xi32> [T]
  %twice = attn.map (%pos : tensor<?xi32> [T]) -> tensor<?xi32> [T] {
  ^bb0(%p: i32):
    %r = arith.addi %p, %p : i32
    attn.yield %r : i32
  }
  %turned = attn.map (%x : tensor<?x12xf32> [T, E], %pos : tensor<?xi32> [T], %capacity : tensor<i32> []) -> tensor<?x12xf32> [T, E] {
  ^bb0(%a: f32, %p: i32, %n: i32):
    %f = arith.sitofp %p : i32 to f32
    %m = arith.sitofp %n : i32 to f32
    %d = arith.divf %f, %m : f32
    %r = arith.mulf %a, %d : f32
    attn.yield %r : f32
  }
  %all = attn.cache @rows (%turned : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [S:all.T, E]
  %keys = attn.pos tensor<?xi32> [S:all.T]
  %moved = attn.map (%all : tensor<?x12xf32> [S:all.T, E], %keys : tensor<?xi32> [S:all.T]) -> tensor<?x12xf32> [S:all.T, E] {
  ^bb0(%a: f32, %p: i32):
    %f = arith.sitofp %p : i32 to f32
    %c = arith.constant 0.01 : f32
    %g = arith.mulf %f, %c : f32
    %r = arith.addf %a, %g : f32
    attn.yield %r : f32
  }
  %y = attn.attend softmax scale 0.3 (%x : tensor<?x12xf32> [T, E], %moved : tensor<?x12xf32> [S:all.T, E], %moved : tensor<?x12xf32> [S:all.T, N])
      -> tensor<?x12xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sle, %j, %i : i32
    attn.yield %c : i1
  }
  return %twice, %y, %past, %capacity : tensor<?xi32>, tensor<?x12xf32>, tensor<i32>, tensor<i32>
}

// A place for each layer.
func.func @layers(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %y = attn.repeat 0 to 3 (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [T, E] {
  ^bb0(%l: i32, %s: tensor<?x12xf32>):
    %n = attn.normalise rms eps 1.0e-5 (%s : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [T, E]
    %q = attn.linear @lq[%l] (%n : tensor<?x12xf32> [T, E]) -> tensor<?x2x6xf32> [T, H, D] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %k = attn.linear @lk[%l] (%n : tensor<?x12xf32> [T, E]) -> tensor<?x2x6xf32> [T, H, D] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %v = attn.linear @lv[%l] (%n : tensor<?x12xf32> [T, E]) -> tensor<?x2x6xf32> [T, H, D] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    %ks = attn.cache @layer_keys[%l] (%k : tensor<?x2x6xf32> [T, H, D]) -> tensor<?x2x6xf32> [S:all.T, H, D]
    %vs = attn.cache @layer_values[%l] (%v : tensor<?x2x6xf32> [T, H, D]) -> tensor<?x2x6xf32> [S:all.T, H, D]
    %a = attn.attend softmax scale 0.4 (%q : tensor<?x2x6xf32> [T, H, D], %ks : tensor<?x2x6xf32> [S:all.T, H, D], %vs : tensor<?x2x6xf32> [S:all.T, H, N])
        -> tensor<?x2x6xf32> [T, H, N] mask {
    ^bb0(%i: i32, %j: i32, %h: i32):
      %c = arith.cmpi sle, %j, %i : i32
      attn.yield %c : i1
    }
    %m = attn.reshape (%a : tensor<?x2x6xf32> [T, H, N]) -> tensor<?x12xf32> [T, E]
    %o = attn.linear @lo[%l] (%m : tensor<?x12xf32> [T, E], %s : tensor<?x12xf32> [T, F]) -> tensor<?x12xf32> [T, F] {
    ^bb0(%acc: f32, %old: f32):
      %r = arith.addf %acc, %old : f32
      attn.yield %r : f32
    }
    attn.yield %o : tensor<?x12xf32>
  }
  return %y : tensor<?x12xf32>
}

// A place for each turn of two repeats.
func.func @in_turns(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %y = attn.repeat 0 to 2 (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [T, E] {
  ^bb0(%l: i32, %s: tensor<?x12xf32>):
    %z = attn.repeat 0 to 2 (%s : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [T, E] {
    ^bb0(%m: i32, %c: tensor<?x12xf32>):
      %all = attn.cache @nested[%l, %m] (%c : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [S:all.T, E]
      %a = attn.attend softmax scale 0.3 (%c : tensor<?x12xf32> [T, E], %all : tensor<?x12xf32> [S:all.T, E], %all : tensor<?x12xf32> [S:all.T, N])
          -> tensor<?x12xf32> [T, N] mask {
      ^bb0(%i: i32, %j: i32, %h: i32):
        %b = arith.cmpi sle, %j, %i : i32
        attn.yield %b : i1
      }
      attn.yield %a : tensor<?x12xf32>
    }
    attn.yield %z : tensor<?x12xf32>
  }
  return %y : tensor<?x12xf32>
}

// Weights over all rows, used here: their maximum, and their product with other rows.
func.func @weights(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?xf32> {attn.dims = #attn.dims<[T]>}, tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %all = attn.cache @rows (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [S:all.T, E]
  %y, %w = attn.attend softmax scale 0.3 weights (%x : tensor<?x12xf32> [T, E], %all : tensor<?x12xf32> [S:all.T, E], %all : tensor<?x12xf32> [S:all.T, N])
      -> (tensor<?x12xf32> [T, N], tensor<?x?xf32> [T, S:all.T]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sle, %j, %i : i32
    attn.yield %c : i1
  }
  %most = attn.reduce max (%w : tensor<?x?xf32> [T, S:all.T]) -> tensor<?xf32> [T]
  %double = attn.map (%all : tensor<?x12xf32> [S:all.T, E]) -> tensor<?x12xf32> [S:all.T, E] {
  ^bb0(%a: f32):
    %r = arith.addf %a, %a : f32
    attn.yield %r : f32
  }
  %z = attn.contract (%w : tensor<?x?xf32> [T, S:all.T], %double : tensor<?x12xf32> [S:all.T, E]) -> tensor<?x12xf32> [T, E]
  %sum = attn.map (%y : tensor<?x12xf32> [T, E], %z : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [T, E] {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    attn.yield %r : f32
  }
  return %most, %sum : tensor<?xf32>, tensor<?x12xf32>
}

// Whole numbers are cached and looked up by row: rows of one document see each other. Keys of rank 1 have rows of one number.
func.func @documents(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                     %doc: tensor<?xi32> {attn.name = "doc", attn.dims = #attn.dims<[T]>, test.fill = "below 3"})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %all = attn.cache @rows (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [S:all.T, E]
  %docs = attn.cache @ids (%doc : tensor<?xi32> [T]) -> tensor<?xi32> [S:all.T]
  %y = attn.attend softmax1 scale 0.3 (%x : tensor<?x12xf32> [T, E], %all : tensor<?x12xf32> [S:all.T, E], %all : tensor<?x12xf32> [S:all.T, N],
                                       %docs : tensor<?xi32> [S:all.T])
      -> tensor<?x12xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %d: tensor<?xi32>):
    %a = attn.at %d[%i] : tensor<?xi32> -> i32
    %b = attn.at %d[%j] : tensor<?xi32> -> i32
    %same = arith.cmpi eq, %a, %b : i32
    %before = arith.cmpi sle, %j, %i : i32
    %c = arith.andi %same, %before : i1
    attn.yield %c : i1
  }
  return %y : tensor<?x12xf32>
}

// What a call sees of its own rows alone, through `past`; and rows of another sequence, given to every call. The first result follows
// the calls.
func.func @own(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
               %m: tensor<?x12xf32> {attn.name = "m", attn.dims = #attn.dims<[S, E]>})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>, test.varies}, tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<12xf32> {attn.dims = #attn.dims<[E]>})
    attributes {attn.export, attn.sequences = ["T", "S"], attn.cached = "T"} {
  %past = attn.session past -> tensor<i32> []
  %all = attn.cache @rows (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [A:all.T, E]
  %y = attn.attend softmax scale 0.3 (%x : tensor<?x12xf32> [T, E], %all : tensor<?x12xf32> [A:all.T, E], %all : tensor<?x12xf32> [A:all.T, N], %past : tensor<i32> [])
      -> tensor<?x12xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %p: tensor<i32>):
    %n = attn.at %p[] : tensor<i32> -> i32
    %c = arith.cmpi sge, %j, %n : i32
    attn.yield %c : i1
  }
  %z = attn.attend softmax scale 0.3 (%x : tensor<?x12xf32> [T, E], %m : tensor<?x12xf32> [S, E], %m : tensor<?x12xf32> [S, N]) -> tensor<?x12xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sle, %j, %i : i32
    attn.yield %c : i1
  }
  %mean = attn.reduce mean (%all : tensor<?x12xf32> [A:all.T, E]) -> tensor<12xf32> [E]
  return %y, %z, %mean : tensor<?x12xf32>, tensor<?x12xf32>, tensor<12xf32>
}

// Written by hand: a factor a query and a bias a key, hidden where positions say so; then attention among the rows of this call alone.
func.func @by_hand(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                   %t: tensor<?xf32> {attn.name = "t", attn.dims = #attn.dims<[T]>})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>}, tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>, test.varies})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %all = attn.cache @rows (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [S:all.T, E]
  %bias = attn.reduce max (%all : tensor<?x12xf32> [S:all.T, E]) -> tensor<?xf32> [S:all.T]
  %i = attn.pos tensor<?xi32> [T]
  %j = attn.pos tensor<?xi32> [S:all.T]
  %p = attn.contract (%x : tensor<?x12xf32> [T, E], %all : tensor<?x12xf32> [S:all.T, E]) -> tensor<?x?xf32> [T, S:all.T]
  %s = attn.map (%p : tensor<?x?xf32> [T, S:all.T], %t : tensor<?xf32> [T], %bias : tensor<?xf32> [S:all.T], %i : tensor<?xi32> [T], %j : tensor<?xi32> [S:all.T])
      -> tensor<?x?xf32> [T, S:all.T] {
  ^bb0(%a: f32, %f: f32, %b: f32, %m: i32, %n: i32):
    %scale = arith.constant 0.3 : f32
    %low = arith.constant 0xFF800000 : f32
    %u = arith.mulf %a, %scale : f32
    %v = arith.mulf %u, %f : f32
    %w = arith.addf %v, %b : f32
    %c = arith.cmpi sle, %n, %m : i32
    %r = arith.select %c, %w, %low : f32
    attn.yield %r : f32
  }
  %w = attn.softmax "S" (%s : tensor<?x?xf32> [T, S:all.T]) -> tensor<?x?xf32> [T, S:all.T]
  %y = attn.contract (%w : tensor<?x?xf32> [T, S:all.T], %all : tensor<?x12xf32> [S:all.T, E]) -> tensor<?x12xf32> [T, E]
  %p2 = attn.contract (%x : tensor<?x12xf32> [T, E], %x : tensor<?x12xf32> [Q:T, E]) -> tensor<?x?xf32> [T, Q:T]
  %s2 = attn.map (%p2 : tensor<?x?xf32> [T, Q:T], %t : tensor<?xf32> [T], %i : tensor<?xi32> [T], %i : tensor<?xi32> [Q:T]) -> tensor<?x?xf32> [T, Q:T] {
  ^bb0(%a: f32, %f: f32, %m: i32, %n: i32):
    %scale = arith.constant 0.3 : f32
    %low = arith.constant 0xFF800000 : f32
    %u = arith.mulf %a, %scale : f32
    %v = arith.addf %u, %f : f32
    %c = arith.cmpi sle, %n, %m : i32
    %r = arith.select %c, %v, %low : f32
    attn.yield %r : f32
  }
  %w2 = attn.softmax "Q" (%s2 : tensor<?x?xf32> [T, Q:T]) -> tensor<?x?xf32> [T, Q:T]
  %z = attn.contract (%w2 : tensor<?x?xf32> [T, Q:T], %x : tensor<?x12xf32> [Q:T, E]) -> tensor<?x12xf32> [T, E]
  return %y, %z : tensor<?x12xf32>, tensor<?x12xf32>
}

// A tree of guesses: rows of earlier calls are seen by all, those of this call by the rows below them, as `end` says.
func.func @tree(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                %end: tensor<?xi32> {attn.name = "end", attn.dims = #attn.dims<[T]>, test.fill = "below 20"})
    -> (tensor<?x12xf32> {attn.dims = #attn.dims<[T, E]>, test.varies})
    attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  %past = attn.session past -> tensor<i32> []
  %all = attn.cache @rows (%x : tensor<?x12xf32> [T, E]) -> tensor<?x12xf32> [S:all.T, E]
  %y = attn.attend softmax scale 0.3 (%x : tensor<?x12xf32> [T, E], %all : tensor<?x12xf32> [S:all.T, E], %all : tensor<?x12xf32> [S:all.T, N],
                                      %past : tensor<i32> [], %end : tensor<?xi32> [T]) -> tensor<?x12xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %p: tensor<i32>, %e: tensor<?xi32>):
    %n = attn.at %p[] : tensor<i32> -> i32
    %before = arith.cmpi sle, %j, %i : i32
    %old = arith.cmpi slt, %j, %n : i32
    %row = arith.subi %j, %n : i32
    %last = attn.at %e[%row] : tensor<?xi32> -> i32
    %until = arith.addi %n, %last : i32
    %below = arith.cmpi slt, %i, %until : i32
    %or = arith.ori %old, %below : i1
    %c = arith.andi %before, %or : i1
    attn.yield %c : i1
  }
  return %y : tensor<?x12xf32>
}
