#!/usr/bin/env python3
"""Proves that a killed che leaves nothing that its next call does not mend.

    kills.py CHE [KILLS] [SEED] [--of tasks|texts]     (default: 100 kills, of both in turn)

Sweeps on a task and on a text, `evaluate`, `prune`, `run --retrain`, `report` and `plot` are killed at random moments: the
whole process group, the scheduler only, one worker, or stopped and continued. The same command is then run again, and every
file of the runs is compared with those of an undisturbed series: evaluation.csv, windows.csv, positions.csv,
config.yaml and the checkpoints byte by byte, metrics.csv and TensorBoard's event file without their wall-clock columns. Of the report and the
figures only the names are compared, and no temporary file may be left. Checkpoints are written after every step, so that
checkpoint.previous.bin does not depend on the clock; log.every_steps does not divide the steps, and runs train in pairs,
which a kill may part. With 50 kills or more half of them are of computations with one thread, and all others with two.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

CONFIG = """
name: sweep
base:
  task: reverse_string
  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}
  training: {steps: 40, batch_size: 4, last_length: 6}
  evaluation: {first_length: 7, last_length: 30, samples: 64}
  execution: {checkpoint_seconds: 0, replicas: 2, threads: %d}
  log: {every_steps: 7, tensorboard: true}
axes:
  encoding: [rope, dape_kerple]
  seed: [0, 1]
"""
TEXT_CONFIG = """
name: sweep
base:
  text: austen
  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}
  training: {steps: 40, batch_size: 4, first_length: 16, last_length: 16}
  evaluation: {lengths: [16, 20, 24, 28, 32], last: 8, samples: 64, curve: true}
  execution: {checkpoint_seconds: 0, replicas: 2, threads: %d}
  log: {every_steps: 7, validation_steps: 7, tensorboard: true}
axes:
  encoding: [rope, dape_kerple]
  seed: [0, 1]
