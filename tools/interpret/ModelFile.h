// Tensors of a safetensors file in double, and weights made of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's reader opens and checks the file; how a weight follows from its tensors is said here again, naively, so
// that the runtime's binding and packing have something to be compared with.
#ifndef ATTN_TOOLS_INTERPRET_MODELFILE_H
#define ATTN_TOOLS_INTERPRET_MODELFILE_H
#include "dialect/interpreter/Interpreter.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <set>

namespace attn {
class Safetensors;

namespace interpreter {

class ModelFile {
public:
  static llvm::Expected<std::unique_ptr<ModelFile>> open(const std::string &path);
  ~ModelFile();

  /// The tensor under that name, or an error.
  llvm::Expected<Tensor> read(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const;
  std::vector<std::string> names() const;

  /// Weights of `module` by their parts' names: behind the module's prefixes, its renames applied to the file's.
  WeightProvider weights(mlir::ModuleOp module) const;

private:
  ModelFile();
  std::unique_ptr<Safetensors> file;
};

} // namespace interpreter
} // namespace attn
#endif
