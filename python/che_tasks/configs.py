"""Config files of `che run`, expanded into runs."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from . import _core
from .suites import TestSets
from .tasks import Batches, Task, described

__all__ = ["Config", "Run", "config"]


class Run:
  """One run of a config: a task, an encoding, seeds, and how it is trained and measured.

  `settings` has every setting of the config by its key path, such as `run.settings["training.batch_size"]`: a
  number, a truth value, a text or a list of numbers. `id` is the name of its folder in results/<experiment>/runs.
  """

  def __init__(self, run: _core.Run) -> None:
    self._run = run
    self.task: Task = described(run.task())
    self.id: str = run.id()
    self.encoding: str = run.encoding()
    self.settings: dict[str, Any] = run.settings()

  @property
  def seed(self) -> int:
    """Of initial parameters and dropout."""
    return int(self.settings["seed"])

  @property
  def data_seed(self) -> int:
    """Of training lengths, batches and positions."""
    return int(self.settings["data_seed"])

  def batches(self) -> Batches:
    """Its training batches, of which it takes the first `settings["training.steps"]`."""
    names = ("training.batch_size", "training.first_length", "training.last_length", "data_seed")
    return Batches(self._run.task(), *(self.settings[name] for name in names))

  def test_sets(self) -> TestSets:
    """Its test samples."""
    samples, seed = self.settings["evaluation.samples"], self.settings["evaluation.seed"]
    return TestSets(self._run.task(), self._run.lengths(), samples, seed)

  def with_settings(self, *settings: str) -> Run:
    """The same run with "key=value" settings, as `che run` takes them. Raises ValueError for a bad one.

    Another `model.kind` keeps the settings of the model that are not defaults; `"model={kind: rnn}"` begins with the
    defaults of that kind.
    """
    return Run(self._run.with_settings(list(settings)))

  def training_positions(self, tokens: int, layer: int, step: int) -> tuple[list[int], list[int]]:
    """What encodings see of positions in a layer (from 0; -1 for the embedding) at a training step.

    Returns the positions of `tokens` tokens, and the distances of tokens 0, 1, ... apart: 0, 1, 2, ... each unless the
    config's positions are randomized. They are those of `che run`. Raises ValueError where too few can be drawn.
    """
    return self._run.positions(tokens, layer, step, 0, False)

  def test_positions(self, tokens: int, layer: int, length: int, batch: int) -> tuple[list[int], list[int]]:
    """The same for the samples 64 * batch ... of a test length."""
    return self._run.positions(tokens, layer, length, batch, True)

  def __repr__(self) -> str:
    return f"Run({self.task.name}, {self.encoding}, seed {self.seed}, data_seed {self.data_seed})"


@dataclasses.dataclass(frozen=True)
class Config:
  """A config file: the experiment's name and description, and its runs."""

  name: str
  description: str
  _runs: tuple[Run, ...]

  def runs(self) -> list[Run]:
    """Every run, in the order of `che run CONFIG --list`."""
    return list(self._runs)


def config(file: str | os.PathLike[str], *overrides: str) -> Config:
  """Reads a config file; `overrides` are "key=value" as `che run` takes them, such as "training.steps=100".

  Raises ValueError with file, line, key and what is allowed for anything that `che check` refuses.
  """
  name, description, runs = _core.read_config(os.fspath(file), list(overrides))
  return Config(name, description, tuple(Run(run) for run in runs))
