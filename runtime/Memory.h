// What the runtime uses instead of the C++ library's containers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A generated library must load where no C++ library is, so the runtime may not contain one symbol of it: no operator
// new, no std::vector, no std::string. Memory comes from malloc. These few types are what is left to need: an array
// that grows, a text, an owner. Small allocations that fail end the process; large ones (weights, scratch, files) are
// asked for with allocateLarge, which answers null.
#ifndef ATTN_RUNTIME_MEMORY_H
#define ATTN_RUNTIME_MEMORY_H
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace attn {

using View = std::string_view;

// Where tensors, scratch and rows begin: at multiples of it.
constexpr int64_t alignment = 64;
constexpr int64_t aligned(int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Never null: a process that cannot get a few bytes is ended.
void *allocate(size_t bytes);
enum Pages { UsualPages, LargePages };
// 64-byte aligned, to be freed with free(); null if there is not that much. Large pages are for what is used whole and
// often; where the system has none to give, it gives usual ones.
void *allocateLarge(size_t bytes, Pages pages = UsualPages);

// Classes made with `new` derive from this, so that no global operator new or delete is named.
struct Heap {
  static void *operator new(size_t bytes) { return allocate(bytes); }
  static void *operator new(size_t, void *place) { return place; }
  static void operator delete(void *memory) { free(memory); }
};

// The one owner of an object made with `new`.
template <class T> class Owned {
public:
  Owned() = default;
  explicit Owned(T *object) : object(object) {}
  Owned(Owned &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Owned() { delete object; }

  T *get() const { return object; }
  T *release() { return std::exchange(object, nullptr); }
  T &operator*() const { return *object; }
  T *operator->() const { return object; }
  explicit operator bool() const { return object; }

private:
  T *object = nullptr;
};

// An array that grows, of anything that can be moved.
template <class T> class Array {
public:
  Array() = default;
  Array(Array &&other) noexcept { swap(other); }
  Array &operator=(Array &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() {
    clear();
    free(items);
  }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return items; }
  const T *data() const { return items; }
  T *begin() { return items; }
  T *end() { return items + count; }
  const T *begin() const { return items; }
  const T *end() const { return items + count; }
  T &operator[](size_t i) { return items[i]; }
  const T &operator[](size_t i) const { return items[i]; }
  T &back() { return items[count - 1]; }
  const T &back() const { return items[count - 1]; }

  T &push(T item) {
    if (count == room)
      reserve(room ? 2 * room : 8);
    return *new (static_cast<void *>(items + count++)) T(std::move(item));
  }
  void pop() { items[--count].~T(); }
  void clear() {
    while (count)
      pop();
  }
  void resize(size_t size) {
    if (size > room)
      reserve(size > 2 * room ? size : 2 * room);
    while (count > size)
      pop();
    for (; count < size; ++count)
      new (static_cast<void *>(items + count)) T();
  }
  void reserve(size_t size) {
    if (size <= room)
      return;
    T *moved = static_cast<T *>(allocate(size * sizeof(T)));
    for (size_t i = 0; i < count; ++i) {
      new (static_cast<void *>(moved + i)) T(std::move(items[i]));
      items[i].~T();
    }
    free(items);
    items = moved;
    room = size;
  }

private:
  void swap(Array &other) noexcept {
    std::swap(items, other.items);
    std::swap(count, other.count);
    std::swap(room, other.room);
  }

  T *items = nullptr;
  size_t count = 0, room = 0;
};

// Bytes that grow, with a zero behind the last one.
class Text {
public:
  Text() = default;
  explicit Text(View view) { append(view); }

  Text &append(View view);
  Text &append(char byte) { return append(View(&byte, 1)); }
  [[gnu::format(printf, 2, 3)]] Text &format(const char *format, ...);
  void clear() { bytes.resize(0); }

  size_t size() const { return bytes.empty() ? 0 : bytes.size() - 1; }
  bool empty() const { return size() == 0; }
  const char *c_str() const { return bytes.empty() ? "" : bytes.data(); }
  View view() const { return {c_str(), size()}; }
  Text copy() const { return Text(view()); }

private:
  Array<char> bytes;
};

} // namespace attn
#endif
