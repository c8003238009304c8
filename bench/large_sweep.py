#!/usr/bin/env python3
"""Measures what a large sweep costs besides its training.

    bench/large_sweep.py BUILD_FOLDER [RUNS]     (default: 10,000 runs)

Makes a results folder of that many runs, most of them finished, and measures time and peak memory of the commands that look at
all of them. Then it trains small runs of 100 and of 2,100 steps, and says what a run costs besides its steps.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

LARGE = """
name: large
base:
  model: {width: 64, layers: 2, heads: 8}
  training: {steps: 2000, batch_size: 32, last_length: 16}
  evaluation: {first_length: 17, last_length: 80, samples: 512}
  log: {every_steps: 100}
axes:
  task: [even_pairs, parity_check, cycle_navigation, stack_manipulation, reverse_string, duplicate_string, missing_duplicate,
         odds_first, bucket_sort, solve_equation]
  encoding: [none, sin_cos, rope, alibi, kerple, fire, randomized_rope, randomized_alibi, dape_kerple, dape_alibi]
  seed: 0:%d
"""

SMALL = """
name: small
base:
  task: even_pairs
  model: {width: 16, layers: 1, heads: 2}
  training: {steps: %d, batch_size: 8, last_length: 8}
  evaluation: {first_length: 9, last_length: 12, samples: 64}
axes:
  encoding: [none]
  seed: 0:%d
"""
SMALL_RUNS = 6


def measure(words):
  """Wall seconds, processor seconds and peak MiB of a command."""
  begin = time.monotonic()
  with open(os.devnull, "w") as nowhere:
    process = subprocess.Popen([str(word) for word in words], stdout=nowhere)
    _, status, usage = os.wait4(process.pid, 0)
  seconds = time.monotonic() - begin
  if status:
    sys.exit(f"large_sweep: {words} ends with status {status}")
  return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
  build = pathlib.Path(sys.argv[1]).resolve()
  runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
  che = build / "che"
  with tempfile.TemporaryDirectory(prefix="che-large-") as scratch:
    folder = pathlib.Path(scratch)
    (folder / "large.yaml").write_text(LARGE % (max(1, runs // 100) - 1))
    results = folder / "results"
    subprocess.run([build / "large_sweep", folder / "large.yaml", results], check=True)
    print(f"{'command':<32} {'wall s':>8} {'cpu s':>8} {'MiB':>8}")
    for name, words in {
        "che status": ["status", results],
        "che table": ["table", results],
        "che table --lengths": ["table", results, "--lengths", "--format", "csv"],
        "che run --list": ["run", folder / "large.yaml", "-o", results, "--list"],
        "che submit --slurm --print": ["submit", folder / "large.yaml", "-o", results, "--slurm", "--print"],
    }.items():
      wall, cpu, memory = measure([che, *words])
      print(f"{name:<32} {wall:>8.2f} {cpu:>8.2f} {memory:>8.0f}")

    # What does not grow with the steps: processes, files, evaluation of four lengths. Processor time, as other load does not
    # change it.
    def seconds_a_run(steps):
      (folder / "small.yaml").write_text(SMALL % (steps, SMALL_RUNS - 1))
      _, cpu, _ = measure([che, "run", folder / "small.yaml", "-o", folder / f"small{steps}", "-w", "1"])
      return cpu / SMALL_RUNS

    few, many = seconds_a_run(100), seconds_a_run(2100)
    overhead = few - 100 * (many - few) / 2000
    print(f"che run: {overhead:.2f} processor seconds a run besides its steps, {100 * overhead / 60:.1f} % of a run of a minute")


if __name__ == "__main__":
  main()
