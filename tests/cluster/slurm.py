#!/usr/bin/env python3
"""Submits sweeps to a real Slurm of one node and compares the results with those of `che run`.

    slurm.py CHE [--short]     (as root; Debian's package slurm-wlm)

Starts a controller and a node of its own in a temporary folder, without authentication, and tests:
  - an array gives the files of `che run`, byte for byte, in chunks of Slurm's largest array, with the table at the end;
  - a task that Slurm warns of its time limit goes back into the queue alone and ends with the same files;
  - a failed run leaves the others and the table alone, and is submitted again;
  - what is queued or finished is not submitted again, also by two submissions at once;
  - a submission that is killed right after sbatch is found in the queue, and completed;
  - a node daemon that is killed with its workers, and a controller that does not answer, lose nothing.
With --short: the first two, and a controller that does not answer.
Where there can be no Slurm it says why and exits with 77, or with 1 where CHE_NEED_VIEWERS is set.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "survival"))
from kills import Failure, snapshot  # noqa: E402
from processes import run_together  # noqa: E402

CONFIG = """
name: sweep
base:
  task: reverse_string
  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}
  training: {steps: %d, batch_size: 4, last_length: 6}
  evaluation: {first_length: 7, last_length: 12, samples: 64}
  execution: {checkpoint_seconds: 0, replicas: %d}
  log: {every_steps: 7}
axes:
  encoding: [%s]
  seed: [0, 1, 2, 3]
"""

SLURM = """
ClusterName=chetest
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.txt
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MailProg=/bin/true
MaxArraySize=5
SlurmdTimeout=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def say(text):
  print(f"slurm: {text}", flush=True)


def call(*words, expected=0):
  done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=900, check=False)
  if done.returncode != expected:
    raise Failure(f"{words} exits with {done.returncode}, expected {expected}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
  return done.stdout + done.stderr


def wait_until(is_true, what, seconds=400):
  end = time.monotonic() + seconds
  while not is_true():
    if time.monotonic() > end:
      raise Failure(f"{what} did not happen within {seconds} seconds")
    time.sleep(0.3)


def free_ports():
  with socket.socket() as first, socket.socket() as second:
    for one in (first, second):
      one.bind(("127.0.0.1", 0))
    return [one.getsockname()[1] for one in (first, second)]


def missing():
  """Why there can be no Slurm here; empty where there can be one."""
  os.environ["PATH"] += ":/usr/sbin"
  programs = [name for name in ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol") if not shutil.which(name)]
  if programs:
    return f"{', '.join(programs)} not found; install slurm-wlm"
  return "" if os.geteuid() == 0 else "Slurm's daemons need root here"


class Cluster:
  """A controller and one node."""

  def __init__(self, folder):
    self.folder = folder
    for name in ("state", "spool"):
      (folder / name).mkdir()
    (folder / "slurm.conf").write_text(SLURM.format(host=socket.gethostname().split(".")[0], folder=folder, ports=free_ports()))
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    self.start("slurmctld")
    self.start("slurmd")
    wait_until(lambda: "idle" in self.node_state(), "an idle node", 60)

  def node_state(self):
    done = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False)
    return done.stdout

  def start(self, daemon):
    call(daemon)

  def pid(self, daemon):
    return int((self.folder / f"{daemon}.pid").read_text())

  def stop(self, daemon, number=signal.SIGTERM):
    with contextlib.suppress(OSError, ValueError):
      pid = self.pid(daemon)
      os.kill(pid, number)
      wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), f"the end of {daemon}", 30)


