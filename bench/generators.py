#!/usr/bin/env python3
"""Compares the time of a batch from che_tasks with the published Python generators of the same tasks.

    pip install . jax chex dm-tree tqdm
    git clone https://github.com/google-deepmind/neural_networks_chomsky_hierarchy
    bench/generators.py neural_networks_chomsky_hierarchy

Both draw batches alternately on one core; times are processor time, ratios medians over neighbouring measurements. The published generators return
one-hot vectors: "che, one-hot" is a batch of che_tasks turned into the same float32 arrays with numpy. Compilation by JAX is not
in the times.
"""

import argparse
import importlib
import os
import pathlib
import platform
import statistics
import sys
import time
import types

# Name in che; module and class of the published program, and its arguments as its training script has them.
TASKS = [
    ("modular_arithmetic_brackets", "dcf.modular_arithmetic_brackets", "ModularArithmeticBrackets", {"mult": True}),
    ("solve_equation", "dcf.solve_equation", "SolveEquation", {}),
    ("stack_manipulation", "dcf.stack_manipulation", "StackManipulation", {}),
    ("missing_duplicate", "cs.missing_duplicate_string", "MissingDuplicateString", {}),
    ("binary_addition", "cs.binary_addition", "BinaryAddition", {}),
    ("parity_check", "regular.parity_check", "ParityCheck", {}),
]
PUBLISHED = "neural_networks_chomsky_hierarchy"


def processor():
  for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
    if line.startswith("model name"):
      return line.partition(":")[2].strip()
  return platform.machine()


def open_published(checkout):
  """Makes the modules of a checkout importable under their package's name, whatever its folder is called."""
  package = types.ModuleType(PUBLISHED)
  package.__path__ = [str(checkout)]
  sys.modules[PUBLISHED] = package


def seconds(draw, batches):
  """Of processor time for one batch, mean over `batches`: other load on the machine does not count."""
  start = time.process_time()
  for _ in range(batches):
    draw()
  return (time.process_time() - start) / batches


def published_draw(module, name, arguments, batch_size, length):
  import jax
  task = getattr(importlib.import_module(f"{PUBLISHED}.tasks.{module}"), name)(**arguments)
  keys = iter(jax.random.split(jax.random.PRNGKey(0), 10_000))
  return lambda: jax.block_until_ready(task.sample_batch(next(keys), batch_size, length))


def che_draws(name, batch_size, length):
  """Draws of symbol ids, and of the same as one-hot vectors."""
  import che_tasks
  import numpy as np
  task = next(task for task in che_tasks.list_tasks() if task.name == name)
  batches = che_tasks.iter_batches(name, batch_size=batch_size, first_length=length, last_length=length)
  inputs, outputs = (np.eye(len(symbols), dtype=np.float32) for symbols in (task.input_symbols, task.output_symbols))

  def one_hot():
    batch = next(batches)
    return inputs[batch.input], outputs[batch.output]

  return lambda: next(batches), one_hot


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("checkout", type=pathlib.Path, help=f"of google-deepmind/{PUBLISHED}")
  parser.add_argument("--length", type=int, default=40, help="of the samples (default 40)")
  parser.add_argument("--batch-size", type=int, default=128, help="samples of a batch (default 128)")
  parser.add_argument("--repetitions", type=int, default=15, help="alternating measurements (default 15)")
  parser.add_argument("--core", type=int, default=0, help="core to run on (default 0)")
  options = parser.parse_args()
  if min(options.length, options.batch_size, options.repetitions) < 1:
    parser.error("--length, --batch-size and --repetitions: allowed: numbers from 1 on")
  if not (options.checkout / "tasks/task.py").is_file():
    parser.error(f"{options.checkout} has no tasks/task.py; name a checkout of google-deepmind/{PUBLISHED}")
  os.sched_setaffinity(0, {options.core})  # Before JAX starts its threads.
  open_published(options.checkout)

  print(f"Batches of {options.batch_size} samples of length {options.length}, processor time on one core of {processor()}, "
        f"medians of {options.repetitions} alternating measurements.\n")
  print("| task | published ms | che ms | che, one-hot ms | published / che | published / che, one-hot |")
  print("|---|--:|--:|--:|--:|--:|")
  for name, module, published_name, arguments in TASKS:
    published = published_draw(module, published_name, arguments, options.batch_size, options.length)
    ids, one_hot = che_draws(name, options.batch_size, options.length)
    for draw in (published, ids, one_hot):
      draw()  # Compiles, and warms up.
    # As many batches of che in one measurement as take about 20 ms.
    batches = max(1, round(0.02 / seconds(one_hot, 20)))
    rows = [(seconds(published, 3), seconds(ids, batches), seconds(one_hot, batches)) for _ in range(options.repetitions)]
    times = [1e3 * statistics.median(row[i] for row in rows) for i in range(3)]
    ratios = [statistics.median(row[0] / row[i] for row in rows) for i in (1, 2)]
    print(f"| {name} | {times[0]:.2f} | {times[1]:.3f} | {times[2]:.3f} | {ratios[0]:.0f} | {ratios[1]:.0f} |", flush=True)


if __name__ == "__main__":
  main()
