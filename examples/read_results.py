#!/usr/bin/env python3
"""Reads the CSV files of a results folder with pandas: the scores as a table, and accuracy by test length.

    pip install pandas && examples/read_results.py results/quick

`che report results/quick` writes the files that it reads, lengths.csv and table.csv.
"""

import argparse
import pathlib

import pandas


def best_scores(lengths):
  """One row per task, one column per encoding: the score of the best run, as `che table` prints it."""
  runs = lengths.groupby(["task", "encoding", "run"])["accuracy"].mean()
  return runs.groupby(["task", "encoding"]).max().unstack()


def accuracy_by_length(lengths, task):
  """One row per test length, one column per encoding: the mean over the runs."""
  rows = lengths[lengths["task"] == task]
  return rows.pivot_table(index="length", columns="encoding", values="accuracy", aggfunc="mean")


def main():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("folder", type=pathlib.Path, help="folder of an experiment, results/<name>")
  parser.add_argument("--task", help="task whose accuracy by length is shown (default: the first)")
  arguments = parser.parse_args()
  if not (arguments.folder / "lengths.csv").is_file():
    parser.error(f"{arguments.folder} has no lengths.csv; `che report {arguments.folder}` writes it")
  lengths = pandas.read_csv(arguments.folder / "lengths.csv")
  lengths = lengths[lengths["in_score"] == "yes"]  # Others are further lengths, or of other samples.
  tasks = sorted(lengths["task"].unique())
  if arguments.task and arguments.task not in tasks:
    parser.error(f"--task {arguments.task}: no results; tasks: {', '.join(tasks)}")
  scores = best_scores(lengths)
  print("Scores of the best runs, in percent:")
  print((100 * scores).round(1).to_string(na_rep="--"))

  task = arguments.task or scores.index[0]
  print(f"\nAccuracy on {task} by test length, mean over runs, in percent:")
  by_length = accuracy_by_length(lengths, task)
  print((100 * by_length.iloc[:: max(1, len(by_length) // 8)]).round(1).to_string(na_rep="--"))

  table = pandas.read_csv(arguments.folder / "table.csv").set_index(["task", "encoding"])["score"]
  difference = (scores.stack() - table).abs().max()
  print(f"\nLargest difference from the scores of table.csv: {difference:.1e}")


if __name__ == "__main__":
  main()
