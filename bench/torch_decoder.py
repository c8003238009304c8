#!/usr/bin/env python3
"""Times training steps of the plain PyTorch decoder of tests/reference/decoder, in single precision.

  bench/torch_decoder.py ENCODING STEPS JSON [--compile]

The model and the batch are those of decoder_steps.cpp. Parameters start near zero, which changes no time.
"""

import argparse
import pathlib
import sys

import torch
from timed_steps import report

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/reference/decoder"))
from plain_decoder import Decoder  # noqa: E402

WINDOWS, TOKENS, SYMBOLS = 32, 128, 257


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("encoding")
  parser.add_argument("steps", type=int)
  parser.add_argument("json", type=pathlib.Path)
  parser.add_argument("--compile", action="store_true", help="let PyTorch compile; the warm-up has the compilation")
  options = parser.parse_args()
  options.warmup = 3
  torch.set_num_threads(1)
  torch.manual_seed(0)
  decoder = Decoder(options.encoding, width=128, layers=6, heads=4, symbols=SYMBOLS, length=512.0)
  parameters = {name: (torch.randn(shape) / 20).requires_grad_() for name, shape in decoder.shapes().items()}
  for name, value in parameters.items():
    if name.endswith((".p", ".a", ".c", ".scale", "L_multiplier")):
      value.data.fill_(1)
  optimizer = torch.optim.AdamW(parameters.values(), lr=1e-3)
  ids, targets = torch.randint(SYMBOLS, (2, WINDOWS, TOKENS))
  loss_of = torch.compile(decoder.loss) if options.compile else decoder.loss

  def step():
    optimizer.zero_grad()
    loss = loss_of(parameters, ids, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0)
    optimizer.step()
    loss.item()

  report(step, options, torch=torch.__version__)


if __name__ == "__main__":
  main()
