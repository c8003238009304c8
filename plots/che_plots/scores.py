"""Figures of scores: differences, the map of all cells, single runs."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from che_plots.data import Row, by_column, by_task
from che_plots.page import Place, Sheet, add_axes, columns_for
from che_plots.style import BASELINE, SMALL, TEXT, Style, contrast, styles_of

SCALE = LinearSegmentedColormap.from_list("scores", matplotlib.colormaps["YlGnBu"](
  [0.0, 0.2, 0.4, 0.6, 0.8, 0.95]
))  # fmt: skip
UNTRAINED = "#D6D6D6"


def p_text(p: float | None) -> str:
  if p is None:
    return ""
  return "p < .001" if p < 0.001 else "p = 1" if p > 0.9995 else f"p = {p:.3f}".replace("0.", ".", 1)


def pair_name(row: Row) -> str:
  name = f"{row.side('one').text('label')} \N{MINUS SIGN} {row.side('other').text('label')}"
  return name + (f", length {row.text('length')}" if row.text("length") else "")


def draw_differences(axes: Axes, rows: Sequence[Row], styles: dict[str, Style], names: Sequence[str]) -> None:
  """A row for each comparison: the difference in points, its interval, p, and the paper's difference."""
  for place, row in enumerate(rows):
    style = styles[row.side("one").text("encoding")]
    difference, low, high = row.number("difference"), row.maybe("low"), row.maybe("high")
    if low is not None and high is not None:
      axes.plot([100 * low, 100 * high], [place, place], color=style.colour, linewidth=1.4, solid_capstyle="butt")
    untrained = row.number("pairs") in (row.number("one_untrained"), row.number("other_untrained"))
    axes.plot(
      100 * difference, place, "o", color=style.colour, markersize=4.5, markeredgewidth=1,
      markerfacecolor="white" if untrained else style.colour, zorder=3,
    )  # fmt: skip
    paper = row.maybe("paper")
    if paper is not None:
      is_same = row.text("paper_match") == "same_positions"
      axes.plot(
        100 * paper, place, "D", color="#333333", markersize=3.6, markeredgewidth=0.8,
        markerfacecolor="#333333" if is_same else "white", zorder=2,
      )  # fmt: skip
  axes.axvline(0, color="#333333", linewidth=0.7, zorder=0)
  axes.set_yticks(range(len(rows)), list(names))
  axes.set_ylim(len(rows) - 0.4, -0.6)
  axes.tick_params(axis="y", length=0)
  axes.grid(axis="x", color="#E4E4E4", linewidth=0.5)
  axes.set_axisbelow(True)


def difference_range(rows: Sequence[Row], with_paper: bool = True) -> tuple[float, float]:
  names = ("difference", "low", "high", "paper")[: 4 if with_paper else 3]
  shown = [0.0] + [100 * row.number(name) for row in rows for name in names if row.text(name)]
  margin = 0.04 * (max(shown) - min(shown))
  return min(shown) - margin, max(shown) + margin


def differences(rows: list[Row], width: float) -> Sheet:
  """Is A better than B."""
  styles = styles_of([row.side(name) for row in rows for name in ("one", "other")])
  tasks = by_task(rows)
  names = list(tasks)
  separator = " " if width >= 130 else "\n"

  def draw(place: Place, index: int) -> None:
    axes = add_axes(place, names[index], "difference (points)", "")
    members = tasks[names[index]]
    labels = [pair_name(row).replace(" \N{MINUS SIGN}", separator + "\N{MINUS SIGN}") for row in members]
    draw_differences(axes, members, styles, labels)
    axes.set_xlim(*difference_range(rows))
    axes.tick_params(axis="x", labelbottom=place.last_row)
    right = axes.twinx()
    right.set_ylim(*axes.get_ylim())
    right.set_yticks(range(len(members)), [p_text(row.maybe("p_holm")) for row in members])
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)

  handles: list[Artist] = [
    Line2D([], [], color="#333333", marker="o", markersize=4.5, linewidth=1.4, label="difference, 95 % interval")
  ]
  if any(row.number("pairs") in (row.number("one_untrained"), row.number("other_untrained")) for row in rows):
    handles.append(
      Line2D([], [], color="#333333", marker="o", markersize=4.5, markerfacecolor="white", linewidth=0,
             label="one side did not train")
    )  # fmt: skip
  for match, face, label in (
    ("same_positions", "#333333", "the paper's difference"),
    ("other_positions", "white", "the paper's, at randomized positions"),
  ):
    if any(row.text("paper_match") == match for row in rows):
      handles.append(
        Line2D([], [], color="#333333", marker="D", markersize=3.6, markerfacecolor=face, linewidth=0, label=label)
      )
  pairs = sorted({int(row.number("pairs")) for row in rows})
  count = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
  over = "the tasks at a length" if rows[0].text("length") else "the tasks"
  caption = (
    f"Differences of scores in points, paired over {count} repetitions; p of a permutation test, adjusted over {over}."
    " An interval needs six repetitions."
  )
  line = 4.2 if separator == " " else 7.4
  return Sheet(draw, [line * len(members) + 1 for members in tasks.values()], handles, caption, around=7.0, below=6.0)


