"""Colours, line styles, markers and sizes of text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib import colors
from matplotlib.lines import Line2D

from che_plots.data import Row, grouped

# Each has a contrast of 3 to 1 with white at least. They differ in any kind of colour vision, and the first three by
# their lightness, too.
CYCLE = ("#1E4BA5", "#D9681D", "#1A1A1A", "#9600FF", "#E8207C", "#781E00", "#5C82F5", "#008A74", "#781E69")
# These keep their colour in every figure of every experiment; other families have those that are left, in their order.
FAMILIES = ("kerple", "alibi", "fire", "rope", "sin_cos", "relative", "learned", "cope", "none")
GREY = "#A8A8A8"  # Lines that stand in the background.
SHADE = "#E9E9E9"
BASELINE = "#6E6E6E"
TITLE, TEXT, SMALL = 8.5, 8.0, 7.2  # Sizes of text in points.

RC: Any = {
  "font.family": "DejaVu Sans",
  "font.size": TEXT,
  "axes.titlesize": TITLE,
  "axes.labelsize": TEXT,
  "xtick.labelsize": SMALL,
  "ytick.labelsize": SMALL,
  "legend.fontsize": SMALL,
  "axes.linewidth": 0.6,
  "axes.spines.top": False,
  "axes.spines.right": False,
  "axes.titlepad": 3,
  "axes.labelpad": 2,
  "xtick.major.width": 0.6,
  "ytick.major.width": 0.6,
  "xtick.major.size": 2.5,
  "ytick.major.size": 2.5,
  "xtick.minor.size": 0,
  "ytick.minor.size": 0,
  "lines.linewidth": 1.2,
  "lines.markersize": 3.5,
  "hatch.linewidth": 0.5,
  "text.hinting": "none",
  "pdf.fonttype": 42,
  "svg.fonttype": "path",
  "svg.hashsalt": "che",
  "path.simplify": False,
  "savefig.dpi": 200,
}


def contrast(first: str, second: str = "white") -> float:
  """The contrast of two colours, 1 to 21, as WCAG defines it."""

  def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colors.to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

  dark, light = sorted((luminance(first), luminance(second)))
  return (light + 0.05) / (dark + 0.05)


def sequential(place: int, places: int) -> str:
  """A colour of a map for numbers, from dark to light, all of them dark enough for lines."""
  share = place / max(places - 1, 1)
  return str(colors.to_hex(matplotlib.colormaps["plasma"](0.64 * share)))


@dataclass(frozen=True)
class Style:
  """What an encoding looks like: colour by family or setting, line by positions, marker by DAPE."""

  label: str
  colour: str
  randomized: bool
  dape: bool

  @property
  def marker(self) -> str:
    return "o" if self.dape else "s"

  def line(self, **more: Any) -> dict[str, Any]:
    """Arguments for a line of a plot; open markers are encodings without DAPE."""
    return {
      "color": self.colour,
      "linestyle": "-" if self.randomized else (0, (3.5, 1.2)),
      "marker": self.marker,
      "markerfacecolor": self.colour if self.dape else "white",
      "markeredgewidth": 0.8,
      **more,
    }

  def handle(self) -> Line2D:
    return Line2D([], [], label=self.label, **self.line())


def natural(text: str) -> list[tuple[int, float, str]]:
  """A key that sorts numbers within texts by their values."""
  parts = re.split(r"(\d+(?:\.\d+)?(?:e-?\d+)?)", text)
  return [(1, float(part), "") if i % 2 else (0, 0.0, part) for i, part in enumerate(parts)]


def styles_of(rows: Iterable[Row]) -> dict[str, Style]:
  """The style of each column, by the name that tables print."""
  columns = {row.text("encoding"): row for row in rows}
  families = grouped(columns.values(), lambda row: row.text("family"))
  fixed = {family: CYCLE[FAMILIES.index(family)] for family in families if family in FAMILIES}
  free = [colour for colour in CYCLE if colour not in fixed.values()] or list(CYCLE)
  others = [family for family in families if family not in fixed]
  fixed |= {family: free[i % len(free)] for i, family in enumerate(others)}
  free = free[len(others) :] or free
  used = 0
  styles: dict[str, Style] = {}
  for family, members in families.items():
    settings = list(dict.fromkeys(row.text("label").partition(" ")[2] for row in members))
    numbered = sorted((s for s in settings if s), key=natural)
    colour_of = dict.fromkeys(settings, fixed[family])
    if len(numbered) > 2 and all(row.maybe("value") is not None for row in members if " " in row.text("label")):
      colour_of = {setting: sequential(i, len(numbered)) for i, setting in enumerate(numbered)} | {"": "#222222"}
      members.sort(key=lambda row: natural(row.text("label")))
    else:
      for setting in settings[1:]:
        colour_of[setting] = free[used % len(free)]
        used += 1
    for row in members:
      label = row.text("label")
      styles[row.text("encoding")] = Style(
        label, colour_of[label.partition(" ")[2]], row.text("positions") != "contiguous", row.is_yes("dape")
      )
  return styles
