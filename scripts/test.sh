#!/usr/bin/env bash
# Sets everything up and runs the tests.
#   scripts/test.sh             all but the slow tests
#   scripts/test.sh --quick     those that start no program and train no model, for between two edits
#   scripts/test.sh [ctest options]     (for example: -L slow, -R kills)
# A single test is run by its program: build/unit_tests --gtest_filter='*Filter*'.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh release
case ${1:-} in
  '') set -- -LE slow ;;
  --quick) set -- -L quick ;;
esac
echo "test: running ctest $*"
# One more than there are cores: some tests wait for locks, schedulers and browsers.
outputs=$PWD/build/Testing/outputs.xml
rm -f "$outputs"
ctest --preset release -j "$(($(nproc) + 1))" --output-junit "$outputs" --test-output-truncation head "$@" && exit
status=$?
[[ ! -e $outputs ]] || scripts/failed_tests.py "$outputs" || true
exit "$status"
