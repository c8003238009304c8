"""Colours, line styles, markers and sizes of text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib import colors
from matplotlib.lines import Line2D

from che_plots.data import Row, grouped

# A look is a colour with a shape, so that looks can be told apart without colours, and more than nine exist. Each
# colour has a contrast of at least 3 to 1 with white, and they differ in every kind of colour vision.
COLOURS = ("#1E4BA5", "#D9681D", "#1A1A1A", "#9600FF", "#E8207C", "#781E00", "#5C82F5", "#008A74", "#781E69")
SHAPES = ("o", "s", "^", "D", "v", "X", "P", "<", ">")
# These keep their look in every figure; other families have looks that are left, in their order.
FAMILIES = ("kerple", "alibi", "fire", "rope", "sin_cos", "relative", "learned", "cope", "none")
SHADE = "#E9E9E9"
BEHIND: Any = {"color": "#A8A8A8", "linewidth": 0.8}
CHANCE: Any = {"color": "#6E6E6E", "linewidth": 0.9, "linestyle": ":"}
TRIVIAL: Any = {"color": "#6E6E6E", "linewidth": 0.9, "linestyle": "-."}
TEXT, SMALL = 8.0, 7.2  # Sizes of text in points.

RC: Any = {
  "font.family": "DejaVu Sans", "font.size": TEXT, "axes.titlesize": 8.5, "axes.labelsize": TEXT,
  "xtick.labelsize": SMALL, "ytick.labelsize": SMALL, "legend.fontsize": SMALL, "text.hinting": "none",
  "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
  "axes.titlelocation": "left", "axes.titlepad": 3, "axes.labelpad": 2,
  "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
  "grid.color": "#E4E4E4", "grid.linewidth": 0.5, "hatch.linewidth": 0.6,
  "lines.linewidth": 1.2, "lines.markersize": 3.5,
  "legend.frameon": False, "legend.borderaxespad": 0.1, "legend.columnspacing": 1.2, "legend.handlelength": 2.2,
  "legend.handletextpad": 0.5, "legend.labelspacing": 0.35,
  "pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "che", "path.simplify": False, "savefig.dpi": 200,
}  # fmt: skip


def contrast(first: str, second: str = "white") -> float:
  """The contrast of two colours, 1 to 21, as WCAG defines it."""

  def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colors.to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

  dark, light = sorted((luminance(first), luminance(second)))
  return (light + 0.05) / (dark + 0.05)


def sequential(place: int, places: int) -> str:
  """A colour for a number, from dark to light; all are dark enough for lines."""
  return str(colors.to_hex(matplotlib.colormaps["viridis"](0.57 * place / max(places - 1, 1))))


@dataclass(frozen=True)
class Style:
  """How an encoding is drawn: colour and shape by family or setting, solid as `is_solid` says, filled with DAPE."""

  label: str
  colour: str
  shape: str
  randomized: bool
  dape: bool

  def line(self, **more: Any) -> dict[str, Any]:
    """Arguments for a line of a plot."""
    line = {"color": self.colour, "linestyle": "-" if self.randomized else (0, (3.5, 1.2)), "marker": self.shape}
    return {**line, "markerfacecolor": self.colour if self.dape else "white", "markeredgewidth": 0.8, **more}


def handle(label: str, **look: Any) -> Line2D:
  """An entry of a legend; it is dark grey unless `look` has a colour."""
  return Line2D([], [], label=label, **{"color": "#333333", **look})


def look(place: int) -> tuple[str, str]:
  """A colour and a shape; 81 places have different ones."""
  return COLOURS[place % len(COLOURS)], SHAPES[(place + place // len(COLOURS)) % len(SHAPES)]


def is_solid(row: Row) -> bool:
  """Whether a column is tested at random positions, or has none."""
  return row.text("positions") not in ("contiguous", "equal_mean")


def styles_of(rows: Iterable[Row]) -> dict[str, Style]:
  """The style of each column, by the name that tables print; settings with numbers stand in their order."""

  def setting(row: Row) -> str:
    return row.text("label").partition(" ")[2]

  def kind(row: Row) -> tuple[bool, bool]:
    return is_solid(row), row.is_yes("dape")

  def take(place: int, members: list[Row]) -> int:
    """Takes a look for the members with the first one's setting."""
    taken.update((look(place)[1], kind(row)) for row in members if setting(row) == setting(members[0]))
    return place

  def next_free(members: list[Row]) -> int:
    """The next look of its own that differs from those taken without its colour, if there is one.

    Looks repeat where more than 81 are taken.
    """
    if not free:
      free.extend(range(len(COLOURS) ** 2))
    differing = (i for i in free if not any((look(i)[1], kind(row)) in taken for row in members))
    place = next(differing, free[0])
    free.remove(place)
    return take(place, members)

  columns = {row.text("encoding"): row for row in rows}
  families = grouped(columns.values(), lambda row: row.text("family"))
  free = [i for i in range(len(COLOURS) ** 2) if i >= len(FAMILIES) or FAMILIES[i] not in families]
  taken: set[tuple[str, tuple[bool, bool]]] = set()
  styles: dict[str, Style] = {}
  places = {family: take(FAMILIES.index(family), families[family]) for family in FAMILIES if family in families}
  places |= {family: next_free(members) for family, members in families.items() if family not in places}
  for family, members in families.items():
    named = {setting(row): row for row in members if setting(row)}
    if len(named) > 2 and all(row.text("value") for row in named.values()):
      members.sort(key=lambda row: (row.text("label").split()[0], float(row.text("value") or 0)))
      values = sorted(named, key=lambda name: named[name].number("value"))
      looks = {name: (sequential(i, len(values)), look(i)[1]) for i, name in enumerate(values)}
      looks[""] = look(places[family])
    else:
      settings = grouped(members, setting)
      looks = {name: look(next_free(of) if i else places[family]) for i, (name, of) in enumerate(settings.items())}
    for row in members:
      styles[row.text("encoding")] = Style(row.text("label"), *looks[setting(row)], is_solid(row), row.is_yes("dape"))
  return styles
