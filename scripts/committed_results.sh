#!/usr/bin/env bash
# The results that this repository keeps of an experiment, in results/committed/NAME.
#   scripts/committed_results.sh restore NAME [FOLDER]   unpacks the stored runs into FOLDER, results/NAME unless given
#   scripts/committed_results.sh write NAME     writes tables, comparisons, figures and the archive of runs from results/NAME
#   scripts/committed_results.sh draw NAME      draws the figures of the stored runs anew; `all` for NAME draws every picture there
# The archive has everything of a run but its checkpoints: tables and figures can be made from it, and missing
# runs can be added by `che run`; a restored run cannot be evaluated at further lengths.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  sed -n '2,5s/^# *//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

(($# == 2)) || [[ $# == 3 && $1 == restore ]] || usage
name=$2
folder=${3:-results/$name}
committed=results/committed/$name
archive=$committed/runs.tar.xz

restore() {
  if [[ ! -e $archive ]]; then
    echo "committed_results: $archive is missing; experiments with stored runs:" \
      "$(cd results/committed && ls -d */runs.tar.xz 2> /dev/null | sed 's|/runs.tar.xz||' | tr '\n' ' ')" >&2
    exit 2
  fi
  if [[ -e $folder/runs ]]; then
    echo "committed_results: $folder/runs is there already; remove it, or name another folder after $name" >&2
    exit 2
  fi
  mkdir -p "$folder"
  tar -xJf "$archive" -C "$folder"
  echo "committed_results: $(find "$folder/runs" -mindepth 1 -maxdepth 1 | wc -l) runs in $folder/runs"
}

# Whether every cell of a task has six finished runs, so that differences have intervals and maxima would say little.
# Figures of texts always show means.
has_repetitions() {
  awk -F, 'NR > 1 && $1 == "text" { cells++ }
    NR > 1 && $1 != "text" && $5 > 0 { cells++; few += $5 < 6 }
    END { exit !(cells && !few) }' "$committed/table.csv"
}

# Draws figures as SVG and PNG, as wide as a column of a paper, which a phone shows without making it smaller; their
# data go to results/NAME/figure-data.
draw_figures() {
  local file aggregate=max
  if has_repetitions; then
    aggregate=mean
  fi
  rm -f "$committed"/*.svg "$committed"/*.png
  build/che plot "$folder" --aggregate "$aggregate" --width 85 --format svg,png --output "$committed"
  if [[ -d $committed/figure-data ]]; then
    rm -rf "$folder/figure-data"
    mv "$committed/figure-data" "$folder/figure-data"
  fi
  if [[ $aggregate == mean ]] && compgen -G "$committed/differences*.svg" > /dev/null; then
    build/che plot "$folder" --by-length --figure differences --width 85 --format svg,png --output "$folder/by-length"
    mv "$folder/by-length/figure-data/differences.csv" "$folder/figure-data/differences_by_length.csv"
    for file in "$folder"/by-length/*.*; do
      mv "$file" "$committed/differences_by_length${file#"$folder"/by-length/differences}"
    done
    rm -rf "$folder/by-length"
  fi
}

draw() {
  if [[ $name != all ]]; then
    [[ -d $folder/runs ]] || restore
    draw_figures
    return
  fi
  local runs file bias=results/committed/bias
  for runs in results/committed/*/runs.tar.xz; do
    "$0" draw "$(basename "$(dirname "$runs")")"
  done
  rm -f "$bias"/*.svg "$bias"/*.png
  mkdir -p results/bias
  for file in "$bias"/*.csv.xz; do
    xz -dc "$file" > "results/bias/$(basename "$file" .xz)"
  done
  export PYTHONPATH=plots
  python3 -m che_plots --format svg png --width 85 --query 160 \
    --title "randomized_dape_kerple on even_pairs, length 160, sample 0, step 2000" -- results/bias/even_pairs-*.csv
  python3 -m che_plots --format svg png --width 85 --query 2047 --trained 128 \
    --title "dape_kerple on austen, length 2048, window 0, step 1500" -- results/bias/austen-*.csv
  mv results/bias/*.svg results/bias/*.png "$bias"
  scripts/first_figure.py
}

# Whether the experiment has this column.
has_column() {
  awk -F, -v column="$1" 'NR > 1 && $3 == column && $5 > 0 { found = 1 } END { exit !found }' "$committed/table.csv"
}

# Whether a cell has more than one finished run.
has_several_runs() {
  python3 - "$committed/table.csv" << 'END'
import csv, sys
with open(sys.argv[1], newline="") as table:
    sys.exit(not any(int(cell["n"] or 0) > 1 for cell in csv.DictReader(table)))
END
}

write() {
  if [[ ! -d $folder/runs ]]; then
    echo "committed_results: $folder/runs is missing; run the experiment first, or restore it" >&2
    exit 2
  fi
  local che=build/che quoted=()
  if [[ -e data/$name/quoted.csv ]]; then
    quoted=("data/$name")
  fi
  mkdir -p "$committed"
  "$che" table "$folder" "${quoted[@]}" --paper --baselines --notes all --format md --output "$committed/table.md"
  "$che" table "$folder" --baselines --format csv --output "$committed/table.csv"
  "$che" table "$folder" --runs --format csv --output "$committed/runs.csv"
  rm -f "$committed/agreement.md" "$committed/table_mean.md" "$committed"/compare_*.md
  # Where a cell has several runs, the maxima of table.md say little of a typical one.
  if has_several_runs; then
    "$che" table "$folder" "${quoted[@]}" --paper --baselines --aggregate mean --spread --notes all --format md --output "$committed/table_mean.md"
  fi
  local encoding form compared=
  for encoding in alibi kerple fire; do
    has_column "randomized_$encoding" || continue
    compared=yes
    for form in dape randomized_dape; do
      has_column "${form}_$encoding" || continue
      "$che" compare "$folder" --column "${form}_$encoding" --base "randomized_$encoding" --notes all --format md \
        --output "$committed/compare_${form}_$encoding.md"
    done
  done
  if [[ $compared ]]; then
    "$che" agreement "$folder" --notes all --format md --output "$committed/agreement.md"
  fi
  if [[ $name == encodings_2026 ]]; then
    # Its outcomes name the encoding that all others are compared with.
    awk -F, 'NR > 1 && $3 != "randomized_rope" { print $3 }' "$committed/table.csv" | LC_ALL=C sort -u |
      while IFS= read -r encoding; do
        "$che" compare "$folder" --column "$encoding" --base randomized_rope --by-length --format csv
      done | awk 'NR == 1 || !/^level,task,/' > "$committed/by_length_randomized_rope.csv"
  fi
  draw_figures
  # The same runs give the same bytes.
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX \
    --exclude='checkpoint*' --exclude=lock --exclude='lock.*' -C "$folder" runs | xz -9e --threads=1 > "$archive.new" ||
    { rm -f "$archive.new"; exit 1; }
  mv "$archive.new" "$archive"
  ls -l "$committed"
}

case $1 in
  restore) restore ;;
  write) write ;;
  draw) draw ;;
  *) usage ;;
esac
