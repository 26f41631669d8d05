# A random module of the attn dialect: one export, some of whose values come out. Seeded: the same number, the same text.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#     random_module.py SEED [OPERATIONS [sessions]]
#
# A name says its size (A4, B4; T, Q are as long as the sequence; S, R as long as all its cached rows), so no operation can give one name two sizes. A consumer
# often calls a dimension otherwise than the producer did. Besides single operations there are the patterns that passes
# look for: attention, normalisations and activations written by hand, products of one tensor with several weights. With `sessions` rows are
# cached, and attended to from call to call, and scans carry a state along the sequence.
#
# A value `varies` if what it holds depends on how rows are parted among calls: sums over the rows of a call, what a scan
# makes of them. Such a value is not cached, and as a result is held against the interpreter alone.
import random
import sys


class Value:
    def __init__(self, ssa, dims, kind="f32", varies=False):
        self.ssa, self.dims, self.kind, self.varies = ssa, list(dims), kind, varies


KINDS = {"T": "T", "Q": "T", "S": "all", "R": "all"}
SPELLED = {"Q": "Q:T", "S": "S:all.T", "R": "R:all.T"}


def size(dim):
    return "?" if dim in KINDS else dim[1:]


def kind_of(dim):
    return KINDS.get(dim, dim[1:])


def spelled(dim):
    return SPELLED.get(dim, dim)


def type_of(dims, kind="f32"):
    return "tensor<" + "".join(size(d) + "x" for d in dims) + kind + ">"


def names(dims):
    return "[" + ", ".join(map(spelled, dims)) + "]"


