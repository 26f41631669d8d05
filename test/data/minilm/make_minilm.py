#!/usr/bin/env python3
# make_minilm.py MODEL: writes embeddings.safetensors and ids.json, the reference values of the MiniLM tests.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each line of sentences.txt goes alone, whole (no truncation, no padding) through transformers' BertModel in float32;
# the mean of the last hidden states over all tokens, [CLS] and [SEP] included, divided by its length, is the embedding.
# Needs torch and transformers; the tests need only the files written here.
import json
import pathlib
import sys

import safetensors.torch
import tokenizers
import torch
import transformers

here = pathlib.Path(__file__).parent
model_dir = pathlib.Path(sys.argv[1])

tokenizer = tokenizers.Tokenizer.from_file(str(model_dir / "tokenizer.json"))
tokenizer.no_truncation()
tokenizer.no_padding()
model = transformers.BertModel.from_pretrained(model_dir, attn_implementation="eager", dtype=torch.float32).eval()

sentences = (here / "sentences.txt").read_text(encoding="utf-8").splitlines()
ids = [tokenizer.encode(sentence).ids for sentence in sentences]
vectors = []
with torch.no_grad():
    for sentence in ids:
        state = model(input_ids=torch.tensor([sentence])).last_hidden_state[0]
        vectors.append(torch.nn.functional.normalize(state.mean(0), dim=0))

meta = {"torch": torch.__version__, "transformers": transformers.__version__}
safetensors.torch.save_file({"embeddings": torch.stack(vectors)}, here / "embeddings.safetensors", metadata=meta)
with open(here / "ids.json", "w", encoding="utf-8") as file:
    file.write("[\n" + ",\n".join(json.dumps(row) for row in ids) + "\n]\n")
print("tokens:", [len(row) for row in ids])
