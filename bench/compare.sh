#!/usr/bin/env bash
# The speed table of docs/performance.md: che beside its encoder in PyTorch (che_tasks.torch), a language model's decoder
# (bench/torch_decoder.py), PyTorch's nn.LSTM and the recurrent networks of the released program, interleaved on one core,
# medians of the repetitions. Needs a built che (scripts/setup.sh); installs PyTorch (4.6 GB, once) into a virtual
# environment outside the clone. CHE_PROGRAM names a folder with the program's clone and its packages in venv/
# (tests/reference/machines.py says which).
#   bench/compare.sh [--repetitions N] [--steps N] [--filter TEXT] [--output FOLDER] [--compiled | --precisions]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -x build/che ]]; then
  echo "compare: build/che is missing; run scripts/setup.sh first" >&2
  exit 2
fi
python=$(bench/torch_environment.sh build)
PYTHONPATH=build/modules exec "$python" bench/compare.py "$@"
