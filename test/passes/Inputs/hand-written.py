# Attention written by hand in many ways: prints a .attn file with one export a way.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   hand-written.py COUNT [SEED]
#
# Every export is attention of queries over keys, so every one must end as one attn.attend.
import random
import sys

HEADS = {"": ("", ""), "H": ("H", "H"), "grouped": ("G,R", "G"), "three": ("A,G,R", "A,G"), "shared": ("H", "")}


def dims(*names):
    return ",".join(name for name in names if name)


def shuffled(chance, names):
    names = names.split(",")
    if chance.random() < 0.4:
        chance.shuffle(names)
    return ",".join(names)


def scaled(chance, q, k):
    """Statements, queries, keys and what is done to their product."""
    way = chance.choice(["none", "queries", "keys", "both", "after", "divided", "doubled"])
    if way == "queries":
        return [f"  qs = {q} * 0.25"], "qs", k, "{}"
    if way == "keys":
        return [f"  ks = {k} / 4"], q, "ks", "{}"
    if way == "both":
        return [f"  qs = {q} * 16^-0.25", f"  ks = 16^-0.25 * {k}"], "qs", "ks", "{}"
    after = {"none": "{}", "after": "{} * 0.25", "divided": "{} / sqrt(D)", "doubled": "2 * ({} * 0.125)"}
    return [], q, k, after[way]


def biased(chance, heads, parameters):
    """What is done to the scores before the softmax."""
    forms = []
    scores = dims("T", heads, "S")
    for kind in chance.sample(["bias", "column", "row", "head", "mask", "added", "hidden", "cap"], chance.randint(0, 3)):
        if kind == "bias":
            parameters.append(f"b[{shuffled(chance, scores)}]")
            forms.append(chance.choice(["{} + b", "b + {}"]))
        elif kind == "column":
            parameters.append("c[S]")
            forms.append("{} - c")
        elif kind == "row":
            parameters.append("r[T]")
            forms.append("{} + r * 0.5")
        elif kind == "head" and heads:
            parameters.append(f"u[{heads}]")
            forms.append("{} * u")
        elif kind == "mask":
            parameters.append("m[T,S]")
            forms.append(chance.choice(["select(m > 0, {}, -inf)", "select(m <= 0, -inf, {})"]))
        elif kind == "added":
            parameters.append("a[S,T]")
            forms.append(chance.choice(["{} + select(a > -1, 0, -inf)", "select(a < -1, -inf, 0) + {}"]))
        elif kind == "hidden":
            parameters.append("n[S]")
            forms.append("select(n > -1, {}, -inf)")
        elif kind == "cap":
            forms.append("5 * tanh({} / 5)")
    return forms


def weighed(chance, result):
    """The softmax of s times v."""
    way = chance.choice(["softmax", "softmax", "spelled", "plain", "late", "reciprocal"])
    if way == "softmax":
        return ["  w = softmax(s, along: S)", f"  ({{weights}} @ v) as [{result}]"]
    power = "exp(s)" if way == "plain" else "exp(s - max(s, along: S))"
    lines = [f"  e = {power}", "  l = sum(e, along: S)"]
    if way == "late":
        return lines + [f"  ({{exponentials}} @ v / l) as [{result}]"]
    quotient = "e * (1 / l)" if way == "reciprocal" else "e / l"
    return lines + [f"  w = {quotient}", f"  ({{weights}} @ v) as [{result}]"]


def export(number, chance):
    queryHeads, keyHeads = HEADS[chance.choice(list(HEADS))]
    parameters = [f"q[{shuffled(chance, dims('T', queryHeads, 'D'))}]", f"k[{shuffled(chance, dims('S', keyHeads, 'D'))}]",
                  f"v[{shuffled(chance, dims('S', keyHeads, 'N'))}]"]
    result = shuffled(chance, dims("T", queryHeads, "N"))
    lines, q, k, after = scaled(chance, "q", "k")
    scores = dims("T", queryHeads, "S")
    lines += [f"  s = (({q} as [{dims('T', queryHeads, 'D')}]) @ {k}) as [{shuffled(chance, scores)}]"]
    for form in [after] + biased(chance, queryHeads, parameters):
        if form != "{}":
            lines.append(f"  s = {form.format('s')}")
    last = f"as [{scores}])"
    lines += [line.replace("{weights}", "(w " + last).replace("{exponentials}", "(e " + last) for line in weighed(chance, result)]
    return [f"export fn way{number}({', '.join(parameters)}) -> [{result}] {{"] + lines + ["}"]


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    chance = random.Random(seed)
    print("config { D = 16, N = 6, H = 3, A = 2, G = 2, R = 3 }")
    for number in range(count):
        print("\n".join(export(number, chance)))


main()
