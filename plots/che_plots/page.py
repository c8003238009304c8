"""Pages: panels in a grid with a legend above and a caption below, all measured before they are placed."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from che_plots.style import SMALL

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
  has_x_label: bool  # In the last row of a page.
  has_y_label: bool

  def axes(self, title: str, x_label: str, y_label: str) -> Axes:
    """A panel of one pair of axes."""
    axes = self.figure.add_subplot(self.spec, title=title)
    axes.set(xlabel=x_label if self.has_x_label else "", ylabel=y_label if self.has_y_label else "")
    return axes


@dataclass(frozen=True)
class Sheet:
  """All panels of a figure, each a function that draws it."""

  panels: Sequence[Callable[[Place], None]]
  heights: Sequence[float]  # The panels' axes in mm; a row of panels has the height of its highest.
  legend: Sequence[Artist]
  caption: str
  columns: int = 1
  around: float = 8.5  # Room in mm for the titles and ticks of a row of panels.
  below: float = 4.0  # Room in mm for the labels of the axes in the last row of a page.


def panel_sheet(
  draw: Callable[..., None], groups: dict[Any, Any], width: float, height: float, legend: Sequence[Artist], caption: str
) -> Sheet:
  """Panels of one height, side by side where the width allows; `draw` is told a key, its rows and the place."""
  panels = [partial(draw, *group) for group in groups.items()]
  columns = 1 if width < 110 else 2 if width < 190 else 3
  if len(panels) == 3 and width >= 130 and sum(len(str(title)) for title in groups) <= width / 3:
    columns = 3  # Two rows would leave a hole. A letter of their titles takes up to 3 mm.
  return Sheet(panels, [height] * len(panels), legend, caption, min(columns, len(panels)))


def new_figure(width: float, height: float) -> Figure:
  figure = Figure(figsize=(width * MM, height * MM))
  FigureCanvasAgg(figure)
  return figure


def add_caption(figure: Figure, text: str) -> float:
  """Text at the bottom in lines that fit; returns its height in mm."""
  left, bottom = MARGIN / (figure.get_figwidth() / MM), MARGIN / (figure.get_figheight() / MM)
  label = figure.text(left, bottom, "", fontsize=SMALL, va="bottom", linespacing=1.25, in_layout=False)
  lines: list[str] = []
  for word in text.replace(" %", "\N{NO-BREAK SPACE}%").split(" "):
    label.set_text(" ".join([*lines[-1:], word]))
    if lines and label.get_window_extent().width <= (1 - 2 * left) * 0.99 * figure.bbox.width:
      lines.pop()
      word = label.get_text()
    lines.append(word)
  label.set_text("\n".join(lines))
  return float(label.get_window_extent().height) / figure.dpi / MM


def add_legend(figure: Figure, handles: Sequence[Artist]) -> float:
  """A legend at the top in as few rows as fit; returns its height in mm."""
  # Before version 3.8 matplotlib leaves out labels that begin with an underscore, so that they come later.
  none = ["-"] * len(handles)
  for columns in range(len(handles), 0, -1):
    legend = figure.legend(list(handles), none, loc="upper center", bbox_to_anchor=(0.5, 1), ncol=columns)
    for text, entry in zip(legend.get_texts(), handles):
      text.set_text(str(entry.get_label()))
    legend.set_in_layout(False)
    box = legend.get_window_extent()
    if columns == 1 or box.width <= figure.bbox.width:
      return float(box.height) / figure.dpi / MM + 1.5
    legend.remove()
  return 0.0


def pages(sheet: Sheet, width: float) -> list[Figure]:
  """Draws the panels on as many pages as they need; each has the legend and the caption."""
  rows = [max(sheet.heights[i : i + sheet.columns]) + sheet.around for i in range(0, len(sheet.heights), sheet.columns)]
  scratch = new_figure(width, MAX_HEIGHT)
  head = MARGIN + add_legend(scratch, sheet.legend)
  foot = add_caption(scratch, sheet.caption) + 2 * MARGIN + 1.0
  if head + sum(rows) + sheet.below + foot > MAX_HEIGHT:
    foot = add_caption(scratch, f"{sheet.caption} Page 10 of 10.") + 2 * MARGIN + 1.0
  room = MAX_HEIGHT - head - foot - sheet.below
  even = sum(rows) / math.ceil(sum(rows) / room) + max(rows) / 2  # Pages of about the same height.
  split: list[list[float]] = [[]]
  for row in rows:
    if split[-1] and sum(split[-1]) + row > min(room, even):
      split.append([])
    split[-1].append(row)
  figures: list[Figure] = []
  panels = list(sheet.panels)
  for heights in split:
    height = head + sum(heights) + sheet.below + foot
    figure = new_figure(width, height)
    area = (MARGIN / width, foot / height, 1 - 2 * MARGIN / width, 1 - (head + foot) / height)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=area, h_pad=0.03, w_pad=0.03, hspace=0.02, wspace=0.02))
    grid = figure.add_gridspec(len(heights), sheet.columns, height_ratios=[row - sheet.around for row in heights])
    here = panels[: len(heights) * sheet.columns]
    del panels[: len(here)]
    for i, draw in enumerate(here):
      row_of_panel, column = divmod(i, sheet.columns)
      # A whole row has the label where one of its panels is the last of a column, so that its axes are equally high.
      has_x_label = i - column + 2 * sheet.columns > len(here)
      draw(Place(figure, grid[row_of_panel, column], has_x_label, column == 0))
    # The solver's last digits vary from run to run, and names within SVG files are hashes of all digits.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
      axes.set_position(Bbox(axes.get_position(original=True).get_points().round(5)))
    add_legend(figure, sheet.legend)
    figures.append(figure)
    add_caption(figure, sheet.caption + (f" Page {len(figures)} of {len(split)}." if len(split) > 1 else ""))
  return figures


@contextlib.contextmanager
def replacement_of(file: pathlib.Path) -> Iterator[BinaryIO]:
  """A stream whose content takes the place of `file` once it is whole; what a killed process left is written over."""
  temporary = file.with_name(f".{file.name}.tmp")
  while True:
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with open(descriptor, "r+b") as stream:
      # A second process that draws the same figure waits here. Once the first is done, the file has another name.
      with contextlib.suppress(OSError):  # A file system may have no locks.
        fcntl.lockf(stream, fcntl.LOCK_EX)
      try:
        if not os.path.samestat(temporary.lstat(), os.fstat(descriptor)):
          continue
      except FileNotFoundError:
        continue
      try:
        stream.truncate()
        yield stream
        stream.flush()
        os.replace(temporary, file)
      except BaseException:
        temporary.unlink(missing_ok=True)
        raise
      return


def save(figures: Sequence[Figure], folder: pathlib.Path, stem: str, formats: Sequence[str]) -> list[pathlib.Path]:
  """Writes the pages, NAME.FORMAT or NAME-1.FORMAT and so on. Prints which others of these names exist."""
  files = []
  for kind in formats:
    names = {folder / f"{stem}{page}.{kind}" for page in ("", *(f"-{number}" for number in range(1, 100)))}
    for number, figure in enumerate(figures, 1):
      file = folder / (f"{stem}.{kind}" if len(figures) == 1 else f"{stem}-{number}.{kind}")
      with replacement_of(file) as stream:
        figure.savefig(stream, format=kind, metadata=METADATA[kind])
      files.append(file)
    for file in sorted(names - {*files}):
      if file.exists():
        print(f"{file}: no page of this drawing; remove it if it is one of an earlier drawing", file=sys.stderr)
  return files
