// RUN: %attn-opt %s --attn-cpu-tiles=target=znver4 --canonicalize --cse | FileCheck %s --check-prefixes=PAIRS
// RUN: %attn-opt %s --attn-cpu-tiles=target=sapphirerapids --canonicalize --cse | FileCheck %s --check-prefixes=TILES
// RUN: %attn-opt %s --attn-cpu-tiles=target=x86-64-v4 --canonicalize --cse | FileCheck %s --check-prefixes=PLAIN
// Products of bfloat16: tile registers or pairs where the machine multiplies them, else float32 numbers that were rounded.

// The queries lie on the lanes, so their pairs are turned; the keys are read pair by pair along their rows. 24 numbers are
// 12 pairs.
// PAIRS-LABEL: func.func @scores(
// PAIRS-SAME: %[[Q:[a-z0-9]+]]: !llvm.ptr, %[[K:[a-z0-9]+]]: !llvm.ptr
// PAIRS: llvm.call @attn_round_along(%[[Q]], %c24_i64, %[[ROWS:[^,]*]], %c16_i64, %c32_i64, %c24_i64)
// PAIRS: llvm.call @attn_turn(%[[ROWS]], %c16_i64, %[[WIDE:[^,]*]], %c32_i64, %c12_i64, %c32_i64,
// PAIRS: llvm.call @attn_round_along(%[[K]], %c24_i64, %[[EACH:[^,]*]], %c16_i64, %c8_i64, %c24_i64)
// PAIRS: llvm.call @attn_dot_pairs(%[[EACH]], %c16_i64, %c1_i64, %[[WIDE]], %c32_i64, %{{[^,]*}}, %c32_i64, %c8_i64, %c32_i64, %c12_i64, %false,
// TILES-LABEL: func.func @scores(
// TILES: llvm.call @attn_turn({{[^,]*}}, %c16_i64, %[[WIDE:[^,]*]], %c32_i64, %c16_i64, %c32_i64,
// TILES: llvm.call @attn_round_along({{[^,]*}}, %c24_i64, %[[EACH:[^,]*]], %c16_i64, %c8_i64, %c24_i64)
// TILES: llvm.call @attn_dot_tiles(%[[EACH]], %c16_i64, %[[WIDE]], %c32_i64, %{{[^,]*}}, %c32_i64, %c8_i64, %c32_i64, %c12_i64, %false)
// PLAIN-LABEL: func.func @scores(
// PLAIN: llvm.call @attn_round(
// PLAIN: llvm.call @attn_turn(
// PLAIN: llvm.call @attn_round(
// PLAIN: llvm.call @attn_dot({{.*}}, %c24_i64, %false,
func.func @scores(%q: !llvm.ptr, %k: !llvm.ptr, %y: !llvm.ptr) {
  %a = tile.load %q strides [24, 1] valid [32, 24] : <32x24xf32>
  %b = tile.load %k strides [24, 1] valid [8, 24] : <8x24xf32>
  %l = tile.round %a along 1 valid [32, 24] : !tile.tile<32x24xf32> -> !tile.tile<32x24xbf16>
  %r = tile.round %b along 1 valid [8, 24] : !tile.tile<8x24xf32> -> !tile.tile<8x24xbf16>
  %c = tile.dot nk %l, %r valid [32, 8, 24] : <32x24xbf16>, <8x24xbf16> -> <32x8xf32>
  tile.store %c, %y strides [8, 1] valid [32, 8] : <32x8xf32>
  return
}

