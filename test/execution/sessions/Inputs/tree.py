# tree.py LIBRARY MODEL: a tree of guesses in one call, then keep(path), is the path alone.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#             0                tokens of the call in depth-first order; `end` is where the branch of each ends, `depth` how
#         1       5            far it is from the call's first token
#       2   3   6 7 9
#           4     8
import random
import sys
from array import array

import attnlib
import families

library, folder = sys.argv[1:3]
model = attnlib.Model(library, folder, threads=2)
draw = random.Random(23)
vocabulary = model.function("logits")[1].param[0].limit
prompt = families.draw_tokens(draw, 57, vocabulary)  # the tree crosses the end of a tile of keys
guesses = families.draw_tokens(draw, 10, vocabulary)
parents = [None, 0, 1, 1, 3, 0, 5, 5, 7, 5]
after = families.draw_tokens(draw, 15, vocabulary)


def shape(parents):
    """end and depth of each token."""
    depth = [0 if parent is None else None for parent in parents]
    end = list(range(1, len(parents) + 1))
    for n, parent in enumerate(parents):
        if parent is not None:
            depth[n] = depth[parent] + 1
            while parent is not None:
                end[parent] = n + 1
                parent = parents[parent]
    return array("i", end), array("i", depth)


def chain(session, tokens):
    n = len(tokens)
    return session.run("logits", tokens, array("i", [n] * n), array("i", range(n)))[0]


def row(logits, n):
    return logits[n * vocabulary : (n + 1) * vocabulary].tobytes()


for path in ([0, 1, 3, 4], [0, 5, 7, 8], [0, 5, 9], [0]):
    session, alone = attnlib.Session(model, 100), attnlib.Session(model, 100)
    chain(session, prompt), chain(alone, prompt)
    guessed = session.run("logits", guesses, *shape(parents))[0]
    followed = chain(alone, array("i", [guesses[n] for n in path]))
    for place, n in enumerate(path):
        if row(guessed, n) != row(followed, place):
            sys.exit(f"path {path}: the guess {n} saw something else than its own branch")
    session.keep(path)
    if len(session) != len(alone) or len(session) != len(prompt) + len(path):
        sys.exit(f"path {path}: {len(session)} rows were kept")
    if chain(session, after).tobytes() != chain(alone, after).tobytes():
        sys.exit(f"path {path}: what follows is not what follows the path alone")
print("four paths of a tree, kept, are the paths alone")
