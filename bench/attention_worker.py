# attention_worker.py ENGINE ARTIFACTS THREADS: one engine in a process of its own, told by lines of JSON what to do.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   {"load": {point}, "library": …}  →  {"rows": […], "prepare": s, "first": s, "peak": bytes}   make ready, answer once
#   {"run": 20}                      →  {"ms": […]}                                              twenty times, each timed
#
# An engine that cannot do the point answers {"fails": why}. `prepare` is what is done once for the point (mask tensor,
# block mask), `first` the first answer, compilation included, `peak` how much memory both added at most. A process that
# needs more than MOST bytes ends itself with exit code 9. Nothing runs between two lines.
import os
import pathlib
import sys
import threading
import time

ENGINE, ARTIFACTS, THREADS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(THREADS)
os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(ARTIFACTS / "inductor")

import attention_points as points  # noqa: E402
import turns  # noqa: E402

MOST = 8 << 30


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def peak():
    line = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


loading = threading.Event()


def watch():
    """While something is made ready, and not while it is timed."""
    while loading.wait():
        if resident() > MOST:
            os._exit(9)
        time.sleep(0.02)


class Torch:
    """What all engines of PyTorch share: tensors [1,H,T,D], side by side."""

    def __init__(self):
        import torch

        torch.set_num_threads(THREADS)
        self.torch = torch

    def tensors(self, point):
        kind = self.torch.bfloat16 if point.precision == "bf16" else self.torch.float32
        q, k, v, *more = points.inputs(point)
        heads = [self.torch.from_numpy(each).to(kind).transpose(0, 1).contiguous()[None] for each in (q, k, v)]
        return heads, [self.torch.from_numpy(each) for each in more]

    def run(self, answer):
        with self.torch.no_grad():
            return answer()

    def rows(self, point, result):
        return result[0][:, points.rows(point)].transpose(0, 1).float().flatten().tolist()

    def mask(self, point, more):
        """The tensor [T,S] of truths or, where scores are added, [1,H,T,S] of numbers; None: everything is visible."""
        i = self.torch.arange(point.past, point.keys)[:, None]
        j = self.torch.arange(point.keys)[None]
        return points.mask(point, i, j, more[0] if point.kind == "documents" else None)


class Sdpa(Torch):
    """scaled_dot_product_attention, with is_causal where that is the mask, else a mask tensor."""

    def load(self, point):
        (q, k, v), more = self.tensors(point)
        how = {"enable_gqa": point.group > 1}
        if point.kind in ("softcap", "additive"):
            raise NotImplementedError("has no such score")
        if point.kind == "causal" and point.past == 0:
            how["is_causal"] = True
        elif point.kind != "none":
            how["attn_mask"] = self.mask(point, more)
        if point.kind == "alibi":
            i, j = self.torch.arange(point.past, point.keys)[:, None], self.torch.arange(point.keys)[None]
            falls = self.torch.tensor(points.slopes(point.heads))[:, None, None] * (i - j)
            how["attn_mask"] = self.torch.where(how["attn_mask"], -falls, -self.torch.inf)[None].to(q.dtype)
        return lambda: self.torch.nn.functional.scaled_dot_product_attention(q, k, v, **how)


class Plain(Torch):
    """The scores as a tensor, and one operation after the other; for what the others have no score for."""

    def load(self, point):
        if point.kind not in ("softcap", "additive"):
            raise NotImplementedError("for scores that the others lack")
        (q, k, v), more = self.tensors(point)
        k, v = (each.repeat_interleave(point.group, dim=1) for each in (k, v))
        seen = self.mask(point, more)
        hidden = None if seen is None else ~seen

        def answer():
            if point.kind == "additive":
                s = self.torch.tanh(q[:, :, :, None] + k[:, :, None]) @ more[0]
            else:
                s = (q @ k.transpose(-1, -2)).mul_(point.width**-0.5).div_(points.CAP).tanh_().mul_(points.CAP)
            if hidden is not None:
                s = s.masked_fill_(hidden, -self.torch.inf)
            return self.torch.softmax(s, -1) @ v

        return answer


class Flex(Torch):
    """Compiled flex_attention with a block mask that is made once."""

    def load(self, point):
        from torch.nn.attention import flex_attention as flex

        if point.kind == "additive":
            raise NotImplementedError("has no such score")
        self.torch._dynamo.reset()
        (q, k, v), more = self.tensors(point)
        past, falls = point.past, self.torch.tensor(points.slopes(point.heads))
        doc = more[0] if point.kind == "documents" else None
        score = {
            "alibi": lambda s, b, h, i, j: s - falls[h] * (i + past - j),
            "softcap": lambda s, b, h, i, j: points.CAP * self.torch.tanh(s / points.CAP),
        }.get(point.kind)
        block = None
        if point.kind != "none":
            block = flex.create_block_mask(lambda b, h, i, j: points.mask(point, i + past, j, doc), None, None,
                                           point.queries, point.keys, device="cpu")
        compiled = self.torch.compile(flex.flex_attention, dynamic=False)
        return lambda: compiled(q, k, v, score_mod=score, block_mask=block, enable_gqa=point.group > 1)


class Attn:
    """A library of attnc's through its C interface; tensors [T,H,D], heads inside each token's row. What comes before the
    queries is held by a session, which forgets the measured rows again."""

    def load(self, point, library):
        from array import array

        sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "test"))
        import attnlib

        def plain(tensor):
            numbers = array("i" if tensor.dtype.kind == "i" else "f")
            numbers.frombytes(tensor.tobytes())
            return numbers

        model, fill = attnlib.Model(library, None, THREADS), None
        self.past = past = point.past
        q, k, v, *more = points.inputs(point)
        if past:
            fill = model.prepare("fill", [plain(k[:past]), plain(v[:past])], [[0, past]], point.keys)
            fill()
        given = [plain(each) for each in (q, k[past:], v[past:], *more)]
        return model.prepare("a", given, [[0, point.queries]], after=fill)

    def run(self, answer):
        if self.past:
            answer.truncate(self.past)
        answer()
        return answer

    def rows(self, point, result):
        size = point.heads * point.width
        return [x for row in points.rows(point) for x in result.buffers[0][row * size : (row + 1) * size]]


class Reference:
    """What is right, by numpy in float64."""

    def load(self, point):
        return lambda: points.reference(point)

    def run(self, answer):
        return answer()

    def rows(self, point, result):
        return [*result[0].flatten().tolist(), result[1]]


def load(engine, order):
    point = points.Point(**order["load"])
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, start = resident(), time.perf_counter()
    try:
        answer = engine.load(point, order["library"]) if ENGINE == "attn" else engine.load(point)
        ready = time.perf_counter()
        result = engine.run(answer)
    except Exception as problem:  # whatever it is, the point has no time of this engine
        return None, {"fails": f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"[:200]}
    reply = {"prepare": ready - start, "first": time.perf_counter() - ready, "peak": peak() - before}
    return answer, reply | {"rows": engine.rows(point, result)}


def main():
    threading.Thread(target=watch, daemon=True).start()
    engine = {"attn": Attn, "sdpa": Sdpa, "flex": Flex, "plain": Plain, "reference": Reference}[ENGINE]()

    def watched(order):
        loading.set()
        answer, reply = load(engine, order)
        loading.clear()
        return answer, reply

    turns.serve(watched, engine.run)


if __name__ == "__main__":
    main()
