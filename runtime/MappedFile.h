// A file as bytes of memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_RUNTIME_MAPPED_FILE_H
#define ATTN_RUNTIME_MAPPED_FILE_H
#include "runtime/Memory.h"

namespace attn {

class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept : start(std::exchange(other.start, nullptr)), length(other.length) {}
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();

  // Maps a regular file to read it.
  bool open(const char *path);
  View bytes() const { return {start ? start : "", start ? length : 0}; }

private:
  const char *start = nullptr;
  size_t length = 0;
};

// Gives the memory behind these bytes of a mapped file back; reading them again reads the file again.
void forgetPages(View bytes);

bool isFolder(const char *path);
bool isFile(const char *path);

} // namespace attn
#endif
