# decoding.py LIBRARY MODEL SCRATCH: a text fed in pieces over rows that held no numbers, and greedy steps with and without
# caches. Cases B07 and E01. MODEL is a gpt2 or llama of families.py.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import os
import random
import shutil
import sys
from array import array

import attnlib
import judge
import tensors

library, folder, scratch = sys.argv[1:]
draw = random.Random(23)
POISON = 0  # the token whose row of the table is no number


def poisoned():
    """The model with a token whose keys and values are no numbers."""
    shutil.copytree(folder, scratch, dirs_exist_ok=True)
    path = os.path.join(scratch, "model.safetensors")
    weights = tensors.read(path)
    table = next(tensor for name, tensor in weights.items() if "wte" in name or "embed_tokens" in name)
    width = table.shape[1]
    table.values[POISON * width : (POISON + 1) * width] = array("f", [math.nan] * width)
    tensors.write(path, weights)
    return attnlib.Model(library, scratch)


clean = attnlib.Model(library, folder)
words = clean.function("logits")[1].param[0].limit


def text(length):
    return array("i", [draw.randrange(1, words) for _ in range(length)])


def logits(session, ids):
    return session.run("logits", array("i", ids))[0]


def in_pieces(session, ids, sizes):
    result, at = array("f"), 0
    for size in sizes:
        result.extend(logits(session, ids[at : at + size]))
        at += size
    return result


# B07: nine tokens at once, as 4 and 5, one by one, then three steps, in sessions whose rows were no numbers before
bad = poisoned()
ids = text(12)
whole = logits(attnlib.Session(clean, 12), ids)
tied = "lm_head.weight" not in tensors.read(os.path.join(folder, "model.safetensors"))
for sizes in ([9], [4, 5], [1] * 9):
    session = attnlib.Session(bad, 12)
    judge.note(any(map(math.isnan, logits(session, [POISON] * 12))), "B07: the rows were numbers")
    session.truncate(0)
    got = in_pieces(session, ids, sizes + [1, 1, 1])
    judge.note(len(session) == 12, f"B07: {len(session)} rows")
    if tied:  # the table is the last step's matrix too: the poisoned token has no score
        got = array("f", [0 if n % words == POISON else value for n, value in enumerate(got)])
        wanted = array("f", [0 if n % words == POISON else value for n, value in enumerate(whole)])
    judge.near(f"B07 in pieces of {sizes}", got, wanted if tied else whole, 1e-5)
    judge.refused("B07: a row beyond the capacity", lambda: logits(session, [1]),
                  "function `logits`: session 0 holds 12 rows and gets 1 more along `T`, its capacity is 12: create it with a "
                  "larger one, or forget rows with attn_session_truncate or attn_session_reset")


# E01
def best(row):
    return max(range(words), key=row.__getitem__)


def greedy(prompt, steps, next_row):
    """The tokens chosen, and the logits that chose them, where next_row(all, new) gives those behind all tokens."""
    every, new, rows = array("i", prompt), array("i", prompt), []
    for _ in range(steps):
        rows.append(next_row(every, new)[-words:])
        new = array("i", [best(rows[-1])])
        every.extend(new)
    return every[len(prompt) :], rows


def compare(what, got, wanted):
    for n, (a, b) in enumerate(zip(got[1], wanted[1])):
        judge.near(f"{what}, step {n}", a, b, 1e-4)
        first, second = sorted(b)[-2:]
        if second - first <= 2e-4:  # too close to call: from here on the texts may differ
            return
    judge.note(got[0] == wanted[0], f"{what}: other tokens")


for length in (1, 17):
    prompt = text(length)
    uncached = greedy(prompt, 32, lambda every, new: logits(attnlib.Session(clean, 64), every))
    session = attnlib.Session(clean, 64)
    compare(f"E01 {length}, cached", greedy(prompt, 32, lambda every, new: logits(session, new)), uncached)
    session = attnlib.Session(clean, 64)
    begun = greedy(prompt, 8, lambda every, new: logits(session, new))
    copies = [session.fork(), session]
    for copy in copies:
        rest = greedy(begun[0][-1:], 24, lambda every, new: logits(copy, new))
        compare(f"E01 {length}, forked", (begun[0] + rest[0], begun[1] + rest[1]), uncached)
judge.finish()
