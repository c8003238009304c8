"""The formal-language tasks of the Chomsky Hierarchy Evaluation benchmark, sample for sample as che draws them.

Symbols are ids, 0 .. number of symbols - 1; `list_tasks()` has the character of each. A model reads the input followed by one
empty token per output symbol, and predicts the output at these tokens. Accuracy is the share of right symbols
among those whose mask is 1, over a batch of 64 samples; a length's accuracy is the mean over its batches.

    import che_tasks
    batch = che_tasks.sample("bucket_sort", length=9, count=3)
    batch.input   # uint8, shape (3, 9)
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Iterator, Mapping, Optional

import numpy as np

from . import _core

__all__ = ["Batch", "Task", "evaluation_set", "iter_batches", "list_tasks", "load_task", "sample"]


@dataclasses.dataclass(frozen=True)
class Task:
  """One task: its name, level of the Chomsky hierarchy and alphabets.

  `input_symbols` and `output_symbols` have one character per symbol id; `chance` is one over the number of output symbols;
  `output_length` is a formula in the length L; `version` is raised when the samples change.
  """

  name: str
  level: str
  summary: str
  input_symbols: str
  output_symbols: str
  output_length: str
  chance: float
  permutation_invariant: bool
  version: int


@dataclasses.dataclass(frozen=True, eq=False)  # "Equal" has no one meaning for arrays.
class Batch:
  """Samples of one task and one length.

  Attributes:
    length: the length asked of the task.
    input: uint8, shape (samples, input length), symbol ids.
    output: uint8, shape (samples, output length), symbol ids.
    mask: uint8, shape (samples, output length); 1 where accuracy counts the symbol: up to and including the terminator of
      tasks that have one, everywhere else.
  """

  length: int
  input: np.ndarray
  output: np.ndarray
  mask: np.ndarray


def _text(options: Optional[Mapping[str, object]]) -> dict:
  return {str(key): str(value) for key, value in (options or {}).items()}


def list_tasks() -> list:
  """Every task with its default options, sorted by name, as a list of `Task`."""
  return [Task(**_core.describe(name)) for name in _core.names()]


def load_task(file: str) -> Task:
  """The task that a YAML file declares. Its path, which ends in .yaml or .yml, also serves as `task` in every other function.

  Raises ValueError with file and line for what is no task.
  """
  return Task(**_core.describe(str(file)))


def sample(task: str, length: int, count: int = 10, seed: int = 0, options: Optional[Mapping[str, object]] = None) -> Batch:
  """Draws `count` samples, the same as `che sample TASK --length LENGTH --seed SEED`.

  Raises ValueError for an unknown task or option, a length outside 1 .. 1,000,000, a count below 1 or a negative seed.
  """
  return Batch(length, *_core.sample(task, _text(options), length, count, seed))


def evaluation_set(task: str, length: int, samples: int = 512, seed: int = 0,
                   options: Optional[Mapping[str, object]] = None) -> Batch:
  """The test samples that `che run` and `che evaluate` use at one length; `seed` is the config's `evaluation.seed`.

  Raises ValueError as `sample` does.
  """
  return Batch(length, *_core.evaluation_set(task, _text(options), length, samples, seed))


def iter_batches(task: str, batch_size: int = 128, first_length: int = 1, last_length: int = 40, data_seed: int = 0,
                 first_step: int = 0, steps: Optional[int] = None,
                 options: Optional[Mapping[str, object]] = None) -> Iterator[Batch]:
  """The training batches of `che run`, from step `first_step` on; endless unless `steps` is given.

  The arguments are the config's `training.batch_size`, `training.first_length`, `training.last_length` and `data_seed`. All
  samples of a batch have the same length, drawn uniformly. Raises ValueError as `sample` does.
  """
  numbers = itertools.count(first_step) if steps is None else range(first_step, first_step + steps)
  for step in numbers:
    yield Batch(*_core.training_batch(task, _text(options), step, batch_size, first_length, last_length, data_seed))
