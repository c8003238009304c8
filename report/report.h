#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/results/result_table.h"

namespace che {

struct ReportLinks {
  // The experiments' folders as the report's reader reaches them.
  std::vector<std::string> folders = {"."};
  // Precedes the names of the CSV files; absent where there are none.
  std::optional<std::string> tables = std::nullopt;
};

// Returns one HTML page that needs no network and no other file. It says where the results come from and has
// the tables, which a click sorts, and every figure that has something to show. It lists runs without a score
// and the config of every cell. Links lead to the files of single runs below `links.folders` and to
// table.csv, runs.csv and lengths.csv. Where a figure cannot be drawn, because Python or matplotlib is
// missing or fails, a sentence takes its place and `warn` is told why.
std::string report_html(const ResultTable& table, const ReportLinks& links,
                        const WarningSink& warn = print_warning);

}  // namespace che
