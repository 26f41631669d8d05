// Diagnostics.cpp: printing of messages with their source line and a caret range.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caret line repeats the tabs of the source line and counts wide characters as two, so it stands right under the
// text in a terminal. Bytes that are no text are shown as U+FFFD, and of a very long line only a window is shown.
#include "frontend/Diagnostics.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Unicode.h"

using namespace llvm;

namespace attn {

namespace {

constexpr size_t windowBefore = 80, windowLength = 160;

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// The length in bytes of the character at the front of `text`, and whether it can be printed.
std::pair<size_t, bool> nextCharacter(StringRef text) {
  auto *begin = reinterpret_cast<const UTF8 *>(text.bytes_begin());
  size_t length = getNumBytesForUTF8(*begin);
  if (length > text.size() || !isLegalUTF8Sequence(begin, begin + length))
    return {1, false};
  return {length, length > 1 || text[0] == '\t' || (text[0] >= 0x20 && text[0] < 0x7F)};
}

unsigned columnWidth(StringRef character) {
  int width = sys::unicode::columnWidthUTF8(character);
  return width < 0 ? 1 : width;
}

/// One line of source, and under it the marks for bytes [from, to) of it.
struct MarkedLine {
  std::string text, marks;

  MarkedLine(StringRef line, size_t from, size_t to) {
    for (size_t at = 0; at < line.size();) {
      auto [length, printable] = nextCharacter(line.substr(at));
      StringRef character = line.substr(at, length);
      text += printable ? character.str() : "\xEF\xBF\xBD";
      mark(character, printable, at, from, to);
      at += length;
    }
    if (from >= line.size())
      marks += '^';
    marks.resize(marks.find_last_not_of(" \t") + 1);
  }

private:
  void mark(StringRef character, bool printable, size_t at, size_t from, size_t to) {
    bool inside = at >= from && at < to;
    if (character == "\t") {
      marks += inside ? (at == from ? '^' : '~') : '\t';
      return;
    }
    unsigned width = printable ? columnWidth(character) : 1;
    marks.append(width, inside ? '~' : ' ');
    if (at == from && width)
      marks[marks.size() - width] = '^';
  }
};

/// Cuts a long line down to the neighbourhood of [from, to), at character boundaries.
std::string cutWindow(StringRef line, size_t &from, size_t &to) {
  if (line.size() <= windowLength)
    return line.str();
  size_t begin = from > windowBefore ? from - windowBefore : 0;
  while (begin > 0 && isContinuation(line[begin]))
    --begin;
  size_t end = std::min(begin + windowLength, line.size());
  while (end < line.size() && isContinuation(line[end]))
    ++end;
  std::string front = begin ? "..." : "", back = end < line.size() ? "..." : "";
  from = from - begin + front.size();
  to = std::min(to, end) - begin + front.size();
  return front + line.slice(begin, end).str() + back;
}

} // namespace

Report &Report::note(SMRange range, const Twine &message) {
  if (shown)
    diags.print(Diagnostics::Level::note, range, message);
  return *this;
}

Report &Report::note(const Twine &message) {
  return note(SMRange(), message);
}

Report &Report::compare(const Twine &expected, const Twine &actual) {
  return note("expected " + expected).note("  actual " + actual);
}

StringRef Diagnostics::addFile(StringRef name, StringRef text) {
  unsigned id = sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, name), SMLoc());
  return sources.getMemoryBuffer(id)->getBuffer();
}

Report Diagnostics::error(SMRange range, const Twine &message) {
  ++errors;
  if (errors == maxErrors + 1)
    print(Level::note, SMRange(), "more than " + Twine(maxErrors) + " errors; the rest is not shown");
  if (errors <= maxErrors)
    print(Level::error, range, message);
  return Report(*this, errors <= maxErrors);
}

Report Diagnostics::warning(SMRange range, const Twine &message) {
  ++warnings;
  print(Level::warning, range, message);
  return Report(*this, true);
}

void Diagnostics::note(SMRange range, const Twine &message) {
  print(Level::note, range, message);
}

Place Diagnostics::place(SMLoc loc) const {
  unsigned buffer = loc.isValid() ? sources.FindBufferContainingLoc(loc) : 0;
  if (!buffer)
    return {};
  auto [line, byteColumn] = sources.getLineAndColumn(loc, buffer);
  StringRef before(loc.getPointer() - (byteColumn - 1), byteColumn - 1);
  unsigned column = 1 + static_cast<unsigned>(count_if(before, [](char c) { return !isContinuation(c); }));
  return {sources.getMemoryBuffer(buffer)->getBufferIdentifier().str(), line, column};
}

SMRange Diagnostics::rangeAt(StringRef file, unsigned line, unsigned column) const {
  for (unsigned buffer = 1; buffer <= sources.getNumBuffers(); ++buffer) {
    const MemoryBuffer *text = sources.getMemoryBuffer(buffer);
    if (text->getBufferIdentifier() != file || line == 0)
      continue;
    const char *at = text->getBufferStart(), *end = text->getBufferEnd();
    for (unsigned n = 1; n < line && at != end; ++at)
      n += *at == '\n';
    for (unsigned n = 1; n < column && at != end && *at != '\n'; ++n)
      do
        ++at;
      while (at != end && isContinuation(*at));
    return {SMLoc::getFromPointer(at), SMLoc::getFromPointer(at)};
  }
  return {};
}

void Diagnostics::print(Level level, SMRange range, const Twine &message) {
  static constexpr StringRef names[] = {"error", "warning", "note"};
  static constexpr raw_ostream::Colors colors[] = {raw_ostream::RED, raw_ostream::MAGENTA, raw_ostream::CYAN};
  unsigned buffer = range.isValid() ? sources.FindBufferContainingLoc(range.Start) : 0;
  if (buffer) {
    Place where = place(range.Start);
    os << where.file << ':' << where.line << ':' << where.column << ": ";
  } else if (level != Level::note) {
    os << "attnc: ";
  }
  bool coloured = os.is_displayed() && os.has_colors();
  if (coloured)
    os.changeColor(colors[static_cast<int>(level)], /*Bold=*/true);
  os << names[static_cast<int>(level)] << ':';
  if (coloured)
    os.resetColor();
  os << ' ' << message << '\n';
  if (buffer)
    printSource(range, buffer);
}

void Diagnostics::printSource(SMRange range, unsigned buffer) {
  StringRef text = sources.getMemoryBuffer(buffer)->getBuffer();
  size_t from = range.Start.getPointer() - text.data(), to = range.End.getPointer() - text.data();
  size_t begin = text.rfind('\n', from) + 1; // npos + 1 is 0
  if (from < text.size() && text[from] == '\n')
    begin = text.substr(0, from).rfind('\n') + 1;
  StringRef line = text.slice(begin, text.find('\n', from)).rtrim('\r');
  from -= begin;
  to = std::min(to > begin ? to - begin : 0, line.size());
  from = std::min(from, line.size());
  to = std::max(to, from + 1);
  std::string shown = cutWindow(line, from, to);
  MarkedLine marked(shown, from, to);
  os << marked.text << '\n' << marked.marks << '\n';
}

} // namespace attn
