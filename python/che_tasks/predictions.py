"""Predictions of models outside che: written for, and scored by, che's own program."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import operator
import os
import pathlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _core
from .suites import TestSets
from .suites import suite as find_suite
from .tasks import Batch, Task

__all__ = ["Predict", "Score", "evaluate", "score", "write_predictions"]

# Takes a batch and returns symbol ids, shape (samples, output length): an array, a tensor of the CPU, or lists.
Predict = Callable[[Batch], Any]
File = Union[str, os.PathLike[str]]

MAX_SEED = 2**53
MAX_HEADER = 1 << 20  # Characters that are read of a file's first line.


@dataclasses.dataclass(frozen=True)
class Score:
  """The accuracy of a model on one task.

  `accuracy` is by test length, `score` its mean over the lengths, both fractions of 1. `options` are the task's that
  differ from their defaults. `definition` is the digest of a declared task's definition; "" for a built-in task.
  """

  model: str
  model_seed: int
  data_seed: int
  task: str
  suite: str
  samples: int
  evaluation_seed: int
  score: float
  accuracy: Mapping[int, float]
  options: Mapping[str, str]
  definition: str


def _symbols(predicted: Any, batch: Batch, symbols: int) -> np.ndarray[Any, Any]:
  array = np.asarray(predicted)
  if array.shape != batch.output.shape:
    raise ValueError(
      f"predictions at length {batch.length}: got shape {array.shape}; allowed: {batch.output.shape}, one symbol id "
      "for each sample and output symbol"
    )
  if not np.issubdtype(array.dtype, np.integer):
    raise ValueError(f"predictions at length {batch.length}: got {array.dtype}; allowed: whole numbers, symbol ids")
  if array.size and (array.min() < 0 or array.max() >= symbols):
    wrong = array[(array < 0) | (array >= symbols)][0]
    raise ValueError(f"predictions at length {batch.length}: got symbol {wrong}; allowed: 0 to {symbols - 1}")
  return array


def _checked_seed(seed: Any) -> int:
  try:
    number = operator.index(seed)
  except TypeError:
    number = -1
  if not 0 <= number <= MAX_SEED:
    raise ValueError(f"seed: got {seed!r}; allowed: whole numbers from 0 to {MAX_SEED}")
  return number


def each_once(name: str, values: Any) -> list[Any]:
  """The values as a list. Raises ValueError for none, for one twice, and for what is no list."""
  if isinstance(values, (str, int)):
    raise ValueError(f"{name}: got {values!r}; allowed: a list, such as [{values!r}]")
  listed = list(values)
  if not listed:
    raise ValueError(f"{name}: got none; allowed: one or more")
  if len(set(listed)) < len(listed):
    raise ValueError(f"{name}: got {listed}; allowed: each once")
  return listed


def checked_seeds(values: Any) -> list[int]:
  """The seeds of repetitions. Raises ValueError as `each_once` does, and for what is no seed."""
  return [_checked_seed(seed) for seed in each_once("seeds", values)]


def _text_of(path: File) -> str:
  text = os.fspath(path)
  try:
    text.encode()
  except (AttributeError, UnicodeEncodeError):
    raise ValueError(f"{text!r}: is no text in UTF-8; name another file or folder") from None
  if "\0" in text:
    raise ValueError(f"{text!r}: has a NUL character; name another file or folder")
  return text


def _stored(results: File | None) -> str:
  if results is None:
    return ""
  folder = _text_of(results)
  if not folder:
    raise ValueError("results: is empty; allowed: a folder of results, new or not, or None to store nothing")
  return folder


def check_target(model: str, results: File | None) -> None:
  """Raises ValueError, before anything is trained, if `score` would refuse the model's name or the results folder."""
  _core.check_model_name(model)
  if (folder := _stored(results)) and pathlib.Path(folder).is_file():
    raise ValueError(f"{results}: is a file; allowed: a folder of results, new or not")


def check_folder(folder: File) -> None:
  """Raises ValueError for a folder that is a file, or in one, or whose name is no UTF-8 or has a NUL character."""
  path = pathlib.Path(_text_of(folder)).absolute()
  around = next(one for one in (path, *path.parents) if one.exists())
  if not around.is_dir():
    raise ValueError(f"{folder}: {around} is no folder; name another file or folder")


def check_file(file: File, model: str, test_sets: TestSets | None = None, **stated: Any) -> None:
  """Raises ValueError if `write_predictions` would replace the predictions of another model, or could write none.

  Also raises it for a model of this name that predicted other samples than `test_sets`, or whose header, or what that
  states of training, has another value of a field.
  """
  path = pathlib.Path(_text_of(file))
  check_folder(path.parent)
  if not path.exists():
    return
  if not path.is_file():
    raise ValueError(f"{path}: is no file; name another")
  with open(path, encoding="utf-8", errors="replace") as lines:
    first = lines.readline(MAX_HEADER)
  try:
    header = json.loads(first)
    other, fields = header["model"], header | header.get("training", {})
    if not header["format"].startswith("che-predictions/"):
      raise ValueError
  except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
    raise ValueError(f"{path}: holds no predictions; move it away, or name another file") from None
  if other != model:
    raise ValueError(f"{path}: holds predictions of {other!r}, not of {model!r}; name another file or folder")
  samples = {} if test_sets is None else test_sets.header()
  for key, value in {**samples, **stated}.items():
    if key not in ("format", "version") and fields.get(key, value) != value:
      raise ValueError(
        f"{path}: holds predictions of {model!r} whose header has {key} {fields[key]!s:.200}, not {value!s:.200}; "
        "name another folder or model, or move the file away"
      )


