"""Figures of the bias that an encoding adds to the logits of attention, from the CSV file that `che bias` writes."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy
import numpy.typing
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from che_plots.page import Place, Sheet, add_axes
from che_plots.style import SHADE, SMALL, handle

Values = numpy.typing.NDArray[numpy.float64]
LINES: dict[str, dict[str, Any]] = {
  "logit": {"label": "logit A", "color": "#8A8A8A", "linewidth": 0.9},
  "bias": {"label": "bias B", "color": "#C65200", "linewidth": 2.0},
  "adapted": {"label": "adapted bias", "color": "#0072B2", "linewidth": 1.2, "linestyle": (0, (4, 1.5))},
  "f": {"label": "f", "color": "#00795C", "linewidth": 1.0, "linestyle": (0, (1.5, 1))},
}
QUERY: Any = {"color": "#444444", "linewidth": 0.7, "linestyle": ":"}
MOST_CELLS = 200  # A map of more tokens a side shows the means of square blocks, as a screen would.


class Bias:
  """The values by name, each an array of layers, heads, queries and keys."""

  def __init__(self, file: pathlib.Path, output_from: int, title: str) -> None:
    with open(file, encoding="utf-8") as lines:
      names = lines.readline().strip().split(",")
      table = numpy.loadtxt(lines, delimiter=",", ndmin=2)
    self.layers, self.heads, self.tokens = (int(table[:, i].max()) + 1 for i in (0, 1, 2))
    shape = (self.layers, self.heads, self.tokens, self.tokens)
    self.values: dict[str, Values] = {name: table[:, i].reshape(shape) for i, name in enumerate(names) if i > 3}
    self.output_from = output_from
    self.title = title


def panels(
  bias: Bias, width: float, y_label: str, draw: Callable[[Axes, int, int], None], legend: list[Artist], caption: str
) -> Sheet:
  """A row of panels for each layer, a panel a head; many heads go on in further rows."""
  columns = min(bias.heads, max(1, int(width / 34)))
  per_layer = -(-bias.heads // columns) * columns

  def draw_head(place: Place, index: int) -> None:
    layer, head = divmod(index, per_layer)
    if head < bias.heads:
      axes = add_axes(place, f"layer {layer}, head {head}", "key", y_label)
      axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
      draw(axes, layer, head)

  text = f"{bias.title}: {caption}"
  return Sheet(draw_head, [24.0] * (bias.layers * per_layer), legend, text, columns, below=5.0)


def one_query(bias: Bias, query: int, width: float) -> Sheet:
  """The logits of one query over all keys."""
  names = [name for name in LINES if name in bias.values]

  def draw(axes: Axes, layer: int, head: int) -> None:
    axes.axvspan(bias.output_from - 0.5, bias.tokens - 0.5, color=SHADE, linewidth=0, zorder=0)
    axes.axvline(query, **QUERY)
    for name in names:
      axes.plot(range(bias.tokens), bias.values[name][layer, head, query], **LINES[name])
    axes.set_xlim(-0.5, bias.tokens - 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(4))

  handles: list[Artist] = [*(Line2D([], [], **LINES[name]) for name in names), handle("the query", **QUERY)]
  handles.append(Patch(color=SHADE, linewidth=0, label="output"))
  caption = f"query {query} over all keys. The adapted bias is the logits that the softmax sees minus A"
  caption += ", and f is DAPE's part of it; panels differ in scale." if "f" in names else "; panels differ in scale."
  return panels(bias, width, "logit", draw, handles, caption)


def blocks(values: Values, side: int) -> Values:
  """The means over squares of this side; those at the end are smaller."""
  starts = numpy.arange(0, values.shape[0], side)
  sums = numpy.add.reduceat(numpy.add.reduceat(values, starts, axis=0), starts, axis=1)
  sizes = numpy.diff(numpy.append(starts, values.shape[0]))
  return numpy.asarray(sums / numpy.outer(sizes, sizes))


def all_queries(bias: Bias, width: float) -> Sheet:
  """DAPE's f, or the bias of an encoding without DAPE, for every query and key; each layer has one scale."""
  name = "f" if "f" in bias.values else "adapted"
  side = -(-bias.tokens // MOST_CELLS)
  maps = [[blocks(bias.values[name][i, j], side) for j in range(bias.heads)] for i in range(bias.layers)]
  most = [max(float(numpy.abs(values).max()) for values in layer) or 1.0 for layer in maps]
  label = "f (logits)" if name == "f" else "bias (logits)"

  def draw(axes: Axes, layer: int, head: int) -> None:
    norm = Normalize(-most[layer], most[layer])
    extent = (-0.5, bias.tokens - 0.5, bias.tokens - 0.5, -0.5)
    axes.imshow(maps[layer][head], cmap="RdBu_r", norm=norm, extent=extent, aspect="equal", interpolation="nearest")
    for line in (axes.axvline, axes.axhline):
      line(bias.output_from - 0.5, color="#555555", linewidth=0.6)
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    spec = axes.get_subplotspec()
    if spec is not None and (spec.is_last_col() or head == bias.heads - 1):
      bar = axes.figure.colorbar(ScalarMappable(norm, "RdBu_r"), ax=axes, aspect=14, shrink=0.9)
      bar.set_label(label, fontsize=SMALL)

  what = "f, which DAPE adds to the bias" if name == "f" else "the bias that is added to the logits"
  if name == "f" and "bias" in bias.values and not bias.values["bias"].any():
    what = "f, which DAPE adds to the logits"
  caption = f"{what}, one scale a layer. White is zero; the output begins at the grey lines."
  if side > 1:
    caption += f" A point is the mean over {side} x {side} pairs."
  return panels(bias, width, "query", draw, [], caption)
