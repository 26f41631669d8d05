// Which tensor of the file a name of the text means.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/WeightNames.h"
#include "runtime/Error.h"

namespace attn {
namespace {

Text replaceAll(View name, View from, View to) {
  Text out;
  size_t at = 0;
  for (size_t next; (next = name.find(from, at)) != View::npos; at = next + from.size())
    out.append(View(name.data() + at, next - at)).append(to);
  return std::move(out.append(View(name.data() + at, name.size() - at)));
}

// A name of the file as the text calls it.
Text renamedBy(const Metadata &metadata, View inFile) {
  Text name(inFile);
  for (const auto &rename : metadata.renames)
    name = replaceAll(name.view(), rename.first, rename.second);
  return name;
}

} // namespace

WeightNames::WeightNames(const Metadata &about, const Safetensors &tensors) : metadata(about), file(tensors) {
  for (size_t i = 0; i < file.size(); ++i) {
    renamed.push(renamedBy(metadata, file[i].name.view()));
    twins.push(-1);
  }
  for (size_t i = 0; i < file.size(); ++i)
    if (!table.add(renamed[i].view(), static_cast<int64_t>(i)))
      twins[static_cast<size_t>(table.find(renamed[i].view()))] = static_cast<int64_t>(i);
}

// Finds one full name; fails if two tensors were renamed to it.
bool WeightNames::lookUp(View name, const FileTensor *&found) const {
  int64_t i = table.find(name);
  found = i < 0 ? nullptr : &file[static_cast<size_t>(i)];
  if (!found || twins[static_cast<size_t>(i)] < 0)
    return true;
  return fail("`%s`: tensors `%s` and `%s` are both `%.*s`", found->file, found->name.c_str(),
              file[static_cast<size_t>(twins[static_cast<size_t>(i)])].name.c_str(), static_cast<int>(name.size()),
              name.data());
}

bool WeightNames::resolve(View name, const FileTensor *&found) const {
  found = nullptr;
  if (!name.empty() && name[0] == '/') {
    name.remove_prefix(1);
    if (!lookUp(name, found))
      return false;
    if (found)
      return true;
  }
  for (View prefix : metadata.prefixes) {
    const FileTensor *here;
    if (!lookUp(Text(prefix).append(name).view(), here))
      return false;
    if (here && found && here != found)
      return fail("`%s`: both `%s` and `%s` could be `%.*s`", found->file, found->name.c_str(), here->name.c_str(),
                  static_cast<int>(name.size()), name.data());
    found = here ? here : found;
  }
  return true;
}

Text expandTurns(View name, const Array<int64_t> &turns) {
  Text out(name);
  for (size_t i = 0; i < turns.size(); ++i) {
    Text from, to;
    from.format("{%zu}", i);
    to.format("%lld", static_cast<long long>(turns[i]));
    out = replaceAll(out.view(), from.view(), to.view());
  }
  return out;
}

bool matchesGlob(View glob, View name) {
  size_t g = 0, n = 0, star = View::npos, resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == name[n])) {
      ++g, ++n;
    } else if (star != View::npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*')
    ++g;
  return g == glob.size();
}

} // namespace attn
