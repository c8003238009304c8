"""Reads the tidy CSV files of figures."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

AGGREGATES = {"max": "maximum", "min": "minimum", "mean": "mean", "median": "median", "iqm": "interquartile mean"}


class Row(dict[str, str]):
  """One row of a CSV file, by the names of its columns."""

  def text(self, column: str) -> str:
    value = self[column]
    # Spreadsheets would take such a text for a formula, so an apostrophe stands before it. Matplotlib takes what is
    # between two dollars for one.
    return (value[1:] if value[:2] in ("'=", "'+", "'-", "'@") else value).replace("$", r"\$")

  def number(self, column: str) -> float:
    return float(self.text(column))

  def is_yes(self, column: str) -> bool:
    return self.text(column) == "yes"

  def side(self, name: str) -> Row:
    """The columns of one side of a comparison; its name is `one` or `other`."""
    return Row((column.removeprefix(f"{name}_"), value) for column, value in self.items())


def read_rows(file: pathlib.Path) -> list[Row]:
  with open(file, newline="", encoding="utf-8") as lines:
    return [Row(fields) for fields in csv.DictReader(lines)]


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
  """Rows of one key stand together; keys and rows keep their order."""
  groups: dict[Any, list[Row]] = {}
  for row in rows:
    groups.setdefault(key(row), []).append(row)
  return groups


by_task = partial(grouped, key=lambda row: row.text("task"))
by_column = partial(grouped, key=lambda row: row.text("encoding"))


def known(rows: Iterable[Row], *columns: str) -> list[float]:
  """The numbers of these columns, without empty fields."""
  return [row.number(column) for row in rows for column in columns if row.text(column)]


def passing(rows: Sequence[Row]) -> tuple[list[Row], str]:
  """The rows of tasks that pass the trivial baselines, or all if none does, and a sentence about the other tasks."""
  shown = [row for row in rows if not row.is_yes("at_baseline")] or list(rows)
  left_out = ", ".join(task for task in by_task(rows) if task not in by_task(shown))
  return shown, f"Left out, as nothing passes the trivial baselines: {left_out}." if left_out else ""


def from_to(counts: Sequence[float]) -> str:
  """The least and the greatest count, `2 to 4`, or the only one."""
  least, greatest = int(min(counts)), int(max(counts))
  return str(least) if least == greatest else f"{least} to {greatest}"


def of_runs(rows: Sequence[Row], is_curve: bool = False) -> str:
  """What a number stands for, `the mean of 3 runs`; a curve follows the runs at the learning rate of the best."""
  count, aggregate = from_to(known(rows, "runs")), AGGREGATES[rows[0].text("aggregate")]
  if count == "1":
    return "one run"
  if is_curve and aggregate in ("maximum", "minimum"):
    among = ", which is one of them everywhere" if " to " in count else ""
    return f"the mean over {count} seeds at the learning rate of the best run{among}"
  return f"the {aggregate} of {count} runs"


def kind_of(rows: Sequence[Row]) -> str:
  """What the columns are: only encodings have positions."""
  return "encoding" if all(row.text("positions") for row in rows) else "model"


def caption_of(rows: Sequence[Row], *sentences: str) -> str:
  """The sentences that are not empty, what was chosen, and how many runs of an unfinished experiment have finished."""
  columns = ("score_lengths", "only", "skip", "select", "finished_runs", "all_runs")
  lengths, only, skip, select, finished, runs = map(rows[0].text, columns)
  choice = [
    f"Scores count the test lengths {lengths} alone." if lengths and {"score", "difference"} & set(rows[0]) else "",
    f"Only runs with {only} are shown." if only else "",
    f"Runs with {skip} are left out." if skip else "",
    f"Cells of che's models have the runs of one learning rate, chosen by --select {select}." if select else "",
    f"Unfinished: {finished} of {runs} stored runs are in this figure." if finished != runs else "",
  ]
  return " ".join(filter(None, [*sentences, *choice]))
