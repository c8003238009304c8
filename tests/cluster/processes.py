"""Processes of the tests that run at once."""

import subprocess


def run_together(commands, seconds=900):
  """Starts the commands at once and waits for all; the exit code and the output of each, in their order."""
  started = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for words in commands]
  texts = [process.communicate(timeout=seconds)[0] for process in started]
  return [(process.returncode, text) for process, text in zip(started, texts)]
