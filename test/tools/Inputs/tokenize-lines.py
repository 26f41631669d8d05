# tokenize-lines.py ATTN-RUN TOKENIZER FILE: attn-run tokenize on every line of a file, one line of ids each.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import subprocess
import sys

with open(sys.argv[3], encoding="utf-8") as file:
    for line in file.read().splitlines():
        command = [sys.argv[1], "tokenize", f"--tokenizer={sys.argv[2]}", "--ids", "-"]
        sys.stdout.write(subprocess.run(command, input=line, check=True, capture_output=True, text=True).stdout)
