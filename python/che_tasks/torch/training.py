"""Training and evaluation as che does them, and an encoding of one's own in the place of che's."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import pathlib
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..configs import Config, Run
from ..configs import config as read_config
from ..predictions import (
  Score,
  check_file,
  check_target,
  checked_header,
  checked_seeds,
  score,
  sole_writer,
  write_predictions,
)
from ..suites import EVALUATION_BATCH
from ..tasks import Batch, Batches
from .encoder import Encoder, PositionSource, contiguous
from .encodings import Positions, Shape, encoding_of

__all__ = ["BatchDataset", "TensorBatch", "Trainer", "predict", "to_tensors", "train"]

REPORT_SECONDS = 10


@dataclasses.dataclass(frozen=True)
class TensorBatch:
  """A batch as a model takes it: `tokens` are the input and an empty token per output symbol.

  tokens and target are of type long, (samples, tokens) and (samples, output length); mask is like target, of type bool.
  """

  length: int
  tokens: Tensor
  target: Tensor
  mask: Tensor

  def to(self, device: str | torch.device) -> TensorBatch:
    return TensorBatch(self.length, self.tokens.to(device), self.target.to(device), self.mask.to(device))


def to_tensors(batch: Batch, inputs: int) -> TensorBatch:
  """`inputs` is the number of the task's input symbols, and the id of the empty token."""
  tokens = np.pad(batch.input, ((0, 0), (0, batch.output.shape[1])), constant_values=inputs)
  target, mask = torch.from_numpy(batch.output).long(), torch.from_numpy(batch.mask).bool()
  return TensorBatch(batch.length, torch.from_numpy(tokens).long(), target, mask)


class BatchDataset(torch.utils.data.IterableDataset[TensorBatch]):
  """The first `steps` training batches for `DataLoader(BatchDataset(...), batch_size=None, num_workers=n)`.

  Batches come in the order of the steps whatever the number of workers.
  """

  def __init__(self, batches: Batches, steps: int) -> None:
    self.batches, self.steps = batches, steps

  def __iter__(self) -> Iterator[TensorBatch]:
    worker = torch.utils.data.get_worker_info()
    first, stride = (0, 1) if worker is None else (worker.id, worker.num_workers)
    inputs = len(self.batches.task.input_symbols)
    for step in range(first, self.steps, stride):
      yield to_tensors(self.batches[step], inputs)


def _has_randomized_positions(run: Run) -> bool:
  return run.settings.get("encoding.positions") == "randomized"


def _are_randomized(run: Run) -> bool:
  source = run.settings.get("encoding.positions", "contiguous")
  if source not in ("contiguous", "randomized"):
    raise ValueError(f"encoding.positions: {source} is not in che_tasks.torch; allowed: contiguous, randomized")
  return _has_randomized_positions(run)


def _drawn(run: Run, draw: Callable[[int, int], tuple[list[int], list[int]]]) -> PositionSource:
  if not _are_randomized(run):
    return contiguous

  def positions(tokens: int, layer: int, device: torch.device) -> Positions:
    of_tokens, offsets = draw(tokens, layer)
    return Positions(torch.tensor(of_tokens, device=device), torch.tensor(offsets, device=device), contiguous=False)

  return positions


def _project(model: nn.Module) -> None:
  """Brings parameters into their bounds, of a model that has some."""
  if hasattr(model, "project"):
    model.project()


def _decays(name: str) -> bool:
  """Whether weight decay reaches a parameter: as in che, not those of LayerNorms and no biases."""
  last = name.rpartition(".")[2]
  is_bias = last == "bias" or (last.startswith("b") and len(last) <= 2)
  return not is_bias and not name.startswith("ln") and ".ln" not in name


def _rate_fraction(settings: Mapping[str, Any], step: int) -> float:
  """Which share of the learning rate che's schedule gives to a step, from 0."""
  update, warmup = step + 1, settings["training.warmup_steps"]
  if update <= warmup:
    return float(update / warmup)
  if settings["training.schedule"] == "constant":
    return 1
  passed = min(1, (update - warmup) / max(settings["training.steps"] - warmup, 1))
  final = settings["training.final_rate"]
  return float(final + (1 - final) / 2 * (math.cos(math.pi * passed) + 1))


