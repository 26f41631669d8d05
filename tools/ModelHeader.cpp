// ModelHeader.cpp: the part of model.h that is about one model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//     enum { BERT_HIDDEN = 0 };
//
//     /* hidden(ids[T], types[T] = 0) -> [T, 48] */
//     static inline int32_t bert_hidden(attn_session *const *sessions, int64_t n, const int64_t *T_offsets,
//                                       const int32_t *ids, const int32_t *types, float *result) { … attn_run(…) … }
//
// Names of the text are C names but for a few words that C keeps for itself; those, and names used twice, get a `_`.
#include "tools/ModelHeader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace attn {

namespace {

/// Gives every name of one C function a spelling of its own.
class Names {
public:
  Names() {
    for (const char *word :
         {"auto",   "break",        "case",        "char",        "class",  "const",    "continue", "default",
          "delete", "do",           "double",      "else",        "enum",   "extern",   "float",    "for",
          "goto",   "if",           "inline",      "int",         "long",   "new",      "register", "restrict",
          "return", "short",        "signed",      "sizeof",      "static", "struct",   "switch",   "template",
          "this",   "typedef",      "union",       "unsigned",    "void",   "volatile", "while",    "sessions",
          "n",      "attn_offsets", "attn_inputs", "attn_outputs"})
      taken.insert(word);
  }

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

std::string identifier(StringRef text) {
  return Names().of(text);
}

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

/// `static inline int32_t MODEL_NAME(…) { … }`
void writeCall(raw_ostream &os, const json::Object &function, StringRef model, StringRef number) {
  Names names;
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
     << "static inline int32_t " << identifier(model) << "_" << *function.getString("name") << "("
     << join(parameters, ", ") << ") {\n"
     << "  const int64_t *attn_offsets[] = {" << join(offsets, ", ") << "};\n"
     << "  const void *attn_inputs[] = {" << join(inputs, ", ") << "};\n"
     << "  void *attn_outputs[] = {" << join(outputs, ", ") << "};\n"
     << "  return attn_run(sessions, n, " << number << ", attn_inputs, attn_offsets, attn_outputs);\n}\n";
}

} // namespace

std::string headerOfModel(const json::Object &metadata) {
  StringRef model = metadata.getString("model").value_or("model");
  std::string upper = StringRef(identifier(model)).upper();
  std::string text;
  raw_string_ostream os(text);
  os << "\n#ifndef ATTN_MODEL_" << upper << "_H\n#define ATTN_MODEL_" << upper << "_H\n"
     << "/* The functions of `" << model
     << "`: their numbers, and C functions that call them. Arguments as for attn_run. */\n";
  int number = 0;
  each(metadata, "functions", [&](const json::Value &value) {
    const json::Object &function = *value.getAsObject();
    std::string constant = upper + "_" + function.getString("name")->upper();
    os << "enum { " << constant << " = " << number++ << " };\n";
    writeCall(os, function, model, constant);
  });
  os << "#endif\n";
  return text;
}

} // namespace attn
