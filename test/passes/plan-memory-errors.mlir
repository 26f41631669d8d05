// RUN: attn-opt --verify-diagnostics --attn-plan-memory %s

func.func @other_operations_on_tensors(%x: tensor<?xf32> {attn.name = "x", attn.dims = #attn.dims<[T]>})
    -> (tensor<?xf32> {attn.name = "", attn.dims = #attn.dims<[T]>}) attributes {attn.export, attn.sequences = ["T"]} {
  // expected-error @below {{makes a tensor and cannot be lowered}}
  %y = arith.addf %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
