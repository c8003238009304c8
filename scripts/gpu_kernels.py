#!/usr/bin/env python3
"""What nvcc makes of the CUDA kernels, as it says at compile time: registers, spills and fixed shared memory, for
each compute capability that the library has code for.

    scripts/gpu_kernels.py TABLE            write the table
    scripts/gpu_kernels.py --check TABLE    fail where a kernel is missing in the table, takes more registers or
                                            spills more than it says
Exit code 77 without nvcc. Needs no GPU.
"""
import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURES = ["80", "90", "100", "120"]
COLUMNS = ["architecture", "kernel", "registers", "stack_bytes", "spill_store_bytes", "spill_load_bytes",
           "shared_bytes"]


def nvcc():
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def demangled(names):
    output = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    shorter = []
    for name in output.splitlines():
        name = re.sub(r"\(anonymous namespace\)::|che::gpu::|^void ", "", name)
        shorter.append(re.sub(r"\((?!Mlp\)|int\)).*", "", re.sub(r"\(int\)", "", name)).strip())
    return shorter


def rows_of(messages):
    """One row per kernel, from what ptxas says about them."""
    rows = []
    for line in messages.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)' for '(\w+)'", line):
            rows.append(dict.fromkeys(COLUMNS, 0) | {"architecture": match[2], "kernel": match[1]})
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            rows[-1] |= dict(zip(COLUMNS[3:6], map(int, match.groups())))
        elif match := re.search(r"Used (\d+) registers", line):
            rows[-1]["registers"] = int(match[1])
            if shared := re.search(r"(\d+) bytes smem", line):
                rows[-1]["shared_bytes"] = int(shared[1])
    for row, name in zip(rows, demangled([row["kernel"] for row in rows])):
        row["kernel"] = name
    return rows


def name_of(row):
    return f"{row['kernel']} of {row['architecture']}"


def compiled(source):
    """The rows of the source's kernels."""
    codes = [f"-gencode=arch=compute_{of},code=sm_{of}" for of in ARCHITECTURES]
    command = [nvcc(), "-std=c++20", "-O3", *codes, "-I", str(ROOT), "-Werror=all-warnings",
               "-Xptxas", "-v", "-c", str(source), "-o", os.devnull]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stdout + result.stderr)
    return rows_of(result.stderr)


def main():
    check = sys.argv[1:2] == ["--check"]
    table = Path(sys.argv[-1])
    if len(sys.argv) != 2 + check:
        sys.exit(__doc__)
    if nvcc() is None:
        print("skipped: there is no nvcc in PATH or /usr/local/cuda/bin")
        sys.exit(77)
    rows = [row for source in sorted((ROOT / "models/ops").glob("*/*.cu")) for row in compiled(source)]
    rows.sort(key=lambda row: (ARCHITECTURES.index(row["architecture"][3:]), row["kernel"]))
    if not check:
        table.parent.mkdir(parents=True, exist_ok=True)
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return
    with table.open() as file:
        allowed = {name_of(row): row for row in csv.DictReader(file)}
    failures = [f"{name} is in the table, but there is no such kernel"
                for name in allowed.keys() - {name_of(row) for row in rows}]
    for row in rows:
        name = name_of(row)
        if name not in allowed:
            failures.append(f"{name} is not in {table}")
            continue
        for column in COLUMNS[2:]:
            if row[column] > int(allowed[name][column]):
                failures.append(f"{name}: {column} {row[column]}, in the table {allowed[name][column]}")
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(rows)} kernels take no more than {table} says")


if __name__ == "__main__":
    main()
