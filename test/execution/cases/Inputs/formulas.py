# formulas.py LIBRARY: GELU's two forms and two epsilons of a norm, case A22.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys
from array import array

import attnlib
import judge

model = attnlib.Model(sys.argv[1])
for name, wanted in (("exact", [0.8413447, 2.9959503, -0.0455003]), ("approximate", [0.8411920, 2.9963626, -0.0454023])):
    for got in model.run(name, [array("f", [1, 3, -2])], [[0, 3]]):
        judge.near(f"A22 {name}", got, wanted)
rows = array("f", [1e-4, -1e-4, 3, 1, 5, 5])
for got, one, two in zip(model.run("norms", [rows], [[0, 3]]), (0.0316070, 0.99995), (0.999995, 1)):
    judge.near("A22 norms", got, [one, -one, two, -two, 0, 0])
judge.finish()