// An odd number of terms: the last pair has a half of 0, which the guard of hidden terms knows like any other.
// PAIRS-LABEL: func.func @hidden(
// PAIRS: scf.if
// PAIRS: llvm.call @attn_dot_pairs_guard_wide({{.*}}, %c2_i64, %true,
// PAIRS: llvm.call @attn_dot_pairs({{.*}}, %c2_i64, %true,
// Values are turned, so that the 2 pairs of a column, and 14 of 0, lie side by side.
// TILES-LABEL: func.func @hidden(
// TILES: llvm.call @attn_round_across(%{{[^,]*}}, %c5_i64, %[[ROWS:[^,]*]], %c16_i64, %c3_i64, %c5_i64)
// TILES: llvm.call @attn_turn(%[[ROWS]], %c16_i64, %[[EACH:[^,]*]], %c16_i64, %c5_i64, %c16_i64,
// TILES: scf.if
// TILES: llvm.call @attn_dot_tiles_guard(%[[EACH]], %c16_i64, {{.*}}, %c5_i64, %c16_i64, %c2_i64, %true)
// TILES: llvm.call @attn_dot_tiles(%[[EACH]], %c16_i64, {{.*}}, %c5_i64, %c16_i64, %c2_i64, %true)
func.func @hidden(%p: !llvm.ptr, %v: !llvm.ptr, %y: !llvm.ptr, %again: i1) {
  %a = tile.load %p strides [3, 1] valid [16, 3] : <16x3xf32>
  %b = tile.load %v strides [5, 1] valid [3, 5] : <3x5xf32>
  %acc = tile.load %y strides [5, 1] valid [16, 5] : <16x5xf32>
  %w = tile.map (%a) valid [16, 3] : (!tile.tile<16x3xf32>) -> !tile.tile<16x3xf32> {
  ^bb0(%i: i32, %j: i32, %x: f32):
    %t = arith.addf %x, %x : f32
    tile.yield %t : f32
  }
  %l = tile.round %w along 1 valid [16, 3] : !tile.tile<16x3xf32> -> !tile.tile<16x3xbf16>
  %r = tile.round %b along 0 valid [3, 5] : !tile.tile<3x5xf32> -> !tile.tile<3x5xbf16>
  %c = tile.dot kn %l, %r, %acc : !tile.tile<16x5xf32> guard %again valid [16, 5, 3] : <16x3xbf16>, <3x5xbf16> -> <16x5xf32>
  tile.store %c, %y strides [5, 1] valid [16, 5] : <16x5xf32>
  return
}

// A packed weight is read as it lies: pairs 48 to a row, or float32 numbers.
// PAIRS-LABEL: func.func @packed(
// PAIRS-SAME: %[[X:[a-z0-9]+]]: !llvm.ptr, %[[W:[a-z0-9]+]]: !llvm.ptr
// PAIRS: llvm.call @attn_round_along(%[[X]],
// PAIRS: llvm.call @attn_dot_pairs(%{{[^,]*}}, %c16_i64, %c1_i64, %[[W]], %c48_i64, {{.*}}, %c8_i64, %c48_i64, %c12_i64, %false,
// TILES-LABEL: func.func @packed(
// TILES-SAME: %[[X:[a-z0-9]+]]: !llvm.ptr, %[[W:[a-z0-9]+]]: !llvm.ptr
// TILES: llvm.call @attn_dot_tiles(%{{[^,]*}}, %c16_i64, %[[W]], %c48_i64, {{.*}}, %c8_i64, %c48_i64, %c12_i64, %false)
// PLAIN-LABEL: func.func @packed(
// PLAIN-SAME: %[[X:[a-z0-9]+]]: !llvm.ptr, %[[W:[a-z0-9]+]]: !llvm.ptr
// PLAIN: llvm.call @attn_dot(%{{[^,]*}}, %c32_i64, %c1_i64, %[[W]], %c48_i64, {{.*}}, %c8_i64, %c48_i64, %c24_i64, %false,
func.func @packed(%x: !llvm.ptr, %w: !llvm.ptr, %y: !llvm.ptr) {
  %a = tile.load %x strides [24, 1] valid [8, 24] : <8x24xf32>
  %l = tile.round %a along 1 valid [8, 24] : !tile.tile<8x24xf32> -> !tile.tile<8x24xbf16>
  %b = tile.packed %w : !tile.tile<24x48xbf16>
  %c = tile.dot kn %l, %b valid [8, 48, 24] : <8x24xbf16>, <24x48xbf16> -> <8x48xf32>
  tile.store %c, %y strides [48, 1] valid [8, 48] : <8x48xf32>
  return
}
