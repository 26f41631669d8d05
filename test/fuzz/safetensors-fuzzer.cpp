// safetensors-fuzzer.cpp: any bytes as a weight file, up to a model that is made of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beyond not crashing it holds that the tensors of a file that opens lie in it, have the size of their shape and do not
// overlap, and that a refusal says why.
#include "runtime/Error.h"
#include "runtime/Model.h"
#include "test/unit/runtime/FakeProgram.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace attn;

namespace {

void hold(bool condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

void checkTensors(const Safetensors &file, size_t fileSize) {
  size_t bytes = 0;
  unsigned sum = 0;
  for (size_t i = 0; i < file.size(); ++i) {
    const FileTensor &tensor = file[i];
    hold(file.find(tensor.name.view()) == &tensor, "a tensor is found by its name");
    hold(tensor.elements() >= 0, "a shape can be multiplied");
    hold(tensor.type != "F32" || static_cast<size_t>(tensor.elements()) * 4 == tensor.bytes.size(),
         "bytes fit the shape");
    bytes += tensor.bytes.size();
    for (char byte : tensor.bytes)
      sum += static_cast<unsigned char>(byte);
  }
  hold(bytes <= fileSize && sum <= 255 * bytes, "tensors can be read and do not overlap");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int memory = memfd_create("fuzz", MFD_CLOEXEC);
  if (memory < 0 || write(memory, data, size) != static_cast<ssize_t>(size))
    abort();
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  {
    Safetensors file;
    if (file.openFile(path))
      checkTensors(file, size);
    else
      hold(*lastError(), "a refusal says why");
  }
  attn_model *model = createModel(attn_this_program, path, 0);
  hold(model || *lastError(), "a refusal says why");
  attn_model_free(model);
  close(memory);
  return 0;
}
