# judge.py - counts what agrees with numbers known from elsewhere, for the tests beside it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math
import sys
from array import array

import attnlib

checks, failures = 0, 0


def note(right, what):
    global checks, failures
    checks += 1
    if not right:
        failures += 1
        print("wrong:", what)


def near(what, got, wanted, tolerance=1e-6):
    """Each number within the tolerance of the wanted one; none that is not finite."""
    got, wanted = list(got), list(wanted)
    right = len(got) == len(wanted) and all(math.isfinite(a) and abs(a - b) <= tolerance for a, b in zip(got, wanted))
    note(right, f"{what}: {got[:20]}, not {wanted[:20]}")


def same(what, got, wanted):
    """The same bits."""
    note(array("f", got).tobytes() == array("f", wanted).tobytes(), f"{what}: other bits")


def refused(what, action, message):
    try:
        action()
    except attnlib.Error as error:
        note(str(error) == message, f"{what}: {error}")
    else:
        note(False, f"{what}: not refused")


def finish():
    print(f"{checks} checks, {failures} wrong")
    sys.exit(failures > 0)
