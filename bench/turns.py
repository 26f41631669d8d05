# turns.py: how a worker is told what to do: lines of JSON on stdin, each answered by one on stdout.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   {"load": …}   →  what `load` gives     make ready, and answer once
#   {"run": 20}   →  {"ms": […]}           answer twenty times, each timed
#
# Nothing runs between two lines, so that the driver can let the engines take turns.
import json
import sys
import time


def serve(load, run):
    """Until stdin ends: load(order) gives an answer and a reply, run(answer) answers once more. The answer before is
    dropped first, so that its memory does not stand beside the next one's."""
    replies, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not end up among the answers
    answer = None
    for line in sys.stdin:
        order = json.loads(line)
        if "load" in order:
            answer = None
            answer, reply = load(order)
        else:
            times = []
            for _ in range(order["run"]):
                start = time.perf_counter()
                run(answer)
                times.append(1e3 * (time.perf_counter() - start))
            reply = {"ms": times}
        print(json.dumps(reply), file=replies, flush=True)
