// Generated code, written by hand: what a compiler would emit for a tiny model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     fn embed(ids[T], shift[T] = 1) -> [T,E] = tap(table[ids], "rows") @ w + b + shift        E = 2, V = 3
//     fn mean(x[T,E]) -> [E] = sum over T of x * g                                             needs another weight
//     fn recall(x[T,E]) -> [T,E] = 3 * the sum of all rows up to this one, in a cache of two turns
//     fn answer(x[T,E], source[S], u[U] = 0) -> (y[T,E], session[3])      7 * the sum of `source` added, given once
//     fn note(source[S]) -> session[3]                                    gives one of answer's two places
//     fn double(source[S]) -> session[3]                                  gives the other one
//
// `session` is what the call says of the session: rows cached, room, rows kept.
//
// The entries are plain C loops over packed rows, one task a row, so that Model, Session and Call can be tested without
// a compiler.
#ifndef ATTN_TEST_FAKE_PROGRAM_H
#define ATTN_TEST_FAKE_PROGRAM_H
#include "runtime/abi.h"

#ifdef __cplusplus
extern "C" {
#endif
enum { fakeWidth = 2, fakeVocabulary = 3 };
extern const char fakeMetadata[];
extern attn_entry *const fakeEntries[];
extern attn_pack *const fakePacks[];
// What the entries return instead of working, when set: to be asked for scratch memory, and to run.
extern int32_t fakeSizingStatus, fakeRunStatus;
extern int64_t fakeExtraScratch;
#ifdef __cplusplus
}
#endif
#endif
