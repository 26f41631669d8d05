// ModelHeader.cpp: the part of model.h that is about one model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     enum { BERT_HIDDEN = 0 };
//
//     /* hidden(ids[T], types[T] = 0) -> [T, 48] */
//     static inline int32_t bert_hidden(attn_session *const *sessions, int64_t n, const int64_t *T_offsets,
//                                       const int32_t *ids, const int32_t *types, float *result) { … attn_run(…) … }
//
// Names of the text are C names but for words that C or C++ keep for themselves; those, names that attn.h has declared,
// and names that come twice (`run` and `Run` have one constant) get a `_`.
#include "tools/ModelHeader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn {

namespace {

/// Words of C and C++, names of <stdint.h> that the header uses, and macros of this kind of machine.
constexpr StringLiteral reserved =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend "
    "goto if inline int int32_t int64_t linux long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public register reinterpret_cast requires restrict return short "
    "signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof uint32_t union unix unsigned using virtual void volatile wchar_t while "
    "xor xor_eq";

/// Gives every name a spelling of its own.
class Names {
public:
  /// Those that attn.h, whose text this is, declares are taken too.
  explicit Names(StringRef interface) {
    for (StringRef word : split(reserved, ' '))
      taken.insert(word);
    auto inside = [](char c) { return isAlnum(c) || c == '_'; };
    while (!interface.empty()) {
      StringRef word = interface.take_while(inside);
      if (word.starts_with_insensitive("attn_"))
        taken.insert(word);
      interface = interface.drop_front(std::max<size_t>(word.size(), 1));
    }
  }

  /// A name as near to the wanted one as can be, in C's letters.
  std::string of(StringRef wanted) {
    std::string name;
    for (char c : wanted)
      name += isAlnum(c) ? c : '_';
    if (name.empty() || isDigit(name[0]))
      name.insert(0, "_");
    while (!taken.insert(name).second)
      name += "_";
    return name;
  }

private:
  StringSet<> taken;
};

template <typename Visit> void each(const json::Object &object, StringRef key, Visit visit) {
  if (const json::Array *list = object.getArray(key))
    for (const json::Value &value : *list)
      visit(value);
}

/// `ids[T]`, `[T, 384]`
std::string shapeOf(const json::Object &value) {
  std::string text = value.getString("name").value_or("").str();
  SmallVector<std::string> dims;
  each(value, "dims", [&](const json::Value &dim) {
    dims.push_back(dim.getAsString() ? dim.getAsString()->str() : std::to_string(dim.getAsInteger().value_or(0)));
  });
  text += "[" + join(dims, ", ") + "]";
  if (const json::Value *number = value.get("default"))
    text += formatv(" = {0}", number->getAsNumber().value_or(0)).str();
  return text;
}

std::string shapesOf(const json::Object &function, StringRef key) {
  SmallVector<std::string> all;
  each(function, key, [&](const json::Value &value) { all.push_back(shapeOf(*value.getAsObject())); });
  return join(all, ", ");
}

/// A function of the model and what it is called in C.
struct Called {
  const json::Object *function;
  std::string constant; // its number
  std::string name;
};

/// `static inline int32_t MODEL_NAME(…) { … }`
void writeCall(raw_ostream &os, const Called &called, Names names) {
  const json::Object &function = *called.function;
  for (StringRef own : {"sessions", "n", "attn_offsets", "attn_inputs", "attn_outputs"})
    names.of(own);
  SmallVector<std::string> parameters = {"attn_session *const *sessions", "int64_t n"}, offsets, inputs, outputs;
  each(function, "sequences", [&](const json::Value &name) {
    offsets.push_back(names.of(name.getAsString()->str() + "_offsets"));
    parameters.push_back("const int64_t *" + offsets.back());
  });
  each(function, "params", [&](const json::Value &value) {
    const json::Object &param = *value.getAsObject();
    inputs.push_back(names.of(*param.getString("name")));
    parameters.push_back((param.getString("type") == "i32" ? "const int32_t *" : "const float *") + inputs.back());
  });
  each(function, "results", [&](const json::Value &value) {
    StringRef name = value.getAsObject()->getString("name").value_or("");
    outputs.push_back(names.of(name.empty() ? "result" : name));
    parameters.push_back("float *" + outputs.back());
  });
  offsets.push_back("0"); // C has no empty arrays
  inputs.push_back("0");
  outputs.push_back("0");
  os << "/* " << *function.getString("name") << "(" << shapesOf(function, "params") << ") -> "
     << shapesOf(function, "results") << " */\n"
     << "static inline int32_t " << called.name << "(" << join(parameters, ", ") << ") {\n"
     << "  const int64_t *attn_offsets[] = {" << join(offsets, ", ") << "};\n"
     << "  const void *attn_inputs[] = {" << join(inputs, ", ") << "};\n"
     << "  void *attn_outputs[] = {" << join(outputs, ", ") << "};\n"
     << "  return attn_run(sessions, n, " << called.constant << ", attn_inputs, attn_offsets, attn_outputs);\n}\n";
}

} // namespace

std::string headerOfModel(const json::Object &metadata, StringRef interface) {
  StringRef model = metadata.getString("model").value_or("model");
  std::string prefix = Names("").of(model), upper = StringRef(prefix).upper();
  std::string text;
  raw_string_ostream os(text);
  os << "\n#ifndef ATTN_MODEL_" << upper << "_H\n#define ATTN_MODEL_" << upper << "_H\n"
     << "/* The functions of `" << model
     << "`: their numbers, and C functions that call them. Arguments as for attn_run. */\n";
  Names names(interface);
  SmallVector<Called> all;
  each(metadata, "functions", [&](const json::Value &value) {
    StringRef name = *value.getAsObject()->getString("name");
    all.push_back({value.getAsObject(), names.of(upper + "_" + name.upper()), names.of(prefix + "_" + name.str())});
  });
  for (const auto &[number, called] : enumerate(all)) {
    os << "enum { " << called.constant << " = " << number << " };\n";
    writeCall(os, called, names);
  }
  os << "#endif\n";
  return text;
}

} // namespace attn
