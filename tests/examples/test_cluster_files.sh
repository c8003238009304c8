#!/usr/bin/env bash
# The files of examples/cluster/ as far as they can be tried without their batch systems: the scripts with the variables that
# these set, stopped by a signal and started again.
#   test_cluster_files.sh CHE SOURCE_FOLDER
set -euo pipefail
che=$(realpath "$1")
files=$(realpath "$2")/examples/cluster
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "cluster files: FAILED: $*"
  cat ./*.log 2> /dev/null | tail -20
  exit 1
}

cat > sweep.yaml << 'YAML'
name: sweep
base:
  task: reverse_string
  model: {width: 8, layers: 1, heads: 2, ffn_multiple: 2}
  training: {steps: 2500, batch_size: 4, last_length: 6}
  evaluation: {first_length: 7, last_length: 9, samples: 64}
  execution: {checkpoint_seconds: 0.2}
axes:
  encoding: [rope, none]
YAML
"$che" run sweep.yaml -o straight -w 1 > straight.log

# try NAME SIGNAL CODE VARIABLE=VALUE ... -- COMMAND ...: the second task, which a signal stops with CODE and which then ends with 0.
try() {
  local name=$1 signal=$2 expected=$3 variables=() submission last
  shift 3
  while [[ $1 != -- ]]; do variables+=("$1") && shift; done
  shift
  "$che" submit sweep.yaml --manifest -o "$name" > "$name.manifest"
  submission=$(sed -n 's/^submission: //p' "$name.manifest")
  last=$(sed -n 's/^tasks: 2 (0 to \(.*\))$/\1/p' "$name.manifest")
  [[ $last == 1 && -e $submission ]] || fail "$name: $(cat "$name.manifest")"
  env CHE="$che" SUBMISSION="$submission" "${variables[@]}" "${@//SUBMISSION/$submission}" > "$name.log" 2>&1 &
  local task=$! code=0
  for ((i = 0; i < 600; ++i)); do
    compgen -G "$name/runs/*/checkpoint.bin" > /dev/null && break
    sleep 0.05
  done
  kill "-$signal" "$task"
  wait "$task" || code=$?
  ((code == expected)) || fail "$name: a task that got $signal exits with $code instead of $expected"
  env CHE="$che" SUBMISSION="$submission" "${variables[@]}" "${@//SUBMISSION/$submission}" >> "$name.log" 2>&1 ||
    fail "$name: the task ends with $? when it is started again"
  run=$(cd "$name/runs" && ls -d ./*/evaluation.csv)
  cmp "$name/runs/$run" "straight/runs/$run" || fail "$name: other results than che run"
  echo "cluster files: $name: $signal, $expected, resumed"
}

mkdir commands
# Stands for the container, and for what puts the task back.
printf '#!/bin/bash\nshift 2\n[[ $1 == che ]] && shift && exec "$CHE" "$@"\n' > commands/apptainer
printf '#!/bin/bash\necho "requeued $2"\n' > commands/scontrol
chmod +x commands/*

try gridengine USR1 99 SGE_TASK_ID=2 -- bash "$files/gridengine.sh"
try gridengine_deleted USR2 99 SGE_TASK_ID=2 -- bash "$files/gridengine.sh"
try lsf USR1 75 LSB_JOBINDEX=2 -- bash "$files/lsf.sh"
try htcondor TERM 75 -- "$che" task SUBMISSION 1
try apptainer USR1 0 PATH="$work/commands:$PATH" SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=1 -- bash "$files/apptainer.sbatch"
grep -q "^requeued 7_1$" apptainer.log || fail "apptainer: the task was not put back"
