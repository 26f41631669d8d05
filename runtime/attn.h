/*===- attn.h - the C interface of every library that attnc makes ------------------------------------------------===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The model.h beside a generated library holds this text and, behind it, the numbers of that model's functions.
 *
 *     attn_model *model = attn_model_create("folder");              config.json, model.safetensors, tokenizer.json
 *     attn_session *session = attn_session_create(model, 512);
 *     int64_t offsets[] = {0, 5};                                   one sequence of five tokens
 *     const int64_t *all[] = {offsets};
 *     const void *inputs[] = {ids};
 *     void *outputs[] = {rows};                                     attn_output_size(…) numbers
 *     if (attn_run(&session, 1, 0, inputs, all, outputs)) puts(attn_last_error());
 *
 * A model is immutable and shared by threads; a session serves one thread at a time. Nothing here keeps a pointer of
 * the caller's beyond the call. Functions that can fail say why in attn_last_error(); a failed call leaves its sessions
 * usable.
 *===--------------------------------------------------------------------------------------------------------------===*/
#ifndef ATTN_H
#define ATTN_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define ATTN_API __attribute__((visibility("default")))
#else
#define ATTN_API
#endif

typedef struct attn_model attn_model;
typedef struct attn_session attn_session;
typedef struct attn_tokenizer attn_tokenizer;

/* The version of the contract between the generated code and the runtime in this library. */
ATTN_API uint32_t attn_abi_version(void);
/* What the last failed call of this thread complained about; "" if none did. Valid until the thread's next failure. */
ATTN_API const char *attn_last_error(void);

/*===-- the model --===*/

enum {
  ATTN_STRICT = 1 /* tensors of the file that nothing uses are an error, not a note */
};

/* Opens a folder (config.json, model.safetensors or its shards, tokenizer.json when asked for) or a .safetensors file;
 * path may be null if the model has neither weights nor configuration. Null on failure. */
ATTN_API attn_model *attn_model_create(const char *path);
ATTN_API attn_model *attn_model_create_with(const char *path, uint32_t flags);
/* Ends a model; what its sessions need stays until the last of them has ended. Null is allowed. */
ATTN_API void attn_model_free(attn_model *model);
/* Threads that one call may use, itself included; 0: one a usable core (the default). Returns the number in force. */
ATTN_API int32_t attn_model_threads(attn_model *model, int32_t threads);
/* Warnings and notes of attn_model_create, in order; null behind the last. */
ATTN_API const char *attn_model_note(const attn_model *model, int32_t index);

/*===-- signatures --===*/

enum { ATTN_FLOAT32 = 0, ATTN_INT32 = 3 };

typedef struct attn_dim {
  const char *name; /* "" if the source gives none */
  int64_t size;     /* -1 - s: as long as sequence dimension s of the function */
} attn_dim;

typedef struct attn_value {
  const char *name; /* "" if the source gives none */
  int32_t type;     /* ATTN_FLOAT32, ATTN_INT32 */
  int32_t rank;
  const attn_dim *dims;
  int32_t has_default;   /* a parameter whose input may be null */
  double default_number; /* what it then is */
  int64_t limit;         /* a parameter of ids: they must lie in 0 .. limit-1; 0: any */
} attn_value;

/* What a sequence dimension is to the sessions of a call. */
enum {
  ATTN_PLAIN = 0,  /* nothing: the rows are there for this call */
  ATTN_CACHED = 1, /* the rows are added to those that the session holds from earlier calls */
  ATTN_KEPT = 2    /* given once: what is made of the rows is kept, and later calls give none */
};

typedef struct attn_function {
  const char *name;
  int32_t sequences; /* sequence dimensions, each with its offsets */
  int32_t params;
  int32_t results;
  const char *const *sequence_names;
  const int32_t *sequence_kinds;  /* one a sequence dimension: ATTN_PLAIN, … */
  const int64_t *sequence_limits; /* the most rows of it, those that a session holds included; 0: any number */
  const attn_value *param;
  const attn_value *result;
  const char *missing; /* null; or why this function cannot be called with the weights given */
} attn_function;

/* The name of the model in its source. */
ATTN_API const char *attn_model_name(const attn_model *model);
/* Function number `index` in the order of the source; null behind the last. */
ATTN_API const attn_function *attn_model_function(const attn_model *model, int32_t index);
/* The number of the function with that name; -1 if there is none. */
ATTN_API int32_t attn_function_find(const attn_model *model, const char *name);

/*===-- sessions and calls --===*/

/* State of one sequence: room for `capacity` rows (tokens) of its caches, its scratch memory. Rows cost memory when
 * they are written first, not before. Null on failure. */
ATTN_API attn_session *attn_session_create(attn_model *model, int64_t capacity);
/* No call may have the session. Null is allowed. */
ATTN_API void attn_session_free(attn_session *session);
/* What the session's last failed call complained about; "" if its last call succeeded. */
ATTN_API const char *attn_session_error(const attn_session *session);

/* What a session holds. Each of these is refused while a call of the session runs, and then nothing has changed. 0, or
 * not 0 on failure, where nothing else is said. */

/* How many rows its caches hold, of which each successful call of a function with an ATTN_CACHED sequence adds as many
 * as that sequence has. -1 on failure. */
