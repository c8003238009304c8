#!/usr/bin/env python3
"""How far a model of cycle_navigation can walk: its accuracy by the greatest distance from the start of a walk.

    build/che export regular-4/v1 --task cycle_navigation --lengths 41:500:27 --samples 256 --seed 0 -o samples
    examples/walk_distance.py samples/cycle_navigation.jsonl results/NAME/runs/RUN/predictions.jsonl

A run stores its predictions with `evaluation.predictions: true`. A walk is a string of steps back, stay and forward. A model
that keeps the cell of the ring is right at any distance; one that counts steps is right up to where its counter reaches.
Prints CSV: a row for each band of distances and each range of lengths.
"""

import argparse
import itertools
import json
import pathlib
import sys

BAND = 4  # Distances of a row.


def read(path):
  """The header of a file of JSON lines, and its other lines by length and index."""
  header, *rows = map(json.loads, path.read_text().splitlines())
  return header, {(row["length"], row["index"]): row for row in rows}


def distance(steps):
  """The greatest distance from the start during a walk; symbols 0, 1, 2 are back, stay, forward."""
  return max(map(abs, itertools.accumulate(step - 1 for step in steps)))


def main():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("samples", type=pathlib.Path, help="what che export wrote")
  parser.add_argument("predictions", type=pathlib.Path, help="predictions for the same samples")
  arguments = parser.parse_args()
  (header, samples), (predicted, predictions) = read(arguments.samples), read(arguments.predictions)
  for key in ("task", "lengths", "samples", "seed"):
    if header[key] != predicted[key]:
      parser.error(f"{arguments.predictions} is for other samples: {key} {predicted[key]} instead of {header[key]}")
  if header["task"] != "cycle_navigation":
    parser.error(f"{arguments.samples} has samples of {header['task']}; walks are those of cycle_navigation")
  middle = header["lengths"][len(header["lengths"]) // 2]
  counts = {}
  for key, sample in samples.items():
    band = distance(sample["input"]) // BAND
    count = counts.setdefault((band, key[0] >= middle), [0, 0])
    count[0] += 1
    count[1] += predictions[key]["output"] == sample["output"]
  sys.stdout.write("distance_first,distance_last,length_first,length_last,walks,accuracy\n")
  for (band, longer), (walks, right) in sorted(counts.items()):
    lengths = [length for length in header["lengths"] if (length >= middle) == longer]
    row = (band * BAND, band * BAND + BAND - 1, lengths[0], lengths[-1], walks, round(right / walks, 4))
    sys.stdout.write(",".join(map(str, row)) + "\n")


if __name__ == "__main__":
  main()
