# How lit runs the unit tests: each case of each program build/test/unit/*Tests (GoogleTest) is one test.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import lit.formats

config.name = "attn-unit"
config.suffixes = []
config.test_source_root = config.test_exec_root = os.path.join(config.attn_build, "test", "unit")
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.environment["ATTN_SOURCE"] = config.attn_source
