# Every numbered constraint of docs/dialect.md is reported by a verifier and broken by a test, and there are no others.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
name = re.compile(r"\b[a-z]+_c\d+\b")


def found(paths, pattern=name):
    lines = [line for path in paths for line in path.read_text().splitlines() if not line.startswith("///")]
    return {match for line in lines for match in pattern.findall(line)}


documented = found([root / "docs" / "dialect.md"])
reported = found(path for path in (root / "dialect").glob("*.cpp"))
tested = found((root / "test" / "dialect").glob("verify-*.mlir"), re.compile(r"expected-error.*\(([a-z]+_c\d+)\)\}\}"))
for what, names in [("not documented", (reported | tested) - documented), ("not reported by a verifier", documented - reported),
                    ("not broken by a test", documented - tested)]:
    if names:
        print(what + ": " + ", ".join(sorted(names)))
if not documented or documented != reported or documented != tested:
    sys.exit(1)
print(f"{len(documented)} constraints")
