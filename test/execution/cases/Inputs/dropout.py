# dropout.py ATTNC EXAMPLES MODELS SCRATCH: a dropout in the configuration changes no bit, and is no surprise. Case A23.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import subprocess
import sys
from array import array

import attnlib
import judge

attnc, examples, models, scratch = sys.argv[1:]
KEYS = {"gpt2": ["attn_pdrop", "resid_pdrop", "embd_pdrop"], "mistral": ["attention_dropout"],
        "bloom": ["attention_dropout", "hidden_dropout"], "bert": ["attention_probs_dropout_prob", "hidden_dropout_prob"]}


def run(name, rate):
    folder = os.path.join(scratch, f"{name}-{rate}")
    shutil.copytree(os.path.join(models, name), folder)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    config.update({key: rate for key in KEYS[name]})
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    library = folder + ".so"
    made = subprocess.run([attnc, os.path.join(examples, name + ".attn"), "--config=" + folder, "-o", library],
                          capture_output=True, text=True)
    judge.note(made.returncode == 0 and "drop" not in made.stderr, made.stderr)
    model = attnlib.Model(library, folder)
    function = "hidden" if name == "bert" else "logits"
    ids = array("i", [3, 141, 59, 26, 53, 58, 97])
    inputs = [ids] + ([array("i", [0] * 7)] if model.function(function)[1].params > 1 else [])
    return [model.run(function, inputs, [[0, 7]])[0] for _ in range(2)]


for name in KEYS:
    first, second = run(name, 0.5)
    judge.same(f"A23 {name}, twice", second, first)
    judge.same(f"A23 {name}, without", run(name, 0.0)[0], first)
judge.finish()
