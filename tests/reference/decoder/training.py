"""Writes training.json: twenty steps of plain decoders with torch.optim.AdamW, in double precision.

  python3 training.py

Needs torch 2.11. Biases and LayerNorms do not decay; the gradient is clipped to 1, the rate rises over 4 steps and falls along a
cosine to a tenth. The file has the losses before each update and projections of the parameters at the end.
"""

import json
import math
import pathlib

import torch
from reference import SIZES, decoder_of, numbers, parameter, projections

STEPS, WARMUP, RATE, FINAL, BATCH, TOKENS = 20, 4, 3e-3, 0.1, 3, 24
PLAIN = ("scale", "offset", "bq", "bk", "bv", "bo", "b1", "b2")


def ids(name):
  return ((numbers(name, (BATCH, TOKENS)) + 1) / 2 * SIZES["symbols"]).long()


def train(name):
  decoder = decoder_of(name, **SIZES)
  leaves = {key: torch.nn.Parameter(parameter(key, shape)) for key, shape in decoder.shapes().items()}
  decays = lambda key: key.rsplit(".", 1)[-1] not in PLAIN
  groups = [{"params": [leaf for key, leaf in leaves.items() if decays(key)], "weight_decay": 0.1},
            {"params": [leaf for key, leaf in leaves.items() if not decays(key)], "weight_decay": 0.0}]
  optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95), eps=1e-8)
  losses = []
  for n in range(1, STEPS + 1):
    passed = (n - WARMUP) / (STEPS - WARMUP)
    fraction = n / WARMUP if n <= WARMUP else FINAL + (1 - FINAL) / 2 * (math.cos(math.pi * passed) + 1)
    for group in optimizer.param_groups:
      group["lr"] = RATE * fraction
    optimizer.zero_grad()
    loss = decoder.loss(leaves, ids(f"ids {n}"), ids(f"targets {n}"))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(leaves.values(), 1.0)
    optimizer.step()
    losses.append(loss.item())
  return {"encoding": name, "losses": losses, "values": {key: projections(key, leaf.detach()) for key, leaf in leaves.items()}}


if __name__ == "__main__":
  report = [train(name) for name in ("rope", "fire", "dape_kerple")]
  pathlib.Path(__file__).with_name("training.json").write_text(json.dumps(report, indent=0) + "\n")
