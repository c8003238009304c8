#!/usr/bin/env bash
# Installs PyTorch (4.6 GB, once) into a virtual environment outside the clone and prints its folder.
set -euo pipefail
torch_version=2.11.0
home=${XDG_CACHE_HOME:-$HOME/.cache}/che/peer-$torch_version
if [[ ! -e $home/.complete ]]; then
  echo "peer: installing PyTorch $torch_version into $home (4.6 GB, once)" >&2
  rm -rf "$home"
  if ! python3 -m venv "$home"; then
    echo "peer: Python's venv is missing; run  sudo apt-get install python3-venv  and this script again" >&2
    exit 2
  fi
  "$home/bin/pip" install --quiet --disable-pip-version-check torch==$torch_version numpy >&2
  touch "$home/.complete"
fi
echo "$home"
