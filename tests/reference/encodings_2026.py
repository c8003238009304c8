#!/usr/bin/env python3
"""Writes tests/reference/encodings_2026.json: numbers of encodings from the programs that released them.

    pip install torch==2.11.0 x-transformers==2.31.10 PoPE-pytorch==0.2.1
    git clone https://github.com/timurcarstensen/selective-rope && git -C selective-rope checkout d12e825
    python encodings_2026.py OUTPUT_FILE selective-rope/src/selective_rope/modules/rotary.py

README.md in this folder says what the file contains.
"""

import importlib.util
import json
import sys
import types

import torch
from PoPE_pytorch import PoPE
from x_transformers.x_transformers import DataDependentAlibi, DynamicPositionBias


def tensor(value):
  value = value.detach()
  return {"shape": list(value.shape), "values": [float(f"{float(x):.9g}") for x in value.flatten()]}


def position_mlp(heads, hidden, tokens):
  """The bias (heads, queries, keys) and the network's weights, (in, out)."""
  network = DynamicPositionBias(hidden, heads=heads, depth=2, log_distance=True)
  linear = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear)]
  weights = {f"w{i + 1}": tensor(layer.weight.t()) for i, layer in enumerate(linear)}
  biases = {f"b{i + 1}": tensor(layer.bias) for i, layer in enumerate(linear)}
  return {"heads": heads, "hidden": hidden, "tokens": tokens, **weights, **biases,
          "bias": tensor(network(tokens, tokens))}  # fmt: skip


def pope(heads, width, positions):
  """Scaled logits (batch, heads, queries, keys) of q and k (batch, tokens, heads, width), with and without gradient."""
  encoding = PoPE(width, heads=heads)
  encoding.bias.data.uniform_(-7, 1)  # Some lie beyond -2 pi and 0, where the program clamps them.
  q, k = (torch.randn(2, len(positions), heads, width, requires_grad=True) for _ in range(2))
  turned = encoding.apply_pope_to_qk(
    encoding(torch.tensor(positions, dtype=torch.float)), q.transpose(1, 2), k.transpose(1, 2)
  )
  logits = turned[0] @ turned[1].transpose(-2, -1) * width**-0.5
  weight = torch.randn_like(logits)
  (logits * weight).sum().backward()
  return {"heads": heads, "head_width": width, "positions": positions, "q": tensor(q), "k": tensor(k),
          "delta": tensor(encoding.bias), "logits": tensor(logits), "weight": tensor(weight),
          "d_q": tensor(q.grad), "d_k": tensor(k.grad), "d_delta": tensor(encoding.bias.grad)}  # fmt: skip


def fox(heads, width, tokens, causal):
  """The bias (batch, heads, queries, keys) of x (batch, tokens, width), and gradients of its weighted sum."""
  gates = DataDependentAlibi(width, heads, causal=causal)
  linear = gates.to_forget_gates[0]
  assert bool((linear.bias == 5).all())
  linear.bias.data += torch.randn_like(linear.bias)
  x = torch.randn(2, tokens, width, requires_grad=True)
  bias = gates(x)
  weight = torch.randn_like(bias)
  if causal:  # The mask hides the others.
    weight = weight.tril()
  (bias * weight).sum().backward()
  return {"heads": heads, "width": width, "tokens": tokens, "causal": causal, "x": tensor(x),
          "w": tensor(linear.weight.t()), "b": tensor(linear.bias), "bias": tensor(bias), "weight": tensor(weight),
          "d_x": tensor(x.grad), "d_w": tensor(linear.weight.grad.t()), "d_b": tensor(linear.bias.grad)}  # fmt: skip


class ShortConvolution(torch.nn.Conv1d):
  """fla-core 0.6.0's, whose kernels need a GPU: a causal convolution of each feature."""

  def __init__(self, hidden_size, kernel_size, bias, activation, dtype):
    assert activation is None
    super().__init__(
      hidden_size, hidden_size, kernel_size, padding=kernel_size - 1, groups=hidden_size, bias=bias, dtype=dtype
    )

  def forward(self, x, cache, output_final_state, cu_seqlens):
    return super().forward(x.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2), None


def released_selective_rope(path):
  """The class of the released file, with fla-core's two operations as PyTorch has them."""
  convolution, norm = types.ModuleType("fla.modules.convolution"), types.ModuleType("fla.modules.l2norm")
  convolution.ShortConvolution = ShortConvolution
  norm.l2_norm = lambda x: x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)
  sys.modules.update({module.__name__: module for module in (convolution, norm)})
  spec = importlib.util.spec_from_file_location("rotary", path)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module.SelectiveRoPE


def selective_rope(released, heads, head_width, rank, tokens):
  """Scaled logits (batch, heads, queries, keys) of q and k (batch, tokens, heads, head_width) for a layer's input x."""
  width = heads * head_width
  encoding = released(head_width, width, heads, phi_proj_rank=rank)
  maps = {"w1": encoding.phi_proj[0].weight, "w2": encoding.phi_proj[1].weight, "taps": encoding.phi_conv1d.weight}
  maps["w1"].data *= 4  # Angles of more than a turn.
  x = torch.randn(2, tokens, width, requires_grad=True)
  q, k = (torch.randn(2, tokens, heads, head_width, requires_grad=True) for _ in range(2))
  # The program pairs a feature with that half a width behind; here neighbours are pairs.
  halves = [one.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2) for one in (q, k)]
  turned = [one.transpose(1, 2) for one in encoding(*halves, x)[:2]]
  logits = turned[0] @ turned[1].transpose(-2, -1) * head_width**-0.5
  weight = torch.randn_like(logits).tril()
  (logits * weight).sum().backward()
  weights = {name: tensor(one.flatten(1).t()) for name, one in maps.items()}
  gradients = {f"d_{name}": tensor(one.grad.flatten(1).t()) for name, one in maps.items()}
  return {"heads": heads, "head_width": head_width, "rank": rank, "tokens": tokens, "x": tensor(x), "q": tensor(q),
          "k": tensor(k), **weights, "logits": tensor(logits), "weight": tensor(weight), "d_x": tensor(x.grad),
          "d_q": tensor(q.grad), "d_k": tensor(k.grad), **gradients}  # fmt: skip


def main():
  torch.manual_seed(0)
  cases = {
    "position_mlp": [position_mlp(3, 5, 9), position_mlp(2, 16, 40)],
    "pope": [pope(2, 6, list(range(8))), pope(3, 4, [0, 3, 4, 19, 250])],
    "fox": [fox(3, 6, 9, False), fox(3, 6, 9, True), fox(1, 4, 30, False)],
  }
  released = released_selective_rope(sys.argv[2])
  cases["selective_rope"] = [selective_rope(released, 3, 4, 5, 9), selective_rope(released, 2, 6, 16, 14)]
  with open(sys.argv[1], "w") as file:
    json.dump(cases, file)
    file.write("\n")


main()
