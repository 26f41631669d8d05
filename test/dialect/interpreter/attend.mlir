// RUN: attn-interpret --test %s
// RUN: attn-opt %s | attn-interpret --test -

// Equal scores: the result is the mean of the visible values, here of their numbers 0, 1, 2.
func.func @uniform(%q: tensor<2x1xf32> {test.value = "[[0], [0]]"}, %k: tensor<3x1xf32> {test.value = "[[5], [6], [7]]"},
                   %v: tensor<3x1xf32> {test.value = "[[0], [1], [2]]"})
    -> (tensor<2x1xf32> {test.expect = "[[1], [1]]"}, tensor<2x1xf32> {test.expect = "[[0], [0.5]]"}) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<2x1xf32> [T, D], %k : tensor<3x1xf32> [S, D], %v : tensor<3x1xf32> [S, N])
      -> tensor<2x1xf32> [T, N]
  %z = attn.attend softmax scale 1.0 (%q : tensor<2x1xf32> [T, D], %k : tensor<3x1xf32> [S, D], %v : tensor<3x1xf32> [S, N])
      -> tensor<2x1xf32> [T, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %c = arith.cmpi sle, %j, %i : i32
    attn.yield %c : i1
  }
  return %y, %z : tensor<2x1xf32>, tensor<2x1xf32>
}

// Scores 0 and ln 3 after the scale: weights 1/4 and 3/4, log-sum-exp ln 4.
func.func @results(%q: tensor<1x1xf32> {test.value = "[[2.1972246]]"}, %k: tensor<2x1xf32> {test.value = "[[0], [1]]"},
                   %v: tensor<2x2xf32> {test.value = "[[4, 8], [0, 4]]"})
    -> (tensor<1x2xf32> {test.expect = "[[1, 5]]"}, tensor<1x2xf32> {test.expect = "[[0.25, 0.75]]"},
        tensor<1xf32> {test.expect = "[1.3862944]"}) {
  %y, %w, %l = attn.attend softmax scale 0.5 weights lse
      (%q : tensor<1x1xf32> [T, D], %k : tensor<2x1xf32> [S, D], %v : tensor<2x2xf32> [S, N])
      -> (tensor<1x2xf32> [T, N], tensor<1x2xf32> [T, S], tensor<1xf32> [T])
  return %y, %w, %l : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xf32>
}

// Key 2 holds what must not be touched, query 1 sees no key at all.
func.func @hidden_keys_never_count(%q: tensor<2x1xf32> {test.value = "[[0], [0]]"},
                                   %k: tensor<3x1xf32> {test.value = "[[1], [1], [nan]]"},
                                   %v: tensor<3x1xf32> {test.value = "[[1], [2], [inf]]"})
    -> (tensor<2x1xf32> {test.expect = "[[1.5], [0]]"}, tensor<2x3xf32> {test.expect = "[[0.5, 0.5, 0], [0, 0, 0]]"},
        tensor<2xf32> {test.expect = "[0.6931472, -inf]"}) {
  %y, %w, %l = attn.attend softmax scale 1.0 weights lse
      (%q : tensor<2x1xf32> [T, D], %k : tensor<3x1xf32> [S, D], %v : tensor<3x1xf32> [S, N])
      -> (tensor<2x1xf32> [T, N], tensor<2x3xf32> [T, S], tensor<2xf32> [T]) mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %zero = arith.constant 0 : i32
    %two = arith.constant 2 : i32
    %a = arith.cmpi eq, %i, %zero : i32
    %b = arith.cmpi slt, %j, %two : i32
    %c = arith.andi %a, %b : i1
    attn.yield %c : i1
  }
  return %y, %w, %l : tensor<2x1xf32>, tensor<2x3xf32>, tensor<2xf32>
}

