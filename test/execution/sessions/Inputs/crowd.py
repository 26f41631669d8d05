# crowd.py LIBRARY MODEL: 64 sessions of mixed lengths come and go at random for 2,000 calls; each token is that of the
# session alone, and the memory is what it was.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random
import resource
import sys
from array import array

import attnlib
import families

library, folder = sys.argv[1:3]
kind = families.family("gpt2", library, folder)
draw = random.Random(17)
steps, seats, capacity = 2000, 64, 96


def best(logits):
    width = kind.vocabulary
    row = logits[-width:]
    return max(range(width), key=row.__getitem__)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Guest:
    """A prompt, how many tokens it will make, and those that it made."""

    def __init__(self):
        self.session = attnlib.Session(kind.model, capacity)
        self.prompt = families.draw_tokens(draw, draw.randint(1, 60), kind.vocabulary)
        self.wanted = draw.randint(1, capacity - len(self.prompt))
        self.made = array("i")
        self.next = self.prompt

    def took(self, logits):
        token = best(logits)
        self.made.append(token)
        self.next = array("i", [token])


def alone(guest):
    session, piece, made = attnlib.Session(kind.model, capacity), guest.prompt, array("i")
    while len(made) < len(guest.made):
        made.append(best(session.run("logits", piece)[0]))
        piece = made[-1:]
    return made


def visit(steps, check):
    """Runs that many calls with whoever is there; returns how many tokens were compared."""
    guests, compared, calls = [], 0, 0
    while calls < steps:
        while len(guests) < seats and draw.random() < 0.3:
            guests.append(Guest())
        here = [guest for guest in guests if draw.random() < 0.5]
        if not here:
            continue
        draw.shuffle(here)
        given = [[guest.next] for guest in here]
        for guest, results in zip(here, attnlib.run_together(kind.model, "logits", [guest.session for guest in here], given)):
            guest.took(results[0])
        calls += 1
        for guest in [guest for guest in guests if len(guest.made) == guest.wanted]:
            guests.remove(guest)
            if draw.random() < check:
                if alone(guest) != guest.made:
                    sys.exit("a session in company made other tokens than alone")
                compared += len(guest.made)
    return compared


visit(100, 0)  # until the allocator has what it needs
before = resident()
compared = visit(steps, 1)
grown = resident() - before
if grown > 4 << 20:
    sys.exit(f"the process holds {grown} bytes more than before")
if compared < 1000:
    sys.exit(f"only {compared} tokens were compared")
print(f"{steps} calls, {compared} tokens as alone, memory as before")
