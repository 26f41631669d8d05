// Tensors of a safetensors file in double, and weights made of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/interpret/ModelFile.h"
#include "dialect/AttnOps.h"
#include "runtime/Error.h"
#include "runtime/Floats.h"
#include "runtime/Safetensors.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace attn::interpreter {

ModelFile::ModelFile() : file(std::make_unique<Safetensors>()) {}
ModelFile::~ModelFile() = default;

llvm::Expected<std::unique_ptr<ModelFile>> ModelFile::open(const std::string &path) {
  auto model = std::unique_ptr<ModelFile>(new ModelFile);
  if (!model->file->openFile(path.c_str()))
    return llvm::createStringError(lastError());
  return model;
}

bool ModelFile::has(StringRef name) const {
  return file->find(std::string_view(name));
}

std::vector<std::string> ModelFile::names() const {
  std::vector<std::string> all;
  all.reserve(file->size());
  for (size_t i = 0; i < file->size(); ++i)
    all.emplace_back((*file)[i].name.view());
  return all;
}

/// Number `i` of the file's bytes.
template <class T> static T numberAt(std::string_view bytes, size_t i) {
  T number;
  std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
  return number;
}

llvm::Expected<Tensor> ModelFile::read(StringRef name) const {
  const FileTensor *found = file->find(std::string_view(name));
  if (!found)
    return llvm::createStringError("no tensor `" + name + "`");
  Tensor tensor(ArrayRef(found->shape.data(), found->shape.size()));
  for (size_t i = 0; i < tensor.numbers.size(); ++i) {
    if (found->type == "F32")
      tensor.numbers[i] = numberAt<float>(found->bytes, i);
    else if (found->type == "F64")
      tensor.numbers[i] = numberAt<double>(found->bytes, i);
    else if (found->type == "F16")
      tensor.numbers[i] = floatOfFloat16(numberAt<uint16_t>(found->bytes, i));
    else if (found->type == "BF16")
      tensor.numbers[i] = floatOfBfloat16(numberAt<uint16_t>(found->bytes, i));
    else if (found->type == "I64")
      tensor.numbers[i] = static_cast<double>(numberAt<int64_t>(found->bytes, i));
    else if (found->type == "I32")
      tensor.numbers[i] = numberAt<int32_t>(found->bytes, i);
    else
      return llvm::createStringError("tensor `" + name + "` has type " + StringRef(found->type));
  }
  return tensor;
}

// ---- weights

namespace {

/// The names of a module's weights and what the file calls them.
struct Naming {
  std::vector<std::string> prefixes;
  std::map<std::string, std::string> fileNames; // as the text calls them

  Naming(ModuleOp module, const ModelFile &file) {
    if (auto given = module->getAttrOfType<ArrayAttr>("attn.prefixes"))
      for (StringRef prefix : given.getAsValueRange<StringAttr>())
        prefixes.push_back(prefix.str());
    if (prefixes.empty())
      prefixes.emplace_back();
    auto renames = module->getAttrOfType<ArrayAttr>("attn.renames");
    for (const std::string &name : file.names()) {
      std::string renamed = name;
      for (Attribute entry : renames ? renames.getValue() : ArrayRef<Attribute>()) {
        auto pair = cast<ArrayAttr>(entry);
        renamed = replaceAll(renamed, cast<StringAttr>(pair[0]).getValue(), cast<StringAttr>(pair[1]).getValue());
      }
      fileNames[renamed] = name;
    }
  }

  static std::string replaceAll(StringRef text, StringRef from, StringRef to) {
    std::string result;
    for (size_t at; !from.empty() && (at = text.find(from)) != StringRef::npos;
         text = text.drop_front(at + from.size()))
      result += (text.take_front(at) + to).str();
    return result + text.str();
  }

  /// The file's name for a name of the text; "" if there is none.
  std::string find(StringRef name) const {
    if (name.consume_front("/"))
      if (auto place = fileNames.find(name.str()); place != fileNames.end())
        return place->second;
    for (const std::string &prefix : prefixes)
      if (auto place = fileNames.find(prefix + name.str()); place != fileNames.end())
        return place->second;
    return "";
  }
};

} // namespace

/// A part as its type lays it out; where the file has the last dimension first, it comes last.
static std::vector<double> layOut(const Tensor &part, int64_t width, bool inOut) {
  if (!inOut || width == 0)
    return part.numbers;
  std::vector<double> numbers(part.numbers.size());
  size_t rows = part.numbers.size() / width;
  for (size_t k = 0; k < static_cast<size_t>(width); ++k)
    for (size_t r = 0; r < rows; ++r)
      numbers[r * width + k] = part.numbers[k * rows + r];
  return numbers;
}

WeightProvider ModelFile::weights(ModuleOp module) const {
  return [this, naming = Naming(module, *this)](WeightOp op, ArrayRef<int64_t> turns) -> FailureOr<Tensor> {
    auto type = cast<RankedTensorType>(op.getType());
    Tensor whole(type.getShape());
    auto next = whole.numbers.begin();
    for (StringRef pattern : op.getParts().getAsValueRange<StringAttr>()) {
      std::string name = fillTurns(pattern, turns);
      llvm::Expected<Tensor> part = read(naming.find(name));
      if (!part) {
        llvm::consumeError(part.takeError());
        return op.emitError() << "the file has no tensor `" << name << "`";
      }
      std::vector<double> numbers = layOut(*part, type.getShape().back(), op.getStored() == "in_out");
      if (numbers.size() > static_cast<size_t>(whole.numbers.end() - next))
        return op.emitError() << "tensor `" << name << "` has too many numbers";
      next = std::copy(numbers.begin(), numbers.end(), next);
    }
    if (next != whole.numbers.end())
      return op.emitError("the tensors of the file have too few numbers");
    return whole;
  };
}

} // namespace attn::interpreter
