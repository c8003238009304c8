"""Figures of lines: accuracy over length, loss and score over steps, score over a setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator, ScalarFormatter
from matplotlib.transforms import ScaledTranslation

from che_plots.data import Row, by_column, by_task, caption_of, from_to, grouped, kind_of, known, of_runs, passing
from che_plots.page import MM, Place, Sheet, panel_sheet
from che_plots.style import BEHIND, CHANCE, SHADE, SMALL, TRIVIAL, Style, handle, styles_of

MOST_LINES = 6  # More lines of a panel are grey.
MOST_MARKERS = 12  # A line has at most so many, all on measured points.
ACCURACIES = ("low", "chance", "training_accuracy")
SCORED: Any = {"color": "#2C8A3D", "linewidth": 0.9, "linestyle": (0, (1, 1))}
WITHOUT: Any = {"linewidth": 1.0, "linestyle": (0, (7, 2))}


def lowest_percent(fractions: Iterable[float]) -> float:
  """Where an axis of percent begins: two points below a multiple of ten, so that all fractions are above."""
  return max(0.0, 10 * math.floor(10 * min(fractions) - 0.2)) - 2


def rank_of(row: Row) -> int:
  """The place of a line among the scores of its task, from 1; 0 in figures that give all lines a colour."""
  return int(row.get("rank", 0))


def is_grey(row: Row) -> bool:
  return rank_of(row) > MOST_LINES


def has_bars(rows: Iterable[Row], x: str) -> bool:
  """Whether ranges of runs are bars at the points; where points are many, they are bands."""
  return len({row.text(x) for row in rows}) <= MOST_MARKERS


def draw_line(axes: Axes, rows: Sequence[Row], style: Style, x: str, y: str, unit: float = 100) -> None:
  """A line with the range of its runs, grey where the task has too many; `x` and `y` are columns."""
  xs = known(rows, x)
  ys, low, high = ([unit * value for value in known(rows, column)] for column in (y, "low", "high"))
  if is_grey(rows[0]):
    axes.plot(xs, ys, **BEHIND, zorder=1, marker="." if len(xs) == 1 else "")
    return
  place = axes.transData
  rank = rank_of(rows[0])
  has_ranges = max(known(rows, "runs")) > 1  # Some lengths may be those of one run.
  if has_ranges and has_bars(rows, x):
    # Lines stand a little beside each other, so that their bars do not cover each other.
    shift = rank - (MOST_LINES + 1) / 2 if rank else 0.0
    place = place + ScaledTranslation(shift / 72, 0, axes.figure.dpi_scale_trans)
    axes.vlines(xs, low, high, color=style.colour, alpha=0.6, linewidth=0.9, zorder=2, transform=place)
  elif has_ranges:
    axes.fill_between(xs, low, high, color=style.colour, alpha=0.16, linewidth=0, zorder=2)
  # Markers of different lines stand at different points.
  every = math.ceil(len(xs) / MOST_MARKERS)
  axes.plot(xs, ys, **style.line(markevery=(rank % every, every), zorder=3), transform=place)
  # From version 3.11 on, matplotlib leaves lines that stand beside their places out of the limits.
  axes.update_datalim([point for values in (ys, low, high) for point in zip(xs, values)])


def legend_of(rows: Sequence[Row], styles: dict[str, Style], x: str) -> list[Artist]:
  """The columns that have a colour in a panel, the grey ones, and the ranges of lines of several runs."""
  coloured = {row.text("encoding") for row in rows if not is_grey(row)}
  handles: list[Artist] = [handle(one.label, **one.line()) for name, one in styles.items() if name in coloured]
  if any(is_grey(row) for row in rows):
    handles.append(handle(f"not in the task's best {MOST_LINES}", **BEHIND))
  counts = [count for count in known(rows, "runs") if count > 1]
  if counts:
    bar = {"marker": "|", "markersize": 9, "markeredgewidth": 0.9, "linewidth": 0, "alpha": 0.6}
    look = bar if has_bars(rows, x) else {"linewidth": 6, "alpha": 0.25}
    handles.append(handle(f"lowest to highest of {from_to(counts)} runs", **look))
  return handles


def end_labels(axes: Axes, ends: Sequence[tuple[float, Style]], x: float, height: float) -> None:
  """Names lines at their right ends, or a line of text below, where no two names meet; `height` of the axes in mm."""
  low, high = axes.get_ylim()
  line = 1.3 * SMALL / 72 / MM / height * (high - low)
  last = high + line
  for y, style in sorted(ends, key=lambda end: -end[0]):
    place = min(y, last - line)
    if y - place <= 1.5 * line:
      last = place
      axes.annotate(style.label, (x, place), (4, 0), textcoords="offset points", fontsize=SMALL, color=style.colour,
                    va="center", annotation_clip=False)  # fmt: skip


def draw_chance(axes: Axes, rows: Sequence[Row], x: str, **look: Any) -> None:
  """A line at chance over the column `x`; it may depend on the test length."""
  chances = {row.number(x): 100 * chance for row in rows for chance in known([row], "chance")}
  if len(set(chances.values())) > 1:
    axes.plot(*zip(*sorted(chances.items())), **CHANCE, **look)
  elif chances:
    axes.axhline(min(chances.values()), **CHANCE, **look)


TRAINED = ("trained_from", "trained_to")


def common_training_lengths(rows: Sequence[Row]) -> tuple[float, float] | None:
  """The first and the last length that all lines were trained at, of those whose training is known."""
  first, last = known(rows, "trained_from"), known(rows, "trained_to")
  return (max(first), min(last)) if first and max(first) <= min(last) else None


def draw_accuracy(axes: Axes, rows: Sequence[Row], styles: dict[str, Style]) -> list[tuple[float, Style]]:
  """The lines of one task over length, with the training lengths shaded; returns where coloured lines end."""
  ends = []
  for encoding, line in by_column(rows).items():
    draw_line(axes, line, styles[encoding], "length", "accuracy")
    if not is_grey(line[0]):
      ends.append((100 * line[-1].number("accuracy"), styles[encoding]))
  if trained := common_training_lengths(rows):
    axes.axvspan(*trained, color=SHADE, linewidth=0, zorder=0)
  draw_chance(axes, rows, "length", zorder=1)
  axes.set_xlim(1, max(known(rows, "length")) * 1.03)
  axes.set_ylim(lowest_percent(known(rows, *ACCURACIES)), 102)
  return ends


def beats_chance(rows: Sequence[Row]) -> bool:
  """Whether the best symbol of each position is clearly another guess than chance."""
  return any(
    abs(position - chance) > 0.03
    for row in rows
    for position, chance in zip(known([row], "position"), known([row], "chance"))
  )


def ends_of_score(rows: Sequence[Row]) -> dict[str, set[float]]:
  """The first and the last lengths that scores of lines count, where lines go on beyond them."""
  lengths = known(rows, "length")
  columns = {"first": "scored_from", "last": "scored_to"}
  ends = {
    name: {end for end in known(rows, column) if min(lengths) < end < max(lengths)} for name, column in columns.items()
  }
  return {name: places for name, places in ends.items() if places}


def draw_training(axes: Axes, rows: Sequence[Row], styles: dict[str, Style]) -> None:
  """The strip beside a panel: the accuracy at the training lengths, side by side."""
  lines = by_column(rows)
  firsts = [lines[name][0] for name in styles if name in lines and lines[name][0].text("training_accuracy")]
  for place, row in enumerate(sorted(firsts, key=lambda row: not is_grey(row))):
    look = {"color": BEHIND["color"], "marker": ".", "markersize": 3, "zorder": 1}
    if not is_grey(row):
      look = styles[row.text("encoding")].line(zorder=3, clip_on=False)
    axes.plot(place, 100 * row.number("training_accuracy"), **look)
  axes.set_facecolor(SHADE)
  axes.set_xlim(-1, max(len(firsts), 1))
  axes.xaxis.set_major_locator(NullLocator())


def accuracy(rows: list[Row], width: float) -> Sheet:
  """How far does it extrapolate."""
  styles = styles_of(rows)
  shown, left_out = passing(rows)
  tasks = by_task(shown)
  has_training = bool(known(shown, "training_accuracy"))
  height = 36.0

  def draw(task: str, members: list[Row], place: Place) -> None:
    grid = place.spec.subgridspec(1, 2, width_ratios=(1, 6), wspace=0.0) if has_training else [place.spec]
    axes = first = replace(place, spec=grid[-1]).axes(task, "test length", "")
    ends = draw_accuracy(axes, members, styles)
    if beats_chance(members):
      points = sorted({(row.number("length"), 100 * y) for row in members for y in known([row], "position")})
      axes.plot(*zip(*points), **TRIVIAL, zorder=1)
    for end in set().union(*ends_of_score(members).values()):
      axes.axvline(end, **SCORED, zorder=0)
    if len(tasks) == 1 and width >= 110:
      end_labels(axes, ends, max(known(members, "length")), height)
    if has_training:
      first = place.figure.add_subplot(grid[0], sharey=axes, xlabel="train" if place.has_x_label else "")
      draw_training(first, members, styles)
      axes.tick_params(axis="y", length=0, labelleft=False)
    first.set_ylabel("accuracy (%)" if place.has_y_label else "")

  handles = [*legend_of(shown, styles, "length"), handle("chance", **CHANCE)]
  if beats_chance(shown):
    handles.append(handle("best symbol of each position", **TRIVIAL))
  if any(map(common_training_lengths, tasks.values())):
    differ = any(len(set(known(members, column))) > 1 for members in tasks.values() for column in TRAINED)
    shade = "training lengths of all lines" if differ else "training lengths"
    handles.append(Patch(color=SHADE, linewidth=0, label=shade))
  ends = {name for members in tasks.values() for name in ends_of_score(members)}
  if ends:
    handles.append(handle(f"{' and '.join(sorted(ends))} scored length{'s' * (len(ends) > 1)}", **SCORED))
  lowest = {lowest_percent(known(members, *ACCURACIES)) for members in tasks.values()}
  caption = caption_of(
    rows,
    f"How far does each {kind_of(rows)} extrapolate?",
    f"Lines show the accuracy over the test length{', on scales that differ by panel' * (len(lowest) > 1)}. "
    f"Each is {of_runs(shown, True)}.",
    "Lines stand a little apart to show their ranges."
    if max(known(shown, "runs")) > 1 and has_bars(shown, "length") else "",
    "The strip on the left shows the accuracy in the last tenth of the training." if has_training else "",
    left_out,
  )  # fmt: skip
  return panel_sheet(draw, tasks, width, height, handles, caption)


def draw_perplexity(
  axes: Axes, rows: Sequence[Row], styles: dict[str, Style], x: str, y: str, ticks: Sequence[float]
) -> None:
  """Lines on logarithmic scales, with the training length marked; `x` and `y` are columns."""
  for encoding, line in by_column(rows).items():
    draw_line(axes, line, styles[encoding], x, y, 1)
  if not any(math.isfinite(value) for value in known(rows, y)):
    axes.set_ylim(1, 10)  # No line: a logarithmic scale needs a place.
  for trained in sorted(set(known(rows, "trained_to"))):
    axes.axvline(trained, **SCORED, zorder=0)
  axes.set_xscale("log", base=2)
  axes.set_yscale("log")
  axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
  axes.xaxis.set_minor_locator(NullLocator())
  low, high = axes.get_ylim()
  # A scale of less than 5 to 1 may hold one of the marks 1, 2, 5, 10, ... alone.
  axes.yaxis.set_major_locator(MaxNLocator(5) if high < 5 * low else LogLocator(subs=(1, 2, 5)))
  axes.yaxis.set_major_formatter(ScalarFormatter())
  axes.yaxis.set_minor_locator(NullLocator())


def powers_of_two(low: float, high: float) -> list[float]:
  """Returns at most seven from `low` to `high`, or these two where there are fewer than two."""
  powers = range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)
  if len(powers) < 2:
    return sorted({low, high})
  return [2.0**power for power in powers[:: math.ceil(len(powers) / 7)]]


def marks_of(lengths: Sequence[float]) -> list[float]:
  """Returns the lengths, which ascend, or powers of two where two lengths would stand too close.

  The scale is logarithmic and has room for nine lengths, or for seven powers of two, which may have more digits.
  """
  closest = math.log2(lengths[-1] / lengths[0]) / 8.5
  if all(math.log2(high / low) >= closest for low, high in zip(lengths, lengths[1:])):
    return list(lengths)
  return powers_of_two(lengths[0], lengths[-1])


def perplexity(rows: list[Row], width: float) -> Sheet:
  """How does a language model fare beyond its training length."""
  styles = styles_of(rows)
  infinite = {row.text("encoding") for row in rows if not math.isfinite(row.number("score"))}

  def draw(task: str, members: list[Row], place: Place) -> None:
    axes = place.axes(task, "test length (tokens)", "perplexity")
    marks = marks_of(sorted(set(known(members, "length"))))
    draw_perplexity(axes, members, styles, "length", "score", marks)

  groups = [sorted(set(known(members, "longest_window"))) for members in by_task(rows).values()]
  longest = max(groups, key=len)
  handles = [*legend_of(rows, styles, "length"), handle("training length", **SCORED)]
  caption = caption_of(
    rows,
    "How does each encoding fare beyond the training length?",
    "Lines show the perplexity over the test length, both on logarithmic scales; lower is better. "
    f"Each is {of_runs(rows)}.",
    f"Infinite at some lengths, which have no point: {', '.join(sorted(infinite))}." if infinite else "",
    f"Windows of up to {' and of up to '.join(f'{end:g}' for end in longest)} tokens end with other tokens, so that "
    "only lengths of one such group can be compared."
    if len(longest) > 1
    else "",
  )
  return panel_sheet(draw, by_task(rows), width, 50.0, handles, caption)


def positions(rows: list[Row], width: float) -> Sheet:
  """Does a language model profit from tokens that are further away than those of its training."""
  styles = styles_of(rows)

  def draw(task: str, members: list[Row], place: Place) -> None:
    axes = place.axes(task, "tokens read before the prediction", "perplexity")
    xs = known(members, "position")
    draw_perplexity(axes, members, styles, "position", "perplexity", powers_of_two(min(xs), max(xs)))

  handles = [*legend_of(rows, styles, "position"), handle("training length", **SCORED)]
  caption = caption_of(
    rows,
    "Where in a long window does each encoding predict well?",
    "Lines show the perplexity of a prediction over the tokens of the window that it has read, both on logarithmic "
    f"scales; lower is better. Each is {of_runs(rows, True)}.",
  )
  return panel_sheet(draw, by_task(rows), width, 50.0, handles, caption)


def over_steps(rows: list[Row], width: float, column: str, y_label: str, caption: str) -> Sheet:
  styles = styles_of(rows)
  is_loss = column == "loss"

  def draw(task: str, members: list[Row], place: Place) -> None:
    axes = place.axes(task, "training step", y_label)
    for encoding, line in by_column(members).items():
      draw_line(axes, line, styles[encoding], "step", column, 1 if is_loss else 100)
    if is_loss:
      most = max(known(rows, column, "high"))
      axes.set_ylim(-0.02 * most, 1.05 * most)
    else:
      draw_chance(axes, members, "step")
      axes.set_ylim(lowest_percent(known(rows, "low", "chance")), 102)
    axes.set_xlim(0, 1.02 * max(known(rows, "step")))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))

  handles = [*legend_of(rows, styles, "step"), *([] if is_loss else [handle("chance", **CHANCE)])]
  caption = caption_of(rows, caption, "All panels have one scale.")
  return panel_sheet(draw, by_task(rows), width, 27.0, handles, caption)


def learning(rows: list[Row], width: float) -> Sheet:
  """Did it train."""
  caption = "Did the models learn the training lengths? Lines show the loss on the batches of training over its steps; "
  return over_steps(rows, width, "loss", "loss (nats)", f"{caption}each is {of_runs(rows)}.")


def steps(rows: list[Row], width: float) -> Sheet:
  """What does longer training do."""
  caption = "What does longer training do? Lines show the score, the mean accuracy over the test lengths, at the steps "
  caption += f"at which it was measured. Each is {of_runs(rows, True)}."
  return over_steps(rows, width, "score", "score (%)", caption)


def setting_words(setting: str) -> str:
  """A key of the config in words: `hidden units of DAPE`, `width of the model`, `learning rate`."""
  *groups, name = setting.replace("_", " ").split(".")
  name = {"hidden": "hidden units"}.get(name, name)
  return f"{name} of {'DAPE' if groups[-1] == 'dape' else f'the {groups[-1]}'}" if groups else name


def effects(rows: list[Row], width: float) -> Sheet:
  """What does a setting do."""
  styles = styles_of(rows)
  panels = grouped(rows, lambda row: (row.text("setting"), row.text("task")))
  last = dict(panels.keys())

  def draw(key: tuple[str, str], members: list[Row], place: Place) -> None:
    setting, task = key
    has_x_label = place.has_x_label or last[setting] == task
    axes = replace(place, has_x_label=has_x_label).axes(task, setting_words(setting), "score (%)")
    for encoding, line in by_column(members).items():
      draw_line(axes, line, styles[encoding], "setting_value", "score")
      for without in known(line[:1], "without_dape"):
        axes.axhline(100 * without, **WITHOUT, color=styles[encoding].colour)
    for baseline in known(members[:1], "baseline"):
      axes.axhline(100 * baseline, **TRIVIAL)
    values = sorted(set(known(members, "setting_value")))
    if values[0] > 0 and values[-1] > 4 * values[0]:
      axes.set_xscale("log")
      axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_ylim(lowest_percent(known(rows, "low", "baseline", "without_dape")), 102)

  differ = " or ".join(last)
  handles = legend_of(rows, styles, "setting_value")
  if known(rows, "without_dape"):
    handles.append(handle("the same without DAPE", **WITHOUT))
  if known(rows, "baseline"):
    handles.append(handle("best trivial baseline", **TRIVIAL))
  caption = caption_of(
    rows,
    "What does a setting do?",
    f"Points show the score, the mean accuracy over the test lengths; each is {of_runs(rows)}.",
    "All values of a line have the same seeds and, unless a rule chose them, the same learning rates; "
    f"nothing else but {differ} varies.",
  )
  return replace(panel_sheet(draw, panels, width, 32.0, handles, caption), around=12.0)
