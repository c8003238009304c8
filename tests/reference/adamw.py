"""Twenty steps of torch.optim.AdamW as texts are trained. Run by itself, it prints the numbers of adam_test.cpp.

pip install torch==2.11.0 && python3 tests/reference/adamw.py
"""

import math

import torch

STEPS, WARMUP, FINAL = 20, 4, 0.1


def train(decaying, plain, rate, loss_of):
  """Minimises loss_of(n), n = 1, 2, ..., and returns its values.

  Parameters in `plain` do not decay. The gradient of all is clipped to 1, the rate rises over four steps and falls along a
  cosine to a tenth.
  """
  groups = [{"params": decaying, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
  optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), eps=1e-8)
  losses = []
  for n in range(1, STEPS + 1):
    passed = (n - WARMUP) / (STEPS - WARMUP)
    fraction = n / WARMUP if n <= WARMUP else FINAL + (1 - FINAL) / 2 * (math.cos(math.pi * passed) + 1)
    for group in optimizer.param_groups:
      group["lr"] = rate * fraction
    optimizer.zero_grad()
    loss = loss_of(n)
    loss.backward()
    torch.nn.utils.clip_grad_norm_([*decaying, *plain], 1.0)
    optimizer.step()
    losses.append(loss.item())
  return losses


def main():
  weight = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64))
  bias = torch.nn.Parameter(torch.tensor([3.0, -0.25], dtype=torch.float64))
  train([weight], [bias], 0.02, lambda n: ((weight * bias[0]).sin().sum() + (bias**2).sum() + n * weight[2] ** 2) / 2)
  print([round(x, 12) for x in weight.tolist() + bias.tolist()])


if __name__ == "__main__":
  main()
