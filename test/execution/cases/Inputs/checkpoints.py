# checkpoints.py make FOLDER: small checkpoints whose layers add nothing, so that the way in and the way out are all there is.
# checkpoints.py check FOLDER: what the libraries compiled for them give. Cases C06 and C08.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import sys
from array import array

import attnlib
import judge
import tensors

action, folder = sys.argv[1:]
WORDS = [[1, 0, 0, 0], [0, 2, 0, 0], [1, 1, 1, 1], [0, 0, 1, -1]]
OTHERS = [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
TWICE = [[2 if row == column else 0 for column in range(4)] for row in range(4)]
LLAMA = {"vocab_size": 4, "hidden_size": 4, "num_hidden_layers": 1, "intermediate_size": 4, "num_attention_heads": 1,
         "rms_norm_eps": 1e-12, "max_position_embeddings": 8}
T5 = {"vocab_size": 4, "d_model": 4, "d_kv": 4, "d_ff": 4, "num_heads": 1, "num_layers": 1, "layer_norm_epsilon": 1e-12,
      "relative_attention_num_buckets": 4}


def matrix(rows):
    return tensors.Tensor("F32", [len(rows), len(rows[0])], [value for row in rows for value in row])


def vector(value):
    return tensors.Tensor("F32", [4], [value] * 4)


def nothing():
    return matrix([[0] * 4] * 4)


def llama(**more):
    layer = {f"model.layers.0.{name}.weight": nothing() for name in (
        "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")}
    norms = {f"model.{name}.weight": vector(1) for name in (
        "layers.0.input_layernorm", "layers.0.post_attention_layernorm", "norm")}
    return layer | norms | {"model.embed_tokens.weight": matrix(WORDS)} | more


def t5(**more):
    """A T5 whose word 0 is [1, 0, 0, 0] behind the last norm."""
    weights = {"shared.weight": matrix(TWICE)}
    for stack, blocks in (("encoder", ("SelfAttention", "DenseReluDense")), ("decoder", ("SelfAttention", "EncDecAttention", "DenseReluDense"))):
        for l, block in enumerate(blocks):
            names = ("wi", "wo") if block == "DenseReluDense" else ("q", "k", "v", "o")
            weights |= {f"{stack}.block.0.layer.{l}.{block}.{name}.weight": nothing() for name in names}
            weights[f"{stack}.block.0.layer.{l}.layer_norm.weight"] = vector(1)
        weights[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = matrix([[0]] * 4)
        weights[f"{stack}.final_layer_norm.weight"] = vector(0.5)
    return weights | more


def make(name, config, weights):
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, name, "config.json"), "w") as file:
        json.dump(config, file)
    tensors.write(os.path.join(folder, name, "model.safetensors"), weights)


def make_all():
    head = {"lm_head.weight": matrix(WORDS)}
    tied, untied = LLAMA | {"tie_word_embeddings": True}, LLAMA | {"tie_word_embeddings": False}
    make("tied", tied, llama())
    make("both", tied, llama(**head))
    make("other", untied, llama(**{"lm_head.weight": matrix(OTHERS)}))
    make("lost", untied, llama())
    make("t5-tied", T5 | {"tie_word_embeddings": True}, t5())
    make("t5-said", T5, t5())
    make("t5-untied", T5 | {"tie_word_embeddings": False}, t5(**{"lm_head.weight": matrix(TWICE)}))
    make("fused", {}, {f"{name}.weight": tensors.Tensor("F32", [rows, 1], range(rows)) for name, rows in (
        ("blocks", 12), ("heads", 12), ("groups", 8))})


def model(library, name):
    return attnlib.Model(os.path.join(folder, library + ".so"), os.path.join(folder, name))


def notes(of):
    of.lib.attn_model_note.restype = attnlib.c_char_p
    return of.lib.attn_model_note(of.handle, 0)


def check_all():
    ids = array("i", [2, 0])
    ways_out = {"tied": WORDS, "both": WORDS, "other": OTHERS}
    results = {}
    for name, table in ways_out.items():
        results[name] = attnlib.Session(model("tied" if table is WORDS else "other", name), 8).run("logits", ids)[0]
        # behind the last norm the words are [1, 1, 1, 1] and [2, 0, 0, 0]
        wanted = [sum(row) for row in table] + [2 * row[0] for row in table]
        judge.near(f"C06 {name}", results[name], wanted)
    judge.same("C06 a head beside a tied table", results["both"], results["tied"])
    judge.note(b"lm_head.weight" in notes(model("tied", "both")), "C06: no word of a head that nobody uses")
    judge.refused("C06 no head", lambda: model("other", "lost"),
                  "no function can be called: `logits` (the file has no tensor `lm_head.weight`)")
    for name, wanted in (("t5-tied", [1, 0, 0, 0]), ("t5-said", [1, 0, 0, 0]), ("t5-untied", [2, 0, 0, 0])):
        session = attnlib.Session(model(name, name), 8)
        memory = session.run("encode", array("i", [0]))[0]
        judge.near(f"C06 {name}", session.run("decode", array("i", [0]), memory)[0], wanted)

    fused = model("fused", "fused")
    for name, wanted in (("blocks", [range(0, 4), range(4, 8), range(8, 12)]),
                         ("heads", [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]), ("groups", [[0, 1, 4, 5], [2, 6], [3, 7]])):
        for part, got, rows in zip("qkv", fused.run(name, [array("f", [1])], [[0, 1]]), wanted):
            judge.near(f"C08 {name}: {part}", got, rows)
    judge.finish()


make_all() if action == "make" else check_all()
