// RUN: attn-opt --verify-diagnostics --split-input-file --attn-plan-memory %s

func.func @other_operations_on_tensors(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    -> (tensor<?xf32> {attn.name = "", attn.dims = #attn.dims<[T]>}) attributes {attn.export, attn.sequences = ["T"]} {
  // expected-error @below {{makes a tensor and cannot be lowered}}
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-error @below {{`no_rows` has a parameter with a dimension of size 0}}
func.func @no_rows(%x: tensor<?x0xf32> {attn.name = "x", attn.dims = #attn.dims<[T, E]>})
    -> (tensor<?x0xf32> {attn.name = "", attn.dims = #attn.dims<[T, E]>}) attributes {attn.export, attn.sequences = ["T"]} {
  return %x : tensor<?x0xf32>
}

// -----

func.func @nothing(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    -> (tensor<?xf32> {attn.name = "", attn.dims = #attn.dims<[T]>}) attributes {attn.export, attn.sequences = ["T"]} {
  // expected-error @below {{`nothing` computes a tensor with a dimension of size 0}}
  %n = attn.map (%x : tensor<?xf32> [T]) -> tensor<?x0xf32> [T, E] {
  ^bb0(%a: f32):
    attn.yield %a : f32
  }
  return %x : tensor<?xf32>
}
