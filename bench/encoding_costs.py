#!/usr/bin/env python3
"""Measures what each encoding costs beside `none`: time and memory of a training step and of an evaluated batch.

    bench/encoding_costs.py [--repetitions N] [--steps N] [--filter TEXT] [--output FOLDER]

Needs a built che (scripts/setup.sh). A turn measures every encoding, and DAPE around each that takes it, one after the other
on one core, in a process for each number. Times are medians over the turns, and ratios medians of those to `none` in the same
turn. It writes encodings.csv and encodings.md.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

CHE = "build/che"
TASK = "even_pairs"
# Length and further words of `che bench` for each kind of work.
WORK = {"training": (40, []), "evaluation": (200, ["--evaluate"])}
# Forms that cost something else than the encoding itself: name, encoding, settings.
FORMS = [
  ("fox, start: cable", "fox", ["encoding.start=cable"]),
  ("kerple, kind: power", "kerple", ["encoding.kind=power"]),
  ("rope, attention_scale: ssmax", "rope", ["encoding.attention_scale=ssmax"]),
  ("rope, window: 16", "rope", ["encoding.window=16"]),
  ("dape_kerple, kernel: 1x3", "dape_kerple", ["encoding.dape.kernel=1x3"]),
]


def che(*words):
  environment = dict(os.environ, OMP_NUM_THREADS="1")
  return subprocess.run(["taskset", "-c", "0", CHE, *words], check=True, capture_output=True, text=True, env=environment).stdout


def forms():
  """`none` first, then every encoding by name with DAPE around it where it can be, and the forms above."""
  rows = [line.split() for line in che("list", "encodings").splitlines()[1:]]
  listed = [row[0] for row in rows] + [f"dape_{row[0]}" for row in rows if row[2] == "yes"]
  listed.sort(key=lambda name: (name != "none", name.removeprefix("dape_"), name))
  return [(name, name, []) for name in listed] + FORMS


def measured(form, kind, steps, width):
  _, encoding, settings = form
  length, words = WORK[kind]
  with tempfile.NamedTemporaryFile(suffix=".json") as file:
    che("bench", "--task", TASK, "--length", str(length), "--steps", str(steps), "--encoding", encoding, "--json", file.name,
        f"model.width={width}", *words, *settings)
    row = json.loads(pathlib.Path(file.name).read_text())["rows"][0]
  return row["milliseconds"], row["peak_mib"]


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--repetitions", type=int, default=3, help="turns (default 3)")
  parser.add_argument("--steps", type=int, default=2, help="timed steps or batches of a process (default 2)")
  parser.add_argument("--width", type=int, default=256, help="features of a token (default 256)")
  parser.add_argument("--filter", default="", help="only encodings with this text, and none")
  parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("results/committed/speed"), help="folder to write to")
  options = parser.parse_args()
  chosen = [form for form in forms() if options.filter in form[0] or form[0] == "none"]
  turns = []
  for turn in range(options.repetitions):
    turns.append({(form[0], kind): measured(form, kind, options.steps, options.width) for form in chosen for kind in WORK})
    print(f"turn {turn + 1} of {options.repetitions} is measured", flush=True)
  rows = []
  for form in chosen:
    row = {"encoding": form[0]}
    for kind in WORK:
      numbers = [turn[form[0], kind] for turn in turns]
      row[f"{kind}_ms"] = round(statistics.median(number[0] for number in numbers), 1)
      row[f"{kind}_ratio"] = round(statistics.median(turn[form[0], kind][0] / turn["none", kind][0] for turn in turns), 2)
      row[f"{kind}_mib"] = round(statistics.median(number[1] for number in numbers))
    rows.append(row)
  lines = ["| encoding | training ms | of none | MiB | evaluation ms | of none | MiB |", "|---|--:|--:|--:|--:|--:|--:|"]
  written = {"ms": "{:,.0f}", "ratio": "{:.2f}", "mib": "{:,}", "encoding": "{}"}
  lines += [f"| {' | '.join(written[key.split('_')[-1]].format(value) for key, value in row.items())} |" for row in rows]
  model = next(line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
  lines += [
    "",
    f"Medians of {options.repetitions} turns, {options.steps} steps each, one thread ({model.split(': ', 1)[1]}); d = {options.width}. "
    f"Training is a step of 128 samples of {TASK} of length {WORK['training'][0]}, evaluation a batch of 64 of length "
    f"{WORK['evaluation'][0]}. {che('--version').strip()}, {datetime.date.today()}.",
  ]
  options.output.mkdir(parents=True, exist_ok=True)
  with (options.output / "encodings.csv").open("w", newline="") as file:
    writer = csv.DictWriter(file, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
  (options.output / "encodings.md").write_text("\n".join(lines) + "\n")
  print("\n".join(lines))


if __name__ == "__main__":
  main()
