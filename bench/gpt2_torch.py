# gpt2_torch.py - GPT-2 as a lean PyTorch module: what the benchmark compares with, eager and compiled.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Written for speed: fused attention, weights as in the file (a product of one row with [in, out] is faster than with
# [out, in]), one tensor of static size for each layer's keys and each layer's values, which rows are written into.
import torch
import torch.nn.functional as F


class Gpt2(torch.nn.Module):
    def __init__(self, weights, config):
        super().__init__()
        self.layers, self.heads, self.eps = config["n_layer"], config["n_head"], config["layer_norm_epsilon"]
        for name, tensor in weights.items():
            self.register_buffer(name.replace(".", "_"), tensor)

    def w(self, name):
        return getattr(self, name.replace(".", "_"))

    def dense(self, x, name):
        return torch.addmm(self.w(name + ".bias"), x, self.w(name + ".weight"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w(name + ".weight"), self.w(name + ".bias"), self.eps)

    def layer(self, x, l, attend):
        T, E = x.shape
        q, k, v = self.dense(self.norm(x, f"h.{l}.ln_1"), f"h.{l}.attn.c_attn").view(T, 3, self.heads, -1).permute(1, 2, 0, 3)
        mixed = attend(l, q, k, v).transpose(0, 1).reshape(T, E)
        x = x + self.dense(mixed, f"h.{l}.attn.c_proj")
        inner = F.gelu(self.dense(self.norm(x, f"h.{l}.ln_2"), f"h.{l}.mlp.c_fc"), approximate="tanh")
        return x + self.dense(inner, f"h.{l}.mlp.c_proj")

    def prefill(self, ids):
        """Logits of every token."""
        x = self.wte_weight[ids] + self.wpe_weight[: ids.shape[0]]
        for l in range(self.layers):
            x = self.layer(x, l, lambda _, q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0])
        return F.linear(self.norm(x, "ln_f"), self.wte_weight)

    def decode(self, ids, cache, past):
        """Logits of one token behind `past` others, whose keys and values lie in cache[2 l] and cache[2 l + 1]: [H, room, D]."""
        x = self.wte_weight[ids] + self.wpe_weight[past : past + 1]

        def attend(l, q, k, v):
            keys, values = cache[2 * l], cache[2 * l + 1]
            keys[:, past : past + 1], values[:, past : past + 1] = k, v
            return F.scaled_dot_product_attention(q[None], keys[None, :, : past + 1], values[None, :, : past + 1])[0]

        for l in range(self.layers):
            x = self.layer(x, l, attend)
        return F.linear(self.norm(x, "ln_f"), self.wte_weight)

    def fill(self, ids, room):
        """A cache that holds the keys and values of these tokens, with room for so many."""
        cache = [torch.zeros(self.heads, room, self.wte_weight.shape[1] // self.heads) for _ in range(2 * self.layers)]

        def attend(l, q, k, v):
            cache[2 * l][:, : len(ids)], cache[2 * l + 1][:, : len(ids)] = k, v
            return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]

        x = self.wte_weight[ids] + self.wpe_weight[: len(ids)]
        for l in range(self.layers):
            x = self.layer(x, l, attend)
        return cache


def load(folder):
    import json
    import pathlib

    from safetensors.torch import load_file

    folder = pathlib.Path(folder)
    return Gpt2(load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())).eval()
