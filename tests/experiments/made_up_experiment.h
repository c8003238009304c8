#pragma once

#include <filesystem>
#include <vector>

#include "experiments/result_table.h"
#include "tests/experiments/made_up_results.h"

namespace che {

// An experiment with a bit of everything: several tasks and forms, three runs a cell, a cell that
// failed, one that trains, one that lacks a length, one that was never begun, a task with an option.
inline ResultTable made_up_experiment(const std::filesystem::path& folder) {
  const std::vector<double> scores = {0.5, 0.625, 0.75};
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    const double accuracy = scores[static_cast<std::size_t>(seed)];
    store_run(folder, made_up_config("reverse_string", "rope", seed), "finished", accuracy);
    RunConfig other_rate = made_up_config("reverse_string", "dape_kerple", seed);
    other_rate.learning_rate = seed == 2 ? 1e-4 : 3e-4;
    store_run(folder, other_rate, "finished", accuracy + 0.0625);
  }
  store_run(folder, made_up_config("even_pairs", "rope"), "finished", 1.0 / 3);
  store_run(folder, made_up_config("even_pairs", "randomized_rope"), "finished", 0.875);
  store_run(folder, made_up_config("even_pairs", "none"), "failed");
  store_run(folder, made_up_config("bucket_sort", "none"), "training");
  const RunFolder partial = store_run(folder, made_up_config("bucket_sort", "rope"), "finished", 0.5);
  std::vector<EvaluationRow> rows = partial.evaluation();
  rows.pop_back();
  partial.write_evaluation(rows);
  RunConfig reordered = made_up_config("odds_first", "none");
  reordered.task.options = {{"odds_first_order", "odd_first"}};
  store_run(folder, reordered, "finished", 0.625);
  RunConfig narrow = made_up_config("reverse_string", "dape_kerple");
  narrow.encoding.dape->hidden = 16;
  store_run(folder, narrow, "finished", 0.5);
  ResultTable table = make_table(open_runs(folder));
  table.name = "made_up";
  return table;
}

}  // namespace che
