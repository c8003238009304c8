#!/usr/bin/env python3
"""Lets processes of two hosts contend for locks and for runs.

    two_hosts.py CHE LOCK_CONTENDER [ROUNDS]     (default: 100 rounds)

The hosts are two UTS namespaces of this machine with names of their own; what tells one start of a system from
another cannot differ between them, and is given to the contenders. Tests:
  - of processes that start at once, on both hosts, one at a time has the lock;
  - the lock of a host that stopped is taken over once, when its heartbeat has ended, and not before;
  - two `che run` of one sweep at once: one works, the other is refused with the holder's name, and no row is lost;
  - a run that was taken over writes nothing more.
"""

import csv
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "survival"))
from kills import Failure  # noqa: E402
from processes import run_together  # noqa: E402

HOSTS = ("che-node1", "che-node2")
DEAD_SECONDS = 1.2
CONFIG = """
name: sweep
base:
  task: reverse_string
  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}
  training: {steps: %d, batch_size: 4, last_length: 6}
  evaluation: {first_length: 7, last_length: 12, samples: 64}
  execution: {checkpoint_seconds: 2}
axes:
  encoding: [rope, none]
"""


def say(text):
  print(f"two_hosts: {text}", flush=True)


def on_host(host, words):
  """The command line that runs `words` on a host; exec keeps the process' number."""
  rights = [] if os.geteuid() == 0 else ["--map-root-user"]
  return ["unshare", "--uts", *rights, "sh", "-c", 'hostname "$0" && exec "$@"', HOSTS[host], *[str(word) for word in words]]


def contend(contender, folder, hosts, work=5, hang=False):
  words = [contender, folder, None, DEAD_SECONDS, work] + (["--hang"] if hang else [])
  return [subprocess.Popen(on_host(host, [*words[:2], f"boot{host}", *words[3:]])) for host in hosts]


def log_of(folder):
  return [line.split() for line in (folder / "log").read_text().splitlines()]


def check_one_at_a_time(folder, expected):
  """Every begin is followed by the end of the same process."""
  lines = log_of(folder)
  pairs = list(zip(lines[::2], lines[1::2]))
  if len(lines) % 2 or any(a[0] != "begin" or b[0] != "end" or a[1] != b[1] for a, b in pairs):
    raise Failure(f"two holders at once: {lines}")
  if len(pairs) != expected:
    raise Failure(f"{len(pairs)} of {expected} processes got the lock: {lines}")


def test_contested_starts(contender, work, rounds, rng):
  for number in range(rounds):
    folder = work / f"start{number}"
    folder.mkdir()
    hosts = [rng.randrange(2) for _ in range(rng.choice((2, 3, 4)))]
    processes = contend(contender, folder, hosts)
    if any(process.wait(60) for process in processes):
      raise Failure(f"a contender failed: {log_of(folder)}")
    check_one_at_a_time(folder, len(hosts))
  say(f"{rounds} contested starts: one holder at a time")


def test_contested_takeovers(contender, work, rounds, rng):
  for number in range(rounds):
    folder = work / f"takeover{number}"
    folder.mkdir()
    contend(contender, folder, [0], hang=True)[0].wait(60)
    stopped = time.monotonic()
    hosts = [1] * rng.choice((2, 3, 4))
    processes = contend(contender, folder, hosts)
    while len(log_of(folder)) == 1:
      if time.monotonic() - stopped > 30:
        raise Failure("nobody took the lock of a host that stopped")
      time.sleep(0.002)
    waited = time.monotonic() - stopped
    if waited < DEAD_SECONDS - 0.3:  # The file system's clock ticks.
      raise Failure(f"taken over after {waited:.2f} s, before the heartbeat's end")
    if any(process.wait(60) for process in processes):
      raise Failure(f"a contender failed: {log_of(folder)}")
    (folder / "log").write_text("".join((folder / "log").read_text().splitlines(True)[1:]))
    check_one_at_a_time(folder, len(hosts))
  say(f"{rounds} contested takeovers: one each, after the heartbeat's end")


