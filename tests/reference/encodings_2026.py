#!/usr/bin/env python3
"""Writes tests/reference/encodings_2026.json: numbers of encodings from the programs that released them.

    pip install torch==2.11.0 x-transformers==2.31.10 PoPE-pytorch==0.2.1
    python encodings_2026.py OUTPUT_FILE

README.md in this folder says what the file contains.
"""

import json
import sys

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


def main():
  torch.manual_seed(0)
  cases = {
    "position_mlp": [position_mlp(3, 5, 9), position_mlp(2, 16, 40)],
    "pope": [pope(2, 6, list(range(8))), pope(3, 4, [0, 3, 4, 19, 250])],
    "fox": [fox(3, 6, 9, False), fox(3, 6, 9, True), fox(1, 4, 30, False)],
  }
  with open(sys.argv[1], "w") as file:
    json.dump(cases, file)
    file.write("\n")


main()
