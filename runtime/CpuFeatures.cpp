// Whether this processor has what the library was compiled for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x86-64: CPUID (Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E) and, for registers that the kernel must
// save, XCR0. AArch64: the hardware capabilities of the auxiliary vector (Linux,
// Documentation/arch/arm64/elf_hwcaps.rst).
#include "runtime/CpuFeatures.h"
#include "runtime/Error.h"
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace attn {
namespace {

#if defined(__x86_64__)
enum Register { eax, ebx, ecx, edx };
// Parts of XCR0 that must be on.
constexpr unsigned none = 0, avx = 0x6, avx512 = 0xe6, amx = 0x60000;

struct Feature {
  View name;
  unsigned leaf, subleaf;
  Register where;
  int bit;
  unsigned state;
};

constexpr Feature features[] = {
    {"x87", 1, 0, edx, 0, none},
    {"cx8", 1, 0, edx, 8, none},
    {"cmov", 1, 0, edx, 15, none},
    {"mmx", 1, 0, edx, 23, none},
    {"fxsr", 1, 0, edx, 24, none},
    {"sse", 1, 0, edx, 25, none},
    {"sse2", 1, 0, edx, 26, none},
    {"sse3", 1, 0, ecx, 0, none},
    {"pclmul", 1, 0, ecx, 1, none},
    {"ssse3", 1, 0, ecx, 9, none},
    {"fma", 1, 0, ecx, 12, avx},
    {"cx16", 1, 0, ecx, 13, none},
    {"sse4.1", 1, 0, ecx, 19, none},
    {"sse4.2", 1, 0, ecx, 20, none},
    {"crc32", 1, 0, ecx, 20, none},
    {"movbe", 1, 0, ecx, 22, none},
    {"popcnt", 1, 0, ecx, 23, none},
    {"aes", 1, 0, ecx, 25, none},
    {"xsave", 1, 0, ecx, 26, none},
    {"avx", 1, 0, ecx, 28, avx},
    {"f16c", 1, 0, ecx, 29, avx},
    {"rdrnd", 1, 0, ecx, 30, none},
    {"fsgsbase", 7, 0, ebx, 0, none},
    {"sgx", 7, 0, ebx, 2, none},
    {"bmi", 7, 0, ebx, 3, none},
    {"avx2", 7, 0, ebx, 5, avx},
    {"bmi2", 7, 0, ebx, 8, none},
    {"avx512f", 7, 0, ebx, 16, avx512},
    {"avx512dq", 7, 0, ebx, 17, avx512},
    {"rdseed", 7, 0, ebx, 18, none},
    {"adx", 7, 0, ebx, 19, none},
    {"avx512ifma", 7, 0, ebx, 21, avx512},
    {"clflushopt", 7, 0, ebx, 23, none},
    {"clwb", 7, 0, ebx, 24, none},
    {"avx512cd", 7, 0, ebx, 28, avx512},
    {"sha", 7, 0, ebx, 29, none},
    {"avx512bw", 7, 0, ebx, 30, avx512},
    {"avx512vl", 7, 0, ebx, 31, avx512},
    {"avx512vbmi", 7, 0, ecx, 1, avx512},
    {"pku", 7, 0, ecx, 4, none},
    {"waitpkg", 7, 0, ecx, 5, none},
    {"avx512vbmi2", 7, 0, ecx, 6, avx512},
    {"shstk", 7, 0, ecx, 7, none},
    {"gfni", 7, 0, ecx, 8, none},
    {"vaes", 7, 0, ecx, 9, avx},
    {"vpclmulqdq", 7, 0, ecx, 10, avx},
    {"avx512vnni", 7, 0, ecx, 11, avx512},
    {"avx512bitalg", 7, 0, ecx, 12, avx512},
    {"avx512vpopcntdq", 7, 0, ecx, 14, avx512},
    {"rdpid", 7, 0, ecx, 22, none},
    {"kl", 7, 0, ecx, 23, none},
    {"cldemote", 7, 0, ecx, 25, none},
    {"movdiri", 7, 0, ecx, 27, none},
    {"movdir64b", 7, 0, ecx, 28, none},
    {"enqcmd", 7, 0, ecx, 29, none},
    {"uintr", 7, 0, edx, 5, none},
    {"avx512vp2intersect", 7, 0, edx, 8, avx512},
    {"serialize", 7, 0, edx, 14, none},
    {"tsxldtrk", 7, 0, edx, 16, none},
    {"pconfig", 7, 0, edx, 18, none},
    {"amx-bf16", 7, 0, edx, 22, amx},
    {"avx512fp16", 7, 0, edx, 23, avx512},
    {"amx-tile", 7, 0, edx, 24, amx},
    {"amx-int8", 7, 0, edx, 25, amx},
    {"avxvnni", 7, 1, eax, 4, avx},
    {"avx512bf16", 7, 1, eax, 5, avx512},
    {"amx-fp16", 7, 1, eax, 21, amx},
    {"hreset", 7, 1, eax, 22, none},
    {"avxifma", 7, 1, eax, 23, avx},
    {"avxvnniint8", 7, 1, edx, 4, avx},
    {"avxneconvert", 7, 1, edx, 5, avx},
    {"amx-complex", 7, 1, edx, 8, amx},
    {"avxvnniint16", 7, 1, edx, 10, avx},
    {"prefetchi", 7, 1, edx, 14, none},
    {"xsaveopt", 0xd, 1, eax, 0, none},
    {"xsavec", 0xd, 1, eax, 1, none},
    {"xsaves", 0xd, 1, eax, 3, none},
    {"ptwrite", 0x14, 0, ebx, 4, none},
    {"widekl", 0x19, 0, ebx, 2, none},
    {"sahf", 0x80000001, 0, ecx, 0, none},
    {"lzcnt", 0x80000001, 0, ecx, 5, none},
    {"sse4a", 0x80000001, 0, ecx, 6, none},
    {"prfchw", 0x80000001, 0, ecx, 8, none},
    {"xop", 0x80000001, 0, ecx, 11, avx},
    {"fma4", 0x80000001, 0, ecx, 16, avx},
    {"tbm", 0x80000001, 0, ecx, 21, none},
    {"mwaitx", 0x80000001, 0, ecx, 29, none},
    {"64bit", 0x80000001, 0, edx, 29, none},
    {"invpcid", 7, 0, ebx, 10, none},
    {"clzero", 0x80000008, 0, ebx, 0, none},
    {"rdpru", 0x80000008, 0, ebx, 4, none},
    {"wbnoinvd", 0x80000008, 0, ebx, 9, none},
};

// What the kernel saves for a process.
unsigned enabledState() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
    return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool hasFeature(const Feature &feature) {
  unsigned registers[4] = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[eax], &registers[ebx], &registers[ecx],
                         &registers[edx]))
    return false;
  return (registers[feature.where] >> feature.bit & 1) && (enabledState() & feature.state) == feature.state;
}

