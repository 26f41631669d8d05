// Compile.cpp - from a FILE.attn to the library that attnc makes of it, kept in a cache.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache is a folder $XDG_CACHE_HOME/attn (or ~/.cache/attn) with one folder for each key. A key is a hash over the
// contents of everything that decides what attnc writes: itself (it carries std) and the runtime beside it, the source
// and the files that it uses, the configuration, the options, and the processor's features, since the default is code
// for this machine. attnc writes into a folder of its own, which is renamed when it is done: two runs at once cannot
// see each other's halves.
#include "tools/run/Compile.h"

#include "tools/run/Failure.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;

namespace attn::run {
namespace {

/// Two 64-bit FNV-1a hashes that start differently: 128 bits to tell contents apart, not to withstand an attacker.
class Key {
public:
  void add(std::string_view bytes) {
    mix(std::to_string(bytes.size()) + ":");
    mix(bytes);
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", first, second); }

private:
  void mix(std::string_view bytes) {
    for (unsigned char byte : bytes) {
      first = (first ^ byte) * 0x100000001b3;
      second = (second ^ (byte + 0x9du)) * 0x100000001b3;
    }
  }
  uint64_t first = 0xcbf29ce484222325;
  uint64_t second = 0x84222325cbf29ce4;
};

std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Adds a source and, found by their text alone, the files that it names behind `use`.
void addSource(Key &key, const fs::path &path, std::set<fs::path> &seen) {
  std::error_code error;
  if (!seen.insert(fs::weakly_canonical(path, error)).second)
    return;
  std::string text = contentOf(path);
  key.add(text);
  for (size_t at = text.find("use"); at != std::string::npos; at = text.find("use", at + 3)) {
    size_t open = text.find_first_not_of(" \t", at + 3);
    if (open == std::string::npos || text[open] != '"')
      continue;
    size_t close = text.find('"', open + 1);
    if (close != std::string::npos)
      addSource(key, path.parent_path() / text.substr(open + 1, close - open - 1), seen);
  }
}

/// The line of /proc/cpuinfo that names the processor's features.
std::string processorFeatures() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("flags") || line.starts_with("Features"))
      return line;
  return "";
}

fs::path cacheFolder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return fs::path(cache) / "attn";
  if (const char *home = std::getenv("HOME"); home && *home)
    return fs::path(home) / ".cache" / "attn";
  return fs::path(".cache") / "attn";
}

std::vector<std::string> attncArguments(const Source &source) {
  std::vector<std::string> arguments = {source.file, "--mcpu=" + source.mcpu};
  if (!source.config.empty())
    arguments.push_back("--config=" + source.config);
  if (!source.precision.empty())
    arguments.push_back("--precision=" + source.precision);
  if (source.strict)
    arguments.push_back("--strict");
  if (source.probe)
    arguments.push_back("--probe");
  if (source.count)
    arguments.push_back("--count");
  return arguments;
}

std::string keyOf(const Source &source, const fs::path &attnc) {
  Key key;
  key.add(contentOf(attnc));
  key.add(contentOf(attnc.parent_path().parent_path() / "lib" / "libattnrt.a"));
  std::set<fs::path> seen;
  addSource(key, source.file, seen);
  fs::path config = source.config;
  key.add(contentOf(fs::is_directory(config) ? config / "config.json" : config));
  key.add(processorFeatures());
  for (const std::string &argument : attncArguments(source))
    key.add(argument);
  return key.text();
}

/// Runs attnc; what it says on stdout, if anything, goes to stderr, which carries everything but results.
void runAttnc(const fs::path &attnc, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), attnc.string());
  std::vector<char *> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  int error = posix_spawn(&child, attnc.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    fail("cannot run `{}`: {}", attnc.string(), std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    fail("`{}` was ended by signal {}", attnc.string(), WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    throw Failure(""); // attnc has said why
}

} // namespace

std::string compiledLibrary(const Source &source) {
  if (!fs::exists(source.file))
    fail("cannot open `{}`: {}", source.file, std::strerror(ENOENT));
  fs::path attnc = fs::read_symlink("/proc/self/exe").parent_path() / "attnc";
  if (!fs::exists(attnc))
    fail("there is no `attnc` beside attn-run (`{}`)", attnc.string());
  fs::path place = cacheFolder() / keyOf(source, attnc);
  fs::path library = place / "libmodel.so";
  if (fs::exists(library))
    return library.string();

  std::error_code error;
  fs::path work = place.string() + fmt::format(".{}", getpid());
  fs::create_directories(work, error);
  if (error)
    fail("cannot create `{}`: {}", work.string(), error.message());
  std::vector<std::string> arguments = attncArguments(source);
  arguments.insert(arguments.end(), {"-o", (work / "libmodel.so").string()});
  try {
    runAttnc(attnc, arguments);
  } catch (...) {
    fs::remove_all(work, error);
    throw;
  }
  fs::rename(work, place, error);
  if (error) // another run was first: its folder holds the same
    fs::remove_all(work, error);
  return library.string();
}

} // namespace attn::run
