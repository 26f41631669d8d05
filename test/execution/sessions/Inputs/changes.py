# changes.py NAME LIBRARY MODEL: truncate, fork and reset leave a session as if what is gone had never been.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random
import sys

import families

name, library, folder = sys.argv[1:4]
kind = families.family(name, library, folder)
draw = random.Random(3)
source = families.draw_tokens(draw, 40, 31)
first, wrong, right, other = (families.draw_tokens(draw, n, kind.vocabulary) for n in (150, 77, 90, 33))


def fresh(*pieces):
    session = kind.begin(400, source)
    return [kind.feed(session, piece) for piece in pieces][-1], session


def expect(what, result, *pieces):
    if result.tobytes() != fresh(*pieces)[0].tobytes():
        sys.exit(f"{name}: {what} is not what a session of its own gives")


session = fresh(first, wrong)[1]
assert len(session) == 227
session.truncate(150)
assert len(session) == 150
expect("what follows a truncation", kind.feed(session, right), first, right)
if kind.feed(session, wrong).tobytes() == fresh(first, wrong)[0].tobytes():
    sys.exit("what came before makes no difference: nothing is tested")

session = fresh(first)[1]
one, two = session.fork(), session.fork()
for fork in (one, two):
    if name in ("transformer", "t5"):
        fork.memory = session.memory
results = kind.feed_together([two, one], [other, right])
expect("the first fork", results[1], first, right)
expect("the second fork", results[0], first, other)
expect("what was forked", kind.feed(session, wrong), first, wrong)
del session
expect("a fork whose origin has ended", kind.feed(one, other), first, right, other)

two.reset()
assert len(two) == 0
if name in ("transformer", "t5"):
    two.memory = kind.begin(400, source).memory
expect("a session that was reset", kind.feed(two, first), first)
print(f"{name}: truncate, fork and reset leave nothing behind")
