"""Reads the tidy CSV files of figures."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable, Hashable, Iterable
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

  def is_yes(self, column: str) -> bool:
    return self.text(column) == "yes"

  def side(self, name: str) -> Row:
    """The columns of one side of a comparison, `one` or `other`."""
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
