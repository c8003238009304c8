"""Figures of scores: differences, the map of all cells, single runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex
from matplotlib.patches import Patch, Polygon, Rectangle

from che_plots.data import AGGREGATES, Row, by_column, by_task, caption_of, from_to, kind_of, known, of_runs, passing
from che_plots.page import Place, Sheet, panel_sheet
from che_plots.style import SMALL, TEXT, TRIVIAL, contrast, handle, styles_of

SCALE = LinearSegmentedColormap.from_list("scores", matplotlib.colormaps["YlGnBu"]([0.0, 0.2, 0.4, 0.6, 0.8, 0.95]))
UNTRAINED = "#D6D6D6"
HATCHED: Any = {"facecolor": UNTRAINED, "edgecolor": "white", "hatch": "//////", "linewidth": 0}
UNFINISHED = "#D9281E"
MINUS = " \N{MINUS SIGN}"


def dot(size: float, filled: bool = True, colour: str = "#333333", marker: str = "o") -> dict[str, Any]:
  face = colour if filled else "white"
  return {"color": colour, "marker": marker, "markersize": size, "markerfacecolor": face, "linewidth": 0}


def name_rows(axes: Axes, names: Sequence[str]) -> None:
  """Rows of dots from top to bottom; their names take the place of the ticks."""
  axes.set_yticks(range(len(names)), names)
  axes.set_ylim(len(names) - 0.4, -0.6)
  axes.tick_params(axis="y", length=0)


def p_text(row: Row) -> str:
  """Without an interval, which needs six independent repetitions, p could not be small either."""
  if not (row.text("p_holm") and row.text("low")):
    return ""
  p = row.number("p_holm")
  return "p < .001" if p < 0.001 else "p = 1" if p > 0.9995 else f"p = {p:.3f}".replace("0.", ".", 1)


def trained(row: Row) -> bool:
  """Whether at least half of the runs of either side trained."""
  return all(2 * row.number(f"{side}_untrained") <= row.number(f"{side}_runs") for side in ("one", "other"))


def repetitions(rows: Sequence[Row]) -> str:
  """Of how many repetitions a difference is; those of a model outside che are in no pairs."""
  paired = [row for row in rows if not row.text("other_seeds")]
  others = [row for row in rows if row.text("other_seeds")]
  counts = [f"{from_to(known(paired, 'pairs'))} paired repetitions"] if paired else []
  if others:
    sides = " against ".join(from_to(known(others, column)) for column in ("pairs", "other_seeds"))
    counts.append(f"{sides} repetitions, which are in no pairs")
  return ", and ".join(counts)


def draw_difference(axes: Axes, row: Row, place: float, colour: str) -> None:
  """A difference in points, with its interval."""
  ends = [100 * end for end in known([row], "low", "high")]
  axes.plot(ends, [place] * len(ends), color=colour, linewidth=1.4, solid_capstyle="butt")
  axes.plot(100 * row.number("difference"), place, **dot(4.5, trained(row), colour), zorder=3)


def difference_axis(axes: Axes, rows: Sequence[Row], *columns: str) -> None:
  """An axis with room for all differences of `rows`, and a line at zero."""
  shown = [0.0, *(100 * value for value in known(rows, "difference", "low", "high", *columns))]
  margin = 0.04 * (max(shown) - min(shown))
  axes.set_xlim(min(shown) - margin, max(shown) + margin)
  axes.axvline(0, color="#333333", linewidth=0.7, zorder=0)


def differences(rows: list[Row], width: float) -> Sheet:
  """Is A better than B."""
  styles = styles_of([row.side(name) for row in rows for name in ("one", "other")])
  tasks = by_task(rows)
  separator = "" if width >= 130 else "\n"
  by_length = bool(rows[0].text("length"))

  def pair_name(row: Row) -> str:
    pair = f"{row.side('one').text('label')}{separator}{MINUS} {row.side('other').text('label')}"
    return pair + (f", {row.text('length')}" if by_length else "")

  def draw(task: str, members: list[Row], place: Place) -> None:
    axes = place.axes(task, "difference (points)", "")
    for y, row in enumerate(members):
      draw_difference(axes, row, y, styles[row.side("one").text("encoding")].colour)
      for paper in known([row], "paper"):
        axes.plot(100 * paper, y, **dot(3.6, row.text("paper_match") == "same_positions", marker="D"), zorder=2)
    difference_axis(axes, rows, "paper")
    name_rows(axes, [pair_name(row) for row in members])
    axes.grid(axis="x")
    axes.tick_params(axis="x", labelbottom=place.has_x_label)
    right = axes.twinx()
    name_rows(right, [p_text(row) for row in members])
    right.spines["right"].set_visible(False)

  intervals = len(known(rows, "low"))
  line = {"linewidth": 1.4} if intervals else {}
  handles: list[Artist] = [handle("difference, 95 % interval" if intervals else "difference", **dot(4.5) | line)]
  if not all(trained(row) for row in rows):
    handles.append(handle("most runs of one side did not train", **dot(4.5, False)))
  for match, label in (("same_positions", "the paper's"), ("other_positions", "the paper's, whose positions differ")):
    if any(row.text("paper_match") == match for row in rows):
      handles.append(handle(label, **dot(3.6, match == "same_positions", marker="D")))
  caption = caption_of(
    rows,
    "Is one encoding better than the other?",
    f"Dots show the difference of their mean accuracy {'at a test length' if by_length else 'over the test lengths'}, "
    f"the {AGGREGATES[rows[0].text('aggregate')]} over {repetitions(rows)}.",
    "Right of zero, the one named first is better.",
    "Intervals are from the bootstrap; p is from a permutation test, adjusted over the tasks"
    f"{' at a length' * by_length} (Holm)." if intervals else "",
    "Intervals and p need six independent repetitions." if intervals < len(rows) else "",
    "The paper's size, budget and lengths may differ." if known(rows, "paper") else "",
  )  # fmt: skip
  heights = [(7.4 if separator else 4.2) * len(members) + 1 for members in tasks.values()]
  return Sheet([partial(draw, *task) for task in tasks.items()], heights, handles, caption, around=7.0, below=6.0)


def text_colour(background: str) -> str:
  return "white" if contrast(background, "white") > contrast(background, "black") else "black"


def draw_cell(axes: Axes, row: Row, x: int, y: int, decimals: int, has_paper: bool) -> None:
  """Our score on the colour of its value, the paper's below it; only ours has that baseline."""

  def write(score: float, height: float, **look: Any) -> None:
    text = "100" if score >= 0.9995 else f"{100 * score:.{decimals}f}"
    axes.text(x, height, text, ha="center", va="center_baseline", **look)

  baseline = (known([row], "baseline") or known([row], "chance") or [0.0])[0]
  share = (row.number("score") - baseline) / max(1 - baseline, 1e-9)  # SCALE takes what is beyond 0 and 1 for these.
  did_not_train = row.text("trained") == "no"  # Empty where it is not known.
  colour = UNTRAINED if did_not_train else to_hex(SCALE(share))
  top, height = (-0.47, 0.52) if has_paper else (-0.46, 0.92)
  look = HATCHED if did_not_train else {"facecolor": colour, "edgecolor": "none"}
  axes.add_patch(Rectangle((x - 0.47, y + top), 0.94, height, **look))
  write(row.number("score"), y + top + height / 2, fontsize=TEXT, color=text_colour(colour))
  if row.number("unfinished"):
    axes.add_patch(Polygon([(x + 0.47, y + top), (x + 0.47, y + top + 0.2), (x + 0.3, y + top)], color=UNFINISHED))
  for paper in known([row], "paper"):
    write(paper, y + 0.26, fontsize=SMALL, style="italic")


