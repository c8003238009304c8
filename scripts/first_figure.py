#!/usr/bin/env python3
"""Draws the first picture of README from the figure data of two committed experiments.

`scripts/committed_results.sh draw all` calls it; the data stand in results/quick and results/claims.
"""

from __future__ import annotations

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))

import che_plots  # noqa: E402

che_plots.set_up()

from che_plots import curves, page, scores, style  # noqa: E402
from che_plots.data import Row, by_task, read_rows  # noqa: E402

SHOWN = ("rope", "randomized_rope", "randomized_kerple", "dape_kerple")
WIDTH, HEIGHT = 106.0, 52.0


def main() -> None:
  quick = read_rows(ROOT / "results/quick/figure-data/accuracy.csv")
  rows = [Row(row, rank="1") for row in quick if row["task"] == "even_pairs" and row["encoding"] in SHOWN]
  claims = read_rows(ROOT / "results/claims/figure-data/differences_by_length.csv")
  claims = [row for row in claims if row["one_encoding"] == "dape_kerple"]

  figure = page.new_figure(WIDTH, HEIGHT)
  figure.set_layout_engine("constrained", w_pad=0.04, h_pad=0.04)
  left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
  ends = curves.draw_accuracy(left, rows, style.styles_of(rows))
  left.set_ylim(18, 102)
  curves.end_labels(left, ends, 80, 35)
  left.text(2, 32, "training\nlengths", va="top", linespacing=1, fontsize=style.SMALL, color="#444444")
  left.text(2, 49.5, "chance", va="top", fontsize=style.SMALL, color=style.CHANCE["color"])
  left.set_title("even_pairs: accuracy (%)")
  left.set_xlabel("length")

  middles = []
  place = 0.0
  for members in by_task(claims).values():
    middles.append(place + (len(members) - 1) / 2)
    for i, row in enumerate(members):
      colour = style.sequential(i, len(members))
      scores.draw_difference(right, row, place, colour)
      if len(middles) == 1 and i in (0, len(members) - 1):  # The first task has room for the test lengths.
        text = f"length {row['length']}" if i == 0 else row["length"]
        right.annotate(text, (100 * row.number("low"), place), (-4, 0), textcoords="offset points",
                       fontsize=style.SMALL, color=colour, va="center", ha="right")  # fmt: skip
      place += 1
    place += 1.2
  scores.difference_axis(right, claims)
  scores.name_rows(right, [])
  right.set_yticks(middles, list(by_task(claims)))
  right.set_ylim(place - 1.6, -0.9)
  right.set_title("contiguous DAPE-Kerple\n\N{MINUS SIGN} randomized Kerple", loc="right")
  right.set_xlabel("points, 95 % interval", loc="right")
  for file in page.save([figure], ROOT / "results/committed", "first", ("svg", "png")):
    print(file.relative_to(ROOT))


if __name__ == "__main__":
  main()
