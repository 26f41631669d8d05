# std_values.py ATTNC INTERPRETER std.attn SCRATCH: the library's functions beside formulas written here.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import subprocess
import sys

attnc, interpreter, source, scratch = sys.argv[1:]
X = [-30.0, -3.0, -1.0, -0.25, 0.0, 0.5, 1.5, 4.0, 30.0]
V = [1.5, -2.0, 0.25, 3.0, -1.0]
PAIRS = [(i, j) for i in (0, 1, 3, 4, 7, 8) for j in (0, 2, 3, 4, 7, 9)]
I, J = [i for i, _ in PAIRS], [j for _, j in PAIRS]
DISTANCES = [-500, -200, -100, -64, -33, -17, -16, -9, -8, -7, -1, 0, 1, 7, 8, 9, 15, 16, 40, 90, 127, 128, 300]
CONV_X = [[1, 2], [3, -1], [0, 4], [-2, 1], [5, 0], [1, 1]]
CONV_W = [[[1, 2, 3], [0, -1, 1]], [[2, 0, -2], [1, 1, 1]]]  # [E][In][K]
LLAMA3 = {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
          "original_max_position_embeddings": 64}
YARN = {"type": "yarn", "factor": 4, "original_max_position_embeddings": 512}
# Cases B04 and B09 of the collection of known mistakes, as transformers and the paper have them.
LLAMA32 = {"rope_type": "llama3", "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4,
           "original_max_position_embeddings": 8192}
LLAMA32_VALUES = {14: 0.003211446, 15: 0.001290548, 16: 0.000429557, 17: 9.708288e-5, 18: 1.946164e-5, 31: 9.418307e-8}
SINUSOID_5 = [[0, 1, 0, 1, 0], [0.841471, 0.540302, 0.025116, 0.999685, 0.000631]]
SINUSOID_4 = [[0, 1, 0, 1], [0.841471, 0.540302, 0.00999983, 0.99995]]


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def gelu(x):
    return x * 0.5 * math.erfc(-x / math.sqrt(2))


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def mish(x):
    return x * math.tanh(math.log1p(math.exp(x)))


def standardise(values, eps):
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    return [(v - mean) / math.sqrt(variance + eps) for v in values]


def bucket(distance, both):
    """The T5 paper's buckets, 32 of them up to a distance of 128."""
    count, offset = 32, 0
    if both:
        count //= 2
        offset = count if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = count // 2
    if distance < exact:
        return offset + distance
    scale = math.log(distance / exact) / math.log(128 / exact)
    return offset + min(exact + int(scale * (count - exact)), count - 1)


def slopes(heads):
    """ALiBi's slopes: powers of two first, then every other one of the next power of two."""
    power = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return first + [2 ** (-4 * (2 * h + 1) / power) for h in range(heads - power)]


def sinusoid(rows, width):
    return [[(math.sin if k % 2 == 0 else math.cos)(p / 10000 ** ((k - k % 2) / width)) for k in range(width)]
            for p in range(rows)]


def sinusoid_halves(rows, width):
    half = width // 2
    waves = [p_ for p_ in (100 ** (-j / (half - 1)) for j in range(half))]
    return [[math.sin(p * w) for w in waves] + [math.cos(p * w) for w in waves] for p in range(rows)]


