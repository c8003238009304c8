#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/result_table.h"
#include "tests/experiments/store/made_up_results.h"

namespace che {

// The scores of predictors without a model: of those that do not see the input, and none of the others.
inline TrivialBaselines baselines(Baseline constant, Baseline position_only) {
  return {.constant = constant, .position_only = position_only, .frequent_symbol = {}, .lengths = {}};
}

// An experiment with a bit of everything: several tasks and forms, three runs a cell, a cell that
// failed, one that trains, one that lacks a length, one that was never begun, a task with an option.
inline ResultTable made_up_experiment(const std::filesystem::path& folder) {
  const std::vector<double> scores = {0.5, 0.625, 0.75};
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    const double accuracy = scores[static_cast<std::size_t>(seed)];
    // One of three did not train.
    store_run(folder, made_up_config("reverse_string", "rope", seed), RunState::kFinished, accuracy,
              seed == 0 ? 0.5 : 0.75);
    RunConfig other_rate = made_up_config("reverse_string", "dape_kerple", seed);
    other_rate.learning_rate = seed == 2 ? 1e-4 : 3e-4;
    store_run(folder, other_rate, RunState::kFinished, accuracy + 0.0625);
  }
  store_run(folder, made_up_config("even_pairs", "rope"), RunState::kFinished, 1.0 / 3,
            0.5);  // Did not train.
  store_run(folder, made_up_config("even_pairs", "randomized_rope"), RunState::kFinished, 0.875);
  store_run(folder, made_up_config("even_pairs", "none"), RunState::kFailed);
  store_run(folder, made_up_config("bucket_sort", "none"), RunState::kTraining);
  const RunFolder partial =
      store_run(folder, made_up_config("bucket_sort", "rope"), RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = partial.evaluation();
  rows.pop_back();
  partial.write_evaluation(rows);
  RunConfig reordered = made_up_config("odds_first", "none");
  reordered.task.options =
      Registry<TaskEntry>::instance().get("odds_first").options.with({{"order", "odd_first"}});
  store_run(folder, reordered, RunState::kFinished, 0.625);
  RunConfig narrow = made_up_config("reverse_string", "dape_kerple");
  narrow.encoding.dape->hidden = 16;
  store_run(folder, narrow, RunState::kFinished, 0.5);
  ResultTable table = make_table(open_runs(folder));
  table.name = "made_up";
  return table;
}

// dape_kerple with 16 and with 64 hidden units, two seeds each and a third only of 16; rope at two learning
// rates.
inline ResultTable varied_experiment(const std::filesystem::path& folder) {
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    const double score = 0.5 + 0.125 * static_cast<double>(seed);
    RunConfig config = made_up_config("reverse_string", "dape_kerple", seed);
    if (seed < 2) store_run(folder, config, RunState::kFinished, score + 0.0625);
    config.encoding.dape->hidden = 16;
    store_run(folder, config, RunState::kFinished, score);
  }
  RunConfig rope = made_up_config("reverse_string", "rope");
  store_run(folder, rope, RunState::kFinished, 0.5);
  rope.learning_rate = 1e-4;
  store_run(folder, rope, RunState::kFinished, 0.75);
  return make_table(open_runs(folder));
}

// What tables call the column of this shorthand without settings.
inline EncodingLabel label_of(const std::string& shorthand) {
  EncodingConfig encoding;
  encoding.reset(shorthand);
  return encoding.label();
}

// The cell that tables call so; null where there is none.
inline const TableCell* cell_called(const ResultTable& table, const std::string& task,
                                    const std::string& encoding) {
  for (const auto& [key, cell] : table.cells) {
    if (key.task.text() == task && key.encoding.text() == encoding) return &cell;
  }
  return nullptr;
}

// Labels as tables print them.
template <class Labels>
std::vector<std::string> texts_of(const Labels& labels) {
  std::vector<std::string> texts;
  for (const auto& label : labels) texts.push_back(label.text());
  return texts;
}

}  // namespace che
