// Runs a function: claims the sessions, checks all that was passed, finds scratch memory, calls the generated code.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/CallState.h"
#include "runtime/Error.h"

using namespace attn;

namespace {

// The sessions of one call while it has them.
class Claims {
public:
  ~Claims() {
    for (int64_t i = 0; i < held; ++i)
      sessions[i]->leave();
  }
  bool claim(attn_session *const *all, int64_t n);

private:
  attn_session *const *sessions = nullptr;
  int64_t held = 0;
};

bool Claims::claim(attn_session *const *all, int64_t n) {
  sessions = all;
  for (; held < n; ++held) {
    const void *by;
    long long i = held;
    if (!all[held])
      return fail("session %lld of the call is null", i);
    if (all[held]->model != all[0]->model)
      return fail("session %lld of the call belongs to another model than session 0", i);
    if (!all[held]->claim(this, by))
      return by == this ? fail("session %lld of the call is in it twice", i)
                        : fail("session %lld of the call is in use by another call", i);
  }
  return true;
}

class Call {
public:
  Call(attn_session *const *all, const CallShape &sizes)
      : session(*all[0]), function(sizes.function), shape(sizes), state(sizes, all) {}
  bool run(int32_t index, const void *const *given, void *const *wanted);

private:
  bool checkInputs(const void *const *given);
  bool checkInput(const attn_value &param, const void *given);
  bool checkLimit(const attn_value &param, const int32_t *ids, int64_t numbers) const;
  bool checkOutputs(void *const *wanted);
  bool findScratch(attn_entry *entry, attn_call &call);
  void fillDefaults(char *memory);

  attn_session &session; // the first one: its scratch memory, its probe
  const FunctionSpec &function;
  const CallShape &shape;
  CallState state;
  Array<const void *> inputs; // null until fillDefaults for those to be filled
  Array<void *> outputs;
  Array<int64_t> numbers; // of each parameter
  int64_t defaultBytes = 0;
};

alignas(64) char nothing[64]; // where tensors without numbers lie

bool Call::checkInputs(const void *const *given) {
  if (!given && function.signature.params)
    return fail("function `%s`: the inputs are null", function.signature.name);
  for (int32_t p = 0; p < function.signature.params; ++p)
    if (!checkInput(function.params[static_cast<size_t>(p)], given[p]))
      return false;
  return true;
}

bool Call::checkInput(const attn_value &param, const void *given) {
  int64_t count;
  if (!shape.count(param, count))
    return false;
  numbers.push(count);
  inputs.push(count ? given : nothing);
  if (count == 0)
    return true;
  if (given)
    return param.limit == 0 || checkLimit(param, static_cast<const int32_t *>(given), count);
  defaultBytes += aligned(count * 4);
  return param.has_default ||
         fail("function `%s`: parameter `%s` is null and has no default", function.signature.name, param.name);
}

bool Call::checkLimit(const attn_value &param, const int32_t *ids, int64_t count) const {
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] >= 0 && ids[i] < param.limit)
      continue;
    int64_t b = 0, place = i;
    for (int64_t size; place >= (size = shape.numbersOf(param, b)); ++b)
      place -= size;
    return fail("function `%s`: parameter `%s` holds %d at place %lld of sequence %lld, it should be in 0 .. %lld",
                function.signature.name, param.name, ids[i], static_cast<long long>(place), static_cast<long long>(b),
                static_cast<long long>(param.limit - 1));
  }
  return true;
}

bool Call::checkOutputs(void *const *wanted) {
  if (!wanted && function.signature.results)
    return fail("function `%s`: the outputs are null", function.signature.name);
  for (int32_t r = 0; r < function.signature.results; ++r) {
    int64_t count;
    if (!shape.count(function.results[static_cast<size_t>(r)], count))
      return false;
    if (count && !wanted[r])
      return fail("function `%s`: output %d is null", function.signature.name, r);
    outputs.push(count ? wanted[r] : nothing);
  }
  return true;
}

bool Call::findScratch(attn_entry *entry, attn_call &call) {
  call.arena = nullptr;
  call.arena_bytes = 0;
  int32_t status = entry(&call);
  if (status != 0 || call.arena_bytes < 0)
    return fail("function `%s`: the generated code could not size its memory (%d)", function.signature.name, status);
  int64_t bytes;
  bool fits = !__builtin_add_overflow(aligned(call.arena_bytes % (INT64_MAX - alignment)), defaultBytes, &bytes);
  call.arena = fits ? session.scratch(bytes) : nullptr;
  if (!call.arena)
    return fail("function `%s`: out of memory: the call needs %lld bytes of scratch", function.signature.name,
                static_cast<long long>(call.arena_bytes + defaultBytes));
  fillDefaults(call.arena + aligned(call.arena_bytes));
  return true;
}