ATTN_API int64_t attn_session_length(const attn_session *session);
/* As new: no row is cached, nothing that is given once is kept. */
ATTN_API int32_t attn_session_reset(attn_session *session);
/* Forgets the cached rows from number `length` on, 0 .. attn_session_length; what was given once stays. */
ATTN_API int32_t attn_session_truncate(attn_session *session, int64_t length);
/* An independent copy of what the session holds, with its capacity and without its probe, to be freed on its own. Null
 * on failure. */
ATTN_API attn_session *attn_session_fork(attn_session *session);
/* Of the rows that the last successful call cached, keeps n and forgets the others. `rows` are their numbers within
 * that call, from 0, ascending; they move together. To be called at most once a call, before truncating. */
ATTN_API int32_t attn_session_keep(attn_session *session, const int64_t *rows, int64_t n);

/* How many numbers a result of a call has, over all n sequences; -1 on failure. offsets as for attn_run. */
ATTN_API int64_t attn_output_size(const attn_model *model, int32_t function, int32_t result, int64_t n,
                                  const int64_t *const *offsets);

/* Runs one function on n sequences, one a session. A tensor of the batch is packed: the row-major tensors of the
 * sequences end to end, without padding. 0, or not 0 on failure: then the outputs hold nothing of use, and the sessions
 * what they held before.
 *
 *   inputs   one a parameter: float32 or int32; null where the parameter has a default
 *   offsets  one int64[n + 1] a sequence dimension of the function: where each sequence begins, ascending from 0
 *   outputs  one a result: attn_output_size(…) numbers of the caller's */
ATTN_API int32_t attn_run(attn_session *const *sessions, int64_t n, int32_t function, const void *const *inputs,
                          const int64_t *const *offsets, void *const *outputs);

/* Called for every tap of a running function, on the calling thread. `dims` as attn_dim.size; `data` is packed float32.
 * All of it is valid during the call only. */
typedef void attn_probe(void *user, const char *name, int32_t rank, const int64_t *dims, int64_t n,
                        const int64_t *const *offsets, const float *data);
/* Shows the taps of calls whose first session is this one; a null probe ends it. 0, or not 0 if the library was
 * compiled without taps (attnc --probe). */
ATTN_API int32_t attn_session_probe(attn_session *session, attn_probe *probe, void *user);

/* What one attention of the model did, in all calls so far, in a library made by attnc --count. A tile is some queries
 * of one head by some keys. */
typedef struct attn_count {
  const char *name;    /* the function, and the attention's place in the source: "logits at gpt2.attn:12:7" */
  int64_t query_tiles; /* tiles of queries, each of which goes over keys */
  int64_t full_tiles;  /* tiles of queries and keys without the mask's code: it hides nothing there, or there is none */
  int64_t partial_tiles; /* tiles on which the mask was evaluated */
  int64_t bytes;         /* of queries, keys and values, read for these tiles */
} attn_count;
/* Attention number `index` in the order in which they run; not 0 behind the last, and in a library that does not count.
 */
ATTN_API int32_t attn_model_count(const attn_model *model, int32_t index, attn_count *count);

/*===-- text --===*/

enum {
  ATTN_SPECIAL = 1 /* tokenize: add what the template adds ([CLS] …); detokenize: show the special tokens too */
};

/* The tokenizer of the model's folder, read at the first call and owned by the model. Null on failure. */
ATTN_API const attn_tokenizer *attn_model_tokenizer(attn_model *model);
/* A tokenizer.json on its own. Null on failure. */
ATTN_API attn_tokenizer *attn_tokenizer_create(const char *file);
/* Only for attn_tokenizer_create's. Null is allowed. */
ATTN_API void attn_tokenizer_free(attn_tokenizer *tokenizer);

/* Turns `bytes` bytes of UTF-8 into ids. Returns how many there are, of which the first `capacity` are written; -1 on
 * failure. */
ATTN_API int64_t attn_tokenize(const attn_tokenizer *tokenizer, const char *text, int64_t bytes, uint32_t flags,
                               int32_t *ids, int64_t capacity);
/* The same for a text and a second one (null: none), with what else is known of each token; each array may be null.
 *   types  the segment (0, 1)
 *   spans  two a token: the bytes [begin, end) of its text that it came from; both 0 for what the template added */
ATTN_API int64_t attn_tokenize_pair(const attn_tokenizer *tokenizer, const char *text, int64_t bytes,
                                    const char *second, int64_t second_bytes, uint32_t flags, int32_t *ids,
                                    int32_t *types, int64_t *spans, int64_t capacity);
/* The way back. Returns the number of bytes, of which the first `capacity` are written, without a zero; -1 on failure.
 */
ATTN_API int64_t attn_detokenize(const attn_tokenizer *tokenizer, const int32_t *ids, int64_t n, uint32_t flags,
                                 char *text, int64_t capacity);
/* One more than the highest id. */
ATTN_API int32_t attn_token_count(const attn_tokenizer *tokenizer);
/* The text of one token as the vocabulary spells it, zero-terminated; null if there is no such id. */
ATTN_API const char *attn_token_text(const attn_tokenizer *tokenizer, int32_t id);
/* The id of a token spelt so; -1 if there is none. */
ATTN_API int32_t attn_token_id(const attn_tokenizer *tokenizer, const char *text);

#ifdef __cplusplus
}
#endif
#endif
