# gpt2_worker.py ENGINE MODEL ARTIFACTS THREADS: GPT-2 by one engine in a process of its own, told by lines of JSON what to do.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   {"load": ["prefill", 512]}   →  {"vector": [… logits of the last token]}   all logits of 512 tokens
#   {"load": ["decode", 512]}    →  {"vector": […]}                            one token behind 512 others, which are cached
#   {"run": 20}                  →  {"ms": […]}                                twenty times, each timed
#
# Nothing runs between two lines, so that the driver can let the engines take turns.
import os
import pathlib
import random
import sys

ENGINE, MODEL, ARTIFACTS, THREADS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import turns  # noqa: E402


def tokens(count):
    draw = random.Random(7)
    return [draw.randrange(50257) for _ in range(count)]


class Torch:
    """The lean module of gpt2_torch.py, as it is or compiled."""

    def __init__(self, compiled):
        import gpt2_torch
        import torch

        torch.set_num_threads(THREADS)
        self.torch, self.model = torch, gpt2_torch.load(MODEL)
        self.prefill, self.decode = self.model.prefill, self.model.decode
        if compiled:
            self.prefill, self.decode = (torch.compile(each, dynamic=False) for each in (self.prefill, self.decode))

    def load(self, kind, count):
        ids = self.torch.tensor(tokens(count + 1))
        if kind == "prefill":
            return lambda: self.prefill(ids[:count])
        cache = self.model.fill(ids[:count], count + 64)
        return lambda: self.decode(ids[count:], cache, count)

    def run(self, answer):
        with self.torch.inference_mode():
            return answer()

    def vector(self, result):
        return result[-1].tolist()


class Openvino:
    """Its own conversion of the same module, static shapes; prefill alone."""

    def __init__(self):
        import openvino

        self.openvino, self.core = openvino, openvino.Core()

    def convert(self, count):
        import gpt2_torch
        import torch

        path = ARTIFACTS / f"prefill-{count}.xml"
        if not path.exists():
            model = gpt2_torch.load(MODEL)
            model.forward = model.prefill
            with torch.inference_mode():
                ids = torch.zeros(count, dtype=torch.int64)
                converted = self.openvino.convert_model(model, example_input=(ids,), input=[[count]])
            self.openvino.save_model(converted, path, compress_to_fp16=False)
        return path

    def load(self, kind, count):
        import numpy

        assert kind == "prefill", "the conversion has no cache"
        settings = {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        request = self.core.compile_model(str(self.convert(count)), "CPU", settings).create_infer_request()
        inputs = [numpy.array(tokens(count), dtype=numpy.int64)]

        def answer():
            request.infer(inputs, share_inputs=True)
            return request.get_output_tensor(0).data

        return answer

    def run(self, answer):
        return answer()

    def vector(self, result):
        return result[-1].tolist()


class Attn:
    """examples/gpt2.attn through the C interface; the caches forget what was measured before it is measured again."""

    def __init__(self):
        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "test"))
        import attnlib

        self.model = attnlib.Model(ARTIFACTS / "libgpt2.so", MODEL, THREADS)

    def load(self, kind, count):
        from array import array

        ids = array("i", tokens(count + 1))
        self.call = self.model.prepare("logits", [ids[:count]], [[0, count]], 1024)
        past = 0
        if kind == "decode":
            self.call()
            past, self.call = count, self.model.prepare("logits", [ids[count:]], [[0, 1]], after=self.call)

        def answer():
            self.call.truncate(past)
            self.call()

        return answer

    def run(self, answer):
        answer()

    def vector(self, _):
        return self.call.buffers[0][-50257:]


def main():
    engine = {"attn": Attn, "openvino": Openvino, "torch": lambda: Torch(False), "compiled": lambda: Torch(True)}[ENGINE]()

    def load(order):
        answer = engine.load(*order["load"])
        return answer, {"vector": engine.vector(engine.run(answer))}

    turns.serve(load, engine.run)


if __name__ == "__main__":
    main()