def percent_text(score: float, has_decimals: bool) -> str:
  return "100" if score >= 0.9995 else f"{100 * score:.1f}" if has_decimals else f"{100 * score:.0f}"


def cell_colour(row: Row, score: float) -> str:
  """From the best trivial baseline, the lightest, to 100 %, the darkest."""
  baseline = row.number("baseline")
  return to_hex(SCALE(min(max((score - baseline) / max(1 - baseline, 1e-9), 0.0), 1.0)))


def text_colour(background: str) -> str:
  return "white" if contrast(background, "white") > contrast(background, "black") else "black"


def draw_cell(axes: Axes, row: Row, x: int, y: int, has_decimals: bool) -> None:
  """Our score above the paper's, each on the colour of its value."""
  paper = row.maybe("paper")
  parts = [(row.number("score"), y if paper is None else y - 0.22, 0.92 if paper is None else 0.5, TEXT)]
  if paper is not None:
    parts.append((paper, y + 0.26, 0.42, SMALL))
  for i, (score, middle, height, size) in enumerate(parts):
    trained = i > 0 or row.is_yes("trained")
    colour = cell_colour(row, score) if trained else UNTRAINED
    axes.add_patch(Rectangle((x - 0.47, middle - height / 2), 0.94, height, facecolor=colour, edgecolor="none"))
    text = percent_text(score, has_decimals)
    axes.text(
      x, middle, f"({text})" if i > 0 and not has_decimals else text, ha="center", va="center_baseline",
      fontsize=size, color=text_colour(colour), style="italic" if i > 0 else "normal",
    )  # fmt: skip


