# bits.py LIBRARY MODEL: a sequence's bits depend neither on the sequences beside it nor on the number of threads.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random
import sys
from array import array

import attnlib

lengths = [0, 1, 17, 64, 3]
model = attnlib.Model(sys.argv[1], sys.argv[2], threads=2)
draw = random.Random(7)
texts = [array("i", [draw.randrange(model.function("hidden")[1].param[0].limit) for _ in range(n)]) for n in lengths]


def hidden(*some):
    offsets = [0]
    for text in some:
        offsets.append(offsets[-1] + len(text))
    return model.run("hidden", [array("i", [i for text in some for i in text]), None], [offsets])[0]


together = hidden(*texts)
apart = array("f", [x for text in texts for x in hidden(text)])
if len(together) == 0 or together.tobytes() != apart.tobytes():
    sys.exit("five sequences in one call differ from five calls")
model.threads(1)
if hidden(*texts).tobytes() != together.tobytes():
    sys.exit("one thread differs from two")
backwards = hidden(*reversed(texts))
width = len(together) // sum(lengths)
if backwards[: 3 * width].tobytes() != together[-3 * width :].tobytes():
    sys.exit("the order of the sequences matters")
print(f"{len(together)} numbers, the same bits")
