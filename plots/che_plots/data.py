"""Reads the tidy CSV files of figures."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class Row:
  """One row of a CSV file; `prefix` stands before the names of its columns."""

  def __init__(self, fields: dict[str, str], prefix: str = "") -> None:
    self._fields = fields
    self._prefix = prefix

  def text(self, column: str) -> str:
    value = self._fields[self._prefix + column]
    # Spreadsheets would take such a text for a formula, so an apostrophe stands before it.
    return value[1:] if value[:2] in ("'=", "'+", "'-", "'@") else value

  def number(self, column: str) -> float:
    return float(self.text(column))

  def maybe(self, column: str) -> float | None:
    """The number; None where the field is empty."""
    return float(self.text(column)) if self.text(column) else None

  def has(self, column: str) -> bool:
    return self._prefix + column in self._fields

  def is_yes(self, column: str) -> bool:
    return self.text(column) == "yes"

  def side(self, name: str) -> Row:
    """The columns of one side of a comparison; its name is `one` or `other`."""
    return Row(self._fields, name + "_")


def read_rows(file: pathlib.Path) -> list[Row]:
  with open(file, newline="", encoding="utf-8") as lines:
    return [Row(fields) for fields in csv.DictReader(lines)]


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
  """Rows of one key stand together; keys and rows keep their order."""
  groups: dict[Key, list[Row]] = {}
  for row in rows:
    groups.setdefault(key(row), []).append(row)
  return groups


def by_task(rows: Iterable[Row]) -> dict[str, list[Row]]:
  return grouped(rows, lambda row: row.text("task"))


def by_column(rows: Iterable[Row]) -> dict[str, list[Row]]:
  return grouped(rows, lambda row: row.text("encoding"))


def known(rows: Iterable[Row], *columns: str) -> list[float]:
  """The numbers of these columns, without empty fields."""
  return [row.number(column) for row in rows for column in columns if row.text(column)]


def passing(rows: Sequence[Row]) -> tuple[list[Row], str]:
  """The rows of tasks that pass the trivial baselines, or all if none does, and a sentence about the other tasks."""
  shown = [row for row in rows if not row.is_yes("at_baseline")] or list(rows)
  left_out = [task for task in by_task(rows) if task not in by_task(shown)]
  names = ", ".join(left_out)
  return shown, f" Tasks on which nothing passes the trivial baselines are left out: {names}." if left_out else ""


def span(rows: Iterable[Row], column: str) -> str:
  """The least and the greatest count of a column, `2 to 4`, or the only one."""
  counts = sorted({int(row.number(column)) for row in rows})
  return f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0] if counts else 0)
