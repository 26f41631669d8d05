// Every constraint on what a session keeps and on scans that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{rows of a session are tensor<?x…> of f32 or i32, not 'tensor<2x3xf32>' (state_c1)}}
attn.state cache @k : tensor<2x3xf32>

// -----

// expected-error @below {{rows of a session are tensor<?x…> of f32 or i32, not 'tensor<?x?xf32>' (state_c1)}}
attn.state once @k : tensor<?x?xf32>

// -----

// expected-error @below {{rows of a session are tensor<?x…> of f32 or i32, not 'tensor<?xi1>' (state_c1)}}
attn.state once @k : tensor<?xi1>

// -----

// expected-error @below {{0 turns (state_c2)}}
attn.state cache @k {turns = array<i64: 2, 0>} : tensor<?x3xf32>

// -----

func.func @session_c1() {
  // expected-error @below {{gives a tensor<i32>, not 'tensor<f32>' (session_c1)}}
  %p = attn.session past -> tensor<f32> []
  return
}

// -----

func.func @session_c1_dimension() {
  // expected-error @below {{gives a tensor<i32>, not 'tensor<1xi32>' (session_c1)}}
  %p = attn.session capacity -> tensor<1xi32> [E]
  return
}

// -----

attn.state once @k : tensor<?x2xf32>
func.func @cache_c1(%x: tensor<?x2xf32>) {
  // expected-error @below {{2 inputs where 1 belong (cache_c1)}}
  %y = attn.once @k (%x : tensor<?x2xf32> [S, E], %x : tensor<?x2xf32> [S, E]) -> tensor<?x2xf32> [M:kept.S, E]
  return
}

// -----

attn.state cache @k : tensor<?x2xf32>
func.func @cache_c2(%x: tensor<3x2xf32>) attributes {attn.cached = "T"} {
  // expected-error @below {{the first dimension of [T = 3, E = 2] is no sequence (cache_c2)}}
  %y = attn.cache @k (%x : tensor<3x2xf32> [T, E]) -> tensor<?x2xf32> [S:all.T, E]
  return
}

// -----

attn.state once @k : tensor<?x2xf32>
func.func @cache_c2_derived(%x: tensor<?x2xf32>) {
  // expected-error @below {{keeps rows along `all.T`, which is derived (cache_c2)}}
  %y = attn.once @k (%x : tensor<?x2xf32> [S:all.T, E]) -> tensor<?x2xf32> [M:kept.all.T, E]
  return
}

// -----