// Query 1 sees no key: what is left of the sum is the sink, or softmax1's 1.
func.func @sums_without_keys(%q: tensor<2x1xf32> {test.value = "[[0], [0]]"}, %k: tensor<3x1xf32> {test.value = "[[1], [1], [1]]"})
    -> (tensor<2x1xf32> {test.expect = "[[0.75], [0]]"}, tensor<2xf32> {test.expect = "[2.0794415, 0.6931472]"},
        tensor<2x1xf32> {test.expect = "[[0.85714286], [0]]"}, tensor<2xf32> {test.expect = "[1.9459101, 0]"}) {
  %y, %l = attn.attend softmax scale 0.0 lse (%q : tensor<2x1xf32> [T, D], %k : tensor<3x1xf32> [S, D], %k : tensor<3x1xf32> [S, N])
      -> (tensor<2x1xf32> [T, N], tensor<2xf32> [T]) score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<1xf32>, %kr: tensor<1xf32>):
    %n = arith.constant 0.6931472 : f32
    attn.yield %n : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %zero = arith.constant 0 : i32
    %a = arith.cmpi eq, %i, %zero : i32
    attn.yield %a : i1
  } sink {
  ^bb0(%h: i32):
    %n = arith.constant 0.6931472 : f32
    attn.yield %n : f32
  }
  %z, %m = attn.attend softmax1 scale 0.0 lse (%q : tensor<2x1xf32> [T, D], %k : tensor<3x1xf32> [S, D], %k : tensor<3x1xf32> [S, N])
      -> (tensor<2x1xf32> [T, N], tensor<2xf32> [T]) score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<1xf32>, %kr: tensor<1xf32>):
    %n = arith.constant 0.6931472 : f32
    attn.yield %n : f32
  } mask {
  ^bb0(%i: i32, %j: i32, %h: i32):
    %zero = arith.constant 0 : i32
    %a = arith.cmpi eq, %i, %zero : i32
    attn.yield %a : i1
  }
  return %y, %l, %z, %m : tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<2xf32>
}

// A score of -inf hides: value 1 is no number and does not count.
func.func @infinitely_low_is_hidden(%q: tensor<1x1xf32> {test.value = "[[0]]"}, %k: tensor<3x1xf32> {test.value = "[[0], [-inf], [0]]"},
                                    %v: tensor<3x1xf32> {test.value = "[[1], [nan], [3]]"}) -> (tensor<1x1xf32> {test.expect = "[[2]]"}) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<1x1xf32> [T, D], %k : tensor<3x1xf32> [S, D], %v : tensor<3x1xf32> [S, D])
      -> tensor<1x1xf32> [T, D] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<1xf32>, %kr: tensor<1xf32>):
    %zero = arith.constant 0 : i32
    %n = attn.at %kr[%zero] : tensor<1xf32> -> f32
    attn.yield %n : f32
  }
  return %y : tensor<1x1xf32>
}

// Weights e^0 / (1 + 1 [+ 1]); sigmoid(0) = 1/2 each; ratio 1 : 3, and nothing over nothing is 0.
func.func @weighers(%q: tensor<1x1xf32> {test.value = "[[0]]"}, %k: tensor<2x1xf32> {test.value = "[[1], [3]]"},
                    %v: tensor<2x1xf32> {test.value = "[[6], [12]]"})
    -> (tensor<1x1xf32> {test.expect = "[[6]]"}, tensor<1x1xf32> {test.expect = "[[9]]"}, tensor<1x1xf32> {test.expect = "[[10.5]]"},
        tensor<1x1xf32> {test.expect = "[[0]]"}, tensor<1x1xf32> {test.expect = "[[4.5]]"}) {
  %a = attn.attend softmax1 scale 1.0 (%q : tensor<1x1xf32> [T, D], %k : tensor<2x1xf32> [S, D], %v : tensor<2x1xf32> [S, D]) -> tensor<1x1xf32> [T, D]
  %b = attn.attend sigmoid scale 1.0 (%q : tensor<1x1xf32> [T, D], %k : tensor<2x1xf32> [S, D], %v : tensor<2x1xf32> [S, D]) -> tensor<1x1xf32> [T, D]
  %c = attn.attend ratio scale 1.0 (%q : tensor<1x1xf32> [T, D], %k : tensor<2x1xf32> [S, D], %v : tensor<2x1xf32> [S, D]) -> tensor<1x1xf32> [T, D] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<1xf32>, %kr: tensor<1xf32>):
    %zero = arith.constant 0 : i32
    %n = attn.at %kr[%zero] : tensor<1xf32> -> f32
    attn.yield %n : f32
  }
  %d = attn.attend ratio scale 1.0 (%q : tensor<1x1xf32> [T, D], %k : tensor<2x1xf32> [S, D], %v : tensor<2x1xf32> [S, D]) -> tensor<1x1xf32> [T, D]
  %e = attn.attend softmax scale 1.0 (%q : tensor<1x1xf32> [T, D], %k : tensor<2x1xf32> [S, D], %v : tensor<2x1xf32> [S, D]) -> tensor<1x1xf32> [T, D] sink {
  ^bb0(%h: i32):
    %two = arith.constant 0.693147180559945 : f32
    attn.yield %two : f32
  }
  return %a, %b, %c, %d, %e : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}

