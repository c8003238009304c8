"""Suites: frozen choices of tasks and test samples, over which results can be compared; and the samples themselves."""

from __future__ import annotations

import dataclasses
import json
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from . import _core
from .tasks import Batch, Batches, Options, Task, bound, described

__all__ = ["Suite", "TestSets", "list_suites", "suite", "test_sets"]

EVALUATION_BATCH = 64  # Samples that che measures at a time.


class TestSets:
  """Test samples of one task at several lengths: iterating gives a `Batch` of `samples` samples per length, ascending.

  `seed` is the config's `evaluation.seed`; `suite` is the suite's name, or "" where the samples are no suite's.
  """

  __test__ = False  # No test case, whatever its name begins with.

  def __init__(self, task: _core.Task, lengths: Sequence[int], samples: int, seed: int, suite: str = "") -> None:
    if samples % EVALUATION_BATCH != 0 or samples < EVALUATION_BATCH:
      raise ValueError(f"samples: got {samples}; allowed: multiples of {EVALUATION_BATCH}")
    self.task: Task = described(task)
    self.lengths = tuple(lengths)
    self.samples = samples
    self.seed = seed
    self.suite = suite
    self._task = task

  def __getitem__(self, length: int) -> Batch:
    """Raises ValueError for a length that is not measured."""
    if length not in self.lengths:
      raise ValueError(f"length {length} is not measured; allowed: {', '.join(map(str, self.lengths))}")
    return Batch(length, *self._task.test_samples(length, self.samples, self.seed))

  def __iter__(self) -> Iterator[Batch]:
    return map(self.__getitem__, self.lengths)

  def __len__(self) -> int:
    return len(self.lengths)

  def header(self) -> dict[str, Any]:
    """The first line of the file that `che export` writes of these samples."""
    header = _core.header(self._task, self.suite, list(self.lengths), self.samples, self.seed)
    return dict(json.loads(header))


def test_sets(
  task: str, lengths: Sequence[int], samples: int = 512, seed: int = 0, options: Options = None
) -> TestSets:
  """Test samples of your choice; `samples`, per length, is a multiple of 64.

  Raises ValueError for an unknown task or option, for lengths that are no whole numbers, and for another number of
  samples.
  """
  try:
    whole = set(map(operator.index, lengths))
  except TypeError as error:
    raise ValueError(f"lengths: got {lengths!r}; allowed: a list of whole numbers") from error
  return TestSets(bound(task, options), sorted(whole), samples, seed)


test_sets.__test__ = False  # type: ignore[attr-defined]


@dataclasses.dataclass(frozen=True)
class Suite:
  """A named choice of tasks, training lengths and test samples, which never changes under its name."""

  name: str
  summary: str
  tasks: tuple[str, ...]
  first_training_length: int
  last_training_length: int
  lengths: tuple[int, ...]
  samples: int
  evaluation_seed: int

  def _bound(self, task: str) -> _core.Task:
    if task not in self.tasks:
      raise ValueError(f"suite {self.name} has no task {task!r}; it has {', '.join(self.tasks)}")
    return bound(task, None)

  def batches(self, task: str, batch_size: int = 128, data_seed: int = 0) -> Batches:
    """Training batches of one of its tasks, at its training lengths. Raises ValueError for another task."""
    lengths = (self.first_training_length, self.last_training_length)
    return Batches(self._bound(task), batch_size, *lengths, data_seed)

  def test_sets(self, task: str) -> TestSets:
    """Its test samples of one of its tasks. Raises ValueError for another task."""
    return TestSets(self._bound(task), self.lengths, self.samples, self.evaluation_seed, self.name)


def list_suites() -> list[Suite]:
  """Every suite, as `che list suites` shows them."""
  return [Suite(**one) for one in _core.suites()]


def suite(name: str) -> Suite:
  """The suite of that name, such as "quick/v1". Raises ValueError with the known names for another."""
  return Suite(**_core.suite(name))
