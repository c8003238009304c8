#!/usr/bin/env bash
# The speed table of README: che beside a PyTorch trainer of the same model, interleaved on one core,
# medians of the repetitions. Needs a built che (scripts/setup.sh); installs PyTorch (4.6 GB, once) into a
# virtual environment outside the clone.
#   bench/compare.sh [--repetitions N] [--steps N] [--filter TEXT] [--output FOLDER] [--compiled]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

peer_home=$(bench/peer/environment.sh)
if [[ ! -x build/che ]]; then
  echo "compare: build/che is missing; run scripts/setup.sh first" >&2
  exit 2
fi
exec "$peer_home/bin/python" bench/compare.py "$@"
