"""Draws figures: `python3 -m che_plots results/quick`. `che plot` writes the data and calls this."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

FORMATS = ("svg", "pdf", "png")
FIGURES = ("accuracy", "differences", "map", "runs", "learning", "steps", "effects")


def words_of(allowed: Sequence[str]) -> type[argparse.Action]:
  """An option with several words, separated by commas."""

  class Words(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object,
                 option_string: str | None = None) -> None:  # fmt: skip
      words = str(values).split(",")
      for word in words:
        if word not in allowed:
          parser.error(f"{option_string}: got '{word}'; allowed: {', '.join(allowed)}")
      setattr(namespace, self.dest, words)

  return Words


def arguments() -> argparse.Namespace:
  parser = argparse.ArgumentParser(prog="python3 -m che_plots", description=__doc__)
  parser.add_argument("source", type=pathlib.Path, help="a folder with figure-data/*.csv, or a CSV file of `che bias`")
  parser.add_argument("--figure", action=words_of(FIGURES), help="which to draw; all that have data unless given")
  parser.add_argument("--format", action=words_of(FORMATS), default=FORMATS, help="svg, pdf, png; all unless given")
  parser.add_argument("--width", type=float, default=140, help="width in mm (140)")
  parser.add_argument("--query", type=int, default=0, help="of a bias: the query of the lines")
  parser.add_argument("--output-from", type=int, default=0, help="of a bias: the first token of the output")
  parser.add_argument("--title", default="", help="of a bias: what it belongs to")
  return parser.parse_args()


def main() -> int:
  options = arguments()
  try:
    import matplotlib
  except ImportError:
    print("matplotlib is missing; install it (Debian: apt-get install python3-matplotlib; or: pip install matplotlib)",
          file=sys.stderr)  # fmt: skip
    return 1
  from che_plots import bias, curves, page, scores, style
  from che_plots.data import read_rows

  matplotlib.use("agg")
  matplotlib.rcParams.update(style.RC)
  source: pathlib.Path = options.source
  if source.suffix == ".csv":
    values = bias.Bias(source)
    sheets = {
      f"{source.stem}-query{options.query}": bias.one_query(
        values, options.query, options.output_from, options.title or source.stem, options.width
      ),
      f"{source.stem}-map": bias.all_queries(values, options.output_from, options.title or source.stem, options.width),
    }
    folder = source.parent
  else:
    draw = {
      "accuracy": curves.accuracy, "differences": scores.differences, "map": scores.score_map, "runs": scores.runs,
      "learning": curves.learning, "steps": curves.steps, "effects": curves.effects,
    }  # fmt: skip
    folder = source
    files = {name: source / "figure-data" / f"{name}.csv" for name in options.figure or FIGURES}
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
