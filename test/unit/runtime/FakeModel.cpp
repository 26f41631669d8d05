// The fake program's model folder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FakeModel.h"
#include "runtime/Error.h"

// Under AddressSanitizer as without it: memory that cannot be had is null.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1:quarantine_size_mb=16"; // less than the tests of memory free
}

namespace attn::test {

std::vector<TestTensor> fakeTensors() {
  return {floats("emb.weight", {3, 2}, {1, 2, 3, 4, 5, 6}),
          floats("layer.0.q", {1, 2}, {7, 7}),
          floats("layer.0.k", {1, 2}, {7, 7}),
          floats("layer.1.q", {2}, {1, 2}),
          floats("layer.1.k", {1, 2}, {3, 4}),
          floats("ln.gamma", {2}, {10, 20}),
          floats("g", {2}, {2, 3})};
}

std::vector<TestTensor> fakeTensorsWithout(const std::string &name) {
  std::vector<TestTensor> kept;
  for (const TestTensor &tensor : fakeTensors())
    if (tensor.name != name)
      kept.push_back(tensor);
  return kept;
}

FakeFolder::FakeFolder() {
  tensors(fakeTensors());
  config(R"({"hidden_size": 2, "rope": {"theta": 10000.0}})");
}

void FakeFolder::tensors(const std::vector<TestTensor> &tensors) const {
  write("model.safetensors", safetensorsOf(tensors));
}

ModelPointer FakeFolder::create(uint32_t flags) const {
  return ModelPointer(attn_model_create_with(folder.c_str(), flags));
}

std::string FakeFolder::failure(uint32_t flags) const {
  return create(flags) ? "" : withoutPath(attn_last_error());
}

std::string FakeFolder::withoutPath(std::string message) const {
  for (size_t at; (at = message.find(folder)) != std::string::npos;)
    message.replace(at, folder.size(), "DIR");
  return message;
}

std::string metadataFailure(const std::string &metadata) {
  attn_program program = attn_this_program;
  program.metadata = metadata.c_str();
  Metadata read;
  return read.read(program) ? "" : lastError();
}

} // namespace attn::test