class Module:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.weights, self.values = [], [], []
        self.states = 0
        self.count, self.indent = 0, "  "

    def pick(self, values):
        return self.random.choice(list(values))

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def operand(self, value, dims):
        return f"{value.ssa} : {type_of(dims, value.kind)} {names(dims)}"

    def add(self, op, operands, out, body=None):
        """`operands`: pairs of a value and what the operation calls its dimensions."""
        inputs = ", ".join(self.operand(value, dims) for value, dims in operands)
        ssa = self.fresh()
        self.lines.append(f"{self.indent}{ssa} = attn.{op} ({inputs}) -> {type_of(out)} {names(out)}" + (body or ""))
        summed = [dim for _, dims in operands for dim in dims if dim in KINDS and (dim not in out or f'softmax "{dim}"' == op)]
        result = Value(ssa, out, varies=bool(summed) or any(value.varies for value, _ in operands))
        self.values.append(result)
        return result

    # names

    def other(self, dim, taken):
        """Another name of the same size."""
        if dim in KINDS:
            options = [name for name in KINDS if KINDS[name] == KINDS[dim] and name not in taken]
        else:
            options = [letter + dim[1:] for letter in "ABCDEN" if letter + dim[1:] not in taken]
        return self.pick(options) if options else None

    def called(self, value):
        """The value's dimensions, perhaps one under another name."""
        dims = list(value.dims)
        if dims and self.random.random() < 0.3:
            i = self.random.randrange(len(dims))
            dims[i] = self.other(dims[i], dims) or dims[i]
        return dims

    # regions

    def body(self, arguments, steps, result):
        inner = self.indent + "  "
        text = " {\n" + f"{self.indent}^bb0(" + ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(arguments)) + "):\n"
        for step in steps:
            text += inner + step + "\n"
        return text + f"{inner}attn.yield {result} : f32\n{self.indent}}}"

    def constant(self, name, number):
        return f"%{name} = arith.constant {number:.9e} : f32"

    def unary(self):
        c = self.random.uniform(0.25, 2)
        return self.pick([
            (["%r = math.tanh %a0 : f32"], "%r"), (["%r = arith.mulf %a0, %a0 : f32", "%s = math.tanh %r : f32"], "%s"),
            ([self.constant("c", c), "%r = arith.mulf %a0, %c : f32"], "%r"),
            ([self.constant("c", c), "%r = arith.divf %a0, %c : f32"], "%r"),
            ([self.constant("c", 0), "%r = arith.maximumf %a0, %c : f32"], "%r"),
            (["%r = arith.negf %a0 : f32", "%e = math.exp %r : f32", self.constant("o", 1), "%d = arith.addf %e, %o : f32",
              "%q = arith.divf %o, %d : f32", "%z = arith.mulf %a0, %q : f32"], "%z"),
            ([self.constant("o", 1), self.constant("h", 0.5), self.constant("w", 0.70710678), "%i = arith.mulf %a0, %w : f32",
              "%e = math.erf %i : f32", "%d = arith.addf %e, %o : f32", "%g = arith.mulf %a0, %h : f32",
              "%z = arith.mulf %g, %d : f32"], "%z"),
            ([], "%a0")])

    def binary(self):
        return self.pick([(["%r = arith.addf %a0, %a1 : f32"], "%r"), (["%r = arith.subf %a0, %a1 : f32"], "%r"),
                          (["%r = arith.mulf %a0, %a1 : f32"], "%r"), (["%r = arith.maximumf %a0, %a1 : f32"], "%r")])

    # operations; each returns its result, or None where it found nothing to work on

    def shuffled(self, dims):
        dims = list(dims)
        if self.random.random() < 0.3:
            self.random.shuffle(dims)
        return dims

    def map(self, x=None, step=None):
        x = x or self.pick(self.values)
        dims = self.called(x)
        return self.add("map", [(x, dims)], self.shuffled(dims), self.body(["f32"], *(step or self.unary())))

    def zip(self, x=None, y=None, step=None):
        x = x or self.pick(self.values)
        dims = self.called(x)
        fitting = [(v, own) for v in ([y] if y else self.values) if (own := self.fit(v, dims)) is not None]
        if not fitting:
            return None
        y, own = self.pick(fitting)
        return self.add("map", [(x, dims), (y, own)], self.shuffled(dims), self.body(["f32", "f32"], *(step or self.binary())))

    def fit(self, value, dims):
        """Names out of `dims` for the value's dimensions, each once, of their sizes."""
        left, own = list(dims), []
        for dim in value.dims:
            match = [d for d in left if kind_of(d) == kind_of(dim)]
            if not match:
                return None
            own.append(match[0] if dim not in match else dim)
            left.remove(own[-1])
        return own

    def reduce(self):
        x = self.pick(v for v in self.values if v.dims)
        dims = self.called(x)
        kept = [d for d in dims if self.random.random() < 0.6]
        return self.add("reduce " + self.pick(["sum", "mean", "max", "min"]), [(x, dims)], kept)

    def contract(self):
        x, y = self.pick(self.values), self.pick(self.values)
        a = self.called(x)
        b, shared = [], []
        for dim in y.dims:
            match = [d for d in a if kind_of(d) == kind_of(dim) and d not in b]
            if match and (not shared or self.random.random() < 0.7):
                b.append(match[0])
                shared.append(match[0])
            else:
                b.append(self.other(dim, a + b))
        if not shared or None in b:
            return None
        summed = [d for d in shared if d == shared[0] or self.random.random() < 0.3]
        out = [d for d in a + [d for d in b if d not in a] if d not in summed]
        if len(out) > 4 or sum(d in KINDS for d in out) > 2:
            return None
        product = self.add("contract", [(x, a), (y, b)], self.shuffled(out))
        return self.map(product, ([self.constant("c", 0.25), "%r = arith.mulf %a0, %c : f32", "%s = math.tanh %r : f32"], "%s"))

    def softmax(self):
        x = self.pick(v for v in self.values if v.dims)
        dims = self.called(x)
        return self.add(f'softmax "{self.pick(dims)}"', [(x, dims)], dims)

    def rows(self):
        """Values with a static last dimension."""
        return [v for v in self.values if v.dims and v.dims[-1] not in KINDS]

    def normalise(self):
        x = self.pick(self.rows())
        dims = self.called(x)
        return self.add(f"normalise {self.pick(['layer', 'rms'])} eps 1.0e-2", [(x, dims)], dims)

    def weight(self, sizes):
        name = f"w{len(self.weights)}"
        stored = self.pick(["", ', stored = "in_out"']) if len(sizes) > 1 else ""
        self.weights.append(f'attn.weight @{name} {{parts = ["{name}"]{stored}}} : tensor<{"x".join(sizes)}xf32>')
        return name

    def linear(self, x=None, out=None):
        x = x or self.pick(self.rows())
        dims = self.called(x)
        free = [d for d in ["A4", "B3", "C12", "D8", "E6"] if d not in dims[:-1]]
        out = out or self.random.sample(free, self.pick([1, 1, 2]))
        if set(out) & set(dims):
            return None
        weight = self.weight([size(d) for d in out] + [size(dims[-1])])
        return self.add(f"linear @{weight}", [(x, dims)], dims[:-1] + out, self.body(["f32"], [], "%a0"))

    def bias(self, x):
        """x plus a weight of its last dimension."""
        last = x.dims[-1]
        name, ssa = self.weight([size(last)]), self.fresh()
        self.lines.append(f"{self.indent}{ssa} = attn.param @{name} : {type_of([last])}")
        return self.zip(x, Value(ssa, [last]), (["%r = arith.addf %a0, %a1 : f32"], "%r"))

    def dense(self):
        x = self.linear()
        return x and self.map(self.bias(x))

    def projections(self):
        x = self.pick(self.rows())
        return [self.linear(x) for _ in range(3)][-1]

    def reshape(self):
        x = self.pick(v for v in self.values if v.dims)
        dims, out = list(x.dims), list(x.dims)
        splits = {"12": ("3", "4"), "8": ("2", "4"), "6": ("2", "3"), "24": ("4", "6")}
        places = [i for i, d in enumerate(dims) if kind_of(d) in splits]
        if places and len(dims) < 4:
            i = self.pick(places)
            parts = []
            for part in splits[kind_of(dims[i])]:
                parts.append(self.other("X" + part, dims + parts))
            if None not in parts:
                out[i:i + 1] = parts
        return self.add("reshape", [(x, dims)], self.shuffled(out))

    def merge(self):
        sums = {("3", "4"): "12", ("2", "4"): "8", ("2", "3"): "6", ("4", "6"): "24", ("4", "3"): "12", ("3", "2"): "6"}
        found = [(v, i) for v in self.values for i in range(len(v.dims) - 1)
                 if (kind_of(v.dims[i]), kind_of(v.dims[i + 1])) in sums]
        if not found:
            return None
        x, i = self.pick(found)
        whole = self.other("X" + sums[kind_of(x.dims[i]), kind_of(x.dims[i + 1])], x.dims)
        return whole and self.add("reshape", [(x, x.dims)], self.shuffled(x.dims[:i] + [whole] + x.dims[i + 2:]))

    def slice(self):
        x = self.pick(self.rows())
        width = int(size(x.dims[-1]))
        if width < 3:
            return None
        part = self.pick([2, 3, 4, None])
        if part is None or part > width:
            return self.add(f'slice "{x.dims[-1]}" at {self.random.randrange(width)}', [(x, x.dims)], x.dims[:-1])
        cut = self.other("X" + str(part), x.dims)
        return cut and self.add(f'slice "{x.dims[-1]}" at {self.random.randrange(width - part + 1)}', [(x, x.dims)], x.dims[:-1] + [cut])

    def concat(self):
        x, y = self.pick(self.rows()), self.pick(self.rows())
        rest = self.fit(Value("", y.dims[:-1]), x.dims[:-1])
        total = int(size(x.dims[-1])) + int(size(y.dims[-1]))
        joined = self.other("X" + str(total), x.dims)
        last = self.other(y.dims[-1], x.dims + [joined or ""])
        if rest is None or total > 24 or not joined or not last:
            return None
        return self.add(f'concat "{joined}" ["{x.dims[-1]}", "{last}"]', [(x, x.dims), (y, rest + [last])], x.dims[:-1] + [joined])

    # patterns

    def layernorm(self):
        x = self.pick(self.rows())
        dims, rows = x.dims, x.dims[:-1]
        mean = self.add("reduce mean", [(x, dims)], rows)
        c = self.zip_as(x, dims, mean, rows, "%r = arith.subf %a0, %a1 : f32")
        square = self.add("map", [(c, dims)], dims, self.body(["f32"], ["%r = arith.mulf %a0, %a0 : f32"], "%r"))
        variance = self.add("reduce mean", [(square, dims)], rows)
        scale = self.add("map", [(variance, rows)], rows, self.body(["f32"], [self.constant("c", 0.01), "%r = arith.addf %a0, %c : f32", "%s = math.rsqrt %r : f32"], "%s"))
        return self.zip_as(c, dims, scale, rows, "%r = arith.mulf %a0, %a1 : f32")

    def zip_as(self, x, xs, y, ys, step):
        return self.add("map", [(x, xs), (y, ys)], xs, self.body(["f32", "f32"], [step], "%r"))

    def attention(self):
        """softmax(scale q k (+ bias) (masked)) v, by hand."""
        x = Value("%x", ["T", "C12"])
        q, k, v = (self.linear(x, ["B3", "A4"]) for _ in range(3))
        if not (q and k and v):
            return None
        s = self.add("contract", [(q, ["T", "B3", "A4"]), (k, ["Q", "B3", "A4"])], self.pick([["B3", "T", "Q"], ["T", "B3", "Q"]]))
        dims = s.dims
        s = self.add("map", [(s, dims)], dims, self.body(["f32"], [self.constant("c", 0.5), self.pick(["%r = arith.mulf %a0, %c : f32", "%r = arith.divf %a0, %c : f32"])], "%r"))
        if self.random.random() < 0.6:
            i, j = self.fresh(), self.fresh()
            self.lines += [f"{self.indent}{i} = attn.pos tensor<?xi32> [T]", f"{self.indent}{j} = attn.pos tensor<?xi32> [T]"]
            steps = ["%m = arith.cmpi sle, %a2, %a1 : i32", "%low = arith.constant 0xFF800000 : f32", "%r = arith.select %m, %a0, %low : f32"]
            s = self.add("map", [(s, dims), (Value(i, ["T"], "i32"), ["T"]), (Value(j, ["T"], "i32"), ["Q"])], dims, self.body(["f32", "i32", "i32"], steps, "%r"))
        w = self.add('softmax "Q"', [(s, dims)], dims)
        y = self.add("contract", [(w, dims), (v, ["Q", "B3", "A4"])], ["T", "B3", "A4"])
        return self.add("reshape", [(y, ["T", "B3", "A4"])], ["T", "C12"])

    def gather(self):
        """Rows of a weight by the rows' own numbers."""
        name, table, ids = self.weight(["9", "6"]), self.fresh(), self.fresh()
        self.lines += [f"{self.indent}{table} = attn.param @{name} : tensor<9x6xf32>", f"{self.indent}{ids} = attn.pos tensor<?xi32> [T]"]
        return self.add("gather", [(Value(table, [], "f32"), ["A9", "E6"]), (Value(ids, [], "i32"), ["T"])], ["T", "E6"])

    def repeat(self):
        """Turns of some operations on one value, which comes back to its own dimensions; perhaps each turn's is kept."""
        if len(self.indent) > 2:
            return None
        x = self.pick(self.values[:3] + [v for v in self.rows()])
        turns = self.pick([1, 2, 3])
        if not x.dims or x.dims[-1] in KINDS:
            return None
        outer, lines = self.values, self.lines
        carried, kept = Value(self.fresh(), x.dims, varies=x.varies), self.random.random() < 0.4 and f"N{turns}" not in x.dims
        self.values, self.lines, self.indent = [carried, self.pick(outer)], [], "    "
        for _ in range(3):
            self.pick([self.map, self.zip, self.normalise, self.softmax, self.reduce, self.dense])()
        back = self.turn_linear(carried, turns)
        body, self.values, self.lines, self.indent = self.lines, outer, lines, "  "
        ssa, stack = self.fresh(), self.fresh()
        kind = type_of(x.dims)
        stacked = "tensor<" + str(turns) + "x" + kind[len("tensor<"):]
        results = f"({kind} {names(x.dims)}, {stacked} [N{turns}, {names(x.dims)[1:]})" if kept else f"{kind} {names(x.dims)}"
        self.lines.append(f"  {ssa}{', ' + stack if kept else ''} = attn.repeat 0 to {turns} ({self.operand(x, x.dims)}) -> {results} {{")
        self.lines += [f"  ^bb0(%l: i32, {carried.ssa}: {kind}):"] + body
        self.lines += [f"    attn.yield {back.ssa}{', ' + carried.ssa if kept else ''} : {kind}{', ' + kind if kept else ''}", "  }"]
        if kept and len(x.dims) < 4:
            self.values.append(Value(stack, [f"N{turns}"] + x.dims, varies=back.varies))
        self.values.append(Value(ssa, x.dims, varies=back.varies))
        return self.values[-1]

    def turn_linear(self, carried, turns):
        """The carried value times the turn's weight, plus something of this turn that fits, or itself."""
        dims, width = carried.dims, size(carried.dims[-1])
        name = f"w{len(self.weights)}"
        self.weights.append(f'attn.weight @{name} {{parts = ["{name}.{{0}}"], turns = array<i64: {turns}>}} : tensor<{width}x{width}xf32>')
        extra, own = self.pick([(v, fit) for v in self.values if (fit := self.fit(v, dims)) is not None])
        last = self.other(dims[-1], dims)
        ssa, out = self.fresh(), type_of(dims)
        self.lines += [f"    {ssa} = attn.linear @{name}[%l] ({self.operand(carried, dims[:-1] + [last])}, {self.operand(extra, own)}) -> {out} {names(dims)}"
                       + self.body(["f32", "f32"], ["%r = arith.addf %a0, %a1 : f32", "%s = math.tanh %r : f32"], "%s")]
        return Value(ssa, dims, varies=carried.varies or extra.varies)

    # sessions

    def cache(self, x):
        """All rows of x so far; x has the sequence first and nowhere else."""
        name, ssa = f"s{self.states}", self.fresh()
        self.states += 1
        self.weights.append(f"attn.state cache @{name} : {type_of(x.dims)}")
        out = Value(ssa, ["S"] + x.dims[1:])
        self.lines.append(f"  {ssa} = attn.cache @{name} ({self.operand(x, x.dims)}) -> {type_of(out.dims)} {names(out.dims)}")
        self.values.append(out)
        return out

    def cached(self):
        """A value whose rows are cached, for whoever takes it."""
        found = [v for v in self.values if v.dims[:1] == ["T"] and not v.varies and not any(d in KINDS for d in v.dims[1:])]
        return found and self.cache(self.pick(found))

    def recall(self):
        """Attention over all rows so far, masked, some of it by hand."""
        x = self.pick([Value("%x", ["T", "C12"])] + [v for v in self.values if v.dims == ["T", "C12"] and not v.varies])
        q, k, v = (self.linear(x, ["B3", "A4"]) for _ in range(3))
        k, v = self.cache(k), self.cache(v)
        mask = self.pick([["%r = arith.cmpi sle, %j, %i : i32"],
                          ["%d = arith.subi %i, %j : i32", "%width = arith.constant 7 : i32", "%zero = arith.constant 0 : i32",
                           "%after = arith.cmpi sge, %d, %zero : i32", "%near = arith.cmpi slt, %d, %width : i32", "%r = arith.andi %after, %near : i1"]])
        dims = ["T", "B3", "A4"]
        if self.random.random() < 0.6:
            operands = ", ".join([self.operand(q, dims), self.operand(k, ["S", "B3", "A4"]), self.operand(v, ["S", "B3", "D4"])])
            ssa = self.fresh()
            self.lines.append(f"  {ssa} = attn.attend softmax scale 0.5 ({operands}) -> {type_of(dims)} [T, B3, D4] mask {{")
            self.lines += ["  ^bb0(%i: i32, %j: i32, %h: i32):"] + [f"    {line}" for line in mask] + ["    attn.yield %r : i1", "  }"]
            y = Value(ssa, dims)
            self.values.append(y)
            return self.add("reshape", [(y, dims)], ["T", "C12"])
        i, j = self.fresh(), self.fresh()
        self.lines += [f"  {i} = attn.pos tensor<?xi32> [T]", f"  {j} = attn.pos tensor<?xi32> [S:all.T]"]
        s = self.add("contract", [(q, dims), (k, ["S", "B3", "A4"])], ["T", "B3", "S"])
        steps = [line.replace("%r", "%m") for line in mask] + [
            "%c = arith.constant 0.5 : f32", "%t = arith.mulf %s, %c : f32", "%low = arith.constant 0xFF800000 : f32", "%r = arith.select %m, %t, %low : f32"]
        body = " {\n  ^bb0(%s: f32, %i: i32, %j: i32):\n" + "\n".join(f"    {line}" for line in steps) + "\n    attn.yield %r : f32\n  }"
        s = self.add("map", [(s, s.dims), (Value(i, ["T"], "i32"), ["T"]), (Value(j, ["S"], "i32"), ["S"])], s.dims, body)
        w = self.add('softmax "S"', [(s, s.dims)], s.dims)
        y = self.add("contract", [(w, w.dims), (v, ["S", "B3", "A4"])], dims)
        y.varies = False  # each row sees the rows before it, in whatever call they came
        return self.add("reshape", [(y, dims)], ["T", "C12"])

    def scan(self):
        """A state of eight numbers along the sequence: all its values, or the last one too."""
        found = [v for v in self.values if v.dims[:1] == ["T"] and len(v.dims) == 2 and v.dims[1] not in KINDS and v.dims[1] != "D8"]
        x = found and self.pick(found)
        if not x:
            return None
        row, state, last, stack = (self.fresh() for _ in range(4))
        zero, a, n = self.fresh(), self.fresh(), self.fresh()
        kind, both = type_of(["D8"]), self.random.random() < 0.5
        one, two = self.weight(["8", size(x.dims[1])]), self.weight(["8", "8"])
        self.lines += [f"  {zero} = arith.constant dense<0.5> : {kind}",
                       f'  {last}, {stack} = attn.scan "T" rows 1 ({self.operand(x, x.dims)}, {zero} : {kind} [D8]) -> ({kind} [D8], {type_of(["T", "D8"])} [T, D8]) {{',
                       f"  ^bb0({row}: {type_of(x.dims[1:])}, {state}: {kind}):",
                       f"    {a} = attn.linear @{one} ({row} : {type_of(x.dims[1:])} {names(x.dims[1:])}) -> {kind} [D8]" + self.body(["f32"], [], "%a0"),
                       f"    {n} = attn.linear @{two} ({state} : {kind} [E8], {a} : {kind} [D8]) -> {kind} [D8]"
                       + self.body(["f32", "f32"], ["%r = arith.addf %a0, %a1 : f32", "%s = math.tanh %r : f32"], "%s"),
                       f"    attn.yield {n}, {n if both else state} : {kind}, {kind}", "  }"]
        self.values += [Value(last, ["D8"], varies=True), Value(stack, ["T", "D8"], varies=True)]
        return self.values[-1]

    def text(self, operations, sessions=False):
        self.values = [Value("%x", ["T", "C12"]), Value("%y", ["T", "D8"]), Value("%b", ["C12"]), Value("%n", [])]
        given = list(self.values)
        makers = [self.map, self.map, self.zip, self.zip, self.reduce, self.contract, self.softmax, self.normalise, self.linear, self.dense,
                  self.projections, self.reshape, self.merge, self.slice, self.concat, self.layernorm, self.attention, self.gather, self.repeat]
        if sessions:
            makers += [self.cached, self.recall, self.recall, self.scan]
            self.recall()
        for _ in range(operations):
            self.pick(makers)()
        made = [v for v in self.values if v not in given and not any(kind_of(d) == "all" for d in v.dims)]
        results = made[-2:] + self.random.sample(made[:-2], min(2, len(made[:-2]))) or given[:1]
        arguments = ", ".join(f'{v.ssa}: {type_of(v.dims)} {{attn.name = "{v.ssa[1:]}", attn.dims = #attn.dims<{names(v.dims)}>}}' for v in given)
        types = ", ".join(f"{type_of(v.dims)} {{attn.dims = #attn.dims<{names(v.dims)}>{', test.varies' if self.states and v.varies else ''}}}" for v in results)
        cached = ', attn.cached = "T"' if self.states else ""
        lines = self.weights + [f"func.func @f({arguments})", f"    -> ({types}) attributes {{attn.export, attn.sequences = [\"T\"]{cached}}} {{"]
        lines += self.lines + [f"  return {', '.join(v.ssa for v in results)} : {', '.join(type_of(v.dims) for v in results)}", "}"]
        return "\n".join(lines)


if __name__ == "__main__":
    print(Module(int(sys.argv[1])).text(int(sys.argv[2]) if len(sys.argv) > 2 else 12, "sessions" in sys.argv))
