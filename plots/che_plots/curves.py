"""Figures of lines: accuracy over length, loss and score over steps, score over a setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, FixedLocator, MaxNLocator, NullLocator

from che_plots.data import Row, by_column, by_task, grouped
from che_plots.page import MM, Place, Sheet, add_axes, columns_for
from che_plots.style import BASELINE, GREY, SHADE, SMALL, TITLE, Style, styles_of

MOST_LINES = 6  # Of a panel that have a colour.
MOST_MARKERS = 12  # Of a line; they stand on measured points.


def lowest_percent(values: Iterable[float]) -> float:
  """Where an axis of percents begins: a multiple of ten below all values."""
  return max(0.0, 10 * math.floor(10 * min(values) - 0.2))


def percent_axis(axes: Axes, low: float) -> None:
  axes.set_ylim(low - 2, 102)
  axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def draw_line(
  axes: Axes, rows: Sequence[Row], style: Style, is_grey: bool, names: tuple[str, str], unit: float
) -> None:
  """A line with the band of its runs; `names` are the columns of x and y."""
  x = [row.number(names[0]) for row in rows]
  y = [unit * row.number(names[1]) for row in rows]
  if is_grey:
    axes.plot(x, y, color=GREY, linewidth=0.8, zorder=1, marker="." if len(x) == 1 else "")
    return
  every = max(1, math.ceil(len(x) / MOST_MARKERS))
  axes.plot(x, y, **style.line(markevery=(0, every), zorder=3))
  if rows[0].number("runs") > 1:
    low, high = ([unit * row.number(bound) for row in rows] for bound in ("low", "high"))
    axes.fill_between(x, low, high, color=style.colour, alpha=0.16, linewidth=0, zorder=2)


def is_grey(rows: Sequence[Row]) -> bool:
  return rows[0].number("rank") > MOST_LINES


def legend_of(rows: Sequence[Row], styles: dict[str, Style]) -> list[Artist]:
  """The columns that have a colour in a panel, and what the other marks mean."""
  coloured = {row.text("encoding") for row in rows if row.number("rank") <= MOST_LINES}
  handles: list[Artist] = [style.handle() for encoding, style in styles.items() if encoding in coloured]
  if any(row.number("rank") > MOST_LINES for row in rows):
    handles.append(Line2D([], [], color=GREY, linewidth=0.8, label=f"not among the best {MOST_LINES} of the task"))
  if any(row.number("runs") > 1 for row in rows):
    handles.append(Patch(color="#555555", alpha=0.25, linewidth=0, label="lowest to highest run"))
  return handles


def level_handle(label: str, style: Literal[":", "-."]) -> Line2D:
  return Line2D([], [], color=BASELINE, linewidth=0.9, linestyle=style, label=label)


def end_labels(axes: Axes, ends: Sequence[tuple[float, Style]], x: float, height: float) -> None:
  """Names lines at their right ends, or a line of text below, where no two names meet; `height` of the axes in mm."""
  low, high = axes.get_ylim()
  line = 1.3 * SMALL / 72 / MM / height * (high - low)
  last = high + line
  for y, style in sorted(ends, key=lambda end: -end[0]):
    place = min(y, last - line)
    if y - place <= 1.5 * line:
      axes.annotate(
        style.label, (x, place), (4, 0), textcoords="offset points", fontsize=SMALL, color=style.colour, va="center",
        annotation_clip=False,
      )  # fmt: skip
      last = place


def draw_accuracy(
  axes: Axes, rows: Sequence[Row], styles: dict[str, Style], low: float, all_coloured: bool = False
) -> list[tuple[float, Style]]:
  """The lines of one task over length, with the training lengths shaded; returns where coloured lines end."""
  ends = []
  for encoding, line in by_column(rows).items():
    grey = is_grey(line) and not all_coloured
    draw_line(axes, line, styles[encoding], grey, ("length", "accuracy"), 100)
    if not grey:
      ends.append((100 * line[-1].number("accuracy"), styles[encoding]))
  trained = [row for row in rows if row.text("trained_to")]
  if trained:
    first = min(row.number("trained_from") for row in trained)
    axes.axvspan(first, max(row.number("trained_to") for row in trained), color=SHADE, linewidth=0, zorder=0)
  axes.axhline(100 * rows[0].number("chance"), color=BASELINE, linewidth=0.9, linestyle=":", zorder=1)
  axes.set_xlim(1, max(row.number("length") for row in rows) * 1.02)
  percent_axis(axes, low)
  axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
  return ends


def draw_position(axes: Axes, rows: Sequence[Row]) -> None:
  """The accuracy of the best symbol of each position, where it is another one than chance."""
  position = {row.number("length"): 100 * row.number("position") for row in rows if row.text("position")}
  if any(abs(y - 100 * rows[0].number("chance")) > 3 for y in position.values()):
    lengths = sorted(position)
    axes.plot(lengths, [position[x] for x in lengths], color=BASELINE, linewidth=0.9, linestyle="-.", zorder=1)


def draw_training(axes: Axes, rows: Sequence[Row], styles: dict[str, Style]) -> None:
  """The strip beside a panel: the accuracy at the training lengths, a place a column."""
  lines = [line for line in by_column(rows).values() if line[0].text("training_accuracy")]
  lines.sort(key=lambda line: not is_grey(line))
  for place, line in enumerate(lines):
    style = styles[line[0].text("encoding")]
    y = 100 * line[0].number("training_accuracy")
    if is_grey(line):
      axes.plot(place, y, ".", color=GREY, markersize=3, zorder=1)
    else:
      axes.plot(place, y, **style.line(linestyle="", zorder=3, clip_on=False))
  axes.set_facecolor(SHADE)
  axes.set_xlim(-1, max(len(lines), 1))
  axes.xaxis.set_major_locator(NullLocator())


def accuracy(rows: list[Row], width: float) -> Sheet:
  """How far does it extrapolate."""
  styles = styles_of(rows)
  tasks = by_task(rows)
  shown = {task: members for task, members in tasks.items() if not members[0].is_yes("at_baseline")} or tasks
  left_out = [task for task in tasks if task not in shown]
  visible = [row for members in shown.values() for row in members]
  has_training = any(row.text("training_accuracy") for row in visible)
  names = list(shown)
  height = 36.0
  columns = columns_for(width, len(names))

  def draw(place: Place, index: int) -> None:
    members = shown[names[index]]
    low = lowest_percent(
      row.number(name) for row in members for name in ("low", "chance", "training_accuracy") if row.text(name)
    )
    if not has_training:
      axes = add_axes(place, names[index], "test length", "accuracy (%)")
      draw_accuracy(axes, members, styles, low)
      draw_position(axes, members)
      return
    grid = place.spec.subgridspec(1, 2, width_ratios=(1, 6), wspace=0.0)
    strip = place.figure.add_subplot(grid[0])
    axes = place.figure.add_subplot(grid[1], sharey=strip)
    draw_training(strip, members, styles)
    ends = draw_accuracy(axes, members, styles, low)
    draw_position(axes, members)
    if len(names) == 1 and width >= 110:
      end_labels(axes, ends, max(row.number("length") for row in members), height)
    axes.tick_params(labelleft=False)
    axes.set_title(names[index], loc="left", fontsize=TITLE)
    if place.first_column:
      strip.set_ylabel("accuracy (%)")
    if place.last_row:
      strip.set_xlabel("train")
      axes.set_xlabel("test length")

  handles = legend_of(visible, styles)
  handles.append(level_handle("chance", ":"))
  if any(row.text("position") and abs(row.number("position") - row.number("chance")) > 0.03 for row in visible):
    handles.append(level_handle("best symbol of each position", "-."))
  handles.append(Patch(color=SHADE, linewidth=0, label="training lengths"))
  caption = "Accuracy by test length; the strip on the left of a panel has the accuracy at the training lengths."
  if left_out:
    caption += f" Tasks on which no encoding passes the trivial baselines are left out: {', '.join(left_out)}."
  return Sheet(draw, [height] * len(names), handles, caption, columns)


def over_steps(rows: list[Row], width: float, column: str, y_label: str, caption: str) -> Sheet:
  styles = styles_of(rows)
  tasks = by_task(rows)
  names = list(tasks)
  is_loss = column == "loss"
  most = max(row.number(column) for row in rows)
  last = max(row.number("step") for row in rows)

  def draw(place: Place, index: int) -> None:
    axes = add_axes(place, names[index], "training step", y_label)
    for encoding, line in by_column(tasks[names[index]]).items():
      draw_line(axes, line, styles[encoding], is_grey(line), ("step", column), 1 if is_loss else 100)
    if not is_loss:
      axes.axhline(100 * tasks[names[index]][0].number("chance"), color=BASELINE, linewidth=0.9, linestyle=":")
      percent_axis(axes, lowest_percent([row.number("low") for row in rows] + [row.number("chance") for row in rows]))
    else:
      axes.set_ylim(-0.02 * most, 1.05 * most)
      axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.set_xlim(0, 1.02 * last)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))

  handles = legend_of(rows, styles)
  if not is_loss:
    handles.append(level_handle("chance", ":"))
  return Sheet(draw, [27.0] * len(names), handles, caption, columns_for(width, len(names)))


def learning(rows: list[Row], width: float) -> Sheet:
  """Did it train."""
  caption = "Training loss, the median over the finished runs; all panels have one scale."
  return over_steps(rows, width, "loss", "loss (nats)", caption)


def steps(rows: list[Row], width: float) -> Sheet:
  """What does longer training do."""
  return over_steps(rows, width, "score", "score (%)", "Score over the steps of training at which it was measured.")


def effects(rows: list[Row], width: float) -> Sheet:
  """What does a setting do."""
  styles = styles_of(rows)
  panels = grouped(rows, lambda row: (row.text("setting"), row.text("task")))
  keys = list(panels)
  low = lowest_percent(
    row.number(name) for row in rows for name in ("low", "baseline", "without_dape") if row.text(name)
  )

  def draw(place: Place, index: int) -> None:
    setting, task = keys[index]
    axes = add_axes(place, task, setting, "score (%)")
    axes.set_xlabel(setting if place.last_row or setting != keys[min(index + 1, len(keys) - 1)][0] else "")
    values = sorted({row.number("setting_value") for row in panels[keys[index]]})
    for encoding, line in by_column(panels[keys[index]]).items():
      draw_line(axes, line, styles[encoding], False, ("setting_value", "score"), 100)
      without = line[0].maybe("without_dape")
      if without is not None:
        axes.axhline(100 * without, color=styles[encoding].colour, linewidth=1, linestyle=(0, (1, 1.5)))
    axes.axhline(100 * panels[keys[index]][0].number("baseline"), color=BASELINE, linewidth=0.9, linestyle="-.")
    if values[0] > 0 and values[-1] > 4 * values[0]:
      axes.set_xscale("log")
      axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(FixedLocator(values))
    axes.set_xticks(values, [f"{value:g}" for value in values])
    percent_axis(axes, low)

  handles: list[Artist] = [style.handle() for style in styles.values()]
  if any(row.number("runs") > 1 for row in rows):
    handles.append(Patch(color="#555555", alpha=0.25, linewidth=0, label="lowest to highest run"))
  if any(row.text("without_dape") for row in rows):
    handles.append(Line2D([], [], color="#333333", linewidth=1, linestyle=(0, (1, 1.5)), label="without DAPE"))
  handles.append(level_handle("best trivial baseline", "-."))
  caption = "Score over a setting with all others equal, at the seeds and learning rates that all values share."
  return Sheet(draw, [32.0] * len(keys), handles, caption, columns_for(width, len(keys)), around=12.0)
