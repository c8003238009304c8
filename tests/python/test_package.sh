#!/usr/bin/env bash
# Installs the Python package into a fresh virtual environment and tests it. Needs a package index.
#   test_package.sh CHE_PROGRAM BUILD_FOLDER
set -euo pipefail
program=$(realpath "$1")
environment=$2/python-test
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
rm -rf "$environment"
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check "$source"
cd "$environment"  # Not in the source folder, whose files would hide the installed package.
bin/python "$source/tests/python/tasks_test.py" "$program"
bin/python "$source/tests/python/package_test.py" "$program"
