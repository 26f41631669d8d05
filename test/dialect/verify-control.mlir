// Every constraint on taps and repeats that docs/dialect.md numbers, broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: %attn-opt %s -verify-diagnostics -split-input-file

func.func @tap_c1(%x: tensor<2xf32>) {
  // expected-error @below {{2 inputs where 1 belong (tap_c1)}}
  attn.tap "x" (%x : tensor<2xf32> [A], %x : tensor<2xf32> [A])
  return
}

// -----

func.func @tap_c2(%x: tensor<2xf32>) {
  // expected-error @below {{`x.{0}` has more holes than there are turns (tap_c2)}}
  attn.tap "x.{0}" (%x : tensor<2xf32> [A])
  return
}

// -----

func.func @repeat_c1(%x: tensor<2xf32>) {
  // expected-error @below {{from 3 to 2 (repeat_c1)}}
  %y = attn.repeat 3 to 2 (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%l: i32, %c: tensor<2xf32>):
    attn.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @repeat_c2(%x: tensor<2xf32>) {
  // expected-error @below {{the block's arguments are not the number and the carried values (repeat_c2)}}
  // expected-note @below {{expected ('i32', 'tensor<2xf32>')}}
  %y = attn.repeat 0 to 2 (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%c: tensor<2xf32>):
    attn.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @repeat_c3(%x: tensor<2xf32>) {
  // expected-error @below {{result 0 is not of the type of the carried value (repeat_c3)}}
  %y = attn.repeat 0 to 2 (%x : tensor<2xf32> [A]) -> tensor<3xf32> [A] {
  ^bb0(%l: i32, %c: tensor<2xf32>):
    attn.yield %c : tensor<2xf32>
  }
  return
}

// -----

func.func @repeat_c3_sequence(%x: tensor<?xf32>) {
  // expected-error @below {{result 0 is not of the type of the carried value (repeat_c3)}}
  %y = attn.repeat 0 to 2 (%x : tensor<?xf32> [T]) -> tensor<?xf32> [S] {
  ^bb0(%l: i32, %c: tensor<?xf32>):
    attn.yield %c : tensor<?xf32>
  }
  return
}

// -----

func.func @repeat_c4(%x: tensor<2xf32>) {
  // expected-error @below {{the block does not yield 1 values (repeat_c4)}}
  %y = attn.repeat 0 to 2 (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%l: i32, %c: tensor<2xf32>):
    attn.yield %c, %c : tensor<2xf32>, tensor<2xf32>
  }
  return
}

// -----

func.func @repeat_c5(%x: tensor<2xf32>, %z: tensor<3xf32>) {
  // expected-error @below {{yielded value 0 does not make result 0 (repeat_c5)}}
  %y = attn.repeat 0 to 2 (%x : tensor<2xf32> [A]) -> tensor<2xf32> [A] {
  ^bb0(%l: i32, %c: tensor<2xf32>):
    attn.yield %z : tensor<3xf32>
  }
  return
}

// -----

func.func @repeat_c5_stack(%x: tensor<2xf32>) {
  // expected-error @below {{yielded value 1 does not make result 1 (repeat_c5)}}
  %y, %z = attn.repeat 0 to 2 (%x : tensor<2xf32> [A]) -> (tensor<2xf32> [A], tensor<3x2xf32> [N, A]) {
  ^bb0(%l: i32, %c: tensor<2xf32>):
    attn.yield %c, %c : tensor<2xf32>, tensor<2xf32>
  }
  return
}