def column_heads(labels: Sequence[str], width: float) -> tuple[list[str], bool]:
  """Names of columns of this width in mm, in lines if that fits and else upright, and whether they are upright."""
  lines = [label.replace("_", "_\n").replace(" ", "\n") for label in labels]
  if 1.45 * max(len(part) for text in lines for part in text.split("\n")) <= width:
    return lines, False
  return [label.replace(" ", "\n") for label in labels], True


def score_map(rows: list[Row], width: float) -> Sheet:
  """The whole table."""
  tasks = by_task(rows)
  styles = styles_of(rows)  # Settings stand in the order of their numbers; encodings in that of the table.
  columns = list(styles if len({row.text("family") for row in rows}) == 1 else by_column(rows))
  room = width - 41
  blocks = -(-len(columns) // max(1, int(room / 8.2)))
  split = [columns[i * len(columns) // blocks : (i + 1) * len(columns) // blocks] for i in range(blocks)]
  widest = max(len(block) for block in split)
  has_paper = bool(known(rows, "paper"))
  heads, upright = column_heads([styles[encoding].label for encoding in columns], room / widest)
  head_of = dict(zip(columns, heads))

  def draw(block: list[str], place: Place) -> None:
    axes = place.axes("", "", "")
    for y, members in enumerate(tasks.values()):
      cells = by_column(members)
      for x, encoding in enumerate(block):
        if encoding in cells:
          draw_cell(axes, cells[encoding][0], x, y, int(room / widest >= 7.6), has_paper)
        else:
          axes.text(x, y - 0.21 * has_paper, "\N{EN DASH}", ha="center", va="center", fontsize=SMALL)
    axes.set(xlim=(-0.5, widest - 0.5), ylim=(len(tasks) - 0.5, -0.5))
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(block)), [head_of[encoding] for encoding in block], rotation=90 if upright else 0)
    names = [task + "\N{DAGGER}" * members[0].is_yes("permutation_invariant") for task, members in tasks.items()]
    axes.set_yticks([y - 0.21 * has_paper for y in range(len(tasks))], names)
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)
    if place.has_x_label:
      colours = ScalarMappable(Normalize(0, 1), SCALE)
      bar = place.figure.colorbar(colours, ax=axes, orientation="horizontal", shrink=0.5, aspect=36, pad=0.02)
      bar.set_ticks([0, 1], labels=["best trivial baseline" if known(rows, "baseline") else "guessing", "100 %"])
      bar.ax.tick_params(length=0)
      bar.outline.set_visible(False)

  handles: list[Artist] = []
  marks = ["\N{EN DASH}, no finished run"] * (len(columns) * len(tasks) > len(rows))
  marks += ["\N{DAGGER}, a permutation-invariant task"] * any(row.is_yes("permutation_invariant") for row in rows)
  guessed = [task for task, members in tasks.items() if not known(members, "baseline")]
  untrained = any(row.text("trained") == "no" for row in rows)
  if untrained:
    handles.append(Patch(label="did not train", **HATCHED))
  if any(known(rows, "unfinished")):
    handles.append(handle("some runs are unfinished", **dot(6, True, UNFINISHED, "v")))
  caption = caption_of(
    rows,
    f"How does each {kind_of(rows)} do on each task?",
    f"Numbers are scores, the mean accuracy over the test lengths in percent; each is {of_runs(rows)}.",
    "Their colour goes from the best trivial baseline of the task to 100 %.",
    f"It goes from guessing where columns have no baseline in common: {', '.join(guessed)}." if guessed else "",
    "The paper's are in italics; its size, budget and lengths may differ." if has_paper else "",
    f"Did not train: {'the best' if rows[0].text('aggregate') == 'max' else 'every'} run is less than 2 points above "
    "the best predictor without an input at the training lengths." if untrained else "",
    f"Marks: {'; '.join(marks)}." if marks else "",
  )  # fmt: skip
  longest = max(len(part) for head in heads for part in head.split("\n"))
  around = 1.4 * longest + 4 if upright else 3.0 * max(head.count("\n") + 1 for head in heads) + 4
  heights = [len(tasks) * (7.0 if has_paper else 5.0)] * blocks
  return Sheet([partial(draw, block) for block in split], heights, handles, caption, around=around, below=8.0)


