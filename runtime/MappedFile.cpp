// A file as bytes of memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/MappedFile.h"
#include "runtime/Error.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attn {

MappedFile::~MappedFile() {
  if (start)
    munmap(const_cast<char *>(start), length);
}

bool MappedFile::open(const char *path) {
  int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail("`%s`: cannot be opened: %s", path, strerror(errno));
  struct stat about;
  bool regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  // Nothing can be mapped of an empty file; it stays without bytes.
  void *memory = MAP_FAILED;
  if (regular && about.st_size > 0)
    memory = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  int reason = errno;
  close(file);
  if (!regular)
    return fail("`%s`: is not a regular file", path);
  if (about.st_size > 0 && memory == MAP_FAILED)
    return fail("`%s`: cannot be mapped: %s", path, strerror(reason));
  if (about.st_size > 0) {
    start = static_cast<const char *>(memory);
    length = static_cast<size_t>(about.st_size);
  }
  return true;
}

void forgetPages(View bytes) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t before = (page - reinterpret_cast<uintptr_t>(bytes.data()) % page) % page; // bytes of a page begun by others
  if (bytes.size() < before + page)
    return;
  bytes.remove_prefix(before);
  madvise(const_cast<char *>(bytes.data()), bytes.size() / page * page, MADV_DONTNEED);
}

bool isFolder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

bool isFile(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

} // namespace attn
