#!/usr/bin/env python3
"""Compares the kernel rows of two builds: runs both benchmark programs alternately on one core and
prints, for each row, the median ratio of their times. Exit code 1 when the second one is slower by more
than the tolerance somewhere.

    bench/compare_builds.py OLD/build/kernels_benchmark build/kernels_benchmark --filter fused
"""

import argparse
import json
import statistics
import subprocess
import sys


def rows(program, options):
    command = ["taskset", "-c", str(options.core), program, "--benchmark_format=json",
               f"--benchmark_filter={options.filter}", f"--benchmark_min_time={options.min_time}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 or not done.stdout:
        sys.exit(f"compare_builds: {' '.join(command)} failed:\n{done.stderr}")
    return {row["name"]: row["real_time"] for row in json.loads(done.stdout)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="benchmark program of the build to compare with")
    parser.add_argument("new", help="benchmark program of the build in question")
    parser.add_argument("--filter", default=".", help="regular expression of rows (default: all)")
    parser.add_argument("--repetitions", type=int, default=5, help="alternating runs (default 5)")
    parser.add_argument("--tolerance", type=float, default=0.1, help="slowdown that fails (default 0.1)")
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds a row and run (default 0.1)")
    parser.add_argument("--core", type=int, default=0, help="core to run on (default 0)")
    options = parser.parse_args()
    pairs = [(rows(options.old, options), rows(options.new, options)) for _ in range(options.repetitions)]
    shared = [name for name in pairs[0][0] if name in pairs[0][1]]
    if not shared:
        sys.exit("compare_builds: the two programs have no row of that name in common")
    slower = []
    print(f"{'row':<40} {'old ms':>10} {'new ms':>10} {'new/old':>8}")
    for name in shared:
        ratio = statistics.median(new[name] / old[name] for old, new in pairs)
        old = statistics.median(old[name] for old, _ in pairs)
        new = statistics.median(new[name] for _, new in pairs)
        print(f"{name:<40} {old:>10.3f} {new:>10.3f} {ratio:>8.2f}")
        if ratio > 1 + options.tolerance:
            slower.append(name)
    if slower:
        sys.exit(f"compare_builds: slower by more than {options.tolerance:.0%}: {', '.join(slower)}")


if __name__ == "__main__":
    main()
