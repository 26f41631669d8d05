# chunks.py NAME LIBRARY MODEL: however the rows of a sequence come, its results have the same bits.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A long sequence in one call, in calls of 1, 3 and 7 tokens; in calls in which four others of other lengths come and go;
# with one thread and two.
import random
import sys
from array import array

import families

name, library, folder = sys.argv[1:4]
kind = families.family(name, library, folder)
draw = random.Random(5)
length = 700 if name != "bahdanau" else 120  # the recurrent one goes step by step anyway
tokens = families.draw_tokens(draw, length, kind.vocabulary)
source = families.draw_tokens(draw, 90, 31)


def pieces(size):
    return [tokens[at : at + size] for at in range(0, length, size)]


def alone(size):
    session = kind.begin(1024, source)
    result = array("f")
    for piece in pieces(size):
        result.extend(kind.feed(session, piece))
    return result


def in_company(size):
    """Four others join at different calls, with pieces of their own, and leave before the end."""
    session = kind.begin(1024, source)
    others = [(kind.begin(1024, source[: 11 * n + 1]), n, 3 * n, 3 * n + 9) for n in range(1, 5)]
    result = array("f")
    for number, piece in enumerate(pieces(size)):
        here = [(other, n) for other, n, joins, leaves in others if joins <= number < leaves]
        sessions = [other for other, n in here if n % 2] + [session] + [other for other, n in here if not n % 2]
        given = [piece if each is session else families.draw_tokens(draw, 2 + 5 * (number % 3), kind.vocabulary) for each in sessions]
        result.extend(kind.feed_together(sessions, given)[sessions.index(session)])
    return result


whole = alone(length)
if len(set(whole)) < len(whole) // 4 or whole != whole:
    sys.exit("these are no results to compare")
ways = {"one thread": None}
for size in (1, 3, 7):
    ways[f"calls of {size}"] = alone(size)
ways["calls of 7 in company"] = in_company(7)
ways["calls of 50 in company"] = in_company(50)
kind.model.threads(1)
ways["one thread"] = alone(length)
ways["one thread, calls of 7 in company"] = in_company(7)
for way, result in ways.items():
    if result.tobytes() != whole.tobytes():
        width = len(whole) // length
        first = next(i for i in range(len(whole)) if i >= len(result) or result[i] != whole[i])
        sys.exit(f"{name}: {way} differs from one call, first at token {first // width}")
print(f"{name}: {length} tokens, {len(whole)} numbers, the same bits in {len(ways)} other ways")
