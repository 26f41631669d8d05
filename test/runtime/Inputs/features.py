#!/usr/bin/env python3
"""features.py ATTNC MODEL TABLE: every feature in the libraries for many machines is in the runtime's table."""
import json
import pathlib
import re
import subprocess
import sys

attnc, model, table = sys.argv[1:]
known = set(re.findall(r'\{"([\w.-]+)", 0?x?\w+,', pathlib.Path(table).read_text()))
library = pathlib.Path(model).with_suffix(".so")
machines = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "haswell", "skylake-avx512", "icelake-server", "sapphirerapids"]
machines += ["graniterapids", "alderlake", "znver1", "znver2", "znver3", "znver4", "znver5"]
for machine in machines:
    subprocess.run([attnc, model, "--mcpu=" + machine, "-o", library], check=True)
    features = json.loads(re.search(rb'"features": ?(\[[^]]*\])', library.read_bytes()).group(1))
    assert features and set(features) <= known, (machine, set(features) - known)
print(len(machines), "machines, every feature known")
