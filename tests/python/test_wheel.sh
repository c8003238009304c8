#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment and goes from samples to a bundle there, with no shared
# library of Debian's packages. Needs a package index; CHE_WHEEL names a wheel that is there already.
#   test_wheel.sh CHE_PROGRAM BUILD_FOLDER
set -euo pipefail
program=$(realpath "$1")
work=$(realpath "$2")/wheel-test
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
rm -rf "$work"
mkdir "$work"

fail() {
  echo "test_wheel: $*" >&2
  exit 1
}

[[ -n ${CHE_WHEEL:-} ]] || "$source/scripts/wheel.sh" "$work/dist"
wheel=${CHE_WHEEL:-$(echo "$work"/dist/*.whl)}
[[ $wheel == *-manylinux_*_x86_64.whl ]] || fail "$wheel has no manylinux tag"
python3 -m venv "$work/environment"
"$work/environment/bin/pip" install --quiet --disable-pip-version-check "$wheel"
cd "$work"
export PATH=$work/environment/bin:$PATH

# What the loader takes from the system is what the manylinux tag promises; everything else is in the wheel.
for binary in environment/lib/python*/site-packages/che_tasks/{_core*.so,bin/che}; do
  ldd "$binary" > libraries
  system=$(awk '$3 !~ /che_tasks.libs/ {print $1}' libraries | sed 's/.*\///; s/\.so.*//' | sort -u)
  for library in $system; do
    [[ $library =~ ^(linux-vdso|libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread|librt|libz|ld-linux-x86-64)$ ]] ||
      fail "$binary needs $library of the system"
  done
  grep -q 'che_tasks.libs/libyaml-cpp' libraries || fail "$binary does not use the wheel's libraries: $(cat libraries)"
done

che export quick/v1 --task even_pairs -o samples > /dev/null
"$program" export quick/v1 --task even_pairs -o expected > /dev/null
cmp samples/even_pairs.jsonl expected/even_pairs.jsonl
python - << 'PYTHON'
import che_tasks

for share in (0, 1):
  # Right in the first half of the samples, or in all.
  def predict(batch, share=share):
    half = len(batch.output) // 2
    answer = batch.output.copy()
    answer[half:] ^= 1 - share
    return answer

  sets = che_tasks.suite("quick/v1").test_sets("even_pairs")
  for seed in range(4):
    che_tasks.write_predictions(f"{share}-{seed}.jsonl", predict, sets, model=f"model{share}", model_seed=seed)
PYTHON
che score ./*.jsonl -o results/wheel > /dev/null
che compare results/wheel --column model1 --base model0 --format csv -o comparison.csv
grep -q ',4,4,no,' comparison.csv || fail "$(cat comparison.csv)"
che table results/wheel --format csv | grep -q ',model1,.*,1,' || fail "no score of 100 %"
che report results/wheel > /dev/null
[[ -s results/wheel/report.html ]] || fail "no report"
che bundle results/wheel -o wheel.tar.zst > /dev/null
che verify wheel.tar.zst | grep -q '^verified' || fail "not verified"
"$program" verify wheel.tar.zst > /dev/null
message=$(che run "$source/configs/quick.yaml" 2>&1) && fail "trains without che-compute"
grep -q 'che-compute' <<< "$message" || fail "$message"
