// LibraryFile.cpp: from an object file to what a C program links.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared library is linked by ld.lld without crt objects, so that it needs nothing but libc and libm;
// --whole-archive, because nothing in the generated code refers to the functions that users call; a version script,
// because everything else is nobody's business. An archive holds the object and the members of the runtime.
#include "tools/LibraryFile.h"

#include "tools/ModelHeader.h"
#include "tools/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace attn {

namespace {

/// A file of ../lib.
std::string ownFile(StringRef name) {
  static int anchor;
  SmallString<256> path(sys::fs::getMainExecutable("attnc", &anchor));
  sys::path::remove_filename(path);
  sys::path::append(path, "..", "lib", name);
  return std::string(path);
}

std::unique_ptr<MemoryBuffer> readOwnFile(StringRef name, Diagnostics &diags) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(ownFile(name));
  if (!buffer)
    diags.error("attnc is not whole: cannot read `" + ownFile(name) + "`");
  return buffer ? std::move(*buffer) : nullptr;
}

/// A folder that goes with all that is in it.
class ScratchFolder {
public:
  bool create(Diagnostics &diags) {
    std::error_code error = sys::fs::createUniqueDirectory("attnc", folder);
    if (error)
      diags.error("cannot make a scratch folder: " + error.message());
    return !error;
  }
  ~ScratchFolder() {
    if (!folder.empty())
      sys::fs::remove_directories(folder);
  }
  std::string file(StringRef name) const {
    SmallString<256> path(folder);
    sys::path::append(path, name);
    return std::string(path);
  }

private:
  SmallString<256> folder;
};

/// Runs ld.lld; what it says on standard error is the rest of the message.
bool link(ArrayRef<StringRef> arguments, Diagnostics &diags) {
  SmallVector<StringRef> folders = {ATTN_LLVM_TOOLS};
  ErrorOr<std::string> linker = sys::findProgramByName("ld.lld", folders);
  if (!linker)
    linker = sys::findProgramByName("ld.lld");
  if (!linker) {
    diags.error("there is no `ld.lld` in `" ATTN_LLVM_TOOLS "` or on the path");
    return false;
  }
  SmallVector<StringRef> all = {"ld.lld"};
  all.append(arguments.begin(), arguments.end());
  if (sys::ExecuteAndWait(*linker, all) == 0)
    return true;
  diags.error("internal error: the linker does not accept the library");
  return false;
}

bool linkShared(const ScratchFolder &scratch, StringRef path, Diagnostics &diags) {
  std::string script = "--version-script=" + ownFile("exports.map"), object = scratch.file("model.o");
  std::string runtime = ownFile("libattnrt.a"), output = scratch.file("lib.so");
  std::string name = ("-soname=" + sys::path::filename(path)).str();
  return link({"-shared",
               "--gc-sections",
               "--as-needed",
               "-z",
               "relro",
               "-z",
               "now",
               "-z",
               "noexecstack",
               script,
               name,
               "-o",
               output,
               object,
               "--whole-archive",
               runtime,
               "--no-whole-archive",
               "-L/lib/" ATTN_TRIPLE,
               "-L/usr/lib/" ATTN_TRIPLE,
               "-L/lib64",
               "-L/usr/lib64",
               "-l:libm.so.6",
               "-l:libc.so.6"},
              diags);
}

bool writeArchiveOf(const ScratchFolder &scratch, StringRef object, Diagnostics &diags) {
  std::unique_ptr<MemoryBuffer> runtime = readOwnFile("libattnrt.a", diags);
  if (!runtime)
    return false;
  auto failed = [&](Error error) {
    diags.error("attnc is not whole: `" + ownFile("libattnrt.a") + "`: " + toString(std::move(error)));
    return false;
  };
  Expected<std::unique_ptr<object::Archive>> archive = object::Archive::create(*runtime);
  if (!archive)
    return failed(archive.takeError());
  std::vector<NewArchiveMember> members;
  members.emplace_back(MemoryBufferRef(object, "model.o"));
  Error error = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    Expected<NewArchiveMember> member = NewArchiveMember::getOldMember(child, /*Deterministic=*/true);
    if (!member)
      return failed(member.takeError());
    members.push_back(std::move(*member));
  }
  if (error)
    return failed(std::move(error));
  error = writeArchive(scratch.file("lib.a"), members, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                       /*Deterministic=*/true, /*Thin=*/false);
  return error ? failed(std::move(error)) : true;
}

} // namespace

std::string headerOf(StringRef metadata, Diagnostics &diags) {
  std::unique_ptr<MemoryBuffer> interface = readOwnFile("attn.h", diags);
  Expected<json::Value> parsed = json::parse(metadata);
  const json::Object *root = parsed ? parsed->getAsObject() : nullptr;
  if (!root)
    diags.error("internal error: the metadata is not JSON");
  if (!parsed)
    consumeError(parsed.takeError());
  return interface && root ? interface->getBuffer().str() + headerOfModel(*root, interface->getBuffer()) : "";
}

bool writeLibrary(StringRef path, StringRef object, StringRef metadata, Diagnostics &diags) {
  std::string header = headerOf(metadata, diags);
  ScratchFolder scratch;
  if (header.empty() || !scratch.create(diags))
    return false;
  bool archive = path.ends_with(".a");
  bool made = archive ? writeArchiveOf(scratch, object, diags)
                      : writeOutput(scratch.file("model.o"), object, diags) && linkShared(scratch, path, diags);
  if (!made)
    return false;
  std::string library = scratch.file(archive ? "lib.a" : "lib.so");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(library);
  if (!buffer) {
    diags.error("cannot read `" + library + "`: " + buffer.getError().message());
    return false;
  }
  SmallString<256> beside(sys::path::parent_path(path));
  sys::path::append(beside, "model.h");
  OutputFile first(path, diags), second(beside, diags);
  return first.prepare((*buffer)->getBuffer(), /*executable=*/!archive) && second.prepare(header) && first.deliver() &&
         second.deliver();
}

} // namespace attn
