"""The program `che` of the package, also `python -m che_tasks`: all commands that need no LibTorch."""

import os
import pathlib
import sys


def main() -> None:
  """Replaces the process by the program, with the same arguments."""
  os.execv(pathlib.Path(__file__).parent / "bin" / "che", ["che", *sys.argv[1:]])


if __name__ == "__main__":
  main()
