"""Writes training.json: twenty steps of decoders with torch.optim.AdamW (adamw.py), in double precision.

  python3 training.py

Needs torch 2.11 and transformers 4.57. Biases and LayerNorms do not decay. The file has the losses before each update and
projections of the parameters at the end: of plain decoders, and of GPTNeoXForCausalLM from the same start.
"""

import json
import pathlib
import sys

import torch
from reference import SIZES, GptNeoX, decoder_of, numbers, parameter, projections

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import adamw  # noqa: E402

RATE, BATCH, TOKENS = 3e-3, 3, 24
PLAIN = ("scale", "offset", "bq", "bk", "bv", "bo", "b1", "b2")


def ids(name):
  return ((numbers(name, (BATCH, TOKENS)) + 1) / 2 * SIZES["symbols"]).long()


def result_of(name, losses, values):
  return {"encoding": name, "losses": losses, "values": {key: projections(key, value) for key, value in values.items()}}


def plain_decoder(name):
  decoder = decoder_of(name, **SIZES)
  leaves = {key: torch.nn.Parameter(parameter(key, shape)) for key, shape in decoder.shapes().items()}
  is_plain = lambda key: key.rsplit(".", 1)[-1] in PLAIN
  losses = adamw.train([leaf for key, leaf in leaves.items() if not is_plain(key)],
                       [leaf for key, leaf in leaves.items() if is_plain(key)], RATE,
                       lambda n: decoder.loss(leaves, ids(f"ids {n}"), ids(f"targets {n}")))
  return result_of(name, losses, {key: leaf.detach() for key, leaf in leaves.items()})


def gpt_neox():
  program = GptNeoX()
  named = dict(program.model.named_parameters())
  is_plain = lambda key: key.endswith("bias") or "norm" in key
  losses = adamw.train([leaf for key, leaf in named.items() if not is_plain(key)],
                       [leaf for key, leaf in named.items() if is_plain(key)], RATE,
                       lambda n: program.loss(ids(f"ids {n}"), ids(f"targets {n}")))
  return result_of("rope", losses, program.by_our_names(lambda parameter: parameter.detach()))


if __name__ == "__main__":
  report = {"decoders": [plain_decoder(name) for name in ("rope", "fire", "dape_kerple")], "gpt_neox": [gpt_neox()]}
  pathlib.Path(__file__).with_name("training.json").write_text(json.dumps(report, indent=0) + "\n")
