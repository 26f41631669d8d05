/*===- abi.h - the one contract between generated code and the runtime -------------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Generated code calls nothing but memcpy, memmove, memset and the functions declared here, none of which computes on
 * tensors. The compiler writes one `attn_program` into the object; the runtime, linked into the same library, reads it.
 * Any change of a layout or a meaning here raises ATTN_ABI_VERSION; `attn_model_create` refuses a program of another.
 *===--------------------------------------------------------------------------------------------------------------===*/
#ifndef ATTN_RUNTIME_ABI_H
#define ATTN_RUNTIME_ABI_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define ATTN_ABI_VERSION 2

/* What a generated function sees of one call. Tensors of a batch are packed: for a value with one sequence dimension
 * first, the rows of sequence 0, then those of sequence 1, …; in general the row-major tensors of each sequence end to
 * end. */
typedef struct attn_call {
  int64_t sequences;             /* n, the number of sequences in this call */
  const int64_t *const *offsets; /* one int64[n + 1] a sequence dimension of the function, ascending from 0 */
  const void *const *inputs;     /* one a parameter, packed, never null */
  void *const *outputs;          /* one a result, packed, owned by the caller */
  const void *const *weights;    /* one a weight slot (see "weights" of the metadata), packed or plain */
  char *arena;                   /* 64-byte aligned scratch of this call; null: compute arena_bytes and return */
  int64_t arena_bytes;           /* out, when arena is null */
  void *pool;                    /* the model, with its threads and counts; opaque */
  void *probe;                   /* who asked for taps; opaque, null if nobody */
  const int64_t *past;           /* [n] rows cached before this call; 0 in a function that caches nothing */
  const int64_t *capacity;       /* [n] rows that each session may hold */
  const int64_t *const *kept; /* one a sequence under "kept" of the function: int64[n], the rows that a `once` has, */
                              /* those that this call gives included */
  char *const *const *state;  /* one a state slot (see "state" of the metadata): n pointers, 64-byte aligned, where */
                              /* each session's rows lie row-major; there is room for the rows of this call */
} attn_call;

/* A generated exported function. 0 is success. */
typedef int32_t attn_entry(attn_call *call);
/* One task of a parallel loop. `args` are the values that the entry stored for this kernel. */
typedef void attn_kernel(attn_call *call, const void *args, int64_t task);
/* Lays one weight out as the kernels want it: `parts` are the tensors of the file in order, their element type `dtype`
 * (ATTN_F32, …); `packed` has the size that the metadata says. */
typedef void attn_pack(void *packed, const void *const *parts, int32_t dtype);

enum { ATTN_F32 = 0, ATTN_F16 = 1, ATTN_BF16 = 2, ATTN_I32 = 3 };

/* Runs kernel(call, args, t) for t = 0 .. tasks-1, each once, on the call's threads, and returns when all have ended.
 */
void attn_rt_parallel_for(attn_call *call, attn_kernel *kernel, const void *args, int64_t tasks);
/* How many threads parallel_for of this call has, the calling one included. */
int64_t attn_rt_threads(attn_call *call);
/* Shows a tapped value: `name` with {0} … filled by turns[0] …, packed data as of attn_call, rank and, for each
 * dimension, its static size or -1 - s for the sequence dimension s of the function. */
void attn_rt_tap(attn_call *call, const char *name, int64_t rank, const int64_t *dims, const int64_t *turns,
                 const void *data);
/* Adds to the counts of attention number `place` (see "counts" of the metadata) ATTN_COUNTS numbers, in the order of
 * attn_count in attn.h: tiles of queries, full tiles, partial tiles, bytes read. Only code made to count calls it. */
void attn_rt_count(attn_call *call, int64_t place, const int64_t *counts);
enum { ATTN_COUNTS = 4 };

typedef struct attn_program {
  uint32_t abi_version;
  uint32_t functions;
  const char *metadata;       /* JSON, zero-terminated: docs/metadata.md */
  attn_entry *const *entries; /* one an exported function, in the order of the metadata */
  attn_pack *const *packs;    /* one a weight symbol, in the order of the metadata; null: used as it lies, as float32 */
} attn_program;

/* Defined by generated code. */
extern const attn_program attn_this_program;

#ifdef __cplusplus
}
#endif
#endif
