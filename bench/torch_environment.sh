#!/usr/bin/env bash
# Prints a Python with PyTorch, NumPy, safetensors and the package che_tasks of this tree. Unless CHE_TORCH_PYTHON names a
# Python with the first three, PyTorch is installed (4.6 GB, once) into a virtual environment outside the clone.
#   torch_environment.sh FOLDER: che_tasks is installed into FOLDER/modules, which belongs on the PYTHONPATH
set -euo pipefail
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
torch_version=2.11.0
home=${XDG_CACHE_HOME:-$HOME/.cache}/che/python-torch-$torch_version
python=${CHE_TORCH_PYTHON:-$home/bin/python}
if [[ -z ${CHE_TORCH_PYTHON:-} && ! -e $home/.complete ]]; then
  echo "torch: installing PyTorch $torch_version into $home (4.6 GB, once)" >&2
  rm -rf "$home"
  if ! python3 -m venv "$home"; then
    echo "torch: Python's venv is missing; run  sudo apt-get install python3-venv  and this script again" >&2
    exit 2
  fi
  "$home/bin/pip" install --quiet --disable-pip-version-check torch==$torch_version numpy safetensors >&2
  touch "$home/.complete"
fi
rm -rf "$1/modules"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$1/modules" "$source" >&2
echo "$python"