class Trainer:
  """Trains a model as a run's config says, on the batches and positions of che: `step()` makes one update.

  `model` is called as an `Encoder` is. The learning rate has the warm-up and the schedule of the config, gradients are
  clipped by their norm, and the loss is the mean over all output symbols, masked or not. Weight decay leaves out
  parameters whose name says that they are of a LayerNorm (`ln1.scale`) or a bias (`b`, `b1`, `bias`). Raises ValueError
  for a precision other than fp32.
  """

  def __init__(self, run: Run, model: nn.Module, device: str | torch.device = "cpu") -> None:
    if run.settings["execution.precision"] != "fp32":
      raise ValueError(
        f"execution.precision: {run.settings['execution.precision']} is not in che_tasks.torch; allowed: fp32"
      )
    self.run, self.model, self.device = run, model.to(device), device
    self.batches, self.steps_made = run.batches(), 0
    self.parameters = list(model.parameters())
    self.rate = float(run.settings["learning_rate"])
    named = list(model.named_parameters())
    decay = run.settings["training.weight_decay"]
    groups: list[dict[str, Any]] = [
      {"params": [parameter for name, parameter in named if _decays(name)], "weight_decay": decay},
      {"params": [parameter for name, parameter in named if not _decays(name)], "weight_decay": 0},
    ]
    betas = (0.9, float(run.settings["training.beta2"]))
    self.adam = torch.optim.AdamW(groups, lr=self.rate, betas=betas, eps=1e-8, fused=True)

  def step(self, batch: TensorBatch | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Loss, accuracy and the gradient's norm before clipping, of the parameters before the update: three scalars.

    `batch` is one of the caller's in the place of the run's.
    """
    number, settings = self.steps_made, self.run.settings
    self.steps_made += 1
    if batch is None:
      batch = to_tensors(self.batches[number], len(self.run.task.input_symbols))
    batch = batch.to(self.device)
    positions = _drawn(self.run, lambda tokens, layer: self.run.training_positions(tokens, layer, number))
    self.model.train()
    _project(self.model)
    logits = self.model(batch.tokens, batch.target.shape[1], positions)
    loss = F.cross_entropy(logits.flatten(0, 1), batch.target.flatten())
    accuracy = ((logits.argmax(-1) == batch.target) & batch.mask).sum() / batch.mask.sum()
    self.adam.zero_grad(set_to_none=True)
    loss.backward()
    # PyTorch's own clipping divides by the norm plus 1e-6.
    gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
    norm = nn.utils.get_total_norm(gradients)
    torch._foreach_mul_(gradients, (settings["training.clip_norm"] / norm).clamp(max=1))
    for group in self.adam.param_groups:
      group["lr"] = self.rate * _rate_fraction(settings, number)
    self.adam.step()
    return loss.detach(), accuracy.detach(), norm.detach()

  def train(self, report: Callable[[int, float], None] | None = None) -> float:
    """Makes the run's remaining steps, and returns the mean accuracy over the last tenth of the run.

    `report` is called every few seconds with the steps made and the accuracy of the last. Raises ValueError if no step
    is left, and FloatingPointError if the loss is not finite, of which every 100th and the last are looked at.
    """
    steps = self.run.settings["training.steps"]
    if steps <= self.steps_made:
      raise ValueError(f"training.steps: got {steps}, and {self.steps_made} are made; raise it")
    accuracies, reported = [], time.monotonic()
    for _ in range(self.steps_made, steps):
      loss, accuracy, _ = self.step()
      accuracies.append(accuracy)
      if (self.steps_made % 100 == 0 or self.steps_made == steps) and not torch.isfinite(loss):
        raise FloatingPointError(
          f"the loss of step {self.steps_made} is {float(loss)}; a smaller learning rate may help"
        )
      if report is not None and time.monotonic() - reported > REPORT_SECONDS:
        report(self.steps_made, float(accuracies[-1]))
        reported = time.monotonic()
    return float(torch.stack(accuracies[-max(1, steps // 10) :]).mean())


@torch.no_grad()
def predict(run: Run, model: nn.Module, batch: Batch, device: str | torch.device = "cpu") -> np.ndarray[Any, Any]:
  """The model's symbols for test samples, (samples, output length), 64 samples at a time as che measures them.

  Raises FloatingPointError where a logit is not a number, which would count as the symbol 0.
  """
  _project(model)
  model.eval()
  tensors = to_tensors(batch, len(run.task.input_symbols)).to(device)
  outputs = []
  for index, tokens in enumerate(tensors.tokens.split(EVALUATION_BATCH)):
    positions = _drawn(
      run,
      lambda count, layer, index=index: run.test_positions(count, layer, batch.length, index),  # type: ignore[misc]
    )
    logits = model(tokens, tensors.target.shape[1], positions)
    if logits.isnan().any():
      raise FloatingPointError(f"the model's logits at length {batch.length} are not numbers")
    outputs.append(logits.argmax(-1))
  return np.asarray(torch.cat(outputs).cpu())


def make_encoder(run: Run, encoding: Callable[[Shape], nn.Module] | None = None) -> Encoder:
  """The model of a run, with the encoding that its config names or with another; PyTorch's generator draws it.

  Raises ValueError for a kind of model, an encoding, positions or dropout in evaluation, if it is not in
  `che_tasks.torch`.
  """
  settings = run.settings
  if settings["evaluation.eval_dropout"]:
    raise ValueError("evaluation.eval_dropout: true is not in che_tasks.torch; allowed: false")
  if settings.get("model.kind", "encoder") != "encoder":
    raise ValueError(f"model.kind: {settings['model.kind']} is not in che_tasks.torch; allowed: encoder")
  if settings.get("model.block", "post_norm") != "post_norm":
    raise ValueError(f"model.block: {settings['model.block']} is not in che_tasks.torch; allowed: post_norm")
  _are_randomized(run)  # Raises for other positions.
  shape = Shape(*(settings[f"model.{name}"] for name in ("width", "layers", "heads", "ffn_multiple")))
  task = run.task
  return Encoder(
    len(task.input_symbols),
    len(task.output_symbols),
    encoding or encoding_of(run),
    shape,
    settings["training.dropout"],
  )


def _repetitions(config: Config, positions: str, seeds: Iterable[int] | None, learning_rate: float | None) -> list[Run]:
  """The config's runs without its encodings: one for each task and repetition."""
  encoding = {"contiguous": ["encoding=none"], "randomized": ["encoding={name: rope, positions: randomized}"]}
  if positions not in encoding:
    raise ValueError(f"positions: got {positions!r}; allowed: {', '.join(encoding)}")
  if positions == "randomized":
    limits = {run.settings["encoding.max_position"] for run in config.runs() if _has_randomized_positions(run)}
    if len(limits) > 1:
      raise ValueError(
        f"config {config.name}: has several values of encoding.max_position, {', '.join(map(str, sorted(limits)))}; "
        "choose one"
      )
    encoding[positions] += [f"encoding.max_position={limit}" for limit in limits]
  rate = [] if learning_rate is None else [f"learning_rate={learning_rate}"]
  distinct: dict[str, Run] = {}
  for run in config.runs():
    changed = run.with_settings(*encoding[positions], *rate)
    distinct.setdefault(repr(sorted(changed.settings.items())), changed)
  runs = list(distinct.values())
  for key in sorted({key for run in runs for key in run.settings}):
    values = list(dict.fromkeys(str(run.settings.get(key)) for run in runs))
    if len(values) > 1 and key not in ("seed", "data_seed", "evaluation.seed") and not key.startswith("task"):
      remedy = "name one as learning_rate" if key == "learning_rate" else "choose one"
      raise ValueError(f"config {config.name}: has several values of {key}, {', '.join(values)}; {remedy}")
  if seeds is None:
    return runs
  chosen = []
  by_task: dict[str, list[Run]] = {}
  for run in runs:
    task = repr([(key, value) for key, value in sorted(run.settings.items()) if key.startswith("task")])
    by_task.setdefault(task, []).append(run)
  for of_task in by_task.values():
    for seed in seeds:
      same = [run for run in of_task if run.seed == seed]
      # A repetition that shares its batches or test samples with only some of the others is not independent of them.
      others = [
        f"{key}={seed}" for key in ("data_seed", "evaluation.seed") if len({run.settings[key] for run in of_task}) > 1
      ]
      chosen += same or [of_task[0].with_settings(f"seed={seed}", *others)]
  return chosen


def _word(value: object) -> str:
  """A value of a setting as a part of a file's name: long ones, such as the definition of a task, by their hash."""
  text = re.sub(r"[^\w.-]", "_", str(value))
  return text if len(text) <= 32 else hashlib.sha256(str(value).encode()).hexdigest()[:8]


def _files(runs: list[Run], folder: pathlib.Path) -> list[pathlib.Path]:
  """The file of each run's predictions. Raises ValueError where two runs would have one."""

  def name_of(run: Run) -> str:
    """The task's name, and settings of the task in which others of that name differ."""
    others = [other.settings for other in runs if other.task.name == run.task.name]
    keys = [key for key in sorted(run.settings) if key.startswith("task.")]
    differing = [key for key in keys if any(other.get(key) != run.settings[key] for other in others)]
    return run.task.name + "".join(f"-{key[5:]}{_word(run.settings[key])}" for key in differing)

  seeds = [(name_of(run), run.seed) for run in runs]
  files = [
    folder / f"{task}-seed{seed}{f'-data{run.data_seed}' if seeds.count((task, seed)) > 1 else ''}.jsonl"
    for run, (task, seed) in zip(runs, seeds)
  ]
  if len(set(files)) < len(files):
    raise ValueError(
      "config: has several runs of one task, seed and data_seed, such as of several evaluation.seed; choose one"
    )
  return files


def train(
  config: Config | str | os.PathLike[str],
  encoding: Callable[[Shape], nn.Module],
  *,
  model: str | None = None,
  seeds: Iterable[int] | None = None,
  positions: str = "contiguous",
  learning_rate: float | None = None,
  out: str | os.PathLike[str] = "predictions",
  results: str | os.PathLike[str] | None = None,
  device: str = "cpu",
  threads: int = 1,
) -> list[Score]:
  """Trains che's encoder with an encoding of your own on every task of a config, and scores its predictions.

  Args:
    config: a config of `che run` or its path; its encodings are left out, everything else counts: tasks, sizes, steps,
      training batches, test samples.
    encoding: makes the encoding from a `Shape`, such as a class derived from `Encoding`.
    model: its name in tables; unless given, the encoding's name, with randomized_ before it for such positions.
    seeds: of the repetitions; the config's unless given. A seed that the config lacks gets the config's
      data_seed and evaluation.seed, or its own number where the config has several.
    positions: "contiguous", or "randomized" positions as che draws them, below the `encoding.max_position` of the
      config's encodings with randomized positions.
    learning_rate: needed where the config has several.
    out: folder for the predictions, <task>-seed<seed>.jsonl, or <task>-seed<seed>-data<data seed>.jsonl where a seed
      has several. Variants of a task have their settings behind its name.
    results: results folder in which the scores are stored, for `che table`.
    device: where PyTorch computes.
    threads: of PyTorch on the CPU, from here on; small models gain nothing from more.

  Returns one score per task and repetition. Raises ValueError, before it trains, for a bad config, a name that tables
  have already, runs that differ in more than task and seeds, samples that `score` would refuse, and an `out` that
  another evaluation writes to. Also
  raises it for an `out` with predictions of another model, of other test samples, or of another training. Raises
  FloatingPointError if a loss is not finite.
  """
  if not callable(encoding):
    raise ValueError(f"encoding: {encoding!r} makes no encoding; allowed: a class or function that takes a Shape")
  prefix = "randomized_" if positions == "randomized" else ""
  name = model or prefix + getattr(encoding, "__name__", type(encoding).__name__)
  read = config if isinstance(config, Config) else read_config(config)
  runs = _repetitions(read, positions, None if seeds is None else checked_seeds(seeds), learning_rate)
  files = _files(runs, pathlib.Path(out))
  check_target(name, results)
  of_training = {"steps": "training.steps", "batch_size": "training.batch_size", "learning_rate": "learning_rate"}
  settings = runs[0].settings
  budget = {key: settings[setting] for key, setting in of_training.items()}
  # The digest is of everything else that trains, such as dropout.
  drawn = ("encoding.max_position",) if positions == "randomized" else ()
  trains = {key: value for key, value in settings.items() if key in drawn or key.startswith(("model.", "training."))}
  digest = hashlib.sha256(json.dumps(trains, sort_keys=True).encode()).hexdigest()[:8]
  budget["note"] = (
    f"{positions} positions, lengths {settings['training.first_length']} to {settings['training.last_length']}, "
    f"width {settings['model.width']}, {settings['model.layers']} layers, {settings['model.heads']} heads, "
    f"all settings {digest}"
  )
  with sole_writer(out):
    for run, file in zip(runs, files):
      check_file(file, name, run.test_sets(), data_seed=run.data_seed, **budget)
      checked_header(file, run.test_sets(), model=name, model_seed=run.seed, data_seed=run.data_seed)
    torch.set_num_threads(threads)
    for run, file in zip(runs, files):
      began = time.monotonic()
      torch.manual_seed(run.seed)
      trainer = Trainer(run, make_encoder(run, encoding), device)
      accuracy = trainer.train(
        lambda step, accuracy, file=file: print(  # type: ignore[misc]
          f"{file}: step {step}/{budget['steps']}, training accuracy {accuracy:.3f}", file=sys.stderr, flush=True
        )
      )
      write_predictions(
        file,
        lambda batch, trainer=trainer: predict(trainer.run, trainer.model, batch, device),  # type: ignore[misc]
        run.test_sets(),
        model=name,
        model_seed=run.seed,
        data_seed=run.data_seed,
        training={
          **budget,
          "parameters": sum(parameter.numel() for parameter in trainer.parameters),
          "training_accuracy": round(accuracy, 4),
        },
      )
      seconds = time.monotonic() - began
      print(f"{file}: training accuracy {accuracy:.3f}, {seconds:.0f} s", file=sys.stderr, flush=True)
    return score(files, results)
