#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/result_table.h"

namespace che {

// A number of the config that an experiment varies with all else equal: learning_rate,
// encoding.dape.hidden, model.width.
struct Ablation {
  std::string path;
  // Scores by task, label without this setting, and value; of those with two values or more. A line's values
  // have the same seeds and learning rates; values and runs without are left out.
  std::map<std::string, std::map<std::string, std::map<double, std::vector<double>>>> scores;
};

// Every ablation among the finished runs, by path.
std::vector<Ablation> find_ablations(const ResultTable& table);

// A gnuplot script that draws score over the number, a panel an ablation and task, a line a label: the
// scores of a value as `aggregate`, their range as a band. Throws Error (usage) when nothing is varied.
std::string ablation_script(const ResultTable& table, Aggregate aggregate, std::string_view format,
                            const std::filesystem::path& file);

}  // namespace che
