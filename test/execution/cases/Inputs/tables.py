# tables.py LIBRARY FILE: positions and ids beside the ends of a table of 8 rows, which holds its own row numbers. Case B08.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from array import array

import attnlib
import judge
import tensors

library, weights = sys.argv[1:]
tensors.write(weights, {"table.weight": tensors.Tensor("F32", [8, 1], range(8))})
model = attnlib.Model(library, weights)


def rows(name, session, count):
    return session.run(name, array("f", [0] * count))[0]


# how many positions each way of counting has rows for: at once, piece by piece, and not one more
for name, row, longest in (("learned", lambda p: p, 8), ("roberta", lambda p: p + 2, 6), ("doubled", lambda p: 2 * p, 4),
                           ("halved", lambda p: (p + 1) // 2, 15), ("falling", lambda p: 5 - p, 6)):
    wanted = list(map(row, range(longest)))
    judge.note(model.function(name)[1].sequence_limits[0] == longest, f"{name}: the limit")
    judge.near(name, rows(name, attnlib.Session(model, 64), longest), wanted)
    judge.refused(name, lambda: rows(name, attnlib.Session(model, 64), longest + 1),
                  f"function `{name}`: sequence 0 has {longest + 1} rows of `T`, the model allows {longest}")
    session = attnlib.Session(model, 64)
    judge.near(name, rows(name, session, longest - 1), wanted[:-1])
    judge.refused(name, lambda: rows(name, session, 2),
                  f"function `{name}`: session 0 holds {longest - 1} rows and gets 2 more along `T`, the model allows {longest}: "
                  "forget rows with attn_session_truncate or attn_session_reset")
    judge.near(name, rows(name, session, 1), wanted[-1:])

# rows that are held, or not looked up, have no limit
judge.near("held", rows("held", attnlib.Session(model, 64), 12), [2, 3, 4, 5, 6] + [7] * 7)
judge.near("chosen", rows("chosen", attnlib.Session(model, 64), 12), list(range(8)) + [-1] * 4)

# ids
for name, least, most in (("word", 0, 7), ("walked", 0, 7), ("behind", 1, 8)):
    ids = array("i", range(least, most + 1))
    judge.near(name, model.run(name, [ids], [[0, 8]])[0], range(8))
    for wrong in (most + 1, 1 << 30, -1, -(1 << 31)):
        judge.refused(name, lambda: model.run(name, [array("i", [least, wrong])], [[0, 2]]),
                      f"function `{name}`: parameter `n` holds {wrong} at place 1 of sequence 0, it should be in 0 .. {most}")
judge.near("known", model.run("known", [array("i", [0, 7, 8, 1 << 30])], [[0, 4]])[0], [0, 7, -1, -1])
judge.finish()