def evaluations(folder):
  files = {path.parent.name: path.read_bytes() for path in folder.glob("runs/*/evaluation.csv")}
  for name, content in files.items():
    if len(list(csv.reader(content.decode().splitlines()))) != 7:
      raise Failure(f"{name}: rows are lost")
  return files


def test_two_sweeps(program, work):
  (work / "short.yaml").write_text(CONFIG % 40)
  subprocess.run([program, "run", work / "short.yaml", "-o", work / "straight", "-w", "1"], check=True, capture_output=True)
  words = [program, "run", work / "short.yaml", "-o", work / "both", "-w", "1"]
  both = run_together([on_host(host, words) for host in (0, 1)], 120)
  codes = sorted(code for code, _ in both)
  if codes not in ([0, 2], [0, 0]):
    raise Failure(f"two sweeps at once exit with {codes}: {both}")
  for code, text in both:
    if code == 2 and "is in use by process" not in text:
      raise Failure(f"the second sweep does not name the holder: {text}")
  if evaluations(work / "both") != evaluations(work / "straight"):
    raise Failure("two sweeps at once: other results than one alone")
  say(f"two sweeps at once: exit codes {codes}, the same rows")


def test_taken_over(program, work):
  """The worker is stopped, its lock gets old, and another host's process takes the run; then it is continued."""
  (work / "long.yaml").write_text(CONFIG % 100000)
  folder = work / "taken"
  first = subprocess.Popen(on_host(0, [program, "run", work / "long.yaml", "-o", folder, "-w", "1"]), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
  end = time.monotonic() + 60
  while not (found := list(folder.glob("runs/*/checkpoint.bin"))):
    if time.monotonic() > end:
      raise Failure("no checkpoint")
    time.sleep(0.05)
  # Stopped between two checkpoints: what is being written is finished in any case.
  run = found[0].parent
  written = (run / "status.json").stat().st_mtime_ns
  while (run / "status.json").stat().st_mtime_ns == written:
    time.sleep(0.05)
  time.sleep(0.7)
  lock = next(run.glob("lock.*"))
  worker = next(int(line.split()[1]) for line in lock.read_text().splitlines() if line.startswith("process "))
  os.kill(worker, signal.SIGSTOP)
  time.sleep(0.2)
  # What a process of another host makes when it takes over.
  number = int(lock.name.split(".")[1])
  text = lock.read_text().replace(f"host {HOSTS[0]}", f"host {HOSTS[1]}")
  (run / f"lock.{number + 1}").write_text(text)
  lock.unlink()
  before = {path.name: path.read_bytes() for path in run.iterdir()}
  os.kill(worker, signal.SIGCONT)
  time.sleep(5)
  after = {path.name: path.read_bytes() for path in run.iterdir()}
  first.terminate()
  output = first.communicate(timeout=60)[0]
  wrong = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name) and not name.startswith(".")]
  if wrong:
    raise Failure(f"a run that was taken over was written: {wrong}: {output}")
  if "was taken over by process" not in output or HOSTS[1] not in output:
    raise Failure(f"a worker that lost its run does not say so: {output}")
  say("a worker whose run was taken over stops without writing")


def main():
  program, contender = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
  rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 100
  work = pathlib.Path(tempfile.mkdtemp(prefix="che-hosts-"))
  rng = random.Random(rounds)
  begin = time.monotonic()
  try:
    if subprocess.run(on_host(0, ["true"]), check=False).returncode:
      raise Failure("this user may not give a process a host name of its own (unshare --uts); run it as root")
    test_contested_starts(contender, work, rounds, rng)
    test_contested_takeovers(contender, work, max(3, rounds // 50), rng)
    test_two_sweeps(program, work)
    test_taken_over(program, work)
  except (Failure, subprocess.SubprocessError) as failure:
    say(f"FAILED: {failure}")
    say(f"the folders are in {work}")
    return 1
  shutil.rmtree(work)
  say(f"passed in {time.monotonic() - begin:.0f} s")
  return 0


if __name__ == "__main__":
  sys.exit(main())
