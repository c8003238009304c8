#!/usr/bin/env bash
# Sets everything up and runs the tests.
#   scripts/test.sh [ctest options]     (for example: -R Reference, -L slow)
# Without options the tests labelled slow, and the one labelled tensorboard, which installs TensorBoard with
# pip, are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh release
(($#)) || set -- -LE "slow|tensorboard"
echo "test: running ctest $*"
# One more than there are cores: some tests wait for locks, schedulers and browsers.
outputs=$PWD/build/Testing/outputs.xml
rm -f "$outputs"
ctest --preset release -j "$(($(nproc) + 1))" --output-junit "$outputs" --test-output-truncation head "$@" && exit
status=$?
[[ ! -e $outputs ]] || scripts/failed_tests.py "$outputs" || true
exit "$status"
