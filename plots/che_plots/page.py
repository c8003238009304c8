"""Pages: panels in a grid with a legend above and a caption below, all measured before they are placed."""

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
  """Where a panel stands in a figure, and which labels of axes it has."""

  figure: Figure
  spec: SubplotSpec
  has_x_label: bool
  has_y_label: bool


@dataclass(frozen=True)
class Sheet:
  """All panels of a figure; `draw` draws the panel of an index."""

  draw: Callable[[Place, int], None]
  heights: Sequence[float]  # The panels' axes in mm; a row of panels has the height of its highest.
  legend: Sequence[Artist]
  caption: str
  columns: int = 1
  around: float = 8.5  # Room in mm for the titles and ticks of a row of panels.
  below: float = 4.0  # Room in mm for the labels of the axes in the last row of a page.


def columns_for(width: float, panels: int) -> int:
  """How many panels stand side by side at a width in mm."""
  if panels == 3 and width >= 130:
    return 3  # Two rows would leave a hole.
  return min(panels, 1 if width < 110 else 2 if width < 190 else 3)


def new_figure(width: float, height: float) -> Figure:
  figure = Figure(figsize=(width * MM, height * MM))
  FigureCanvasAgg(figure)
  return figure


def wrapped(text: str, width: float) -> str:
  """The text in lines of at most `width` mm."""
  figure = new_figure(width, 10)
  label = figure.text(0, 0, "", fontsize=SMALL)
  lines: list[str] = []
  for word in text.split():
    label.set_text(f"{lines[-1]} {word}" if lines else word)
    if lines and label.get_window_extent().width <= 0.99 * figure.bbox.width:
      lines[-1] += f" {word}"
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
  foot = float(label.get_window_extent().height) / scratch.dpi / MM + 2 * MARGIN + 1.0
  rows = [max(sheet.heights[i : i + sheet.columns]) + sheet.around for i in range(0, len(sheet.heights), sheet.columns)]
  room = MAX_HEIGHT - head - foot - sheet.below
  even = sum(rows) / math.ceil(sum(rows) / room) + max(rows) / 2  # Pages of about the same height.
  split: list[list[float]] = [[]]
  for row in rows:
    if split[-1] and sum(split[-1]) + row > min(room, even):
      split.append([])
    split[-1].append(row)
  figures = []
  first = 0
  for heights in split:
    height = head + sum(heights) + sheet.below + foot
    figure = new_figure(width, height)
    area = (MARGIN / width, foot / height, 1 - 2 * MARGIN / width, 1 - (head + foot) / height)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=area, h_pad=0.03, w_pad=0.03, hspace=0.02, wspace=0.02))
    ratios = [row - sheet.around for row in heights]
    grid = figure.add_gridspec(len(heights), sheet.columns, height_ratios=ratios)
    end = min(first + len(heights) * sheet.columns, len(sheet.heights))
    for i in range(first, end):
      row_of_panel, column = divmod(i - first, sheet.columns)
      # A whole row has the label where one of its panels is the last of a column, so that its axes are equally high.
      has_x_label = i - column + 2 * sheet.columns > end
      sheet.draw(Place(figure, grid[row_of_panel, column], has_x_label, column == 0), i)
    if sheet.legend:
      add_legend(figure, sheet.legend)
    text = figure.text(MARGIN / width, MARGIN / height, caption, fontsize=SMALL, va="bottom", linespacing=1.25)
    text.set_in_layout(False)
    figures.append(figure)
    first = end
  return figures


def add_axes(place: Place, title: str, x_label: str, y_label: str) -> Axes:
  """A panel of one pair of axes."""
  axes = place.figure.add_subplot(place.spec)
  axes.set_title(title, fontsize=TITLE, loc="left")
  if place.has_x_label:
    axes.set_xlabel(x_label)
  if place.has_y_label:
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
    for old in (folder / f"{stem}{page}.{kind}" for page in ("", *(f"-{number}" for number in range(1, 100)))):
      if old not in written:
        old.unlink(missing_ok=True)
    files += written
  return files
