// RUN: attn-interpret --test %s
// RUN: attn-opt %s | attn-interpret --test -

func.func @gather_rows(%t: tensor<3x2xf32> {test.value = "[[1, 2], [3, 4], [5, 6]]"},
                       %i: tensor<?xi32> {attn.dims = #attn.dims<[T]>, test.value = "[2, 0, 2]"})
    -> (tensor<?x2xf32> {test.expect = "[[5, 6], [1, 2], [5, 6]]"}) {
  %y = attn.gather (%t : tensor<3x2xf32> [V, E], %i : tensor<?xi32> [T]) -> tensor<?x2xf32> [T, E]
  return %y : tensor<?x2xf32>
}

func.func @gather_clamps(%t: tensor<3xf32> {test.value = "[1, 3, 5]"}, %i: tensor<3xi32> {test.value = "[-1, 3, 1]"})
    -> (tensor<3xf32> {test.expect = "[1, 5, 3]"}) {
  %y = attn.gather (%t : tensor<3xf32> [V], %i : tensor<3xi32> [A]) -> tensor<3xf32> [A]
  return %y : tensor<3xf32>
}

// Two indices of different dimensions: all pairs; of the same: side by side.
func.func @gather_two(%t: tensor<2x2xf32> {test.value = "[[1, 2], [3, 4]]"}, %i: tensor<2xi32> {test.value = "[0, 1]"},
                      %j: tensor<2xi32> {test.value = "[1, 0]"})
    -> (tensor<2x2xf32> {test.expect = "[[2, 1], [4, 3]]"}, tensor<2xf32> {test.expect = "[2, 3]"}) {
  %y = attn.gather (%t : tensor<2x2xf32> [V, W], %i : tensor<2xi32> [A], %j : tensor<2xi32> [B]) -> tensor<2x2xf32> [A, B]
  %z = attn.gather (%t : tensor<2x2xf32> [V, W], %i : tensor<2xi32> [A], %j : tensor<2xi32> [A]) -> tensor<2xf32> [A]
  return %y, %z : tensor<2x2xf32>, tensor<2xf32>
}

func.func @reshape_regroups(%x: tensor<?x4xf32> {attn.dims = #attn.dims<[T, E]>, test.value = "[[1, 2, 3, 4], [5, 6, 7, 8]]"})
    -> (tensor<2x?x2xf32> {test.expect = "[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]"},
        tensor<4x?xf32> {test.expect = "[[1, 5], [2, 6], [3, 7], [4, 8]]"},
        tensor<1x?x4xf32> {test.expect = "[[[1, 2, 3, 4], [5, 6, 7, 8]]]"}) {
  %h = attn.reshape (%x : tensor<?x4xf32> [T, E]) -> tensor<2x?x2xf32> [H, T, D]
  %t = attn.reshape (%x : tensor<?x4xf32> [T, E]) -> tensor<4x?xf32> [E, T]
  %o = attn.reshape (%x : tensor<?x4xf32> [T, E]) -> tensor<1x?x4xf32> [One, T, F]
  return %h, %t, %o : tensor<2x?x2xf32>, tensor<4x?xf32>, tensor<1x?x4xf32>
}

func.func @reshape_merges_moved(%x: tensor<2x?x2xf32> {attn.dims = #attn.dims<[H, T, D]>, test.value = "[[[1, 2], [5, 6]], [[3, 4], [7, 8]]]"})
    -> (tensor<?x4xf32> {test.expect = "[[1, 2, 3, 4], [5, 6, 7, 8]]"}) {
  %y = attn.reshape (%x : tensor<2x?x2xf32> [H, T, D]) -> tensor<?x4xf32> [T, E]
  return %y : tensor<?x4xf32>
}

func.func @slice_each(%x: tensor<?x4xf32> {attn.dims = #attn.dims<[T, E]>, test.value = "[[1, 2, 3, 4], [5, 6, 7, 8]]"})
    -> (tensor<?x2xf32> {test.expect = "[[2, 3], [6, 7]]"}, tensor<?xf32> {test.expect = "[4, 8]"},
        tensor<4xf32> {test.expect = "[5, 6, 7, 8]"}, tensor<4xf32> {test.expect = "[0, 0, 0, 0]"}) {
  %a = attn.slice "E" at 1 (%x : tensor<?x4xf32> [T, E]) -> tensor<?x2xf32> [T, Q]
  %b = attn.slice "E" at 3 (%x : tensor<?x4xf32> [T, E]) -> tensor<?xf32> [T]
  %c = attn.slice "T" at 1 (%x : tensor<?x4xf32> [T, E]) -> tensor<4xf32> [E]
  %d = attn.slice "T" at 2 (%x : tensor<?x4xf32> [T, E]) -> tensor<4xf32> [E]
  return %a, %b, %c, %d : tensor<?x2xf32>, tensor<?xf32>, tensor<4xf32>, tensor<4xf32>
}

// %c lacks T, so every row gets it.
func.func @concat_repeats(%x: tensor<?x2xf32> {attn.dims = #attn.dims<[T, A]>, test.value = "[[1, 2], [3, 4]]"},
                          %c: tensor<1xf32> {test.value = "[9]"})
    -> (tensor<?x3xf32> {test.expect = "[[9, 1, 2], [9, 3, 4]]"}) {
  %y = attn.concat "N" ["B", "A"] (%c : tensor<1xf32> [B], %x : tensor<?x2xf32> [T, A]) -> tensor<?x3xf32> [T, N]
  return %y : tensor<?x3xf32>
}

func.func @patches_of_an_image(%x: tensor<1x2x4xf32> {test.value = "[[[1, 2, 3, 4], [5, 6, 7, 8]]]"})
    -> (tensor<1x2x1x2x2xf32> {test.expect = "[[[[[1, 2], [5, 6]]], [[[3, 4], [7, 8]]]]]"}) {
  %y = attn.patches stride 2 (%x : tensor<1x2x4xf32> [C, Y, X]) -> tensor<1x2x1x2x2xf32> [Y2, X2, C, KY, KX]
  return %y : tensor<1x2x1x2x2xf32>
}

func.func @patches_outside_is_zero(%x: tensor<1x1x1xf32> {test.value = "[[[7]]]"})
    -> (tensor<1x1x1x3x3xf32> {test.expect = "[[[[[0, 0, 0], [0, 7, 0], [0, 0, 0]]]]]"}) {
  %y = attn.patches stride 1 pad 1 (%x : tensor<1x1x1xf32> [C, Y, X]) -> tensor<1x1x1x3x3xf32> [Y2, X2, C, KY, KX]
  return %y : tensor<1x1x1x3x3xf32>
}

// Numbers that stand in the program, as a table and as one number for all places.
func.func @tables(%i: tensor<2xi32> {test.value = "[2, 0]"})
    -> (tensor<2xf32> {test.expect = "[5, 0.5]"}, tensor<2xi32> {test.expect = "[-7, -7]"}) {
  %t = arith.constant dense<[0.5, 1.5, 5.0]> : tensor<3xf32>
  %y = attn.gather (%t : tensor<3xf32> [V], %i : tensor<2xi32> [A]) -> tensor<2xf32> [A]
  %n = arith.constant dense<-7> : tensor<3xi32>
  %z = attn.gather (%n : tensor<3xi32> [V], %i : tensor<2xi32> [A]) -> tensor<2xi32> [A]
  return %y, %z : tensor<2xf32>, tensor<2xi32>
}
