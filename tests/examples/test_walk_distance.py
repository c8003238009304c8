#!/usr/bin/env python3
"""Runs examples/walk_distance.py on walks that che exports and on predictions that are right up to a distance.

test_walk_distance.py CHE_PROGRAM
"""

import csv
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples/walk_distance.py"
REACH = 8  # Where the predictions begin to be wrong; a multiple of the example's bands.
RING = 5  # Cells of the ring.


def main():
  program = sys.argv[1]
  with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    export = [program, "export", "regular-4/v1", "--task", "cycle_navigation", "--lengths", "5:40:7", "--samples", "64"]
    subprocess.run([*export, "--seed", "0", "-o", folder], check=True, stdout=subprocess.DEVNULL)
    samples = folder / "cycle_navigation.jsonl"
    header, *rows = map(json.loads, samples.read_text().splitlines())
    reached = 0
    for row in rows:
      places = list(itertools.accumulate(step - 1 for step in row["input"]))
      # The symbols are steps back, stay and forward, and the answer is the cell where the walk ends.
      assert row["output"] == [places[-1] % RING], row
      is_right = max(map(abs, places)) < REACH
      reached += is_right
      row["output"] = [(row["output"][0] + (not is_right)) % RING]
    predictions = folder / "predictions.jsonl"

    def run(**changes):
      lines = [json.dumps({**header, **changes}), *map(json.dumps, rows)]
      predictions.write_text("".join(line + "\n" for line in lines))
      return subprocess.run([sys.executable, EXAMPLE, samples, predictions], capture_output=True, text=True)

    table = list(csv.DictReader(run().stdout.splitlines()))
    assert sum(int(row["walks"]) for row in table) == len(rows)
    assert sum(int(row["walks"]) for row in table if int(row["distance_last"]) < REACH) == reached
    for row in table:
      assert float(row["accuracy"]) == (int(row["distance_last"]) < REACH), row
    # Lengths in two halves, of which the longer walks lead farther.
    assert {(row["length_first"], row["length_last"]) for row in table} == {("5", "19"), ("26", "40")}, table
    refused = run(seed=1)
    assert refused.returncode == 2 and "is for other samples: seed 1 instead of 0" in refused.stderr, refused


if __name__ == "__main__":
  main()
