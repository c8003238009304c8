"""Figures of the bias that an encoding adds to the logits of attention, from the CSV file that `che bias` writes."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from che_plots.page import Place, Sheet
from che_plots.style import SHADE, SMALL, handle

LINES: dict[str, dict[str, Any]] = {
  "logit": {"label": "logit A", "color": "#8A8A8A", "linewidth": 0.9},
  "bias": {"label": "bias B", "color": "#C65200", "linewidth": 2.0},
  "adapted": {"label": "adapted bias", "color": "#0072B2", "linewidth": 1.2, "linestyle": (0, (4, 1.5))},
  "f": {"label": "f", "color": "#1A1A1A", "linewidth": 1.0, "linestyle": (0, (1.5, 1))},
}
QUERY: Any = {"color": "#444444", "linewidth": 0.7, "linestyle": ":"}
MOST_POINTS = 320  # A line has no more; a longer one shows means over neighbouring keys.


class Bias:
  """The values by name, each an array of layers, heads, queries and keys; NaN where a query sees no such key.

  The queries are all tokens or, of a long window, one.
  """

  def __init__(self, file: pathlib.Path, title: str) -> None:
    with open(file, encoding="utf-8") as lines:
      names = lines.readline().strip().split(",")
      table = numpy.loadtxt(lines, delimiter=",", ndmin=2)
    self.layers, self.heads, self.tokens = (int(table[:, i].max()) + 1 for i in (0, 1, 3))
    self.queries, rows = numpy.unique(table[:, 2].astype(int), return_inverse=True)
    shape = (self.layers, self.heads, len(self.queries), self.tokens)
    pairs = tuple(table[:, :4].astype(int).T)
    pairs = (*pairs[:2], rows.ravel(), pairs[3])
    self.values = {name: numpy.full(shape, numpy.nan) for name in names[4:]}
    for i, name in enumerate(names[4:], start=4):
      self.values[name][pairs] = table[:, i]
    is_output = table[:, names.index("output")] > 0
    self.output_from = self.tokens - len(numpy.unique(table[is_output, names.index("key")]))
    self.has_output = self.output_from < self.tokens  # A text has none.
    self.title = title

  def sheet(
    self, width: float, y_label: str, draw: Callable[[Place, Axes, int, int], None], legend: list[Artist], caption: str
  ) -> Sheet:
    """Rows of panels for each layer, a panel a head."""
    columns = max(n for n in range(1, self.heads + 1) if n == 1 or (self.heads % n == 0 and n <= width / 34))

    def draw_head(layer: int, head: int, place: Place) -> None:
      axes = place.axes(f"layer {layer}, head {head}", "key", y_label)
      axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
      draw(place, axes, layer, head)

    panels = [partial(draw_head, layer, head) for layer in range(self.layers) for head in range(self.heads)]
    drawn = int(numpy.nanmax(numpy.abs(self.values["distance"])))
    if drawn >= self.tokens:
      caption += f" Positions are drawn at random, and the largest distance of two tokens is {drawn}."
    return Sheet(panels, [24.0] * len(panels), legend, f"{self.title}. {caption}", columns, below=5.0)


def one_query(bias: Bias, query: int, width: float, trained: int = 0) -> Sheet:
  """The logits of one query over the keys that it sees; of a text, with the training length."""
  names = [name for name in LINES if name in bias.values]
  row = int(numpy.searchsorted(bias.queries, query))
  keys = numpy.flatnonzero(~numpy.isnan(bias.values["logit"][0, :, row]).all(axis=0))
  group = -(-len(keys) // MOST_POINTS)
  starts = numpy.arange(0, len(keys), group)
  sizes = numpy.diff([*starts, len(keys)])
  shaded, shade_label = (bias.output_from, bias.tokens), "output"
  if not bias.has_output:
    shaded, shade_label = (query - trained + 1, query + 1), "distances in training"

  def draw(place: Place, axes: Axes, layer: int, head: int) -> None:
    axes.axvspan(shaded[0] - 0.5, shaded[1] - 0.5, color=SHADE, linewidth=0, zorder=0)
    axes.axvline(query, **QUERY)
    for name in names:
      values = bias.values[name][layer, head, row, keys]
      axes.plot(keys[starts] + (sizes - 1) / 2, numpy.add.reduceat(values, starts) / sizes, **LINES[name])
    axes.set_xlim(-0.5, bias.tokens - 0.5)

  handles: list[Artist] = [*(handle(**LINES[name]) for name in names), handle("the query", **QUERY)]
  if shaded[0] < shaded[1]:
    handles.append(Patch(color=SHADE, linewidth=0, label=shade_label))
  keys_seen = "all keys" if len(keys) == bias.tokens else "the keys that it sees"
  if len(keys) == query + 1 < bias.tokens:
    keys_seen = "the keys up to it"
  caption = f"What is added to the logits? Lines show one query, token {query}, over {keys_seen}. "
  caption += "The softmax sees the logit A plus the adapted bias"
  caption += ", of which f is DAPE's part." if "f" in names else "."
  if group > 1:
    caption += f" A point is the mean over {group} keys."
  return bias.sheet(width, "logit", draw, handles, f"{caption} Panels differ in scale.")


def all_queries(bias: Bias, width: float) -> Sheet:
  """DAPE's f, or the bias of an encoding without DAPE, for every query and key; each layer has one scale."""
  name = "f" if "f" in bias.values else "adapted"
  on_page: dict[tuple[object, int], list[Axes]] = {}  # The panels of a layer on a page.

  def draw(place: Place, axes: Axes, layer: int, head: int) -> None:
    most = float(numpy.nanmax(numpy.abs(bias.values[name][layer]))) or 1.0
    # Lightness rises with the value, so that signs differ in grey, too.
    image = axes.imshow(bias.values[name][layer, head], cmap="cividis", vmin=-most, vmax=most)
    for line in (axes.axvline, axes.axhline) if bias.has_output else ():
      line(bias.output_from - 0.5, color="#555555", linewidth=0.6)
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    panels = on_page.setdefault((place.figure, layer), [])
    panels.append(axes)
    if head == bias.heads - 1 or (place.has_x_label and place.spec.is_last_col()):
      aspect = 14 * len(panels) / place.spec.get_gridspec().ncols
      bar = place.figure.colorbar(image, ax=panels, aspect=aspect, shrink=0.9)
      bar.set_label("f (logits)" if name == "f" else "bias (logits)", fontsize=SMALL)

  what = "the bias"
  if name == "f":
    what = "f, which DAPE adds to the " + ("bias" if numpy.nan_to_num(bias.values["bias"]).any() else "logits")
  caption = f"What is added to the logits? Colours show {what}, for every query and key. Each layer has one scale, and "
  caption += "its middle is zero." + (" The output begins at the grey lines." if bias.has_output else "")
  return bias.sheet(width, "query", draw, [], caption)
