#!/usr/bin/env python3
"""Trains an LSTM on a task with the training batches of che and measures it on che's test samples.

    pip install . torch && examples/pytorch_model.py parity_check

It prints the accuracy at training lengths (1..40) and beyond them.
"""

import argparse

import che_tasks
import numpy as np
import torch


class Lstm(torch.nn.Module):
  """Reads the input and one empty token per output symbol; predicts the output at the empty tokens."""

  def __init__(self, task, width=64):
    super().__init__()
    self.empty = len(task.input_symbols)
    self.embedding = torch.nn.Embedding(self.empty + 1, width)
    self.lstm = torch.nn.LSTM(width, width, batch_first=True)
    self.head = torch.nn.Linear(width, len(task.output_symbols))

  def forward(self, batch):
    outputs = batch.output.shape[1]
    tokens = np.pad(batch.input, ((0, 0), (0, outputs)), constant_values=self.empty)
    hidden, _ = self.lstm(self.embedding(torch.from_numpy(tokens).long()))
    return self.head(hidden[:, -outputs:])  # (samples, output length, output symbols)


def accuracy(model, batch):
  """Fraction of output symbols that count and are predicted correctly."""
  with torch.no_grad():
    correct = model(batch).argmax(-1).numpy() == batch.output
  return (correct * batch.mask).sum() / batch.mask.sum()


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("task")
  parser.add_argument("--steps", type=int, default=3000)
  arguments = parser.parse_args()
  torch.manual_seed(0)
  model = Lstm(next(task for task in che_tasks.list_tasks() if task.name == arguments.task))
  optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
  for step, batch in enumerate(che_tasks.iter_batches(arguments.task, steps=arguments.steps), 1):
    losses = torch.nn.functional.cross_entropy(model(batch).transpose(1, 2), torch.from_numpy(batch.output).long(),
                                               reduction="none")
    mask = torch.from_numpy(batch.mask)
    optimizer.zero_grad()
    ((losses * mask).sum() / mask.sum()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 500 == 0:
      print(f"step {step}: accuracy {accuracy(model, batch):.3f} on a batch of length {batch.length}")
  for length in (10, 20, 30, 40, 50, 100, 200, 500):
    print(f"length {length}: accuracy {accuracy(model, che_tasks.evaluation_set(arguments.task, length)):.3f}")


if __name__ == "__main__":
  main()
