#!/usr/bin/env bash
# Proves that a full or read-only disk changes no results: an undisturbed sweep of four runs is compared,
# byte by byte, with sweeps that run out of disk. For kills see kills.py, for signals and damaged files
# tests/cli/sweep_program_test.cpp.
#   survive.sh CHE
set -euo pipefail
che=$(realpath "$1")
work=$(mktemp -d)
mounted=
leave() {
  if [[ -n $mounted ]]; then
    jobs -p | xargs -r kill 2> /dev/null || true
    wait
    umount -q "$work/disk/results" || true
    umount "$work/disk" || true
  fi
  rm -rf "$work"
}
trap leave EXIT
cd "$work"

say() { echo "survive: $*"; }
fail() {
  say "FAILED: $*"
  exit 1
}

# Checkpoints after every step, so that a full disk hits them, their renames and the rows between them.
cat > sweep.yaml << 'YAML'
name: sweep
base:
  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}
  training: {steps: 120, batch_size: 4, last_length: 6}
  evaluation: {first_length: 7, last_length: 30, samples: 64}
  execution: {checkpoint_seconds: 0}
  log: {every_steps: 10}
axes:
  task: [even_pairs, reverse_string]
  encoding: [rope, dape_kerple]
YAML

sweep() { "$che" run sweep.yaml --output "$1" --workers 2 "${@:2}"; }
# What must not change: every evaluation.csv and the tables, but for the time in the last line.
result_of() {
  (cd "$1/runs" && sha256sum ./*/evaluation.csv)
  "$che" table "$1" --format csv
  "$che" table "$1" | sed 's/last change: .*//'
}
expect_same() {
  result_of "$1" > after.txt
  diff expected.txt after.txt || fail "$2: other results than the undisturbed sweep"
}
sweep straight > straight.txt
result_of straight > expected.txt

# A full disk, then a read-only one: exit 1, a message, nothing finished is lost, and the sweep goes on.
mkdir disk
if mount -t tmpfs -o size=400k tmpfs disk 2> /dev/null; then
  mounted=1
  "$che" run sweep.yaml --output disk/results --workers 1 --max-jobs 2 > full.txt || (($? == 75))
  finished=$(cat disk/results/runs/*/evaluation.csv | sha256sum)
  head -c 10M /dev/zero > disk/ballast 2> /dev/null || true
  status=0
  "$che" run sweep.yaml --output disk/results --workers 1 > full.txt 2>&1 || status=$?
  ((status == 1)) || fail "full disk: exit $status instead of 1: $(cat full.txt)"
  grep -q "No space left on device" full.txt || fail "full disk: not said: $(cat full.txt)"
  [[ $(cat disk/results/runs/*/evaluation.csv | sha256sum) == "$finished" ]] || fail "full disk: results are lost"
  rm disk/ballast
  sweep disk/results > full.txt 2>&1 || fail "after space is back: $(tail -5 full.txt)"
  expect_same disk/results "full disk"
  head -c 10M /dev/zero > disk/ballast 2> /dev/null || true
  "$che" prune disk/results > full.txt 2>&1 || fail "prune on a full disk: $(cat full.txt)"
  ! compgen -G 'disk/results/runs/*/checkpoint*' > /dev/null || fail "prune on a full disk leaves checkpoints"
  rm disk/ballast
  say "full disk: message, exit 1, nothing lost, resumed"

  rm -rf disk/results
  set -m
  sweep disk/results training.steps=800 > readonly.txt 2>&1 &
  set +m
  pid=$!
  for ((i = 0; i < 600; ++i)); do
    compgen -G 'disk/results/runs/*/checkpoint.bin' > /dev/null && break
    sleep 0.05
  done
  # A read-only view of the folder over itself: the disk cannot change while its files are open.
  mount --bind disk/results disk/results
  mount -o remount,bind,ro disk/results
  status=0
  wait $pid || status=$?
  ((status == 1)) || fail "read-only disk: exit $status instead of 1: $(cat readonly.txt)"
  grep -q "Read-only file system" readonly.txt || fail "read-only disk: not said: $(cat readonly.txt)"
  status=0
  sweep disk/results training.steps=800 > readonly.txt 2>&1 || status=$?
  ((status == 1)) || fail "a start on a read-only disk: exit $status instead of 1: $(cat readonly.txt)"
  grep -q "Read-only file system" readonly.txt || fail "a start on a read-only disk: not said: $(cat readonly.txt)"
  umount disk/results
  sweep longer training.steps=800 > full.txt
  sweep disk/results training.steps=800 > full.txt 2>&1 || fail "after a read-only disk: $(tail -5 full.txt)"
  cmp <(result_of longer) <(result_of disk/results) || fail "read-only disk: other results"
  say "read-only disk: message, exit 1, resumed"
else
  # Without the right to mount, the largest file a process may write stands in for the disk.
  status=0
  (ulimit -f 8 && trap '' XFSZ && sweep limited) > full.txt 2>&1 || status=$?
  ((status == 1)) || fail "failing writes: exit $status instead of 1: $(cat full.txt)"
  grep -q "cannot write" full.txt || fail "failing writes: not said: $(cat full.txt)"
  sweep limited > full.txt 2>&1 || fail "after writes work again: $(tail -5 full.txt)"
  expect_same limited "failing writes"
  say "failing writes (no right to mount a small disk): message, exit 1, resumed"
fi
say "all passed"