attn.state cache @k : tensor<?x2xf32>
func.func @cache_c3(%x: tensor<?x2xf32>) attributes {attn.cached = "T"} {
  // expected-error @below {{makes of [T, E = 2] a [S:kept.T, E = 2], not the same rows along `all.T` (cache_c3)}}
  %y = attn.cache @k (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [S:kept.T, E]
  return
}

// -----

attn.state once @k : tensor<?x2x3xf32>
func.func @cache_c3_order(%x: tensor<?x2x2xf32>) {
  // expected-error @below {{makes of [S, E = 2, F = 2] a [M:kept.S, F = 2, E = 2], not the same rows along `kept.S` (cache_c3)}}
  %y = attn.once @k (%x : tensor<?x2x2xf32> [S, E, F]) -> tensor<?x2x2xf32> [M:kept.S, F, E]
  return
}

// -----

attn.state once @k : tensor<?x2xf32>
func.func @cache_c4(%x: tensor<?x2xf32> {attn.dims = #attn.dims<[S, E]>}) {
  attn.scan "S" rows 1 (%x : tensor<?x2xf32> [S, E]) -> () {
  ^bb0(%row: tensor<2xf32>):
    // expected-error @below {{stands inside of a scan (cache_c4)}}
    %y = attn.once @k (%x : tensor<?x2xf32> [S, E]) -> tensor<?x2xf32> [M:kept.S, E]
    attn.yield
  }
  return
}

// -----

attn.state cache @k : tensor<?x2xf32>
func.func @cache_c5(%x: tensor<?x2xf32>) {
  // expected-error @below {{@k is not a place of that kind (cache_c5)}}
  %y = attn.once @k (%x : tensor<?x2xf32> [S, E]) -> tensor<?x2xf32> [M:kept.S, E]
  return
}

// -----

// expected-note @below {{declared here}}
attn.state cache @k {turns = array<i64: 3>} : tensor<?x2xf32>
func.func @cache_c6(%x: tensor<?x2xf32>) attributes {attn.cached = "T"} {
  // expected-error @below {{0 turns for a place of 1 (cache_c6)}}
  %y = attn.cache @k (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [S:all.T, E]
  return
}

// -----

// expected-note @below {{declared here}}
attn.state cache @k : tensor<?x3xf32>
func.func @cache_c7(%x: tensor<?x2xf32>) attributes {attn.cached = "T"} {
  // expected-error @below {{is not of the place's type 'tensor<?x3xf32>' (cache_c7)}}
  %y = attn.cache @k (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [S:all.T, E]
  return
}

// -----

attn.state cache @k : tensor<?x2xf32>
func.func @cache_c8(%x: tensor<?x2xf32>) attributes {attn.cached = "S"} {
  // expected-error @below {{caches rows along `T`, the function along `S` (cache_c8)}}
  %y = attn.cache @k (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [S:all.T, E]
  return
}

// -----

attn.state cache @k : tensor<?x2xf32>
func.func @cache_c8_nothing(%x: tensor<?x2xf32>) {
  // expected-error @below {{caches rows along `T`, the function along `nothing` (cache_c8)}}
  %y = attn.cache @k (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [S:all.T, E]
  return
}

// -----

func.func @scan_c1(%x: tensor<?x2xf32>) {
  // expected-error @below {{its 1 sources do not have rows along `S` (scan_c1)}}
  attn.scan "S" rows 1 (%x : tensor<?x2xf32> [T, E]) -> () {
  ^bb0(%row: tensor<2xf32>):
    attn.yield
  }
  return
}

// -----

func.func @scan_c1_static(%x: tensor<3x2xf32>) {
  // expected-error @below {{its 1 sources do not have rows along `T` (scan_c1)}}
  attn.scan "T" rows 1 (%x : tensor<3x2xf32> [T, E]) -> () {
  ^bb0(%row: tensor<2xf32>):
    attn.yield
  }
  return
}

// -----

func.func @scan_c1_none(%x: tensor<2xf32>) {
  // expected-error @below {{its 0 sources do not have rows along `T` (scan_c1)}}
  %y = attn.scan "T" rows 0 (%x : tensor<2xf32> [E]) -> tensor<2xf32> [E] {
  ^bb0(%c: tensor<2xf32>):
    attn.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @scan_c2(%x: tensor<?x2xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{the block's arguments are not a row of each source and the carried values (scan_c2)}}
  // expected-note @below {{expected ('tensor<2xf32>', 'tensor<3xf32>')}}
  %y = attn.scan "T" rows 1 (%x : tensor<?x2xf32> [T, E], %s : tensor<3xf32> [F]) -> tensor<3xf32> [F] {
  ^bb0(%row: tensor<?x2xf32>, %c: tensor<3xf32>):
    attn.yield %c : tensor<3xf32>
  }
  return
}

// -----

func.func @scan_c3(%x: tensor<?x2xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{result 0 is not of the type of the carried value (scan_c3)}}
  %y = attn.scan "T" rows 1 (%x : tensor<?x2xf32> [T, E], %s : tensor<3xf32> [F]) -> tensor<2xf32> [F] {
  ^bb0(%row: tensor<2xf32>, %c: tensor<3xf32>):
    attn.yield %row : tensor<2xf32>
  }
  return
}

// -----

func.func @scan_c4(%x: tensor<?x2xf32>) {
  // expected-error @below {{the stacked result 0 is not along `T` (scan_c4)}}
  %y = attn.scan "T" rows 1 (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [S, E] {
  ^bb0(%row: tensor<2xf32>):
    attn.yield %row : tensor<2xf32>
  }
  return
}

// -----

func.func @scan_c5(%x: tensor<?x2xf32>) {
  // expected-error @below {{the block does not yield 1 values (scan_c5)}}
  %y = attn.scan "T" rows 1 (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [T, E] {
  ^bb0(%row: tensor<2xf32>):
    attn.yield
  }
  return
}

// -----

func.func @scan_c6(%x: tensor<?x2xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{yielded value 1 does not make result 1 (scan_c6)}}
  %y, %z = attn.scan "T" rows 1 (%x : tensor<?x2xf32> [T, E], %s : tensor<3xf32> [F]) -> (tensor<3xf32> [F], tensor<?x2xf32> [T, E]) {
  ^bb0(%row: tensor<2xf32>, %c: tensor<3xf32>):
    attn.yield %c, %c : tensor<3xf32>, tensor<3xf32>
  }
  return
}

// -----

func.func @scan_c6_sequence(%x: tensor<?x2xf32>, %s: tensor<?xf32> {attn.dims = #attn.dims<[S]>}, %u: tensor<?xf32> {attn.dims = #attn.dims<[U]>}) {
  // expected-error @below {{yielded value 0 does not make result 0 (scan_c6)}}
  %y = attn.scan "T" rows 1 (%x : tensor<?x2xf32> [T, E], %s : tensor<?xf32> [S]) -> tensor<?xf32> [S] {
  ^bb0(%row: tensor<2xf32>, %c: tensor<?xf32>):
    %w = attn.map (%u : tensor<?xf32> [U]) -> tensor<?xf32> [U] {
    ^bb0(%a: f32):
      attn.yield %a : f32
    }
    attn.yield %w : tensor<?xf32>
  }
  return
}