def frequencies(width):
    return [10000 ** (-2 * k / width) for k in range(width // 2)]


def llama3(width):
    result = []
    for f in frequencies(width):
        wave = 2 * math.pi / f
        if wave < 64 / 4:
            result.append(f)
        elif wave > 64 / 1:
            result.append(f / 8)
        else:
            smooth = (64 / wave - 1) / (4 - 1)
            result.append((1 - smooth) * f / 8 + smooth * f)
    return result


def yarn(width):
    def place(turns):
        return width * math.log(512 / (turns * 2 * math.pi)) / (2 * math.log(10000))

    low, high = max(math.floor(place(32)), 0), min(math.ceil(place(1)), width - 1)
    result = []
    for k, f in enumerate(frequencies(width)):
        ramp = min(max((k - low) / (high - low), 0), 1)
        result.append(f / 4 * ramp + f * (1 - ramp))
    return result


def conv1d():
    padded = [[0, 0]] + CONV_X + [[0, 0]]
    return [[sum(padded[2 * y + k][i] * CONV_W[e][i][k] for i in range(2) for k in range(3)) for e in range(2)]
            for y in range(3)]


def mask(test):
    return {"i": I, "j": J}, [1 if test(i, j) else 0 for i, j in PAIRS]


# name: (arguments, what they give)
CASES = {
    "relu_squared_": ({"x": X}, [max(x, 0) ** 2 for x in X]),
    "silu_": ({"x": X}, [x * sigmoid(x) for x in X]),
    "gelu_": ({"x": X}, [gelu(x) for x in X]),
    "gelu_tanh_": ({"x": X}, [gelu_tanh(x) for x in X]),
    "quick_gelu_": ({"x": X}, [x * sigmoid(1.702 * x) for x in X]),
    "softplus_": ({"x": X}, [math.log1p(math.exp(x)) for x in X]),
    "mish_": ({"x": X}, [mish(x) for x in X]),
    "standardise_": ({"x": V}, standardise(V, 0.01)),
    "plain_norm": ({"x": V}, standardise(V, 0.01)),
    "unit_": ({"x": V}, [v / math.hypot(*V) for v in V]),
    "clip_": ({"x": X}, [x + min(max(x, -2), 2) for x in X]),
    "renormalise_": ({"x": V}, [v / sum(V) for v in V]),
    "softcap_": ({"x": X}, [x + 3 * math.tanh(x / 3) for x in X]),
    "causal_": mask(lambda i, j: j <= i),
    "window_": mask(lambda i, j: j > i - 3),
    "nearby_": mask(lambda i, j: -2 <= j - i <= 2),
    "chunk_": mask(lambda i, j: i // 4 == j // 4),
    "prefix_": mask(lambda i, j: j <= i or j in (0, 1, 2)),
    "dilated_": mask(lambda i, j: abs(i - j) in (0, 3, 6, 9)),
    "first_": ({"j": J}, [1 if j in (0, 1, 2) else 0 for j in J]),
    "block_causal_": mask(lambda i, j: j < {0: 4, 1: 8, 2: 12}[i // 4]),
    "neighbourhood_": mask(lambda i, j: max(abs(a - b) for a, b in zip(divmod(i, 3), divmod(j, 3))) <= 1),
    "bucket_both": ({"d": DISTANCES}, [bucket(d, True) for d in DISTANCES]),
    "bucket_past": ({"d": DISTANCES}, [bucket(d, False) for d in DISTANCES]),
    "slopes_8": ({"x": V}, slopes(8)),
    "slopes_6": ({"x": V}, slopes(6)),
    "alibi_": ({"s": [0.5] * len(PAIRS), "i": I, "j": J}, [0.5 - slopes(4)[1] * abs(i - j) for i, j in PAIRS]),
    "sinusoid_": ({"x": V}, sinusoid(5, 6)),
    "sinusoid_halves": ({"x": V}, sinusoid_halves(5, 6)),
    "sinusoid_5": ({"x": V}, sinusoid(5, 5)),
    "sinusoid_4": ({"x": V}, sinusoid(5, 4)),
    "inv_freq_": ({"x": V}, frequencies(16)),
    "conv1d_": ({"x": CONV_X}, conv1d()),
}
ACTIVATIONS = {
    "gelu": gelu, "gelu_new": gelu_tanh, "gelu_10": lambda x: min(max(gelu(x), -10), 10), "swish": lambda x: x * sigmoid(x),
    "relu": lambda x: max(x, 0), "relu2": lambda x: max(x, 0) ** 2, "mish": mish, "tanh": math.tanh, "sigmoid": sigmoid,
    "linear": lambda x: x, "quick_gelu": lambda x: x * sigmoid(1.702 * x),
}


def compile_with(activation, rope, theta=10000, width=16):
    with open(scratch + ".json", "w") as file:
        json.dump({"act": activation, "theta": theta, "width": width, "rope": rope, "longest": 512}, file)
    subprocess.run([attnc, source, f"--config={scratch}.json", "--emit=attn", "-o", scratch + ".mlir"], check=True)
    with open(scratch + ".mlir") as file:
        text = file.read()
    with open(scratch + ".mlir", "w") as file:
        file.write(text.replace("@conv.weight {", f'@conv.weight {{test.value = "{CONV_W}", ', 1))


def flatten(value):
    return [leaf for item in value for leaf in flatten(item)] if isinstance(value, list) else [value]


def agrees(name, arguments, expected, tolerance=2e-5, least=1e-4):
    given = [f"--arg={key}={json.dumps(value)}" for key, value in arguments.items()]
    run = subprocess.run([interpreter, scratch + ".mlir", "--fn=" + name] + given, capture_output=True, text=True)
    if run.returncode:
        print(f"{name}: {run.stderr}")
        return False
    got, wanted = flatten(json.loads(run.stdout)), flatten(expected)
    bad = [pair for pair in zip(got, wanted) if not abs(pair[0] - pair[1]) <= tolerance * max(least, abs(pair[1]))]
    if len(got) != len(wanted) or bad:
        print(f"{name}: got {got}, expected {wanted}: {bad[:5]}")
    return len(got) == len(wanted) and not bad


compile_with("gelu", LLAMA3)
results = [agrees(name, *case) for name, case in CASES.items()]
results.append(agrees("rope_", {"x": V}, llama3(16)))
for kind, function in ACTIVATIONS.items():
    compile_with(kind, YARN)
    results.append(agrees("activation_", {"x": X}, [function(x) for x in X]))
results.append(agrees("rope_", {"x": V}, yarn(16)))
for rope, factor in (({"rope_type": "default"}, 1), (None, 1), ({"rope_type": "linear", "factor": 2.5}, 2.5)):
    compile_with("gelu", rope)
    results.append(agrees("rope_", {"x": V}, [f / factor for f in frequencies(16)]))
for known, width in ((SINUSOID_5, 5), (SINUSOID_4, 4)):
    results.append(agrees(f"sinusoid_{width}", {"x": V[:2]}, known, 2e-3))
# What scales the rotated rows: YaRN's temperature, by factor, by the two factors of DeepSeek, or as it is said.
for more, scale in (({}, 0.1 * math.log(4) + 1), ({"attention_factor": 1.25}, 1.25), ({"mscale": 0.7}, 0.1 * math.log(4) + 1),
                    ({"mscale": 0.7, "mscale_all_dim": 1}, (0.07 * math.log(4) + 1) / (0.1 * math.log(4) + 1))):
    compile_with("gelu", YARN | more)
    results.append(agrees("rope_scale_", {"x": V}, [scale]))
for rope in ({"type": "yarn", "factor": 4}, YARN):  # the old length is the longest text's where it is not said
    compile_with("gelu", rope)
    results.append(agrees("rope_", {"x": V}, yarn(16)))
compile_with("gelu", LLAMA32, theta=500000, width=64)
plain = [500000 ** (-2 * k / 64) for k in range(32)]
expected = [LLAMA32_VALUES.get(k, f if k < 15 else f / 32) for k, f in enumerate(plain)]
results.append(agrees("rope_", {"x": V}, expected, 1e-5, 0))
print(f"{sum(results)} of {len(results)} agree")
sys.exit(not all(results))
