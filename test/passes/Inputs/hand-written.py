# Attention written by hand in many ways: prints a .attn file with one export a way.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   hand-written.py COUNT [SEED]
#
# Every export is attention of queries over keys, so every one must end as one attn.attend.
import random
import sys

# heads of the queries, the keys and the values
HEADS = [("", "", ""), ("H", "H", "H"), ("G,R", "G", "G"), ("A,G,R", "A,G", "A,G"), ("A,B,G,R", "A,B,G", "A,B,G"),
         ("H", "", ""), ("H", "H", ""), ("H", "", "H"), ("G,R", "R", "G,R"), ("A,B", "A,B", "B")]


def dims(*names):
    return ",".join(name for name in names if name)


def shuffled(chance, names):
    names = names.split(",")
    if chance.random() < 0.4:
        chance.shuffle(names)
    return ",".join(names)


class Way:
    """One export: `lines` grow until the scores are `s`, the weights or exponentials times the values the result."""

    def __init__(self, chance):
        self.chance, self.parameters, self.lines = chance, [], []
        heads, keys, values = chance.choice(HEADS)
        self.heads, self.rows = heads, chance.choice(["T", "T", "T", "T", ""])  # without T: a single query
        self.own = self.rows and chance.random() < 0.2  # keys along the queries' sequence
        sequence = "T" if self.own else "S"
        self.queries, self.keys, self.values = dims(self.rows, heads, "D"), dims("S", keys, "D"), dims("S", values, "N")
        self.scores, self.result = dims(self.rows, heads, "S"), dims(self.rows, heads, "N")
        self.parameters = [f"q[{shuffled(chance, self.queries)}]", f"k[{shuffled(chance, dims(sequence, keys, 'D'))}]",
                           f"v[{shuffled(chance, dims(sequence, values, 'N'))}]"]
        if self.own:
            self.lines += [f"  k = k as [{shuffled(chance, self.keys)}]", f"  v = v as [{shuffled(chance, self.values)}]"]

    def parameter(self, name, names):
        self.parameters.append(f"{name}[{shuffled(self.chance, names)}]" if names else f"{name}[]")

    def turned(self, value, names):
        """Perhaps transposed."""
        return f"({value} as [{shuffled(self.chance, names)}])" if self.chance.random() < 0.3 else value

    def scale(self):
        """What is done to q and k, and then to their product."""
        way = self.chance.choice(["none", "queries", "keys", "both", "all", "after", "divided", "doubled", "negative", "learned"])
        if way in ("queries", "all"):
            self.lines.append("  q = q * 0.25" if way == "queries" else "  q = q / 2")
        if way in ("keys", "all"):
            self.lines.append("  k = k / 4" if way == "keys" else "  k = 0.5 * k")
        if way == "both":
            self.lines += ["  q = q * 16^-0.25", "  k = 16^-0.25 * k"]
        if way == "negative":
            self.lines.append("  q = -q")
        if way == "learned":
            self.parameter("t", self.chance.choice(["", self.heads]))
        return {"all": "{} * 0.5", "after": "{} * 0.25", "divided": "{} / sqrt(D)", "doubled": "2 * ({} * 0.125)",
                "negative": "-{} / 4", "learned": "{} * t"}.get(way)

    def product(self):
        q, k = f"q as [{self.queries}]", f"k as [{self.keys}]"
        if self.chance.random() < 0.25:
            return f"({k}) @ {self.turned('q', self.queries)}"
        return f"({q}) @ {self.turned('k', self.keys)}"

    def biases(self):
        """What else is done to the scores before the softmax. What bends or turns them over stands before what hides some."""
        chance, forms, bent = self.chance, [], []
        kinds = ["bias", "column", "row", "head", "mask", "added", "inverse", "hidden", "cap", "curve", "soft", "causal"]
        pairs = ("bias", "mask", "added", "inverse", "soft")  # a parameter has one dimension a sequence
        for kind in chance.sample([kind for kind in kinds if not (self.own and kind in pairs)], chance.randint(0, 3)):
            if kind == "bias":
                self.parameter("b", self.scores)
                forms.append(chance.choice(["{} + b", "b + {}"]))
            elif kind == "column":
                self.parameter("c", "S" if not self.own else "T")
                forms.append("{} - (c as [S])" if self.own else "{} - c")
            elif kind == "row" and self.rows:
                self.parameter("r", "T")
                forms.append("{} + r * 0.5")
            elif kind == "head" and self.heads:
                self.parameter("u", self.heads)
                bent.append("{} * u")
            elif kind in ("mask", "added", "inverse"):
                name = {"mask": "m", "added": "a", "inverse": "n"}[kind]
                self.parameter(name, dims(self.rows, "S"))
                forms.append({"mask": chance.choice(["select(m > 0, {}, -inf)", "select(m <= 0, -inf, {})"]),
                              "added": chance.choice(["{} + select(a > -1, 0, -inf)", "select(a < -1, -inf, 0) + {}"]),
                              "inverse": "select(n > -1 and not (n > 1), {}, -inf)"}[kind])
            elif kind == "hidden":
                self.parameter("x", "S" if not self.own else "T")
                forms.append("select((x as [S]) > -1, {}, -inf)")
            elif kind == "cap":
                bent.append("5 * tanh({} / 5)")
            elif kind == "curve":
                bent.append("{} + 0.1 * {}^2")
            elif kind == "soft":
                self.parameter("o", dims(self.rows, "S"))
                forms.append("{} + select(o > 0, 0, -30)")
            elif kind == "causal" and self.own:
                self.lines.append("  d = fill(0, T, S) + (pos as [S]) - pos")
                forms.append(chance.choice(["select(d <= 0, {}, -inf)", "{} + select(d > 0, -inf, 0)", "{} - 0.1 * abs(d)"]))
        return bent + forms, len(bent)

    def weigh(self):
        """The softmax of s times v."""
        chance = self.chance
        ways = ["softmax", "softmax", "spelled", "plain", "late", "late reciprocal", "reciprocal", "log", "log of shifted",
                "twice", "shifted then scaled", "one maximum"]
        way = chance.choice(ways)
        if way == "one maximum" and not self.rows:
            way = "plain"
        self.lines += {
            "softmax": ["  w = softmax(s, along: S)"],
            "log": ["  w = exp(s - log(sum(exp(s), along: S)))"],
            "log of shifted": ["  m_ = max(s, along: S)", "  l = m_ + log(sum(exp(s - m_), along: S))", "  w = exp(s - l)"],
            "twice": ["  w = exp(s - max(s, along: S)) / sum(exp(s - max(s, along: S)), along: S)"],
            "plain": ["  e = exp(s)"],
            "shifted then scaled": ["  e = exp((s - max(s, along: S)) * 0.5)"],
            "one maximum": ["  e = exp(s - max(max(s, along: S), along: T))"],
        }.get(way, ["  e = exp(s - max(s, along: S))"])
        divided = ""
        if "w = " not in self.lines[-1]:
            self.lines.append(f"  l = sum({self.turned('e', self.scores)}, along: S)")
            if way.startswith("late"):
                self.lines.append("  w = e")
                divided = " * (1 / l)" if way == "late reciprocal" else " / l"
            else:
                self.lines.append("  w = e * (1 / l)" if way == "reciprocal" else "  w = e / l")
        if chance.random() < 0.2:
            last = self.values.split(",")[1:] + ["S"]
            self.lines.append(f"  y = (v as [{','.join(last)}]) @ {self.turned('w', self.scores)}")
        else:
            self.lines.append(f"  y = (w as [{self.scores}]) @ {self.turned('v', self.values)}")
        self.lines.append(f"  ({self.turned('y', self.result)}{divided}) as [{shuffled(chance, self.result)}]")

    def text(self, number):
        forms, bent = self.biases()
        scale = self.scale()
        if scale:
            forms.insert(self.chance.randint(0, bent if scale[0] == "-" or scale.endswith("* t") else len(forms)), scale)
        self.lines.append(f"  s = ({self.product()}) as [{shuffled(self.chance, self.scores)}]")
        self.lines += [f"  s = {form.replace('{}', self.turned('s', self.scores))}" for form in forms]
        self.weigh()
        result = self.lines[-1][self.lines[-1].rindex("[") :]
        return [f"export fn way{number}({', '.join(self.parameters)}) -> {result} {{"] + self.lines + ["}"]


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    chance = random.Random(seed)
    print("config { D = 16, N = 6, H = 3, A = 2, B = 2, G = 2, R = 3 }")
    for number in range(count):
        print("\n".join(Way(chance).text(number)))


main()
