// RUN: attn-interpret --test %s
// RUN: attn-opt %s | attn-interpret --test -
// RUN: attn-interpret %s --fn=taps | FileCheck %s

attn.weight @step {parts = ["step.{0}"], turns = array<i64: 4>, test.value = "[[2]]"} : tensor<1x1xf32>

// 1 doubled three times, adding the turn's number each time: (((1*2+1)*2+2)*2+3) = 19; each state is kept.
func.func @repeat_carries_and_stacks(%x: tensor<1xf32> {test.value = "[1]"})
    -> (tensor<1xf32> {test.expect = "[19]"}, tensor<3x1xf32> {test.expect = "[[1], [3], [8]]"}) {
  %y, %all = attn.repeat 1 to 4 (%x : tensor<1xf32> [E]) -> (tensor<1xf32> [E], tensor<3x1xf32> [N, E]) {
  ^bb0(%l: i32, %c: tensor<1xf32>):
    %d = attn.linear @step[%l] (%c : tensor<1xf32> [E]) -> tensor<1xf32> [F] {
    ^bb0(%acc: f32):
      %n = arith.sitofp %l : i32 to f32
      %s = arith.addf %acc, %n : f32
      attn.yield %s : f32
    }
    attn.yield %d, %c : tensor<1xf32>, tensor<1xf32>
  }
  return %y, %all : tensor<1xf32>, tensor<3x1xf32>
}

func.func @repeat_no_turn(%x: tensor<1xf32> {test.value = "[5]"}) -> (tensor<1xf32> {test.expect = "[5]"}) {
  %y = attn.repeat 2 to 2 (%x : tensor<1xf32> [E]) -> tensor<1xf32> [E] {
  ^bb0(%l: i32, %c: tensor<1xf32>):
    %d = attn.linear @step[%l] (%c : tensor<1xf32> [E]) -> tensor<1xf32> [F] {
    ^bb0(%acc: f32):
      attn.yield %acc : f32
    }
    attn.yield %d : tensor<1xf32>
  }
  return %y : tensor<1xf32>
}

// CHECK: tap state.0 = [1, 2]
// CHECK-NEXT: tap state.1 = [1, 2]
// CHECK-NEXT: [1, 2]
func.func @taps(%x: tensor<2xf32> {test.value = "[1, 2]"}) -> tensor<2xf32> {
  %y = attn.repeat 0 to 2 (%x : tensor<2xf32> [E]) -> tensor<2xf32> [E] {
  ^bb0(%l: i32, %c: tensor<2xf32>):
    attn.tap "state.{0}"[%l] (%c : tensor<2xf32> [E])
    attn.yield %c : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}