def runs(rows: list[Row], width: float) -> Sheet:
  """How much do runs vary."""
  shown, left_out = passing(rows)
  styles = {encoding: style for encoding, style in styles_of(rows).items() if encoding in by_column(shown)}

  def draw(task: str, members: list[Row], place: Place) -> None:
    axes = place.axes(task, "score (%)", "")
    lines = by_column(members)
    for y, (encoding, style) in enumerate(styles.items()):
      line = lines.get(encoding, [])
      for i, row in enumerate(line):
        offset = 0.5 * ((i + 0.5) / len(line) - 0.5)
        axes.plot(100 * row.number("score"), y + offset, **dot(3.2, row.text("trained") != "no", style.colour))
      axes.vlines([100 * median for median in known(line[:1], "median")], y - 0.4, y + 0.4, color="#222222", zorder=3)
    for baseline in known(members[:1], "baseline"):
      axes.axvline(100 * baseline, **TRIVIAL, zorder=0)
    name_rows(axes, [style.label if place.has_y_label else "" for style in styles.values()])
    axes.set_xlim(100 * min(known(shown, "score", "chance")) - 3, 102)
    axes.grid(axis="y")

  handles: list[Artist] = [handle("one run", **dot(3.2))]
  if any(row.text("trained") == "no" for row in shown):
    handles.append(handle("did not train", **dot(3.2, False)))
  handles.append(handle("median", marker="|", markersize=7, markeredgewidth=1.2, linewidth=0))
  if known(shown, "baseline"):
    handles.append(handle("best trivial baseline", **TRIVIAL))
  tasks = by_task(shown)
  counts = [len(line) for members in tasks.values() for line in by_column(members).values()]
  caption = caption_of(
    rows,
    "How much do runs vary?",
    "Dots show the score of each run, its mean accuracy over the test lengths.",
    f"A row has {from_to(counts)} runs, from top to bottom by learning rate, then seed.",
    left_out,
  )
  return panel_sheet(draw, tasks, width, 4.2 * len(styles) + 1, handles, caption)
