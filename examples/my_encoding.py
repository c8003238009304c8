#!/usr/bin/env python3
"""An encoding of one's own: from an idea to a row in che's table with p-values, against ALiBi in the same model.

pip install . torch                                     # in a virtual environment
examples/my_encoding.py configs/quick.yaml 'axes.task=[even_pairs]'
che table results/my_encoding results/quick             # beside che's own runs, if there are some
"""

import argparse
import subprocess
import sys

import che_tasks
import torch
from che_tasks.torch import Encoding, encodings, train


class Gate(Encoding):
  """A bias -a |r| whose slope a depends on the query: softplus(w q), with a vector w for each head."""

  def __init__(self, shape):
    super().__init__(shape)
    self.w = torch.nn.Parameter(torch.zeros(shape.heads, shape.head_width))

  def bias(self, q, k, positions):
    slope = torch.nn.functional.softplus(torch.einsum("bhqd,hd->bhq", q, self.w))
    return -slope[..., None] * positions.distances().abs()


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("config", help="a config of `che run`, whose tasks, sizes, steps and test samples count")
  parser.add_argument("settings", nargs="*", help="key=value in place of the config's, such as training.steps=500")
  parser.add_argument("--seeds", type=int, default=4, help="repetitions (default 4)")
  parser.add_argument("--results", default="results/my_encoding", help="results folder (default results/my_encoding)")
  options = parser.parse_args()
  config = che_tasks.config(options.config, *options.settings)

  for name, encoding in (("Gate", Gate), ("alibi-torch", encodings.Alibi)):
    train(config, encoding, model=name, seeds=range(options.seeds), out=f"predictions/{name}", results=options.results)

  for command, *arguments in (["table", "--spread"], ["compare", "--column", "Gate", "--base", "alibi-torch"]):
    subprocess.run([sys.executable, "-m", "che_tasks", command, options.results, *arguments], check=True)


if __name__ == "__main__":
  main()
