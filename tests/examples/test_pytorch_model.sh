#!/usr/bin/env bash
# Runs examples/pytorch_model.py with PyTorch and shows its score beside an encoding of che in one table. Needs a package index,
# or CHE_TORCH_PYTHON: a Python that has PyTorch, NumPy and pip.
#   test_pytorch_model.sh CHE_PROGRAM BUILD_FOLDER
set -euo pipefail
program=$(realpath "$1")
work=$(realpath "$2")/pytorch-test
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
python=${CHE_TORCH_PYTHON:-$("$source/bench/peer/environment.sh")/bin/python}
rm -rf "$work"
mkdir "$work"
cd "$work"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target modules "$source"
export PYTHONPATH=$work/modules OMP_NUM_THREADS=1

fail() {
  echo "test_pytorch_model: $*" >&2
  exit 1
}

# Short strings are learned in a few hundred steps.
"$program" export regular-4/v1 --task parity_check --lengths 17:31:7 --samples 64 -o samples
"$python" "$source/examples/pytorch_model.py" samples/parity_check.jsonl --last-length 16 --steps 400 -o lstm.jsonl | tee printed
accuracy=$(sed -n 's/^accuracy at lengths 1 to 16: //p' printed)
python3 -c "import sys; sys.exit(not float('${accuracy:-nan}') > 0.99)" || fail "accuracy '$accuracy' at training lengths"

# Its score is what che computes from the predictions, whatever the example printed.
"$program" score lstm.jsonl -o results --csv lstm.csv
awk -F, 'NR > 1 && !($8 > 0.99) {exit 1}' lstm.csv || fail "$(cat lstm.csv)"
cat > parity.yaml << 'YAML'
name: parity
base:
  task: parity_check
  model: {width: 16, layers: 1, heads: 2}
  training: {steps: 20, batch_size: 8, last_length: 16}
  evaluation: {first_length: 17, last_length: 31, length_step: 7, samples: 64}
axes:
  encoding: [dape_kerple]
YAML
"$program" run parity.yaml -o results > run.log || fail "$(cat run.log)"
table=$("$program" table results --format md)
echo "$table"
grep -q '| *task *|.* dape_kerple *|.* lstm *|\|| *task *|.* lstm *|.* dape_kerple *|' <<< "$table" || fail "no table of both"
grep '| parity_check' <<< "$table" | grep -q '100\.0\|99\.[0-9]' || fail "the table lacks the score of the LSTM"
