#!/usr/bin/env python3
"""Runs every `build/che` command that README.md and docs/*.md show, in a folder of its own and in the order of each page.

    commands.py PROGRAM SOURCE_FOLDER

Commands are the lines of indented blocks that begin with `build/che`, `scripts/` or `bench/`. Trainings are made short by
settings that are appended to the command. Of scripts only the file and its execute permission are checked, but for
`scripts/committed_results.sh restore`, whose runs the next commands read. A command with a word in capitals or in angle
brackets has a value to fill in; RUN is the first run of the folder before it, and the others are skipped.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SHORT = ["model.width=16", "model.heads=2", "model.layers=1", "training.steps=2", "training.warmup_steps=0",
         "training.batch_size=4", "evaluation.samples=64", "evaluation.first_length=17", "evaluation.last_length=24",
         "evaluation.length_step=7", "evaluation.at_steps=[]"]
ENCODER_SHAPE = ("model.heads=", "model.layers=")  # Recurrent networks have no such settings.
SHORT_TEXT = ["model.width=16", "model.heads=2", "model.layers=1", "training.steps=2", "training.batch_size=4",
              "evaluation.lengths=[128,256]"]
CONFIG_COMMANDS = ("run", "check", "submit")


def commands(page):
  """The commands of a Markdown page: lines indented by four spaces, without comments."""
  for number, line in enumerate(page.read_text().splitlines(), 1):
    match = re.match(r"    ((?:build/|scripts/|bench/)\S+.*?)(?:\s+#.*)?$", line)
    if match:
      yield number, shlex.split(match.group(1))


def right_answers(folder, suite, *choice):
  """Files with the predictions of a model that is always right, for these test samples."""
  subprocess.run(["build/che", "export", suite, *choice, "-o", f"right/{suite}"], cwd=folder, capture_output=True, check=True)
  files = []
  for samples in sorted((folder / "right" / suite).glob("*.jsonl")):
    header, *rows = map(json.loads, samples.read_text().splitlines())
    header |= {"format": "che-predictions/1", "model": "my_lstm", "model_seed": 0}
    rows = [{key: row[key] for key in ("length", "index", "output")} for row in rows]
    files.append(samples.with_suffix(".predictions"))
    files[-1].write_text("".join(json.dumps(line) + "\n" for line in [header, *rows]))
  return files


def main():
  program, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
  pages = [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").glob("*.md"))]
  failures = ran = 0
  with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    (folder / "build").mkdir()
    (folder / "build/che").symlink_to(program)
    (folder / "configs").symlink_to(source / "configs")
    (folder / "tasks").symlink_to(source / "tasks")
    (folder / "data").symlink_to(source / "data")
    (folder / "scripts").symlink_to(source / "scripts")
    (folder / "results").mkdir()
    (folder / "results/committed").symlink_to(source / "results/committed")
    # The experiments that the pages look at.
    for arguments in (["configs/quick.yaml", *SHORT], ["configs/time_cost.yaml", *SHORT, "--only", "encoding=[none,dape_kerple]", "--only", "size=d64"]):
      status = subprocess.run(["build/che", "run", *arguments], cwd=folder, capture_output=True, text=True)
      if status.returncode not in (0, 75):
        sys.exit(f"commands: che run {arguments[0]} exits with {status.returncode}: {status.stderr}")
    files = right_answers(folder, "quick/v1", "--lengths", "17:24:7", "--samples", "64")
    subprocess.run(["build/che", "score", *files, "-o", "results/my_lstm"], cwd=folder, capture_output=True, check=True)
    for page in pages:
      for number, words in commands(page):
        where = f"{page.relative_to(source)}:{number}"
        script = source / words[0]
        if words[0] != "build/che":
          if not words[0].startswith("build/") and not (script.is_file() and os.access(script, os.X_OK)):
            print(f"{where}: {words[0]} is no script")
            failures += 1
          if words[:2] != ["scripts/committed_results.sh", "restore"] or (folder / (words[3:] or [f"results/{words[2]}"])[0]).exists():
            continue
        words = [str(min((folder / word).parent.iterdir()).relative_to(folder)) if word.endswith("/RUN") else word for word in words]
        if any(re.search(r"<\w+>|\b[A-Z]{3,}\b", word) for word in words):
          continue
        allowed = (0,)
        if words[1] in CONFIG_COMMANDS:
          usual = [word for word in SHORT if "machines" not in words[2] or not word.startswith(ENCODER_SHAPE)]
          short = SHORT_TEXT if "/lm_" in words[2] else usual
          replaced = {word.split("=")[0] for word in short}
          words = [word for word in words if word.split("=")[0] not in replaced] + short
        if words[1] == "run" and "--dry-run" not in words:
          words += ["--max-jobs", "1"]
          allowed = (0, 75)
        if words[1] == "submit" and "--print" not in words:
          words.append("--print")
        if words[1] == "prune":
          words[2] = shutil.copytree(folder / words[2], folder / "pruned", dirs_exist_ok=True)
        if words[1] == "status":
          words = [word for word in words if word != "--watch"]
        if words[1] == "bench":
          words += ["--steps", "1", *SHORT[:3], "training.batch_size=4"]
        environment = dict(os.environ)
        if words[1] == "selftest":
          environment["CUDA_VISIBLE_DEVICES"] = ""
          allowed = (3,)
        result = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        ran += 1
        if result.returncode not in allowed:
          print(f"{where}: {shlex.join(words)}\n  exits with {result.returncode}: {result.stderr.strip()}")
          failures += 1
  print(f"commands: {ran} commands run, {failures} failed")
  sys.exit(1 if failures or not ran else 0)


if __name__ == "__main__":
  main()
