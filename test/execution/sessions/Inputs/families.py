# families.py - the five models with sessions: random weights, and feeding one of them in pieces. For the tests beside it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   python3 families.py make MODEL FOLDER      config.json and model.safetensors of the reference model's shapes, 1,024
#                                              positions, numbers drawn from a seed
import json
import os
import random
import sys
from array import array

import attnlib
import tensors


def make(source, folder):
    with open(os.path.join(source, "config.json")) as file:
        config = json.load(file)
    for key in ("n_positions", "max_position_embeddings"):
        if key in config:
            config[key] = 1024
    draw = random.Random(11)
    weights = tensors.read(os.path.join(source, "model.safetensors"))
    for name, tensor in weights.items():
        if "wpe" in name:
            tensor.shape[0] = 1024
        count = 1
        for size in tensor.shape:
            count *= size
        middle, spread = (1, 0.3) if "norm" in name or "ln_" in name else (0, 0.25)
        tensor.values = array("f", [draw.gauss(middle, spread) for _ in range(count)])
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    tensors.write(os.path.join(folder, "model.safetensors"), weights)


class Decoder:
    """gpt2, llama: every call gives `logits` of its tokens."""

    function, needs_source = "logits", False

    def __init__(self, model):
        self.model = model
        _, signature = model.function(self.function)
        self.vocabulary = signature.param[0].limit

    def begin(self, capacity, source=None):
        return attnlib.Session(self.model, capacity)

    def inputs(self, session, tokens):
        return [tokens]

    def took(self, session, results):
        pass

    def feed(self, session, tokens):
        """The logits of one more piece."""
        results = session.run(self.function, *self.inputs(session, tokens))
        self.took(session, results)
        return results[0]

    def feed_together(self, sessions, pieces):
        given = [self.inputs(session, piece) for session, piece in zip(sessions, pieces)]
        results = attnlib.run_together(self.model, self.function, sessions, given)
        for session, each in zip(sessions, results):
            self.took(session, each)
        return [each[0] for each in results]


class Translator(Decoder):
    """transformer, t5: `encode` makes the memory that the first `decode` is given."""

    function, needs_source = "decode", True

    def begin(self, capacity, source=None):
        session = attnlib.Session(self.model, capacity)
        session.memory = attnlib.Session(self.model).run("encode", source)[0]
        return session

    def inputs(self, session, tokens):
        return [tokens, session.memory]

    def took(self, session, results):
        session.memory = array("f")


class Recurrent(Decoder):
    """bahdanau: what goes from call to call is a result of `decode`."""

    function, needs_source = "decode", True

    def begin(self, capacity, source=None):
        session = attnlib.Session(self.model, capacity)
        session.source, session.state = attnlib.Session(self.model).run("encode", source)
        return session

    def inputs(self, session, tokens):
        return [tokens, session.source, session.state]

    def took(self, session, results):
        session.state = results[1]


KINDS = {"gpt2": Decoder, "llama": Decoder, "transformer": Translator, "t5": Translator, "bahdanau": Recurrent}


def family(name, library, folder, threads=2):
    return KINDS[name](attnlib.Model(library, folder, threads=threads))


def draw_tokens(draw, count, below):
    return array("i", [draw.randrange(below) for _ in range(count)])


if __name__ == "__main__":
    make(*sys.argv[2:4])
