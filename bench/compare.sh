#!/usr/bin/env bash
# The speed table of docs/performance.md: che beside its model in PyTorch (che_tasks.torch, and for a language model's
# decoder bench/torch_decoder.py), interleaved on one core, medians of the repetitions. Needs a built che (scripts/setup.sh); installs PyTorch (4.6 GB, once) into a
# virtual environment outside the clone.
#   bench/compare.sh [--repetitions N] [--steps N] [--filter TEXT] [--output FOLDER] [--compiled]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/che ]]; then
  echo "compare: build/che is missing; run scripts/setup.sh first" >&2
  exit 2
fi
python=$(bench/torch_environment.sh build)
PYTHONPATH=build/modules exec "$python" bench/compare.py "$@"
