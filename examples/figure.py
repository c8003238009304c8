#!/usr/bin/env python3
"""A figure of one's own from the data that `che plot` writes: accuracy over length on one task.

examples/figure.py results/quick even_pairs figure.pdf
"""

import csv
import sys

from matplotlib import pyplot

folder, task, output = sys.argv[1:]
lines: dict[str, list[tuple[float, float]]] = {}
with open(f"{folder}/figure-data/accuracy.csv", newline="") as file:
  for row in csv.DictReader(file):
    if row["task"] == task:
      lines.setdefault(row["label"], []).append((float(row["length"]), 100 * float(row["accuracy"])))

figure, axes = pyplot.subplots(figsize=(5.5, 3), layout="constrained")
for label, points in lines.items():
  axes.plot(*zip(*points), marker="o", markersize=3, label=label)
axes.set(xlabel="length", ylabel="accuracy (%)", title=task)
axes.legend(fontsize=7)
figure.savefig(output)