class Trial:
  """Sweeps in folders of their own, and what `che run` makes of the same config."""

  def __init__(self, program, work, steps=30, replicas=1, encodings="rope, alibi, none"):
    self.program, self.work = program, work
    work.mkdir()
    (work / "sweep.yaml").write_text(CONFIG % (steps, replicas, encodings))
    call(program, "run", work / "sweep.yaml", "-o", work / "straight", "-w", "2")
    self.expected = {name: content for name, content in snapshot(work / "straight").items() if name.startswith("runs/")}
    self.folder = work / "submitted"

  def submit(self, *options, expected=0):
    return call(self.program, "submit", self.work / "sweep.yaml", "--slurm", "-o", self.folder, "--warning", "1", *options,
                expected=expected)

  def submission(self):
    last = max((self.folder / "batch").iterdir(), key=lambda folder: int(folder.name))
    return json.loads((last / "submission.json").read_text())

  def queue(self):
    return call("squeue", "-h", "-r", "-o", "%F_%K %T").split("\n")[:-1]

  def wait_for_checkpoint(self, task):
    """Until the first run of a task of the first submission is in training; returns the run."""
    run = json.loads((self.folder / "batch" / "1" / "submission.json").read_text())["tasks"][task][0][0]
    wait_until(lambda: (self.folder / "runs" / run / "checkpoint.bin").exists(), "a first checkpoint")
    return run

  def wait(self):
    wait_until(lambda: not self.queue(), "the end of all jobs")

  def check(self, what):
    """The runs' files are those of `che run`, and table and report are there."""
    actual = {name: content for name, content in snapshot(self.folder).items() if name.startswith("runs/")}
    wrong = [name for name in sorted(self.expected.keys() | actual.keys()) if self.expected.get(name) != actual.get(name)]
    if wrong:
      raise Failure(f"{what}: differs from che run: {', '.join(wrong[:5])} ({len(wrong)} files)")
    if not (self.folder / "report.html").exists():
      raise Failure(f"{what}: there is no report")
    say(f"{what}: the files of che run")


def test_array(program, work):
  trial = Trial(program, work / "array")
  first = trial.submit("--array-parallel", "2")
  again = trial.submit()
  if "12 in the queue, 0 jobs to submit" not in again:
    raise Failure(f"queued runs were submitted again: {again}")
  status = call(program, "status", trial.folder)
  if "Slurm: array " not in status:
    raise Failure(f"status does not show the queue: {status}")
  trial.wait()
  arrays = trial.submission()["arrays"]
  if [array["count"] for array in arrays] != [5, 5, 2]:
    raise Failure(f"not in chunks of five: {first}")
  trial.check("an array in three chunks")
  if "12 done, 0 in the queue, 0 jobs to submit" not in trial.submit():
    raise Failure("finished runs were submitted again")
  if "none of the submitted tasks is in the queue" not in call(program, "status", trial.folder):
    raise Failure("status does not say that the queue is empty")


def test_lock_step(program, work):
  trial = Trial(program, work / "lock_step", replicas=2)
  trial.submit("--runs-per-task", "2")
  trial.wait()
  tasks = trial.submission()["tasks"]
  if [[len(job) for job in task] for task in tasks] != [[2, 2], [2, 2], [2, 2]]:
    raise Failure(f"expected tasks of two jobs of two runs, got {tasks}")
  trial.check("jobs in lock-step, two in a task")


def test_warning(program, work):
  trial = Trial(program, work / "warning", steps=1000, encodings="rope")
  trial.submit()
  element = f"{trial.submission()['arrays'][0]['job']}_1"
  trial.wait_for_checkpoint(1)
  call("scancel", "--batch", "--signal=USR1", element)
  log = trial.folder / "batch" / "1" / "logs" / f"{element}.log"
  wait_until(lambda: f"Put back into the queue as {element}" in log.read_text(), "the task's return to the queue")
  others = [path for path in log.parent.glob("*.log") if path != log and "Put back" in path.read_text()]
  if others:
    raise Failure(f"other tasks went back too: {others}")
  trial.wait()
  trial.check("a task that was warned of its time limit")


def test_failure(program, work):
  trial = Trial(program, work / "failure", steps=1500)
  trial.submit()
  run = trial.wait_for_checkpoint(0)
  call("pkill", "-KILL", "-f", f"{program}-compute worker .*{run}")
  trial.wait()
  if "1 failed" not in call(program, "status", trial.folder) or not (trial.folder / "report.html").exists():
    raise Failure("a failed run must not keep the others and the report from being made")
  if "1 job to submit" not in trial.submit():
    raise Failure("the failed run was not submitted again")
  trial.wait()
  trial.check("a run that failed first")


