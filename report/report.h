#pragma once

#include <string>

#include "experiments/result_table.h"

namespace che {

struct ReportLinks {
  std::string folder = ".";  // The experiment's folder as the report's reader reaches it.
};

// One HTML page that needs no network and no other file to be read: where the results come from, the
// tables (a click sorts them), every figure that has something to show, runs without a score, every
// cell's config. Links to CSV files lead below `links.folder`: table.csv, runs.csv and those of single
// runs. Throws Error (runtime) when gnuplot is missing or fails.
std::string report_html(const ResultTable& table, const ReportLinks& links);

}  // namespace che
