# texts.py ROOT FOLDER ATTNC: every point of bench/attention.csv as a file of the language, and what the compiler makes of it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, sys.argv[1] + "/bench")
import attention_points  # noqa: E402

points, fused = attention_points.read(), 0
for number, point in enumerate(points):
    path = pathlib.Path(sys.argv[2], f"{number}.attn")
    path.write_text(attention_points.text(point))
    command = [sys.argv[3], path, "--stop-after=plan", "--explain", "-o", path.with_suffix(".so")]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    fused += len(re.findall(r"attention, softmax, .*one pass over the keys", said)) == (2 if point.past else 1)  # and `fill`
kinds = [point.kind for point in points]
print(f"{len(set(points))} points")
print(f"{' '.join(attention_points.KINDS)}: each at least {min(map(kinds.count, attention_points.KINDS))} times")
print(f"{fused} are fused attention")
