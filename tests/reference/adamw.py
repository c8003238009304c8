"""Prints what torch.optim.AdamW does with two groups, a clipped gradient and a cosine: the numbers of adam_test.cpp.

pip install torch==2.11.0 && python3 tests/reference/adamw.py
"""

import math

import torch

STEPS, WARMUP, RATE, FINAL = 20, 4, 0.02, 0.1

weight = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64))
bias = torch.nn.Parameter(torch.tensor([3.0, -0.25], dtype=torch.float64))
groups = [{"params": [weight], "weight_decay": 0.1}, {"params": [bias], "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95), eps=1e-8)
for n in range(1, STEPS + 1):
  passed = (n - WARMUP) / (STEPS - WARMUP)
  fraction = n / WARMUP if n <= WARMUP else FINAL + (1 - FINAL) / 2 * (math.cos(math.pi * passed) + 1)
  for group in optimizer.param_groups:
    group["lr"] = RATE * fraction
  optimizer.zero_grad()
  loss = ((weight * bias[0]).sin().sum() + (bias**2).sum() + n * weight[2] ** 2) / 2
  loss.backward()
  torch.nn.utils.clip_grad_norm_([weight, bias], 1.0)
  optimizer.step()
print([round(x, 12) for x in weight.tolist() + bias.tolist()])
