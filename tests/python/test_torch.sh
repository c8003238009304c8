#!/usr/bin/env bash
# Tests che_tasks.torch against the reference numbers and against che's own training, and runs the examples in PyTorch in
# short. Needs a package index, or CHE_TORCH_PYTHON: a Python that has PyTorch, NumPy, safetensors and pip.
#   test_torch.sh CHE_PROGRAM BUILD_FOLDER
set -euo pipefail
program=$(realpath "$1")
work=$(realpath "$2")/torch-test
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
rm -rf "$work"
mkdir "$work"
python=$("$source/bench/torch_environment.sh" "$work")
export PYTHONPATH=$work/modules OMP_NUM_THREADS=1
cd "$work"

fail() {
  echo "test_torch: $*" >&2
  exit 1
}

"$python" "$source/tests/python/torch_test.py" "$program"

# Short strings are learned in a few hundred steps. The score is what che computes from the predictions.
"$python" "$source/examples/pytorch_model.py" parity_check --last-length 16 --steps 400 --lengths 17:31:7 --samples 64 \
  --results results/parity | tee printed
accuracy=$(sed -n 's/^accuracy at lengths 1 to 16: //p' printed)
python3 -c "import sys; sys.exit(not float('${accuracy:-nan}') > 0.99)" || fail "accuracy '$accuracy' at training lengths"
"$program" score my_lstm.jsonl --csv my_lstm.csv > /dev/null
awk -F, 'NR > 1 && !($8 > 0.99) {exit 1}' my_lstm.csv || fail "$(cat my_lstm.csv)"
"$python" "$source/examples/pytorch_model.py" "$source/tasks/files/tomita_4.yaml" --first-length 3 --last-length 8 --steps 5 --width 8 \
  --lengths 17:17:1 --samples 64 | grep -q '^score: ' || fail "no score on a declared task"

# An encoding of one's own, and its p-values, beside a run of che.
small=(axes.task=[even_pairs] model.width=16 model.layers=1 model.heads=2 training.steps=30 training.batch_size=8
  evaluation.last_length=24 evaluation.samples=64)
"$python" "$source/examples/my_encoding.py" "$source/configs/quick.yaml" "${small[@]}" | tee printed
grep -q 'even_pairs *4 / 4 ' printed || fail "no comparison of four with four repetitions"
grep -qw 'Gate' printed || fail "no column of the encoding"
"$program" run "$source/configs/quick.yaml" "${small[@]}" 'axes.encoding=[dape_kerple]' -o results/own > run.log || fail "$(cat run.log)"
"$program" compare results/my_encoding results/own --column Gate --format md | tee printed
grep -q 'dape_kerple.* 4 / 1 ' printed || fail "not compared with che's encoding"
grep -q 'alibi-torch.* 4 / 4 ' printed || fail "not compared with ALiBi"

# The comparison of speed runs.
cd "$source"
bench=$("$python" bench/torch_steps.py --task even_pairs --encoding dape_kerple --length 5 --width 16 --batch 4 --steps 2)
grep -q '"step_seconds": [0-9]' <<< "$bench" || fail "$bench"