def score_map(rows: list[Row], width: float) -> Sheet:
  """The whole table."""
  tasks = by_task(rows)
  columns = list({row.text("encoding"): row.text("label") for row in rows}.items())
  is_invariant = any(row.is_yes("permutation_invariant") for row in rows)
  room = width - 41
  fitting = max(1, int(room / 8.2))
  blocks = -(-len(columns) // fitting)
  split = [columns[i * len(columns) // blocks : (i + 1) * len(columns) // blocks] for i in range(blocks)]
  widest = max(len(block) for block in split)
  has_decimals = room / widest >= 7.6
  has_paper = any(row.text("paper") for row in rows)
  separator = " " if width >= 130 else "\n"
  longest = max(len(part) for _, label in columns for part in label.split(" "))

  def draw(place: Place, index: int) -> None:
    axes = place.figure.add_subplot(place.spec)
    block = split[index]
    for y, members in enumerate(tasks.values()):
      cells = {row.text("encoding"): row for row in members}
      for x, (encoding, _) in enumerate(block):
        if encoding in cells:
          draw_cell(axes, cells[encoding], x, y, has_decimals)
        else:
          axes.text(x, y, "\N{EN DASH}", ha="center", va="center", fontsize=SMALL, color=BASELINE)
    axes.set_xlim(-0.5, widest - 0.5)
    axes.set_ylim(len(tasks) - 0.5, -0.5)
    axes.set_xticks(range(len(block)), [label.replace(" ", "\n") for _, label in block], rotation=90)
    sign = "\N{DAGGER}"
    axes.set_yticks(
      range(len(tasks)),
      [task + (sign if rows_[0].is_yes("permutation_invariant") else "") for task, rows_ in tasks.items()],
    )
    axes.tick_params(length=0, pad=1)
    axes.spines[:].set_visible(False)
    if index == blocks - 1:
      bar = place.figure.colorbar(
        ScalarMappable(Normalize(0, 100), SCALE), ax=axes, orientation="horizontal", shrink=0.5, aspect=36, pad=0.02
      )
      bar.set_label(f"% of the way from the best{separator}trivial baseline to 100", fontsize=SMALL)
      bar.outline.set_visible(False)

  handles: list[Artist] = []
  if any(not row.is_yes("trained") for row in rows):
    handles.append(Patch(color=UNTRAINED, linewidth=0, label="did not train"))
  caption = f"Score in percent, the {rows[0].text('aggregate').replace('max', 'maximum')} over the runs of a cell."
  if has_paper:
    caption += " Below it in italics: the paper's, at another size, budget and other test lengths."
  if is_invariant:
    caption += " \N{DAGGER}: permutation-invariant."
  heights = [len(tasks) * (6.6 if has_paper else 5.0)] * blocks
  return Sheet(draw, heights, handles, caption, around=1.4 * longest + 4, below=13.0 + (0 if width >= 130 else 3))


def runs(rows: list[Row], width: float) -> Sheet:
  """How much do runs vary."""
  styles = styles_of(rows)
  tasks = by_task(rows)
  shown = {task: members for task, members in tasks.items() if not members[0].is_yes("at_baseline")} or tasks
  left_out = [task for task in tasks if task not in shown]
  names = list(shown)
  encodings = [
    encoding for encoding in styles if any(r.text("encoding") == encoding for m in shown.values() for r in m)
  ]
  low = min([100 * row.number(n) for members in shown.values() for row in members for n in ("score", "chance")])

  def draw(place: Place, index: int) -> None:
    axes = add_axes(place, names[index], "score (%)", "")
    members = shown[names[index]]
    for encoding, line in by_column(members).items():
      y = encodings.index(encoding)
      style = styles[encoding]
      for i, row in enumerate(line):
        offset = 0.5 * ((i + 0.5) / len(line) - 0.5)
        face = "white" if row.text("trained") == "no" else style.colour
        axes.plot(
          100 * row.number("score"), y + offset, "o", color=style.colour, markersize=3.2, markerfacecolor=face,
          markeredgewidth=0.8,
        )  # fmt: skip
      median = 100 * line[0].number("median")
      axes.plot([median, median], [y - 0.4, y + 0.4], color="#222222", linewidth=1.3, zorder=3)
    axes.axvline(100 * members[0].number("baseline"), color=BASELINE, linewidth=0.9, linestyle="-.", zorder=0)
    axes.set_yticks(range(len(encodings)), [styles[e].label if place.first_column else "" for e in encodings])
    axes.set_ylim(len(encodings) - 0.4, -0.6)
    axes.set_xlim(low - 3, 102)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)

  dot = {"color": "#333333", "marker": "o", "markersize": 3.2, "linewidth": 0}
  handles: list[Artist] = [Line2D([], [], label="one run", **dot)]  # type: ignore[arg-type]
  if any(row.text("trained") == "no" for members in shown.values() for row in members):
    handles.append(Line2D([], [], label="did not train", markerfacecolor="white", **dot))  # type: ignore[arg-type]
  handles.append(
    Line2D([], [], color="#222222", marker="|", markersize=7, markeredgewidth=1.3, linewidth=0, label="median")
  )
  handles.append(Line2D([], [], color=BASELINE, linewidth=0.9, linestyle="-.", label="best trivial baseline"))
  caption = "Scores of single runs; in a row from top to bottom by learning rate, then seed."
  if left_out:
    caption += f" Tasks on which no run passes the trivial baselines are left out: {', '.join(left_out)}."
  return Sheet(draw, [4.2 * len(encodings) + 1] * len(names), handles, caption, columns_for(width, len(names)))
