#!/usr/bin/env python3
"""Trains an LSTM on the training batches of che and writes its predictions for test samples that che exported.

    pip install . torch
    build/che export regular-4/v1 --task parity_check -o samples
    examples/pytorch_model.py samples/parity_check.jsonl -o lstm.jsonl
    build/che score lstm.jsonl

It prints the accuracy at the training lengths, which are 1 to 40 unless --last-length says otherwise.
"""

import argparse
import json

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

  def predict(self, batch):
    with torch.no_grad():
      return self(batch).argmax(-1).numpy()  # (samples, output length)


def train(model, batches):
  optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
  for batch in batches:
    losses = torch.nn.functional.cross_entropy(model(batch).transpose(1, 2), torch.from_numpy(batch.output).long(),
                                               reduction="none")
    mask = torch.from_numpy(batch.mask)
    optimizer.zero_grad()
    ((losses * mask).sum() / mask.sum()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def accuracy(model, batch):
  """Fraction of output symbols that count and are predicted correctly."""
  return ((model.predict(batch) == batch.output) * batch.mask).sum() / batch.mask.sum()


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("samples", help="file that `che export` wrote")
  parser.add_argument("-o", "--output", required=True, help="file of predictions for `che score`")
  parser.add_argument("--steps", type=int, default=1000, help="training steps (default 1000)")
  parser.add_argument("--last-length", type=int, default=40, help="longest training length (default 40)")
  parser.add_argument("--seed", type=int, default=0, help="of the initial parameters (default 0)")
  arguments = parser.parse_args()
  with open(arguments.samples, encoding="utf-8") as file:
    header = json.loads(next(file))
  name, options = header["task"], header["options"]

  torch.manual_seed(arguments.seed)
  model = Lstm(next(task for task in che_tasks.list_tasks() if task.name == name))
  train(model, che_tasks.iter_batches(name, last_length=arguments.last_length, steps=arguments.steps, options=options))
  trained = [accuracy(model, che_tasks.evaluation_set(name, length, options=options))
             for length in range(1, arguments.last_length + 1)]
  print(f"accuracy at lengths 1 to {arguments.last_length}: {np.mean(trained):.4f}")

  header |= {"format": "che-predictions/1", "model": "lstm", "model_seed": arguments.seed}
  with open(arguments.output, "w", encoding="utf-8") as file:
    print(json.dumps(header), file=file)
    for length in header["lengths"]:
      outputs = model.predict(che_tasks.evaluation_set(name, length, header["samples"], header["seed"], options))
      for index, output in enumerate(outputs.tolist()):
        print(json.dumps({"length": length, "index": index, "output": output}), file=file)


if __name__ == "__main__":
  main()
