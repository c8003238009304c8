"""What the programs that time training steps share: their options, the clock, and the result as JSON."""

import argparse
import json
import pathlib
import resource
import statistics
import time


def parser_of(description, warmup):
  """A parser of the options that these programs have in common; `warmup` is the default of --warmup."""
  parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--task", default="reverse_string", help="what is learned (default reverse_string)")
  parser.add_argument("--length", type=int, default=40, help="of the samples (default 40)")
  parser.add_argument("--width", type=int, default=256, help="features of a token or a hidden state (default 256)")
  parser.add_argument("--batch", type=int, default=128, help="samples of a training step (default 128)")
  parser.add_argument("--steps", type=int, default=10, help="timed steps or batches (default 10)")
  parser.add_argument(
    "--warmup", type=int, default=warmup, help=f"steps before them that do not count (default {warmup})"
  )
  parser.add_argument("--json", type=pathlib.Path, help="also write the result to this file")
  return parser


def report(step, options, **facts):
  """Times calls of `step` after the warm-up, and prints the median in seconds, the memory and `facts`."""
  seconds = []
  for _ in range(options.warmup + options.steps):
    began = time.perf_counter()
    step()
    seconds.append(time.perf_counter() - began)
  result = {
    "step_seconds": statistics.median(seconds[options.warmup :]),
    "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    **facts,
  }
  print(json.dumps(result))
  if options.json:
    options.json.write_text(json.dumps(result) + "\n")
