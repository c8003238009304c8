#!/usr/bin/env python3
"""Trains an LSTM on the training batches of che, and scores it on the test samples of che.

    pip install . torch                                     # in a virtual environment
    examples/pytorch_model.py parity_check --last-length 16 --lengths 17:80:7 --samples 256 --results results/parity
    che table results/parity

The task may be the .yaml file of a declared one. `--seed` gives repetitions, which go to one results folder. It prints
the accuracy at the training lengths.
"""

import argparse
import itertools

import che_tasks
import numpy as np
import torch


class Lstm(torch.nn.Module):
  """Reads the input and one empty token per output symbol; predicts the output at the empty tokens."""

  def __init__(self, task, width):
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

  @torch.no_grad()
  def predict(self, batch):
    return self(batch).argmax(-1)  # (samples, output length)


def train(model, batches):
  optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
  for batch in batches:
    target = torch.from_numpy(batch.output).long()
    losses = torch.nn.functional.cross_entropy(model(batch).transpose(1, 2), target, reduction="none")
    mask = torch.from_numpy(batch.mask)
    optimizer.zero_grad()
    ((losses * mask).sum() / mask.sum()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def lengths_of(text):
  """The range of `first:last:step`."""
  try:
    first, last, step = map(int, text.split(":"))
    return range(first, last + 1, step)
  except ValueError:
    raise argparse.ArgumentTypeError(f"got {text!r}; allowed: first:last:step, such as 41:500:9") from None


def accuracy(model, batch):
  """Fraction of output symbols that count and are predicted correctly."""
  return ((model.predict(batch).numpy() == batch.output) * batch.mask).sum() / batch.mask.sum()


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("task", help="a task of che, or the .yaml file of one")
  parser.add_argument("--steps", type=int, default=1000, help="training steps (default 1000)")
  parser.add_argument("--width", type=int, default=64, help="features of a token and of the LSTM (default 64)")
  parser.add_argument("--first-length", type=int, default=1, help="shortest training length (default 1)")
  parser.add_argument("--last-length", type=int, default=40, help="longest training length (default 40)")
  parser.add_argument(
    "--lengths", type=lengths_of, default="41:500:9", help="test lengths first:last:step (default 41:500:9)"
  )
  parser.add_argument("--samples", type=int, default=512, help="test samples per length (default 512)")
  parser.add_argument("--seed", type=int, default=0, help="of the initial parameters (default 0)")
  parser.add_argument("--out", default="my_lstm.jsonl", help="file of predictions (default my_lstm.jsonl)")
  parser.add_argument("--results", help="results folder to store the score in, for `che table`")
  options = parser.parse_args()
  torch.set_num_threads(1)  # Small models gain nothing from more.

  test_sets = che_tasks.test_sets(options.task, options.lengths, options.samples)
  torch.manual_seed(options.seed)
  model = Lstm(che_tasks.load_task(options.task), options.width)
  batches = che_tasks.iter_batches(options.task, first_length=options.first_length, last_length=options.last_length)
  train(model, itertools.islice(batches, options.steps))
  lengths = range(options.first_length, options.last_length + 1)
  trained = [accuracy(model, che_tasks.evaluation_set(options.task, length)) for length in lengths]
  print(f"accuracy at lengths {lengths[0]} to {lengths[-1]}: {np.mean(trained):.4f}")

  file = che_tasks.write_predictions(options.out, model.predict, test_sets, model="my_lstm", model_seed=options.seed)
  print(f"score: {che_tasks.score(file, options.results)[0].score:.4f}")


if __name__ == "__main__":
  main()
