// RUN: attn-interpret --test %s
// RUN: attn-opt %s | attn-interpret --test -

// Names, not places, say what meets what: %b runs along the first dimension of the result.
func.func @map_matches_by_name(%x: tensor<2x3xf32> {test.value = "[[1, 2, 3], [4, 5, 6]]"},
                               %b: tensor<2xf32> {test.value = "[10, 20]"})
    -> (tensor<3x2xf32> {test.expect = "[[11, 24], [12, 25], [13, 26]]"}) {
  %y = attn.map (%x : tensor<2x3xf32> [A, B], %b : tensor<2xf32> [A]) -> tensor<3x2xf32> [B, A] {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    attn.yield %s : f32
  }
  return %y : tensor<3x2xf32>
}

func.func @map_fills(%n: tensor<?xf32> {attn.dims = #attn.dims<[T]>, test.value = "[7, 7, 7]"})
    -> (tensor<?x2xf32> {test.expect = "[[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]"}) {
  %y = attn.map () -> tensor<?x2xf32> [T, E] {
    %c = arith.constant 0.5 : f32
    attn.yield %c : f32
  }
  return %y : tensor<?x2xf32>
}

func.func @map_over_no_row(%x: tensor<?x2xf32> {attn.dims = #attn.dims<[T, E]>, test.value = "[]"})
    -> (tensor<?x2xf32> {test.expect = "[]"}) {
  %y = attn.map (%x : tensor<?x2xf32> [T, E]) -> tensor<?x2xf32> [T, E] {
  ^bb0(%p: f32):
    attn.yield %p : f32
  }
  return %y : tensor<?x2xf32>
}

func.func @pos_counts_rows(%n: tensor<?xf32> {attn.dims = #attn.dims<[T]>, test.value = "[9, 9, 9]"})
    -> (tensor<?xi32> {test.expect = "[0, 1, 2]"}) {
  %y = attn.pos tensor<?xi32> [T]
  return %y : tensor<?xi32>
}

func.func @reduce_each(%x: tensor<2x3xf32> {test.value = "[[1, -2, 7], [4, 5, 6]]"})
    -> (tensor<2xf32> {test.expect = "[6, 15]"}, tensor<2xf32> {test.expect = "[2, 5]"},
        tensor<3xf32> {test.expect = "[4, 5, 7]"}, tensor<f32> {test.expect = "-2"}) {
  %a = attn.reduce sum (%x : tensor<2x3xf32> [A, B]) -> tensor<2xf32> [A]
  %b = attn.reduce mean (%x : tensor<2x3xf32> [A, B]) -> tensor<2xf32> [A]
  %c = attn.reduce max (%x : tensor<2x3xf32> [A, B]) -> tensor<3xf32> [B]
  %d = attn.reduce min (%x : tensor<2x3xf32> [A, B]) -> tensor<f32> []
  return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<f32>
}

func.func @reduce_nothing(%x: tensor<?x2xf32> {attn.dims = #attn.dims<[T, A]>, test.value = "[]"})
    -> (tensor<2xf32> {test.expect = "[0, 0]"}, tensor<2xf32> {test.expect = "[0, 0]"},
        tensor<2xf32> {test.expect = "[-inf, -inf]"}, tensor<2xf32> {test.expect = "[inf, inf]"}) {
  %a = attn.reduce sum (%x : tensor<?x2xf32> [T, A]) -> tensor<2xf32> [A]
  %b = attn.reduce mean (%x : tensor<?x2xf32> [T, A]) -> tensor<2xf32> [A]
  %c = attn.reduce max (%x : tensor<?x2xf32> [T, A]) -> tensor<2xf32> [A]
  %d = attn.reduce min (%x : tensor<?x2xf32> [T, A]) -> tensor<2xf32> [A]
  return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

func.func @contract_sums_what_the_output_lacks(%x: tensor<2x3xf32> {test.value = "[[1, 2, 3], [4, 5, 6]]"},
                                               %y: tensor<3x2xf32> {test.value = "[[1, 0], [0, 1], [2, 2]]"})
    -> (tensor<2x2xf32> {test.expect = "[[7, 16], [8, 17]]"}, tensor<2xf32> {test.expect = "[7, 17]"}) {
  %p = attn.contract (%x : tensor<2x3xf32> [A, K], %y : tensor<3x2xf32> [K, B]) -> tensor<2x2xf32> [B, A]
  %d = attn.contract (%x : tensor<2x3xf32> [A, K], %y : tensor<3x2xf32> [K, A]) -> tensor<2xf32> [A]
  return %p, %d : tensor<2x2xf32>, tensor<2xf32>
}

// exp(-inf - -inf) must not come up; ln 3 weighs three times as much as 0.
func.func @softmax_rows(%x: tensor<3x2xf32> {test.value = "[[0, 1.0986123], [-inf, -inf], [1000, 1000]]"})
    -> (tensor<3x2xf32> {test.expect = "[[0.25, 0.75], [0, 0], [0.5, 0.5]]"},
        tensor<3x2xf32> {test.expect = "[[0, 0], [0, 0], [1, 1]]"}) {
  %y = attn.softmax "B" (%x : tensor<3x2xf32> [A, B]) -> tensor<3x2xf32> [A, B]
  %z = attn.softmax "A" (%x : tensor<3x2xf32> [A, B]) -> tensor<3x2xf32> [A, B]
  return %y, %z : tensor<3x2xf32>, tensor<3x2xf32>
}

func.func @normalise_both(%x: tensor<2x2xf32> {test.value = "[[1, 3], [3, 4]]"},
                          %w: tensor<2xf32> {test.value = "[2, 10]"}, %b: tensor<2xf32> {test.value = "[0, 1]"})
    -> (tensor<2x2xf32> {test.expect = "[[-2, 11], [-2, 11]]"},
        tensor<2x2xf32> {test.expect = "[[0.4472136, 1.3416408], [0.8485281, 1.1313708]]"}) {
  %y = attn.normalise layer eps 0.0 (%x : tensor<2x2xf32> [T, N], %w : tensor<2xf32> [N], %b : tensor<2xf32> [N])
      -> tensor<2x2xf32> [T, N]
  %z = attn.normalise rms eps 0.0 (%x : tensor<2x2xf32> [T, N]) -> tensor<2x2xf32> [T, N]
  return %y, %z : tensor<2x2xf32>, tensor<2x2xf32>
}

attn.weight @w {parts = ["w"], test.value = "[[1, 2], [3, 4], [5, 6]]"} : tensor<3x2xf32>
attn.weight @heads {parts = ["h"], test.value = "[[[1, 0], [0, 1]], [[1, 1], [1, -1]]]"} : tensor<2x2x2xf32>

func.func @linear_with_epilogue(%x: tensor<2x2xf32> {test.value = "[[1, 1], [1, -1]]"},
                                %b: tensor<3xf32> {test.value = "[0, 10, 20]"})
    -> (tensor<2x3xf32> {test.expect = "[[3, 17, 31], [-1, 9, 19]]"}) {
  %y = attn.linear @w (%x : tensor<2x2xf32> [T, E], %b : tensor<3xf32> [F]) -> tensor<2x3xf32> [T, F] {
  ^bb0(%acc: f32, %c: f32):
    %s = arith.addf %acc, %c : f32
    attn.yield %s : f32
  }
  return %y : tensor<2x3xf32>
}

func.func @linear_to_heads(%x: tensor<2xf32> {test.value = "[3, 5]"})
    -> (tensor<2x2xf32> {test.expect = "[[3, 5], [8, -2]]"}) {
  %y = attn.linear @heads (%x : tensor<2xf32> [E]) -> tensor<2x2xf32> [H, D] {
  ^bb0(%acc: f32):
    attn.yield %acc : f32
  }
  return %y : tensor<2x2xf32>
}

func.func @param_is_the_weight() -> (tensor<3x2xf32> {test.expect = "[[1, 2], [3, 4], [5, 6]]"}) {
  %w = attn.param @w : tensor<3x2xf32>
  return %w : tensor<3x2xf32>
}

func.func @constants() -> (tensor<2x2xf32> {test.expect = "[[1.5, -2], [0, 4]]"}, tensor<3xi32> {test.expect = "[-7, -7, -7]"},
                           tensor<2xi1> {test.expect = "[1, 0]"}) {
  %a = arith.constant dense<[[1.5, -2.0], [0.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<-7> : tensor<3xi32>
  %c = arith.constant dense<[true, false]> : tensor<2xi1>
  return %a, %b, %c : tensor<2x2xf32>, tensor<3xi32>, tensor<2xi1>
}
