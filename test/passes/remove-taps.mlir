// RUN: %attn-opt %s --attn-remove-taps | FileCheck %s
// attn-remove-taps: nothing is left of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CHECK-LABEL: @taps
// CHECK-NOT: attn.tap
func.func @taps(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  attn.tap "before" (%x : tensor<?x8xf32> [T, E])
  %r = attn.repeat 0 to 6 (%x : tensor<?x8xf32> [T, E]) -> tensor<?x8xf32> [T, E] {
  ^bb0(%l: i32, %c: tensor<?x8xf32>):
    attn.tap "hidden.{0}"[%l] (%c : tensor<?x8xf32> [T, E])
    attn.yield %c : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
