#!/usr/bin/env bash
# Trains a small run with log.tensorboard and lets TensorBoard itself read the scalars back. Installs
# TensorBoard into FOLDER, once; without a package index to install from the test fails.
#   read_scalars.sh CHE FOLDER
set -euo pipefail
che=$1
folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$folder/tensorboard-venv
if [[ ! -e $venv/.complete ]]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check tensorboard==2.20.0 "setuptools<81"
  touch "$venv/.complete"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/small.yaml" << 'YAML'
name: small
base:
  task: even_pairs
  encoding: rope
  model: {width: 8, layers: 1, heads: 2}
  training: {steps: 30, batch_size: 8, last_length: 6}
  evaluation: {first_length: 7, last_length: 9, samples: 64}
  log: {every_steps: 10, tensorboard: true}
YAML
"$che" run "$work/small.yaml" --output "$work/results"
"$venv/bin/python" "$here/read_scalars.py" "$work"/results/runs/*