// Two key heads G, two query heads R each: head number h = 2 g + r. Keys lack R; values lack both.
// The score is the bias of the head for key 1 and 0 for key 0, +inf-like: the head sees key h % 2 of its group only.
func.func @grouped_heads(%q: tensor<1x2x2x1xf32> {test.value = "[[[[1], [1]], [[1], [1]]]]"},
                         %k: tensor<2x2x1xf32> {test.value = "[[[0], [0]], [[0], [1.0986123]]]"},
                         %v: tensor<2x1xf32> {test.value = "[[0], [8]]"}, %hide: tensor<4xf32> {test.value = "[0, 1, 0, 0]"})
    -> (tensor<1x2x2x1xf32> {test.expect = "[[[[4], [0]], [[6], [6]]]]"}) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<1x2x2x1xf32> [T, G, R, D], %k : tensor<2x2x1xf32> [S, G, D],
      %v : tensor<2x1xf32> [S, N], %hide : tensor<4xf32> [X]) -> tensor<1x2x2x1xf32> [T, G, R, N] mask {
  ^bb0(%i: i32, %j: i32, %h: i32, %table: tensor<4xf32>):
    %one = arith.constant 1 : i32
    %half = arith.constant 0.5 : f32
    %n = attn.at %table[%h] : tensor<4xf32> -> f32
    %a = arith.cmpf olt, %n, %half : f32
    %b = arith.cmpi slt, %j, %one : i32
    %c = arith.ori %a, %b : i1
    attn.yield %c : i1
  }
  return %y : tensor<1x2x2x1xf32>
}

// -(q - k)^2 summed over the row: distances 0 and ln 3.
func.func @fold_makes_distances(%q: tensor<1x2xf32> {test.value = "[[1, 0]]"},
                                %k: tensor<2x2xf32> {test.value = "[[1, 0], [1, 1.0481470]]"},
                                %v: tensor<2x1xf32> {test.value = "[[4], [8]]"}) -> (tensor<1x1xf32> {test.expect = "[[5]]"}) {
  %y = attn.attend softmax scale 1.0 (%q : tensor<1x2xf32> [T, D], %k : tensor<2x2xf32> [S, D], %v : tensor<2x1xf32> [S, N])
      -> tensor<1x1xf32> [T, N] score {
  ^bb0(%s: f32, %i: i32, %j: i32, %h: i32, %qr: tensor<2xf32>, %kr: tensor<2xf32>):
    %sum = attn.fold 2 {
    ^bb0(%d: i32):
      %a = attn.at %qr[%d] : tensor<2xf32> -> f32
      %b = attn.at %kr[%d] : tensor<2xf32> -> f32
      %c = arith.subf %a, %b : f32
      %e = arith.mulf %c, %c : f32
      attn.yield %e : f32
    }
    %n = arith.negf %sum : f32
    attn.yield %n : f32
  }
  return %y : tensor<1x1xf32>
}

func.func @no_key(%q: tensor<2x1xf32> {test.value = "[[1], [1]]"}, %k: tensor<?x1xf32> {attn.dims = #attn.dims<[S, D]>, test.value = "[]"},
                  %v: tensor<?x1xf32> {attn.dims = #attn.dims<[S, N]>, test.value = "[]"}) -> (tensor<2x1xf32> {test.expect = "[[0], [0]]"}) {
  %y = attn.attend softmax1 scale 1.0 (%q : tensor<2x1xf32> [T, D], %k : tensor<?x1xf32> [S, D], %v : tensor<?x1xf32> [S, N])
      -> tensor<2x1xf32> [T, N]
  return %y : tensor<2x1xf32>
}
