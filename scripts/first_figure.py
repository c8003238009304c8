#!/usr/bin/env python3
"""Draws README's first picture from the figure data of two committed experiments.

`scripts/committed_results.sh draw all` calls it; the data stand in results/quick and results/claims.
"""

from __future__ import annotations

import pathlib
import sys

import matplotlib
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))

from che_plots import curves, page, scores, style  # noqa: E402
from che_plots.data import by_task, read_rows  # noqa: E402

SHOWN = ("rope", "randomized_rope", "randomized_kerple", "dape_kerple")
WIDTH, HEIGHT = 118.0, 48.0


def main() -> None:
  matplotlib.use("agg")
  matplotlib.rcParams.update(style.RC)
  quick = read_rows(ROOT / "results/quick/figure-data/accuracy.csv")
  rows = [row for row in quick if row.text("task") == "even_pairs" and row.text("encoding") in SHOWN]
  claims = read_rows(ROOT / "results/claims/figure-data/differences.csv")

  figure = page.new_figure(WIDTH, HEIGHT)
  figure.set_layout_engine("constrained", w_pad=0.04, h_pad=0.04)
  left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
  ends = curves.draw_accuracy(left, rows, style.styles_of(rows), 20, all_coloured=True)
  curves.end_labels(left, ends, 80, 35)
  left.text(2, 39, "training\nlengths", va="top", linespacing=1, fontsize=style.SMALL, color="#444444")
  left.text(2, 49.5, "chance", va="top", fontsize=style.SMALL, color=style.BASELINE)
  left.set_title("even_pairs: accuracy (%)", loc="left")
  left.set_xlabel("length")

  tasks = by_task(claims)
  place = 0.0
  middles = []
  hosts: dict[str, str] = {}
  for members in tasks.values():
    styles = style.styles_of([row.side("one") for row in members])
    for row in members:
      one = row.side("one")
      colour = styles[one.text("encoding")].colour
      hosts[one.text("family")] = colour
      right.plot([100 * row.number("low"), 100 * row.number("high")], [place, place], color=colour, linewidth=1.6)
      right.plot(100 * row.number("difference"), place, "o", color=colour, markersize=4)
      place += 1
    middles.append(place - 1 - (len(members) - 1) / 2)
    place += 0.8
  right.axvline(0, color="#333333", linewidth=0.7, zorder=0)
  right.set_yticks(middles, list(tasks))
  right.tick_params(axis="y", length=0)
  right.set_ylim(place - 0.9, -0.9)
  right.set_xlim(*scores.difference_range(claims, with_paper=False))
  right.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
  right.set_title("contiguous DAPE \N{MINUS SIGN} randomized host", loc="right")
  right.set_xlabel("points (95 % interval)")
  right.legend(
    handles=[Line2D([], [], color=c, marker="o", markersize=4, linewidth=1.6, label=h) for h, c in hosts.items()],
    loc="lower right", frameon=False,
  )  # fmt: skip
  for file in page.save([figure], ROOT / "results/committed", "first", ("svg", "png")):
    print(file.relative_to(ROOT))


if __name__ == "__main__":
  main()
