"""Draws figures: `python3 -m che_plots results/quick`. `che plot` writes the data and calls this."""

from __future__ import annotations

import argparse
import pathlib
import sys

from che_plots import set_up

FORMATS = ("svg", "pdf", "png")
FIGURES = ("accuracy", "differences", "map", "runs", "learning", "perplexity", "positions", "steps",
           "effects")  # fmt: skip


def arguments() -> argparse.Namespace:
  parser = argparse.ArgumentParser(prog="python3 -m che_plots", description=__doc__)
  add = parser.add_argument
  add("source", type=pathlib.Path, help="a folder with figure-data/*.csv, or a CSV file of `che bias`")
  add("--figure", nargs="+", choices=FIGURES, help="figures to draw; all that have data unless given")
  add("--format", nargs="+", choices=FORMATS, default=FORMATS, help="all unless given")
  add("--width", type=float, default=140, help="width in mm (140)")
  add("--query", type=int, default=0, help="for a bias: the query whose lines are drawn")
  add("--trained", type=int, default=0, help="for a bias of a text: the tokens of a window of training")
  add("--title", default="", help="for a bias: the run and the sample")
  return parser.parse_args()


def main() -> int:
  options = arguments()
  set_up()
  from che_plots import bias, curves, page, scores
  from che_plots.data import read_rows

  folder: pathlib.Path = options.source
  if folder.suffix == ".csv" and not folder.is_dir():
    stem, folder = folder.stem, folder.parent
    values = bias.Bias(options.source, options.title or stem)
    sheets = {f"{stem}-query{options.query}": bias.one_query(values, options.query, options.width, options.trained)}
    if len(values.queries) > 1:
      sheets[f"{stem}-map"] = bias.all_queries(values, options.width)
  else:
    draw = dict(zip(FIGURES, (curves.accuracy, scores.differences, scores.score_map, scores.runs,
                              curves.learning, curves.perplexity, curves.positions, curves.steps,
                              curves.effects)))  # fmt: skip
    files = {name: folder / "figure-data" / f"{name}.csv" for name in options.figure or FIGURES}
    missing = [str(file) for file in files.values() if not file.is_file()]
    if missing if options.figure else len(missing) == len(files):
      print(f"{missing[0]} is missing; `che plot` writes it", file=sys.stderr)
      return 1
    sheets = {name: draw[name](read_rows(file), options.width) for name, file in files.items() if file.is_file()}
  for stem, sheet in sheets.items():
    for file in page.save(page.pages(sheet, options.width), folder, stem, options.format):
      print(file)
  return 0


if __name__ == "__main__":
  sys.exit(main())
