#!/usr/bin/env bash
# Feeds the readers of configs and of stored files with whatever libFuzzer makes of tests/fuzz/corpus.
#   scripts/fuzz.sh [seconds]     (a program; default: 30)
# As many programs run at a time as there are cores. A crashing input is left in build-asan/fuzz/; a bug's input belongs in
# the corpus, with the fix.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export seconds=${1:-30}
# Program and corpus of each reader.
readers=(config_fuzzer:config overrides_fuzzer:overrides stored_files_fuzzer:stored status_fuzzer:status
  checkpoint_fuzzer:checkpoint exchange_fuzzer:exchange task_file_fuzzer:task)
scripts/setup.sh asan "${readers[@]%%:*}"

fuzz() {
  local program=${1%%:*} corpus=tests/fuzz/corpus/${1##*:}
  local log=build-asan/fuzz/$program.log
  mkdir -p "build-asan/fuzz/corpus/$program"
  echo "fuzz: $program, $seconds seconds"
  # New inputs go to the first folder, out of the tree.
  if "build-asan/$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix=build-asan/fuzz/ "build-asan/fuzz/corpus/$program" "$corpus" > "$log" 2>&1; then
    sed -n "s/^stat::number_of_executed_units: */fuzz: $program, inputs tried: /p" "$log"
  else
    cat "$log" >&2
    echo "fuzz: $program failed" >&2
    return 1
  fi
}
export -f fuzz
printf '%s\n' "${readers[@]}" | xargs -P "$(nproc)" -n 1 bash -c 'fuzz "$1"' fuzz
