# export.py MODEL OUT TOKENS…: MiniLM for each number of tokens as ONNX and as OpenVINO's format, float32, and PyTorch's answers.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs in .venv-torch. Every peer gets its best case: static shapes, one sequence, no attention mask.
import json
import pathlib
import sys

import openvino
import torch

import encoder


def main(model_dir, out, *tokens):
    out = pathlib.Path(out)
    model = encoder.load(model_dir)
    vectors = {}
    for count in map(int, tokens):
        ids = torch.tensor([encoder.ids(count)])
        with torch.no_grad():
            vectors[count] = model(ids)[0].tolist()
            torch.onnx.export(model, (ids,), out / f"{count}.onnx", input_names=["ids"], output_names=["vector"],
                              dynamo=True, external_data=False, verbose=False)
            converted = openvino.convert_model(model, example_input=ids, input=[tuple(ids.shape)])
        openvino.save_model(converted, out / f"{count}.xml", compress_to_fp16=False)
    (out / "vectors.json").write_text(json.dumps(vectors))


if __name__ == "__main__":
    main(*sys.argv[1:])
