#!/usr/bin/env python3
"""What nvcc makes of the CUDA kernels. Needs no GPU.

  scripts/gpu_kernels.py TABLE                    registers, spills and fixed shared memory, for each compute capability
                                                  that the library has code for
  scripts/gpu_kernels.py --counts PROGRAM TABLE   what warps execute in some tests of gpu_ptx_tests
  ... --check TABLE                               writes no table, and fails where a kernel is missing in it, or where a
                                                  number is larger than there, or a count by a quarter

Exit code 77 without nvcc.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURES = ["80", "90", "100", "120"]
KEYS = ["architecture", "kernel"]
SPILLS = ["stack_bytes", "spill_store_bytes", "spill_load_bytes"]
COLUMNS = [*KEYS, "registers", *SPILLS, "shared_bytes"]
# Tests that start every operation, with attention of the paper's shape.
COUNTED = ":".join([
  "AdamKernel.TakesNorms", "AdamKernel.UpdatesAsTheCpu", "BatchScoreKernel.MeasuresLossAndAccuracy",
  "BatchScoreKernel.HasTheGradient", "BiasReluKernel.*IsTheCpus", "EmbeddingKernel.CopiesTheRowsOfSymbols",
  "EmbeddingKernel.SumsTheRowsOfEachSymbol", "RotationKernel.TurnsAsTheCpu", "Shapes/DropoutKernel.*/1",
  "Shapes/ResidualNorm.*/w256_rows5", "Causal/Attention*/r2_b2_q40_k40_h8_w32_d0*",
  "Shapes/Attention*/r1_b2_q41_k41_h8_w32_d64*", "AttentionForwardKernel.RunsInTf32",
  "AttentionBackwardKernel.RunsInTf32",
])  # fmt: skip

# By how much a count may exceed the table: memory that begins elsewhere makes 5 sectors of 4.
SLACK = 1.25

Row = dict[str, str]


def demangled(names: list[str]) -> list[str]:
  output = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
  shorter = []
  for name in output.splitlines():
    name = re.sub(r"\(anonymous namespace\)::|che::(gpu::)?|^void ", "", name)
    shorter.append(re.sub(r"\((?!GpuPrecision\)|int\)).*", "", re.sub(r"\(int\)", "", name)).strip())
  return shorter


def rows_of(messages: str) -> list[Row]:
  """One row per kernel, from what ptxas says about them."""
  rows: list[Row] = []
  for line in messages.splitlines():
    if match := re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line):
      rows.append(dict.fromkeys(COLUMNS, "0") | {"architecture": match[2], "kernel": match[1]})
    elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
      rows[-1] |= dict(zip(SPILLS, match.groups()))
    elif match := re.search(r"Used (\d+) registers", line):
      rows[-1]["registers"] = match[1]
      if shared := re.search(r"(\d+) bytes smem", line):
        rows[-1]["shared_bytes"] = shared[1]
  for row, name in zip(rows, demangled([row["kernel"] for row in rows])):
    row["kernel"] = name
  return rows


def compiled(nvcc: str, source: Path) -> list[Row]:
  """The rows of the source's kernels."""
  codes = [f"-gencode=arch=compute_{of},code=sm_{of}" for of in ARCHITECTURES]
  options = ["-std=c++20", "-O3", *codes, "-I", str(ROOT), "-Werror=all-warnings", "-Xptxas", "-v"]
  result = subprocess.run([nvcc, *options, "-c", source, "-o", os.devnull], capture_output=True, text=True)
  if result.returncode != 0:
    sys.exit(result.stdout + result.stderr)
  return rows_of(result.stderr)


def counted(program: str) -> list[Row]:
  with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "counts.csv"
    command = [program, "--gtest_brief=1", f"--gtest_filter={COUNTED}"]
    subprocess.run(command, env=os.environ | {"CHE_PTX_COUNTS": str(table)}, check=True)
    with table.open() as file:
      return list(csv.DictReader(file))


def name_of(row: Row) -> str:
  return " of ".join(row[key] for key in reversed(KEYS) if key in row)


def failures_of(rows: list[Row], table: Path, slack: float) -> list[str]:
  """What is not as the table allows it."""
  with table.open() as file:
    allowed = {name_of(row): row for row in csv.DictReader(file)}
  missing = sorted(allowed.keys() - {name_of(row) for row in rows})
  failures = [f"{name} is in the table, but there is no such kernel" for name in missing]
  for row in rows:
    name = name_of(row)
    if name not in allowed:
      failures.append(f"{name} is not in {table}")
      continue
    for column in row.keys() - KEYS:
      if int(row[column]) > slack * int(allowed[name][column]):
        failures.append(f"{name}: {column} {row[column]}, in the table {allowed[name][column]}")
  return failures


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--check", action="store_true")
  parser.add_argument("--counts", metavar="PROGRAM")
  parser.add_argument("table", metavar="TABLE", type=Path)
  arguments = parser.parse_args()
  if arguments.counts:
    rows = counted(arguments.counts)
  elif nvcc := shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin"):
    rows = [row for source in sorted((ROOT / "models/ops").glob("*/*.cu")) for row in compiled(nvcc, source)]
    rows.sort(key=lambda row: (ARCHITECTURES.index(row["architecture"][3:]), row["kernel"]))
  else:
    print("skipped: there is no nvcc in PATH or /usr/local/cuda/bin")
    return 77
  if arguments.check:
    if failures := failures_of(rows, arguments.table, SLACK if arguments.counts else 1):
      sys.exit("\n".join(failures))
    print(f"{len(rows)} kernels take no more than {arguments.table} says")
    return 0
  arguments.table.parent.mkdir(parents=True, exist_ok=True)
  with arguments.table.open("w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
  return 0


if __name__ == "__main__":
  sys.exit(main())
