# cited.py ROOT: every file that docs/cases.md cites is there, and every test of this folder is cited.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re
import sys

root = sys.argv[1]
with open(os.path.join(root, "docs", "cases.md")) as file:
    cited = set(re.findall(r"`([\w-]+/[\w/-]+\.(?:test|attn|mlir|py|cpp))`", file.read()))
missing = [path for path in cited if not any(os.path.exists(os.path.join(root, top, path)) for top in ("", "test"))]
tests = {"execution/cases/" + name for name in os.listdir(os.path.join(root, "test/execution/cases")) if name.endswith(".test")}
uncited = tests - cited - {"execution/cases/cited.test"}
print("missing:", *sorted(missing), "uncited:", *sorted(uncited))
sys.exit(bool(missing or uncited))
