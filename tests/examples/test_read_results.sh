#!/usr/bin/env bash
# Runs examples/read_results.py with pandas in a fresh virtual environment, on the committed results of the quick
# experiment. Needs a package index.
#   test_read_results.sh CHE_PROGRAM BUILD_FOLDER
set -euo pipefail
program=$(realpath "$1")
environment=$2/pandas-test
source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
rm -rf "$environment"
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check pandas
results=$environment/quick
mkdir "$results"
tar -xf "$source/results/committed/quick/runs.tar.xz" -C "$results"
"$program" report "$results" > /dev/null
text=$("$environment/bin/python" "$source/examples/read_results.py" "$results" --task reverse_string)
echo "$text"

# The scores are those of the program's own table, and a column of it is what the committed table says.
difference=$(sed -n 's/^Largest difference from the scores of table.csv: //p' <<< "$text")
python3 -c "import sys; sys.exit(not float('$difference') < 1e-9)" || {
  echo "test_read_results: scores differ from table.csv by $difference" >&2
  exit 1
}
grep -q '^Accuracy on reverse_string' <<< "$text"
committed=$(awk -F, '$2 == "even_pairs" && $3 == "randomized_rope" {printf "%.1f", 100 * $8}' \
  "$source/results/committed/quick/table.csv")
grep '^even_pairs' <<< "$text" | grep -qw "$committed" || {
  echo "test_read_results: even_pairs has no score $committed" >&2
  exit 1
}
