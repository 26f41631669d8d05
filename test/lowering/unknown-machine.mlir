// RUN: not %attn-opt %s --attn-cpu-tiles=target=abacus 2>&1 | FileCheck %s
// RUN: not %attn-opt %s --attn-cpu-math=target=abacus 2>&1 | FileCheck %s
// CHECK: error: unknown machine `abacus`
module {}
