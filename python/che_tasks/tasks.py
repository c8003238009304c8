"""Tasks and their samples."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Optional

import numpy as np

from . import _core

__all__ = ["Batch", "Batches", "Task", "evaluation_set", "iter_batches", "list_tasks", "load_task", "sample"]

Options = Optional[Mapping[str, object]]


@dataclasses.dataclass(frozen=True)
class Task:
  """One task: its name, level of the Chomsky hierarchy and alphabets.

  `input_symbols` and `output_symbols` have one character per symbol id; `chance` is one over the number of output
  symbols; `output_length` is a formula in the length L; `version` is raised when the samples change.
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
    mask: uint8, shape (samples, output length); 1 where accuracy counts the symbol: up to and including the terminator
      of tasks that have one, everywhere else.
  """

  length: int
  input: np.ndarray[Any, np.dtype[np.uint8]]
  output: np.ndarray[Any, np.dtype[np.uint8]]
  mask: np.ndarray[Any, np.dtype[np.uint8]]


def bound(task: str, options: Options) -> _core.Task:
  """The C++ task behind a name or a file. Raises ValueError for an unknown task or option."""
  return _core.Task(str(task), {str(key): str(value) for key, value in (options or {}).items()})


def described(task: _core.Task) -> Task:
  return Task(**task.describe())


def list_tasks() -> list[Task]:
  """Every task with its default options, sorted by name."""
  return [load_task(name) for name in _core.task_names()]


def load_task(task: str) -> Task:
  """The task of that name, such as "even_pairs", or the one that a YAML file declares.

  The path of such a file, which ends in .yaml or .yml, also serves as `task` in every other function.
  Raises ValueError for an unknown name, and with file and line for what declares no task.
  """
  return described(bound(task, None))


def sample(task: str, length: int, count: int = 10, seed: int = 0, options: Options = None) -> Batch:
  """Draws `count` samples, the same as `che sample TASK --length LENGTH --seed SEED`.

  Raises ValueError for an unknown task or option, a length outside 1 .. 1,000,000, a count below 1, or a seed outside
  0 .. 2^53.
  """
  return Batch(length, *bound(task, options).sample(length, count, seed))


def evaluation_set(task: str, length: int, samples: int = 512, seed: int = 0, options: Options = None) -> Batch:
  """The test samples that `che run` and `che evaluate` use at one length; `seed` is the config's `evaluation.seed`.

  Raises ValueError as `sample` does.
  """
  return Batch(length, *bound(task, options).test_samples(length, samples, seed))


class Batches:
  """The training batches of `che run`: endless, and the batch of a step is `batches[step]`, steps from 0.

  The members are the config's `training.batch_size`, `training.first_length`, `training.last_length` and `data_seed`.
  All samples of a batch have the same length, drawn uniformly. Indexing raises ValueError as `sample` does.
  """

  def __init__(self, task: _core.Task, batch_size: int, first_length: int, last_length: int, data_seed: int) -> None:
    self.task = described(task)
    self.batch_size = batch_size
    self.first_length = first_length
    self.last_length = last_length
    self.data_seed = data_seed
    self._task = task

  def __getitem__(self, step: int) -> Batch:
    return Batch(*self._task.training_batch(step, self.batch_size, self.first_length, self.last_length, self.data_seed))

  def __iter__(self) -> Iterator[Batch]:
    return map(self.__getitem__, itertools.count())


def iter_batches(
  task: str,
  batch_size: int = 128,
  first_length: int = 1,
  last_length: int = 40,
  data_seed: int = 0,
  first_step: int = 0,
  steps: int | None = None,
  options: Options = None,
) -> Iterator[Batch]:
  """The training batches of a task, see `Batches`, from step `first_step` on; endless unless `steps` is given.

  Raises ValueError as `sample` does.
  """
  batches = Batches(bound(task, options), batch_size, first_length, last_length, data_seed)
  numbers = itertools.count(first_step) if steps is None else range(first_step, first_step + steps)
  return map(batches.__getitem__, numbers)
