// The memory plan: which tensors share, which take none, what a repeat keeps in place.
// RUN: attn-opt --split-input-file --attn-plan-memory %s | FileCheck %s

// A slot is free again once its tensor was read for the last time; the last result lies at the caller's.
// CHECK-LABEL: @slots_are_used_again
// CHECK-SAME: attn.arena = [{bytes = 32 : i64, units = ["T"]}]
func.func @slots_are_used_again(%x: tensor<?x4xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x4xf32> {attn.name = "", attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{at = 0 : i64, units = ["T"]}]}
  %a = attn.softmax "E" (%x : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
  // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{at = 16 : i64, units = ["T"]}]}
  %b = attn.softmax "E" (%a : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
  // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{at = 0 : i64, units = ["T"]}]}
  %c = attn.softmax "E" (%b : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
  // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{output = 0 : i64}]}
  %d = attn.softmax "E" (%c : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
  return %d : tensor<?x4xf32>
}

// -----

// Reshapes and slices of neighbouring numbers are views; a view keeps what it looks at alive.
// CHECK-LABEL: @views_take_no_memory
func.func @views_take_no_memory(%x: tensor<?x12xf32> {attn.name = "x", attn.dims = #attn.dims<[T, N]>})
    -> (tensor<?x6xf32> {attn.name = "", attn.dims = #attn.dims<[T, F]>}) attributes {attn.export, attn.sequences = ["T"]} {
  // CHECK: attn.softmax "N" {{.*}} {attn.memory = [{at = 0 : i64, units = ["T"]}]}
  %a = attn.softmax "N" (%x : tensor<?x12xf32> [T, N]) -> tensor<?x12xf32> [T, N]
  // CHECK: attn.reshape {{.*}} {attn.memory = [{view}]}
  %r = attn.reshape (%a : tensor<?x12xf32> [T, N]) -> tensor<?x2x6xf32> [T, H, D]
  // CHECK: attn.slice "H" at 1 {{.*}} {attn.memory = [{view}]}
  %s = attn.slice "H" at 1 (%r : tensor<?x2x6xf32> [T, H, D]) -> tensor<?x6xf32> [T, D]
  // CHECK: attn.softmax "D" {{.*}} {attn.memory = [{at = 48 : i64, units = ["T"]}]}
  %b = attn.softmax "D" (%s : tensor<?x6xf32> [T, D]) -> tensor<?x6xf32> [T, D]
  %c = attn.softmax "D" (%b : tensor<?x6xf32> [T, D]) -> tensor<?x6xf32> [T, D]
  return %c : tensor<?x6xf32>
}

// -----

// A permutation whose dimensions join again has to be copied.
// CHECK-LABEL: @joining_permuted_dimensions_copies
func.func @joining_permuted_dimensions_copies(%x: tensor<?x2x6xf32> {attn.name = "x", attn.dims = #attn.dims<[T, H, D]>})
    -> (tensor<?x12xf32> {attn.name = "", attn.dims = #attn.dims<[T, N]>}) attributes {attn.export, attn.sequences = ["T"]} {
  // CHECK: attn.reshape {{.*}} {attn.memory = [{view}]}
  %p = attn.reshape (%x : tensor<?x2x6xf32> [T, H, D]) -> tensor<?x6x2xf32> [T, D, H]
  // CHECK: attn.reshape {{.*}} {attn.memory = [{output = 0 : i64}]}
  %r = attn.reshape (%p : tensor<?x6x2xf32> [T, D, H]) -> tensor<?x12xf32> [T, N]
  return %r : tensor<?x12xf32>
}

// -----

// The carried tensor has one place: its first value, each turn's and the last lie there.
// CHECK-LABEL: @carried_in_place
// CHECK-SAME: attn.arena = [{bytes = 16 : i64, units = ["T"]}]
func.func @carried_in_place(%x: tensor<?x4xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x4xf32> {attn.name = "", attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{output = 0 : i64}]}
  %first = attn.softmax "E" (%x : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
  // CHECK: attn.repeat
  %r = attn.repeat 0 to 3 (%first : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x4xf32>):
    // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{at = 0 : i64, units = ["T"]}]}
    %a = attn.softmax "E" (%c : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
    // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{output = 0 : i64}]}
    %b = attn.softmax "E" (%a : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
    attn.yield %b : tensor<?x4xf32>
  // CHECK: } {attn.memory = [{output = 0 : i64}]}
  }
  return %r : tensor<?x4xf32>
}

// -----

// What is read after the new value is made keeps its place: the new one is copied at the turn's end.
// CHECK-LABEL: @not_in_place_when_read_later
func.func @not_in_place_when_read_later(%x: tensor<?x4xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x4xf32> {attn.name = "", attn.dims = #attn.dims<[T, E]>},
        tensor<3x?x4xf32> {attn.name = "all", attn.dims = #attn.dims<[L, T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  %r, %all = attn.repeat 0 to 3 (%x : tensor<?x4xf32> [T, E]) -> (tensor<?x4xf32> [T, E], tensor<3x?x4xf32> [L, T, E]) {
  ^bb0(%l: i32, %c: tensor<?x4xf32>):
    // CHECK: attn.softmax "E" {{.*}} {attn.memory = [{at = {{[0-9]+}} : i64, units = ["T"]}]}
    %a = attn.softmax "E" (%c : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
    %b = attn.softmax "E" (%c : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [T, E]
    attn.yield %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
  }
  return %r, %all : tensor<?x4xf32>, tensor<3x?x4xf32>
}

// -----

// Two carried tensors that change places: copies are made so that neither is overwritten before it was read.
// CHECK-LABEL: @changing_places
func.func @changing_places(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>},
                           %y: tensor<?xf32> {attn.name = "y", attn.dims = #attn.dims<[T]>})
    -> (tensor<?xf32> {attn.name = "a", attn.dims = #attn.dims<[T]>}, tensor<?xf32> {attn.name = "b", attn.dims = #attn.dims<[T]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  %a, %b = attn.repeat 0 to 3 (%x : tensor<?xf32> [T], %y : tensor<?xf32> [T]) -> (tensor<?xf32> [T], tensor<?xf32> [T]) {
  ^bb0(%l: i32, %c: tensor<?xf32>, %d: tensor<?xf32>):
    // CHECK: ^bb0(%{{.*}}: i32, %[[C:.*]]: tensor<?xf32>, %[[D:.*]]: tensor<?xf32>):
    // CHECK: %[[COPY0:.*]] = attn.map (%[[D]] : tensor<?xf32> [T])
    // CHECK: %[[COPY1:.*]] = attn.map (%[[C]] : tensor<?xf32> [T])
    // CHECK: attn.yield %[[COPY0]], %[[COPY1]]
    attn.yield %d, %c : tensor<?xf32>, tensor<?xf32>
  }
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// -----

// What only weights make is there once; products of lengths are a class of their own; a row of the export without length has
// one unit a sequence, in whole cache lines.
// CHECK-LABEL: @classes
// CHECK-SAME: attn.arena = [{bytes = 64 : i64, uniform}, {bytes = 4 : i64, units = ["S", "T"]}, {bytes = 64 : i64, units = []}]
module {
attn.weight @w {parts = ["w"]} : tensor<4xf32>
func.func @classes(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>},
                   %y: tensor<?xf32> {attn.name = "y", attn.dims = #attn.dims<[S]>})
    -> (tensor<4xf32> {attn.name = "", attn.dims = #attn.dims<[E]>}) attributes {attn.export, attn.sequences = ["T", "S"]} {
  %w = attn.param @w : tensor<4xf32>
  %u = attn.softmax "E" (%w : tensor<4xf32> [E]) -> tensor<4xf32> [E]
  %p = attn.contract (%x : tensor<?xf32> [T], %y : tensor<?xf32> [S]) -> tensor<?x?xf32> [T, S]
  %s = attn.reduce sum (%p : tensor<?x?xf32> [T, S]) -> tensor<f32> []
  %r = attn.map (%u : tensor<4xf32> [E], %s : tensor<f32> []) -> tensor<4xf32> [E] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    attn.yield %m : f32
  }
  return %r : tensor<4xf32>
}
}

// -----

// Rows that the session keeps take no memory of the call, and neither do views of them; the numbers made of them do.
// CHECK-LABEL: @cached
// CHECK-SAME: attn.arena = [{bytes = 4 : i64, units = ["all.T"]}, {bytes = 128 : i64, units = []}]
module {
attn.state cache @k : tensor<?x4xf32>
func.func @cached(%x: tensor<?x4xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<f32> {attn.name = "", attn.dims = #attn.dims<[]>}) attributes {attn.export, attn.sequences = ["T"], attn.cached = "T"} {
  // CHECK: attn.cache {{.*}} {attn.memory = [{session}]}
  %k = attn.cache @k (%x : tensor<?x4xf32> [T, E]) -> tensor<?x4xf32> [S:all.T, E]
  // CHECK: attn.slice {{.*}} {attn.memory = [{view}]}
  %h = attn.slice "E" at 1 (%k : tensor<?x4xf32> [S:all.T, E]) -> tensor<?xf32> [S:all.T]
  // CHECK: attn.softmax {{.*}} units = ["all.T"]
  %p = attn.softmax "S" (%h : tensor<?xf32> [S:all.T]) -> tensor<?xf32> [S:all.T]
  // A number of the session differs from sequence to sequence.
  // CHECK: attn.session past {{.*}} units = []
  %n = attn.session past -> tensor<i32> []
  %m = attn.reduce max (%p : tensor<?xf32> [S:all.T]) -> tensor<f32> []
  %r = attn.map (%m : tensor<f32> [], %n : tensor<i32> []) -> tensor<f32> [] {
  ^bb0(%a: f32, %b: i32):
    %c = arith.sitofp %b : i32 to f32
    %s = arith.addf %a, %c : f32
    attn.yield %s : f32
  }
  return %r : tensor<f32>
}
}

// -----

// A scan copies the rows of a turn into a slot, which other values of the body do not share while it is read; what it carries and
// stacks lives until its end; the source does too.
// CHECK-LABEL: @scanned
func.func @scanned(%x: tensor<?x16xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>},
                   %s: tensor<16xf32> {attn.name = "s", attn.dims = #attn.dims<[E]>})
    -> (tensor<16xf32> {attn.name = "", attn.dims = #attn.dims<[E]>}, tensor<?x16xf32> {attn.name = "", attn.dims = #attn.dims<[T, E]>})
    attributes {attn.export, attn.sequences = ["T"]} {
  // CHECK: attn.softmax {{.*}} {attn.memory = [{at = 0 : i64, units = ["T"]}]}
  %n = attn.softmax "E" (%x : tensor<?x16xf32> [T, E]) -> tensor<?x16xf32> [T, E]
  %c, %y = attn.scan "T" rows 1 (%n : tensor<?x16xf32> [T, E], %s : tensor<16xf32> [E]) -> (tensor<16xf32> [E], tensor<?x16xf32> [T, E]) {
  ^bb0(%row: tensor<16xf32>, %state: tensor<16xf32>):
    // CHECK: ^bb0(%[[ROW:.*]]: tensor<16xf32>, %[[STATE:.*]]: tensor<16xf32>):
    // CHECK: attn.softmax "E" (%[[STATE]] {{.*}} {attn.memory = [{at = 64 : i64, units = []}]}
    %p = attn.softmax "E" (%state : tensor<16xf32> [E]) -> tensor<16xf32> [E]
    %q = attn.map (%p : tensor<16xf32> [E], %row : tensor<16xf32> [E]) -> tensor<16xf32> [E] {
    ^bb0(%a: f32, %b: f32):
      %d = arith.addf %a, %b : f32
      attn.yield %d : f32
    }
    // The carried value is stacked too, as it was before this turn: a copy.
    // CHECK: %[[COPY:.*]] = attn.map (%[[STATE]]
    // CHECK: attn.yield %{{.*}}, %[[COPY]]
    attn.yield %q, %state : tensor<16xf32>, tensor<16xf32>
  }
  // CHECK: {attn.memory = [{output = 0 : i64}, {output = 1 : i64}], attn.rows = [{at = 0 : i64, units = []}]}
  return %c, %y : tensor<16xf32>, tensor<?x16xf32>
}
