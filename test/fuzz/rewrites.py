# Random modules through attn-agree.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#     rewrites.py FOLDER-OF-PROGRAMS FIRST-SEED COUNT [sessions] [OPTIONS OF ATTN-AGREE]
#
# Prints every module that does not agree, with its seed. Scales and epsilons that passes fold are float32, so results may
# move by some 1e-7 each; sums of random numbers cancel, so compiled results by more,
# and what is left of two equal numbers is measured against 0.1.
import os
import subprocess
import sys

import random_module


def main(folder, first, count, *options):
    wrong = 0
    tolerance = "1e-5" if "--passes=only" in options else "1e-4"
    sessions = "sessions" in options
    options = [option for option in options if option != "sessions"]
    for seed in range(int(first), int(first) + int(count)):
        text = random_module.Module(seed).text(14, sessions)
        command = [os.path.join(folder, "attn-agree"), "-", "--quiet", "--tolerance=" + tolerance, "--floor=0.1", "--lengths=0,1,5,18,65", *options]
        run = subprocess.run(command, input=text, text=True, capture_output=True)
        if run.returncode:
            wrong += 1
            print(f"seed {seed}: exit {run.returncode}\n{run.stdout}{run.stderr[-3000:]}\n{text}")
    print(f"{int(count) - wrong} modules agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