"""
# A config, the test lengths that `run --retrain` sets, and a figure.
CONFIGS = {"tasks": (CONFIG, "evaluation.last_length=33", "runs"),
           "texts": (TEXT_CONFIG, "evaluation.lengths=[16, 20, 24, 28, 32, 36]", "perplexity")}
SWEEP_KILLS = ("group", "scheduler", "worker", "workers", "stop")
MANY_KILLS = 50
# One kill in each of these for every three of a sweep.
COMMANDS = ("evaluate", "prune", "retrain", "report", "plot")


class Failure(Exception):
  pass


def say(text):
  print(f"kills: {text}", flush=True)


def event_records(data):
  """The records of an event file without the time at which they were made (Event.wall_time, the first field)."""
  records = []
  while data:
    (length,) = struct.unpack_from("<Q", data)
    record = data[12:12 + length]
    if record[0] != 0x09:
      raise Failure("an event does not begin with its wall time")
    records.append(record[9:])
    data = data[16 + length:]
  return records


def content_of(path, in_run):
  """What must not depend on the clock; None for files that hold nothing but clock and host."""
  name = path.name
  if name.startswith("lock.") or ".replaced" in name:
    return None
  if not in_run:
    return "present"
  if name == "metrics.csv":
    with open(path, newline="") as file:
      rows = list(csv.DictReader(file))
    return [{key: row[key] for key in row if key not in ("seconds", "checksum")} for row in rows]
  if name == "status.json":
    status = json.loads(path.read_text())
    return {key: status[key] for key in ("state", "step", "error")}
  if name.startswith("events.out"):
    return event_records(path.read_bytes())
  return path.read_bytes()


def snapshot(folder):
  files = {}
  for path in sorted(folder.rglob("*")):
    content = content_of(path, path.is_relative_to(folder / "runs")) if path.is_file() else None
    if content is not None:
      files[str(path.relative_to(folder))] = content
  return files


def expect_same(expected, folder, what):
  actual = snapshot(folder)
  wrong = [name for name in sorted(expected.keys() | actual.keys()) if expected.get(name) != actual.get(name)]
  if wrong:
    raise Failure(f"{what}: differs from the undisturbed series: {', '.join(wrong[:5])} ({len(wrong)} files)")


def children(pid):
  try:
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
  except OSError:
    return []


def send(pid, number):
  try:
    os.kill(pid, number)
  except ProcessLookupError:
    pass


class Series:
  """The kills of one config, next to the same commands without any."""

  def __init__(self, program, work, kind, threads, rng):
    self.program, self.work, self.rng = program, work / f"{kind}-threads{threads}", rng
    self.work.mkdir()
    config, self.lengths, self.figure = CONFIGS[kind]
    (self.work / "sweep.yaml").write_text(config % threads)
    self.seconds = {}
    self.kills = 0
    # The folders that the commands are given, and what they make of them.
    self.finished = self.make("finished", "run", None)
    self.pruned = self.make("pruned", "prune", self.finished)
    self.expected = {"run": snapshot(self.finished), "prune": snapshot(self.pruned)}
    for command, start in (("evaluate", self.finished), ("retrain", self.pruned), ("report", self.finished),
                           ("plot", self.finished)):
      self.expected[command] = snapshot(self.make(command, command, start))

  def arguments(self, command, folder):
    sweep = ["run", str(self.work / "sweep.yaml"), "--output", str(folder), "--workers", "2"]
    return {
        "run": sweep,
        "retrain": [*sweep, self.lengths, "--retrain"],
        "evaluate": ["evaluate", str(folder), "--lengths", "40:60:5", "--samples", "64", "--workers", "2"],
        "prune": ["prune", str(folder)],
        "report": ["report", str(folder)],
        "plot": ["plot", str(folder), "--figure", self.figure, "--format", "svg", "--output", str(folder / "figures")],
    }[command]

  def make(self, name, command, start):
    """Runs the command on a copy of `start`, measures it and returns the folder."""
    folder = self.work / name
    if start:
      shutil.copytree(start, folder)
    begin = time.monotonic()
    self.finish(command, folder)
    self.seconds[command] = time.monotonic() - begin
    return folder

  def finish(self, command, folder):
    """The command, undisturbed."""
    done = subprocess.run([self.program, *self.arguments(command, folder)], capture_output=True, text=True,
                          timeout=900, check=False)
    if done.returncode != 0:
      raise Failure(f"{command} exits with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-500:]}")
    if ".damaged" in done.stdout + done.stderr:
      raise Failure(f"{command} found a damaged file: {done.stdout[-1500:]}")

  def disturb(self, command, folder, how):
    """Starts the command and kills it at a random moment; returns whether a process was there to be killed."""
    process = subprocess.Popen([self.program, *self.arguments(command, folder)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(self.rng.uniform(0, self.seconds[command]))
    is_running = process.poll() is None
    workers = children(process.pid)
    # Workers of a killed scheduler are told by the system, and end after their step.
    victims = {
        "group": [process.pid, *workers],
        "scheduler": [process.pid],
        "worker": workers[:1],
        "workers": workers,
        "stop": [pid for pid in (process.pid, *workers) if self.rng.random() < 0.7],
    }[how] if is_running else []
    for pid in victims:
      send(pid, signal.SIGSTOP if how == "stop" else signal.SIGKILL)
    if how == "stop":
      time.sleep(self.rng.uniform(0, 0.5))
      for pid in victims:
        send(pid, signal.SIGCONT)
    try:
      process.wait(timeout=900)
    except subprocess.TimeoutExpired:
      os.killpg(process.pid, signal.SIGKILL)
      raise Failure(f"{command}, killed by {how}: it has not ended 900 s later") from None
    return bool(victims)

  def kill_sweep(self, hows):
    """Kills one sweep several times before it is left alone."""
    folder = self.work / "killed"
    for how in hows:
      if self.disturb("run", folder, how):
        self.kills += 1
    self.finish("run", folder)
    self.check("run", folder, "/".join(hows))

  def kill_command(self, command):
    folder = self.work / "killed"
    shutil.copytree(self.pruned if command == "retrain" else self.finished, folder)
    how = self.rng.choice(("group", "scheduler", "worker")) if command in ("evaluate", "retrain") else "group"
    if self.disturb(command, folder, how):
      self.kills += 1
    self.finish(command, folder)
    self.check(command, folder, how)

  def check(self, command, folder, how):
    expect_same(self.expected[command], folder, f"{command}, killed by {how}")
    left = [str(path) for path in folder.rglob(".*")]
    if left:
      raise Failure(f"{command}, killed by {how}: temporary files are left: {left}")
    shutil.rmtree(folder)


def main():
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("che", type=pathlib.Path)
  parser.add_argument("kills", type=int, nargs="?", default=100)
  parser.add_argument("seed", type=int, nargs="?", help="makes a series of kills repeatable")
  parser.add_argument("--of", choices=CONFIGS, help="sweeps on tasks or on texts alone")
  arguments = parser.parse_args()
  program = str(arguments.che.resolve())
  kills = arguments.kills
  seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
  kinds = [arguments.of] if arguments.of else list(CONFIGS)
  say(f"{kills} kills of {' and '.join(kinds)}, seed {seed}")
  rng = random.Random(seed)
  start = time.monotonic()
  work = pathlib.Path(tempfile.mkdtemp(prefix="che-kills-"))
  try:
    series = [Series(program, work, kind, threads, rng)
              for threads in ((1, 2) if kills >= MANY_KILLS else (2,)) for kind in kinds]
    say("undisturbed: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in series[0].seconds.items()))
    turn = 0
    while sum(one.kills for one in series) < kills:
      one = series[turn % len(series)]
      one.kill_sweep(rng.sample(SWEEP_KILLS, 3))
      one.kill_command(COMMANDS[turn % len(COMMANDS)])
      turn += 1
      if turn % 5 == 0:
        say(f"{sum(one.kills for one in series)} kills in {time.monotonic() - start:.0f} s")
  except Failure as failure:
    say(f"FAILED with seed {seed} after {time.monotonic() - start:.0f} s: {failure}; the folders are in {work}")
    return 1
  say(f"{sum(one.kills for one in series)} kills, seed {seed}: the files of every run are those of an undisturbed series "
      f"({time.monotonic() - start:.0f} s)")
  shutil.rmtree(work)
  return 0


if __name__ == "__main__":
  sys.exit(main())