def test_two_at_once(program, work):
  trial = Trial(program, work / "two")
  words = [program, "submit", str(work / "two" / "sweep.yaml"), "--slurm", "-o", str(trial.folder)]
  texts = [text for _, text in run_together([words, words])]
  trial.wait()
  submitted = [json.loads(path.read_text()) for path in (trial.folder / "batch").glob("*/submission.json")]
  runs = [run for one in submitted if one["arrays"] for task in one["tasks"] for job in task for run in job]
  if len(runs) != len(set(runs)) or len(runs) != 12:
    raise Failure(f"two submissions at once: {len(runs)} runs submitted, {texts}")
  trial.check("two submissions at once")


def test_dead_node(program, work, cluster):
  trial = Trial(program, work / "dead", steps=1500)
  trial.submit()
  trial.wait_for_checkpoint(0)
  cluster.stop("slurmd", signal.SIGKILL)
  # The node's jobs end with it.
  subprocess.run(["pkill", "-KILL", "-f", f"{program}(-compute)? (task|worker) .*{trial.folder}"], check=False)
  subprocess.run(["pkill", "-KILL", "slurmstepd"], check=False)
  cluster.start("slurmd")
  wait_until(lambda: not trial.queue(), "the end of all jobs")
  trial.submit()
  trial.wait()
  trial.check("a node that died")


def test_killed_submit(program, work):
  trial = Trial(program, work / "killed", steps=200)
  # An sbatch that submits, and then ends who called it before it can say the id.
  commands = work / "killed" / "commands"
  commands.mkdir()
  (commands / "sbatch").write_text('#!/bin/bash\n%s "$@" > /dev/null\nkill -KILL "$(ps -o ppid= "$PPID")"\n' % shutil.which("sbatch"))
  (commands / "sbatch").chmod(0o755)
  path = os.environ["PATH"]
  os.environ["PATH"] = f"{commands}:{path}"
  trial.submit("--runs-per-task", "4", expected=-signal.SIGKILL)
  os.environ["PATH"] = path
  if trial.submission()["arrays"][0]["job"] != 0 or not trial.queue():
    raise Failure("the test's sbatch does not do what it should")
  again = trial.submit()
  array = trial.submission()["arrays"][0]["job"]
  if f"array {array}" not in again or "12 in the queue, 0 jobs to submit" not in again or not trial.submission()["summary"]:
    raise Failure(f"a submission without its id was not found: {again}")
  trial.wait()
  trial.check("a submission that was killed right after sbatch")


def test_no_controller(program, work, cluster):
  trial = Trial(program, work / "silent")
  trial.submit("--print")
  cluster.stop("slurmctld")
  begin = time.monotonic()
  text = trial.submit(expected=1)
  seconds = time.monotonic() - begin
  if seconds > 20 or not re.search(r"scontrol: |squeue: |sbatch: ", text):
    raise Failure(f"without a controller: {seconds:.0f} s, {text}")
  cluster.start("slurmctld")
  wait_until(lambda: "idle" in cluster.node_state(), "an idle node", 60)
  trial.submit()
  trial.wait()
  trial.check("a controller that did not answer")


def main():
  program, is_short = str(pathlib.Path(sys.argv[1]).resolve()), "--short" in sys.argv
  if reason := missing():
    say(reason)
    return 1 if os.environ.get("CHE_NEED_VIEWERS") else 77
  work = pathlib.Path(tempfile.mkdtemp(prefix="che-slurm-"))
  (work / "cluster").mkdir()
  begin = time.monotonic()
  cluster = None
  try:
    cluster = Cluster(work / "cluster")
    test_array(program, work)
    test_warning(program, work)
    if not is_short:
      test_lock_step(program, work)
      test_failure(program, work)
      test_two_at_once(program, work)
      test_killed_submit(program, work)
      test_dead_node(program, work, cluster)
    test_no_controller(program, work, cluster)
  except (Failure, OSError, subprocess.TimeoutExpired) as failure:
    say(f"FAILED: {failure}")
    for name in ("slurmctld.log", "slurmd.log"):
      with contextlib.suppress(OSError):
        say(f"the end of {name}:\n" + (work / "cluster" / name).read_text()[-1500:])
    say(f"the folders are in {work}")
    return 1
  finally:
    if cluster:
      for daemon in ("slurmd", "slurmctld"):
        cluster.stop(daemon)
  shutil.rmtree(work)
  say(f"passed in {time.monotonic() - begin:.0f} s")
  return 0


if __name__ == "__main__":
  sys.exit(main())
