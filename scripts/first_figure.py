#!/usr/bin/env python3
"""Draws the first picture of README from the figure data of two committed experiments.

`scripts/committed_results.sh draw all` calls it; the data stand in results/quick and results/claims.
"""

from __future__ import annotations

import pathlib
import sys

import matplotlib
from matplotlib.ticker import MaxNLocator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))

from che_plots import curves, page, scores, style  # noqa: E402
from che_plots.data import by_task, read_rows  # noqa: E402

SHOWN = ("rope", "randomized_rope", "randomized_kerple", "dape_kerple")
WIDTH, HEIGHT = 106.0, 49.0


def main() -> None:
  matplotlib.use("agg")
  matplotlib.rcParams.update(style.RC)
  quick = read_rows(ROOT / "results/quick/figure-data/accuracy.csv")
  rows = [row for row in quick if row.text("task") == "even_pairs" and row.text("encoding") in SHOWN]
  claims = read_rows(ROOT / "results/claims/figure-data/differences.csv")

  figure = page.new_figure(WIDTH, HEIGHT)
  figure.set_layout_engine("constrained", w_pad=0.04, h_pad=0.04)
  left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
  ends = curves.draw_accuracy(left, rows, style.styles_of(rows), all_coloured=True)
  left.set_ylim(18, 102)
  curves.end_labels(left, ends, 80, 35)
  left.text(2, 39, "training\nlengths", va="top", linespacing=1, fontsize=style.SMALL, color="#444444")
  left.text(2, 49.5, "chance", va="top", fontsize=style.SMALL, color=style.CHANCE["color"])
  left.set_title("even_pairs: accuracy (%)", loc="left")
  left.set_xlabel("length")

  tasks = by_task(claims)
  styles = style.styles_of([row.side("one") for row in claims])
  place = 0.0
  middles = []
  for members in tasks.values():
    middles.append(place + (len(members) - 1) / 2)
    for row in members:
      colour = styles[row.side("one").text("encoding")].colour
      scores.draw_difference(right, row, place, colour)
      if len(middles) == 1:  # The first task has room for names.
        is_right = row.number("high") > 0.35
        right.annotate(
          row.side("one").text("family"),
          (100 * row.number("low" if is_right else "high"), place), (-5 if is_right else 5, 0),
          textcoords="offset points", fontsize=style.SMALL, color=colour, va="center",
          ha="right" if is_right else "left",
        )  # fmt: skip
      place += 1
    place += 0.8
  scores.draw_zero(right)
  right.set_yticks(middles, list(tasks))
  right.set_ylim(place - 0.9, -0.9)
  right.set_xlim(*scores.difference_range(claims))
  right.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
  right.set_title("contiguous DAPE\n\N{MINUS SIGN} randomized host", loc="right")
  right.set_xlabel("points, 95 % interval", loc="right")
  right.text(
    0.97, 0.5, "hollow: host\ndid not train", transform=right.transAxes, fontsize=style.SMALL, ha="right", va="center"
  )
  for file in page.save([figure], ROOT / "results/committed", "first", ("svg", "png")):
    print(file.relative_to(ROOT))


if __name__ == "__main__":
  main()
