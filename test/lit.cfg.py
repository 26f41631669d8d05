# How lit finds and runs the tests: every .mlir, .attn and .test file below test/ holds its own RUN lines.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CMake writes build/test/lit.site.cfg.py, which sets attn_source, attn_build and llvm_bin and then loads this file;
# run `ninja -C build check`, or one part of it with `lit -v build/test/passes`.
#
# Substitutions: %attnc %attn-opt %attn-run the tools; %std the standard library's folder; %examples, %data (test/data),
# %root the sources; %bin the built programs; %lib the built libraries; %minilm the folder of the MiniLM model;
# %cc the C compiler; %python the interpreter that runs lit. Beside these lit's own: %s this file, %S its folder, %t a scratch name.
# Features: minilm (the model is there), asan (the tools are built with it), avx512f, avx512_bf16, avx2, amx-bf16, x86_64, aarch64.

import os
import platform
import sys

import lit.formats

config.name = "attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".attn", ".test"]
config.excludes = ["data", "Inputs", "unit"]
config.test_source_root = os.path.join(config.attn_source, "test")
config.test_exec_root = os.path.join(config.attn_build, "test")

binaries = os.path.join(config.attn_build, "bin")
minilm = os.path.join(config.attn_source, ".models", "minilm")

for word, value in [
    ("attnc", os.path.join(binaries, "attnc")),
    ("attn-opt", os.path.join(binaries, "attn-opt")),
    ("attn-run", os.path.join(binaries, "attn-run")),
    ("std", os.path.join(config.attn_source, "std")),
    ("examples", os.path.join(config.attn_source, "examples")),
    ("data", os.path.join(config.attn_source, "test", "data")),
    ("root", config.attn_source),
    ("bin", binaries),
    ("lib", os.path.join(config.attn_build, "lib")),
    ("minilm", minilm),
    ("cc", config.c_compiler),
    ("python", sys.executable),
]:
    config.substitutions.append(("%" + word + r"(?![\w-])", value))

config.environment["PATH"] = os.pathsep.join([binaries, config.llvm_bin, os.environ.get("PATH", "")])
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.environment["PYTHONPATH"] = os.path.join(config.attn_source, "test")
config.environment["LC_ALL"] = "C.UTF-8"
for name in ["HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]


def processor_features():
    try:
        with open("/proc/cpuinfo") as file:
            lines = [line for line in file if line.startswith(("flags", "Features"))]
    except OSError:
        return set()
    return set(lines[0].split(":", 1)[1].split()) if lines else set()


config.available_features.add(platform.machine())
flags = processor_features()
for feature, flag in [("avx2", "avx2"), ("avx512f", "avx512f"), ("avx512_bf16", "avx512_bf16"), ("amx-bf16", "amx_bf16")]:
    if flag in flags:
        config.available_features.add(feature)
if os.path.exists(os.path.join(minilm, "model.safetensors")):
    config.available_features.add("minilm")
if "address" in config.attn_sanitize:
    config.available_features.add("asan")
