# worker.py ENGINE MODEL ARTIFACTS THREADS: one engine in a process of its own, told by lines of JSON what to do.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   {"load": 128}   →  {"vector": […], "seconds": …}     make ready for that many tokens, and answer once
#   {"run": 20}     →  {"ms": […]}                       answer twenty times, each timed
#
# Nothing runs between two lines, so that the driver can let the engines take turns.
import os
import pathlib
import sys
import time

ENGINE, MODEL, ARTIFACTS, THREADS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import encoder  # noqa: E402
import turns  # noqa: E402


def load_torch(count):
    import torch

    torch.set_num_threads(THREADS)
    model = encoder.load(MODEL)
    ids = torch.tensor([encoder.ids(count)])

    def answer():
        with torch.inference_mode():
            return model(ids)[0]

    return answer


def load_onnxruntime(count):
    import numpy
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    path = str(ARTIFACTS / f"{count}.onnx")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = {"ids": numpy.array([encoder.ids(count)], dtype=numpy.int64)}
    return lambda: session.run(None, inputs)[0][0]


def load_openvino(count):
    import numpy
    import openvino

    settings = {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    model = openvino.Core().compile_model(str(ARTIFACTS / f"{count}.xml"), "CPU", settings)
    request = model.create_infer_request()
    inputs = [numpy.array([encoder.ids(count)], dtype=numpy.int64)]

    def answer():
        request.infer(inputs, share_inputs=True)
        return request.get_output_tensor(0).data[0]

    return answer


def load_attn(count):
    from array import array

    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "test"))
    import attnlib

    model = attnlib.Model(ARTIFACTS / "libminilm.so", MODEL, THREADS)
    ids = array("i", encoder.ids(count))
    call = model.prepare("embed", [ids, None], [[0, count]], count)

    def answer():
        call()
        return call.buffers[0]

    return answer


def main():
    def load(order):
        start = time.perf_counter()
        answer = globals()["load_" + ENGINE](order["load"])
        vector = [float(x) for x in answer()]
        return answer, {"vector": vector, "seconds": time.perf_counter() - start}

    turns.serve(load, lambda answer: answer())


if __name__ == "__main__":
    main()
