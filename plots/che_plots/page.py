"""Pages: panels in a grid, with a legend above and a caption below, all measured before they are placed."""

from __future__ import annotations

import math
import os
import pathlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend

from che_plots.style import SMALL, TITLE

MM = 1 / 25.4  # Inches.
MAX_HEIGHT = 230.0
MARGIN = 1.0
# SVG, PDF and PNG without dates or versions, so that the same data give the same bytes.
METADATA: dict[str, dict[str, Any]] = {
  "svg": {"Date": None, "Creator": None},
  "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
  "png": {"Software": None},
}


@dataclass(frozen=True)
class Place:
  """Where a panel stands: a part of the figure, and whether it has the labels of the axes."""

  figure: Figure
  spec: SubplotSpec
  first_column: bool
  last_row: bool


@dataclass(frozen=True)
class Sheet:
  """All panels of a figure; `draw` draws the panel of an index."""

  draw: Callable[[Place, int], None]
  heights: Sequence[float]  # Of the panels' axes in mm; those of one row have the height of the highest.
  legend: Sequence[Artist]
  caption: str
  columns: int = 1
  around: float = 8.5  # What a row of panels needs for titles and marks, in mm,
  below: float = 4.0  # and what the last one of a page needs for the labels of its axes.


def columns_for(width: float, panels: int) -> int:
  """So many panels stand side by side at a width in mm."""
  if panels == 3 and width >= 130:
    return 3  # Two rows would leave a hole.
  return min(panels, 1 if width < 110 else 2 if width < 190 else 3)


def new_figure(width: float, height: float) -> Figure:
  figure = Figure(figsize=(width * MM, height * MM))
  FigureCanvasAgg(figure)
  return figure


def wrapped(text: str, width: float, size: float = SMALL) -> str:
  """The text in lines of at most `width` mm."""
  figure = new_figure(width, 10)
  label = figure.text(0, 0, "", fontsize=size)

  def fits(line: str) -> bool:
    label.set_text(line)
    return float(label.get_window_extent().width) <= 0.99 * width * MM * figure.dpi

  lines = [""]
  for word in text.split():
    longer = f"{lines[-1]} {word}".strip()
    if fits(longer):
      lines[-1] = longer
    else:
      lines.append(word)
  return "\n".join(lines)


def add_legend(figure: Figure, handles: Sequence[Artist]) -> Legend:
  """A legend at the top in as few rows as fit."""
  for columns in range(len(handles), 0, -1):
    legend = figure.legend(
      handles=list(handles), loc="upper center", bbox_to_anchor=(0.5, 1), ncol=columns, frameon=False,
      borderaxespad=0.1, columnspacing=1.2, handlelength=2.2, handletextpad=0.5, labelspacing=0.35,
    )  # fmt: skip
    legend.set_in_layout(False)
    if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
      break
    legend.remove()
  return legend


def pages(sheet: Sheet, width: float) -> list[Figure]:
  """Draws the panels on as many pages as they need."""
  caption = wrapped(sheet.caption, width - 2 * MARGIN)
  scratch = new_figure(width, MAX_HEIGHT)
  head = MARGIN
  if sheet.legend:
    head += float(add_legend(scratch, sheet.legend).get_window_extent().height) / scratch.dpi / MM + 1.5
  label = scratch.text(0, 0, caption, fontsize=SMALL, linespacing=1.25)
  foot = float(label.get_window_extent().height) / scratch.dpi / MM + 2 * MARGIN + 1.0 if caption else MARGIN
  rows = [max(sheet.heights[i : i + sheet.columns]) for i in range(0, len(sheet.heights), sheet.columns)]
  outer = [row + sheet.around for row in rows]
  room = MAX_HEIGHT - head - foot - sheet.below
  count = math.ceil(sum(outer) / room)
  even = sum(outer) / count + max(outer) / 2
  split: list[list[float]] = [[]]
  for row in rows:
    if split[-1] and sum(split[-1]) + row + (len(split[-1]) + 1) * sheet.around > min(room, even):
      split.append([])
    split[-1].append(row)
  figures = []
  first = 0
  for heights in split:
    height = head + sum(heights) + len(heights) * sheet.around + sheet.below + foot
    figure = new_figure(width, height)
    figure.set_layout_engine(
      ConstrainedLayoutEngine(
        rect=(MARGIN / width, foot / height, 1 - 2 * MARGIN / width, 1 - (head + foot) / height),
        h_pad=0.03, w_pad=0.03, hspace=0.02, wspace=0.02,
      )
    )  # fmt: skip
    grid = figure.add_gridspec(len(heights), sheet.columns, height_ratios=heights)
    panels = range(first, min(first + len(heights) * sheet.columns, len(sheet.heights)))
    for i in panels:
      row, column = divmod(i - first, sheet.columns)
      is_last = i + sheet.columns not in panels
      sheet.draw(Place(figure, grid[row, column], column == 0, is_last), i)
    if sheet.legend:
      add_legend(figure, sheet.legend)
    if caption:
      text = figure.text(MARGIN / width, MARGIN / height, caption, fontsize=SMALL, va="bottom", linespacing=1.25)
      text.set_in_layout(False)
    figures.append(figure)
    first = panels.stop
  return figures


def add_axes(place: Place, title: str, x_label: str, y_label: str) -> Axes:
  """A panel of one pair of axes."""
  axes = place.figure.add_subplot(place.spec)
  axes.set_title(title, fontsize=TITLE, loc="left")
  if place.last_row:
    axes.set_xlabel(x_label)
  if place.first_column:
    axes.set_ylabel(y_label)
  return axes


def save(figures: Sequence[Figure], folder: pathlib.Path, stem: str, formats: Sequence[str]) -> list[pathlib.Path]:
  """Writes the pages, NAME.FORMAT or NAME-1.FORMAT and so on, and removes pages of an earlier drawing."""
  files = []
  for kind in formats:
    written = []
    for number, figure in enumerate(figures, 1):
      file = folder / (f"{stem}.{kind}" if len(figures) == 1 else f"{stem}-{number}.{kind}")
      unfinished = file.with_name(f".{file.name}.{os.getpid()}.tmp")
      figure.savefig(unfinished, format=kind, metadata=METADATA[kind])
      os.replace(unfinished, file)
      written.append(file)
    numbered = (folder / f"{stem}-{number}.{kind}" for number in range(1, 100))
    for old in (folder / f"{stem}.{kind}", *numbered):
      if old not in written:
        old.unlink(missing_ok=True)
    files += written
  return files