// Linux gives a process the AMX registers only when asked: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA).
bool askForTiles() {
  return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}
#elif defined(__aarch64__)
struct Feature {
  View name;
  unsigned long vector; // AT_HWCAP or AT_HWCAP2
  int bit;
};

constexpr Feature features[] = {
    {"fp-armv8", AT_HWCAP, 0}, {"neon", AT_HWCAP, 1},       {"aes", AT_HWCAP, 3},      {"sha2", AT_HWCAP, 6},
    {"crc", AT_HWCAP, 7},      {"lse", AT_HWCAP, 8},        {"fullfp16", AT_HWCAP, 9}, {"rdm", AT_HWCAP, 12},
    {"jsconv", AT_HWCAP, 13},  {"complxnum", AT_HWCAP, 14}, {"rcpc", AT_HWCAP, 15},    {"sha3", AT_HWCAP, 17},
    {"sm4", AT_HWCAP, 19},     {"dotprod", AT_HWCAP, 20},   {"sve", AT_HWCAP, 22},     {"fp16fml", AT_HWCAP, 23},
    {"sve2", AT_HWCAP2, 1},    {"i8mm", AT_HWCAP2, 13},     {"bf16", AT_HWCAP2, 14},   {"sme", AT_HWCAP2, 23},
};

bool hasFeature(const Feature &feature) {
  return getauxval(feature.vector) >> feature.bit & 1;
}
bool askForTiles() {
  return true;
}
#else
struct Feature {
  View name;
};
constexpr Feature features[] = {{""}};
bool hasFeature(const Feature &) {
  return false;
}
bool askForTiles() {
  return true;
}
#endif

} // namespace

Presence presenceOf(View name) {
  for (const Feature &feature : features)
    if (feature.name == name)
      return hasFeature(feature) && (name != "amx-tile" || askForTiles()) ? Presence::present : Presence::absent;
  return Presence::unknown;
}

bool checkFeatures(const Array<View> &wanted, Notes &notes) {
  for (View name : wanted) {
    Presence presence = presenceOf(name);
    if (presence == Presence::absent)
      return fail("this library was compiled for processors with `%s`, which this one lacks", Text(name).c_str());
    if (presence == Presence::unknown)
      notes.push(std::move(Text().format(
          "cannot tell whether this processor has `%s`, which the library was compiled for", Text(name).c_str())));
  }
  return true;
}

} // namespace attn
