// The fake program's model folder, and programs with other metadata.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TEST_FAKE_MODEL_H
#define ATTN_TEST_FAKE_MODEL_H
#include "FakeProgram.h"
#include "TestFiles.h"
#include "runtime/Model.h"
#include <memory>

namespace attn::test {

// table = [[1, 2], [3, 4], [5, 6]]; w of both turns; b = [10, 20]; g = [2, 3].
std::vector<TestTensor> fakeTensors();
std::vector<TestTensor> fakeTensorsWithout(const std::string &name);

struct FreeModel {
  void operator()(attn_model *model) const { attn_model_free(model); }
};
using ModelPointer = std::unique_ptr<attn_model, FreeModel>;

struct FreeSession {
  void operator()(attn_session *session) const { attn_session_free(session); }
};
using SessionPointer = std::unique_ptr<attn_session, FreeSession>;

using Floats = std::vector<float>;

class FakeFolder : public TestFolder {
public:
  FakeFolder();
  void tensors(const std::vector<TestTensor> &tensors) const;
  void config(const std::string &json) const { write("config.json", json); }
  ModelPointer create(uint32_t flags = 0) const;
  // Why attn_model_create fails, the folder's name taken out; "" if it doesn't.
  std::string failure(uint32_t flags = 0) const;
  std::string withoutPath(std::string message) const;
};

// Why a program with this metadata is refused; "" if it isn't.
std::string metadataFailure(const std::string &metadata);

} // namespace attn::test
#endif
