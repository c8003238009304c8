#!/usr/bin/env bash
# Sets everything up, trains and evaluates every run of a config, and ends with a table and figures.
#   scripts/reproduce.sh [config] [key=value ...]     (default: configs/quick.yaml)
# Interrupt it at any time: the same command goes on where it stopped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
config=$root/configs/quick.yaml
if (($#)) && [[ $1 != *=* ]]; then
  if [[ ! -f $1 ]]; then
    echo "reproduce: there is no config '$1'; those of this repository are in configs/" >&2
    exit 2
  fi
  config=$(realpath "$1")
  shift
fi
cd "$root"
config=${config#"$root"/}
scripts/setup.sh release che che-compute
name=$(build/che check "$config" "$@" --name)
folder=results/$name
status=0
build/che run "$config" "$@" || status=$?
# Failed runs (1) still leave a table of the others; an interruption or a bad config does not.
((status <= 1)) || exit "$status"
build/che table "$folder" --format md --paper --output "$folder/table.md"
build/che report "$folder"
# Without a finished run there is nothing to draw, and the exit code has said so.
build/che plot "$folder" || ((status == 1))
cat "$folder/table.md"
echo
echo "reproduce: results are in $folder: report.html, its table.csv and runs.csv, table.md, figures"
exit "$status"
