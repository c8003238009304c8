#!/usr/bin/env bash
# Feeds the readers of configs and of stored files with whatever libFuzzer makes of tests/fuzz/corpus.
#   scripts/fuzz.sh [seconds]     (a program; default: 30)
# A crashing input is left in build-fuzz/; a bug's input belongs in the corpus, with the fix.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-30}
scripts/setup.sh fuzz
for reader in config:config_fuzzer overrides:overrides_fuzzer stored:stored_files_fuzzer status:status_fuzzer \
  checkpoint:checkpoint_fuzzer task:task_file_fuzzer; do
  corpus=tests/fuzz/corpus/${reader%%:*}
  program=${reader##*:}
  mkdir -p "build-fuzz/corpus/$program"
  echo "fuzz: $program, $seconds seconds"
  # New inputs go to the first folder, out of the tree.
  "build-fuzz/$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix=build-fuzz/ "build-fuzz/corpus/$program" "$corpus"
done