void Call::fillDefaults(char *memory) {
  for (size_t p = 0; p < inputs.size(); ++p) {
    if (inputs[p])
      continue;
    const attn_value &param = function.params[p];
    for (int64_t i = 0; i < numbers[p]; ++i)
      if (param.type == ATTN_INT32)
        reinterpret_cast<int32_t *>(memory)[i] = static_cast<int32_t>(param.default_number);
      else
        reinterpret_cast<float *>(memory)[i] = static_cast<float>(param.default_number);
    inputs[p] = memory;
    memory += aligned(numbers[p] * 4);
  }
}

bool Call::run(int32_t index, const void *const *given, void *const *wanted) {
  if (!state.check() || !checkInputs(given) || !checkOutputs(wanted))
    return false;
  attn_model &model = *session.model;
  attn_entry *entry = model.program.entries[index];
  attn_tap_frame taps = {session.probe, session.probeUser, shape.n, shape.offsets};
  attn_call call = {};
  call.sequences = shape.n;
  call.offsets = shape.offsets;
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  call.weights = model.weights.pointers();
  call.pool = &model;
  call.probe = taps.probe ? &taps : nullptr;
  if (!state.show(call) || !findScratch(entry, call))
    return false;
  int32_t status = entry(&call);
  if (status != 0)
    return fail("function `%s`: the generated code failed (%d)", function.signature.name, status);
  state.commit();
  return true;
}

// A function that may be called with n sequences so laid out.
const FunctionSpec *checkFunction(const attn_model &model, int32_t index) {
  if (index < 0 || static_cast<size_t>(index) >= model.metadata.functions.size()) {
    fail("model `%s` has no function number %d", attn_model_name(&model), index);
    return nullptr;
  }
  return &model.metadata.functions[static_cast<size_t>(index)];
}

bool runClaimed(attn_session *const *sessions, int64_t n, int32_t index, const void *const *inputs,
                const int64_t *const *offsets, void *const *outputs) {
  const FunctionSpec *function = checkFunction(*sessions[0]->model, index);
  if (!function)
    return false;
  if (function->signature.missing)
    return fail("function `%s` was left out: %s", function->signature.name, function->signature.missing);
  CallShape shape = {*function, n, offsets};
  return shape.check() && Call(sessions, shape).run(index, inputs, outputs);
}

struct Kernel {
  attn_call *call;
  attn_kernel *kernel;
  const void *args;
};

void runKernel(void *context, int64_t task) {
  const Kernel &kernel = *static_cast<const Kernel *>(context);
  kernel.kernel(kernel.call, kernel.args, task);
}

// Fills in {0}, {1} … of a tap's name.
Text tapName(const char *name, const int64_t *turns) {
  Text out;
  for (; *name; ++name) {
    if (name[0] == '{' && name[1] >= '0' && name[1] <= '9' && name[2] == '}') {
      out.format("%lld", static_cast<long long>(turns[name[1] - '0']));
      name += 2;
    } else {
      out.append(*name);
    }
  }
  return out;
}

} // namespace

int32_t attn_run(attn_session *const *sessions, int64_t n, int32_t function, const void *const *inputs,
                 const int64_t *const *offsets, void *const *outputs) {
  if (!sessions || n < 1) {
    fail("a call has at least one session");
    return 1;
  }
  Claims claims;
  if (!claims.claim(sessions, n))
    return 1;
  bool done = runClaimed(sessions, n, function, inputs, offsets, outputs);
  for (int64_t i = 0; i < n; ++i) {
    sessions[i]->error.clear();
    if (!done)
      sessions[i]->error.append(lastError());
  }
  return done ? 0 : 1;
}

int64_t attn_output_size(const attn_model *model, int32_t function, int32_t result, int64_t n,
                         const int64_t *const *offsets) {
  const FunctionSpec *spec = checkFunction(*model, function);
  if (!spec)
    return -1;
  if (result < 0 || result >= spec->signature.results) {
    fail("function `%s` has no result number %d", spec->signature.name, result);
    return -1;
  }
  CallShape shape = {*spec, n, offsets};
  int64_t numbers;
  return shape.check() && shape.count(spec->results[static_cast<size_t>(result)], numbers) ? numbers : -1;
}

void attn_rt_parallel_for(attn_call *call, attn_kernel *kernel, const void *args, int64_t tasks) {
  Kernel context = {call, kernel, args};
  static_cast<attn_model *>(call->pool)->pool.run(runKernel, &context, tasks);
}

int64_t attn_rt_threads(attn_call *call) {
  return static_cast<attn_model *>(call->pool)->pool.threadsInForce();
}

void attn_rt_count(attn_call *call, int64_t place, const int64_t *counts) {
  static_cast<attn_model *>(call->pool)->counts.add(static_cast<size_t>(place), counts);
}

void attn_rt_tap(attn_call *call, const char *name, int64_t rank, const int64_t *dims, const int64_t *turns,
                 const void *data) {
  if (!call->probe)
    return;
  const attn_tap_frame &frame = *static_cast<const attn_tap_frame *>(call->probe);
  frame.probe(frame.user, tapName(name, turns).c_str(), static_cast<int32_t>(rank), dims, frame.n, frame.offsets,
              static_cast<const float *>(data));
}
