#!/usr/bin/env bash
# The speed table of README: che beside a PyTorch trainer of the same model, interleaved on one core,
# medians of the repetitions. Needs a built che (scripts/setup.sh); installs PyTorch (4.6 GB, once) into a
# virtual environment outside the clone.
#   bench/compare.sh [--repetitions N] [--steps N] [--filter TEXT] [--output FOLDER] [--compiled]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

torch_version=2.11.0
peer_home=${XDG_CACHE_HOME:-$HOME/.cache}/che/peer-$torch_version
if [[ ! -e $peer_home/.complete ]]; then
  echo "compare: installing PyTorch $torch_version into $peer_home (4.6 GB, once)"
  rm -rf "$peer_home"
  if ! python3 -m venv "$peer_home"; then
    echo "compare: Python's venv is missing; run  sudo apt-get install python3-venv  and this script again" >&2
    exit 2
  fi
  "$peer_home/bin/pip" install --quiet --disable-pip-version-check torch==$torch_version numpy
  touch "$peer_home/.complete"
fi
if [[ ! -x build/che ]]; then
  echo "compare: build/che is missing; run scripts/setup.sh first" >&2
  exit 2
fi
exec "$peer_home/bin/python" bench/compare.py "$@"
