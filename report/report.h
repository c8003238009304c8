#pragma once

#include <string>

#include "core/warning.h"
#include "experiments/analysis/result_table.h"

namespace che {

struct ReportLinks {
  std::string folder = ".";  // The experiment's folder as the report's reader reaches it.
};

// One HTML page that needs no network and no other file to be read: where the results come from, the tables
// (a click sorts them), every figure that has something to show, runs without a score, the config of every
// cell. Links to CSV files lead below `links.folder`: table.csv, runs.csv and those of single runs. Where a
// figure cannot be drawn, because gnuplot is missing or fails, a sentence takes its place and `warn` is told
// why.
std::string report_html(const ResultTable& table, const ReportLinks& links,
                        const WarningSink& warn = print_warning);

}  // namespace che