def checked_header(
  file: File,
  test_sets: TestSets,
  *,
  model: str,
  model_seed: int = 0,
  data_seed: int | None = None,
  training: Mapping[str, object] | None = None,
) -> str:
  """The first line of a file of predictions. Raises ValueError for what `score` would refuse of it."""
  header = {**test_sets.header(), "format": "che-predictions/1", "model": model, "model_seed": model_seed}
  if data_seed is not None:
    header["data_seed"] = data_seed
  if training is not None:
    header["training"] = dict(training)
  line = json.dumps(header, default=lambda scalar: scalar.item())  # numpy has scalars.
  _core.check_predictions_header(line, _text_of(file))
  return line


@contextlib.contextmanager
def sole_writer(folder: File) -> Iterator[None]:
  """Keeps other evaluations from writing predictions to a folder before those of this one are scored.

  Raises ValueError where another one writes there. Some file systems lock no folders, and nothing is kept there.
  """
  folder = folder or "."
  check_folder(folder)
  os.makedirs(folder, exist_ok=True)
  handle = os.open(folder, os.O_RDONLY)
  try:
    try:
      fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
      raise ValueError(f"out: another evaluation writes to {os.fspath(folder)}; name another folder") from None
    except OSError:
      pass
    try:
      yield
    finally:
      with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_UN)  # A child that lives on may have the handle, too.
  finally:
    os.close(handle)


def write_predictions(
  file: File,
  predict: Predict,
  test_sets: TestSets,
  *,
  model: str,
  model_seed: int = 0,
  data_seed: int | None = None,
  training: Mapping[str, object] | None = None,
) -> pathlib.Path:
  """Writes what `predict` answers to the test samples as a file for `score`, and returns its path.

  Args:
    file: where to write; a file with predictions of the same model is replaced, once all predictions are there.
    predict: takes a batch and returns symbol ids, shape (samples, output length).
    test_sets: the samples.
    model: its name in tables.
    model_seed: tells repetitions apart.
    data_seed: of che's training batches, if the model was trained on them.
    training: what its author states, for readers of tables: any of steps, batch_size, learning_rate, parameters,
      training_accuracy (a fraction of 1) and note.

  Raises ValueError for predictions of another shape, type or alphabet; before it asks `predict`, for what `score` would
  refuse of the model's name, the test sets and what is stated of training, and for a file that is no such file.
  """
  if not isinstance(test_sets, TestSets):
    raise ValueError(f"test_sets: got {type(test_sets).__name__}; allowed: TestSets, which `test_sets` returns")
  check_target(model, None)
  path = pathlib.Path(file)
  check_file(path, model)
  line = checked_header(path, test_sets, model=model, model_seed=model_seed, data_seed=data_seed, training=training)
  path.parent.mkdir(parents=True, exist_ok=True)
  part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")  # No other process writes to it.
  try:
    with open(part, "x", encoding="utf-8") as out:
      out.write(line + "\n")
      for batch in test_sets:
        predicted = _symbols(predict(batch), batch, len(test_sets.task.output_symbols))
        for index, output in enumerate(predicted.tolist()):
          out.write(json.dumps({"length": batch.length, "index": index, "output": output}) + "\n")
    check_file(path, model)  # Another process may have written it meanwhile; the gap is small now.
    os.replace(part, path)
  finally:
    part.unlink(missing_ok=True)
  return path


def score(files: File | Iterable[File], results: File | None = None) -> list[Score]:
  """Scores files of predictions as `che score` does, and stores the scores in the results folder `results`, if given.

  `che table`, `che plot` and `che report` show the folder. Raises ValueError with file, line and field for predictions
  that do not match their samples, and then stores nothing.
  """
  paths = [files] if isinstance(files, (str, os.PathLike)) else files
  return [Score(**one) for one in _core.score([_text_of(path) for path in paths], _stored(results))]


def evaluate(
  predictor: Callable[[Task, int], Predict],
  *,
  suite: str,
  model: str,
  out: File,
  seeds: Iterable[int] = (0,),
  tasks: Sequence[str] | None = None,
  results: File | None = None,
) -> list[Score]:
  """Scores a model on a suite, once per task and seed.

  `predictor(task, seed)` trains or loads the model for the task, with that seed, and returns the function that predicts
  its samples: a batch -> symbol ids, shape (samples, output length). Predictions go to `out`/<task>-seed<seed>.jsonl.
  `tasks` chooses from the suite. Raises ValueError as `write_predictions` and `score` do; before it calls `predictor`,
  for an unknown task or suite, a task or a seed that is named twice, a seed that is none, samples that `score` would
  refuse, and an `out` that has predictions of another model or of other samples, or that another evaluation writes to.
  """
  check_target(model, results)
  seeds = checked_seeds(seeds)
  chosen = find_suite(suite)
  sets = [chosen.test_sets(task) for task in each_once("tasks", chosen.tasks if tasks is None else tasks)]
  runs = [(pathlib.Path(out) / f"{one.task.name}-seed{seed}.jsonl", one, seed) for seed in seeds for one in sets]
  with sole_writer(out):
    for file, one, seed in runs:
      check_file(file, model, one)
      checked_header(file, one, model=model, model_seed=seed)
    for file, one, seed in runs:
      write_predictions(file, predictor(one.task, seed), one, model=model, model_seed=seed)
    return score([file for file, _, _ in runs], results)
