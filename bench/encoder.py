# encoder.py - the ids that all encode, and the sentence encoder as PyTorch has it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import random


def ids(count):
    """[CLS], words, [SEP]: always the same for a number of tokens."""
    draw = random.Random(count)
    return [101] + [draw.randrange(1000, 30522) for _ in range(count - 2)] + [102]


def load(model_dir):
    """transformers' BertModel, then mean over the tokens and length 1."""
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel.from_pretrained(model_dir, dtype=torch.float32, add_pooling_layer=False)

        def forward(self, ids):
            return torch.nn.functional.normalize(self.bert(input_ids=ids).last_hidden_state.mean(1), dim=-1)

    return Encoder().eval()
