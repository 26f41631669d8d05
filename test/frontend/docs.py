# docs.py ATTNC LANGUAGE.md SCRATCH: parses every indented block of the document that begins with a declaration.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import subprocess
import sys

attnc, document, scratch = sys.argv[1:]
text = open(document, encoding="utf-8").read().split("\n## Grammar")[0]
blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
declares = re.compile(r"\s*(#.*\n\s*)?(config|weights|export|fn|let|use|require)\b")
found = [block for block in blocks if declares.match(block) and "…" not in block and "= expression" not in block]
for block in found:
    with open(scratch, "w", encoding="utf-8") as file:
        file.write(block)
    subprocess.run([attnc, scratch, "--emit=ast", "-o", scratch + ".ast"], check=True)
print(len(found), "blocks")
sys.exit(len(found) < 3)
