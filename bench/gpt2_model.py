# gpt2_model.py DIR: a model of the shape of GPT-2 124M with seeded random weights, which need no download.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Speed does not depend on what weights say, and logits of a random model are compared as well as any.
import json
import pathlib
import struct
import sys

V, E, H, P = 50257, 768, 12, 1024


def tensors(layers):
    """Name, shape, and of what kind: `w` normal, `b` a little noise, `g` noise around 1."""
    yield "wte.weight", (V, E), "w"
    yield "wpe.weight", (P, E), "w"
    for l in range(layers):
        for norm in ("ln_1", "ln_2"):
            yield f"h.{l}.{norm}.weight", (E,), "g"
            yield f"h.{l}.{norm}.bias", (E,), "b"
        for name, inner, outer in (("attn.c_attn", E, 3 * E), ("attn.c_proj", E, E), ("mlp.c_fc", E, 4 * E), ("mlp.c_proj", 4 * E, E)):
            yield f"h.{l}.{name}.weight", (inner, outer), "w"
            yield f"h.{l}.{name}.bias", (outer,), "b"
    yield "ln_f.weight", (E,), "g"
    yield "ln_f.bias", (E,), "b"


def configure(folder, layers):
    """config.json alone, which is all that compiling needs."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": V,
        "n_embd": E,
        "n_layer": layers,
        "n_head": H,
        "n_positions": P,
        "layer_norm_epsilon": 1e-5,
        "activation_function": "gelu_new",
    }
    (folder / "config.json").write_text(json.dumps(config))


def make(folder, layers=12, seed=4):
    import numpy

    configure(folder, layers)
    header, at = {}, 0
    for name, shape, _ in tensors(layers):
        count = 4 * int(numpy.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + count]}
        at += count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64 + 56)  # with its length of 8 bytes a multiple of 64
    draw = numpy.random.default_rng(seed)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape, kind in tensors(layers):
            numbers = draw.standard_normal(shape, dtype=numpy.float32) * numpy.float32(0.05 if kind == "w" else 0.02)
            file.write((numbers + numpy.float32(kind == "g")).astype("<f4").tobytes())


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
