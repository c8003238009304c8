#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/exchange/stored_predictions.h"
#include "tables/formats/formats.h"

namespace che {
namespace {

struct ScoreOptions {
  std::vector<std::string> files;
  std::string csv;
  std::string output;
};

int score(const ScoreOptions& options) {
  check_output_file("--csv", options.csv, options.files);
  const std::vector<ScoredPredictions> all = score_files(options.files, options.output);
  std::vector<std::string> tasks;
  DataTable data;
  std::size_t model_width = 5;
  std::size_t task_width = 4;
  for (const ScoredPredictions& scored : all) {
    const std::string task = tasks.emplace_back(task_config(scored.header).own_label().text());
    model_width = std::max(model_width, scored.model.size());
    task_width = std::max(task_width, task.size());
    for (const EvaluationRow& row : scored.rows) {
      data.add_row({{"model", scored.model},
                    {"model_seed", scored.seed},
                    {"task", task},
                    {"suite", scored.header.suite},
                    {"length", row.length},
                    {"samples", row.samples},
                    {"seed", row.seed},
                    {"accuracy", row.accuracy},
                    {"data_seed", scored.data_seed}});
    }
  }
  fmt::print("{:<{}}  {:>4}  {:>9}  {:<{}}  {:>9}  {:>7}  {:>6}\n", "MODEL", model_width, "SEED", "DATA SEED",
             "TASK", task_width, "LENGTHS", "SAMPLES", "SCORE");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SampleHeader& header = all[i].header;
    fmt::print("{:<{}}  {:>4}  {:>9}  {:<{}}  {:>9}  {:>7}  {:>6.1f}\n", all[i].model, model_width,
               all[i].seed, all[i].data_seed, tasks[i], task_width,
               fmt::format("{}..{}", header.lengths.front(), header.lengths.back()), header.samples,
               100 * mean_value(all[i].rows).value());
  }
  if (!options.csv.empty()) write_output(options.csv, csv_table(data));
  if (!options.output.empty()) {
    fmt::print("{} stored in {}; `che table` shows them\n", counted(all.size(), "result"),
               one_line(options.output, kWholeText));
  }
  return 0;
}

}  // namespace

void add_score_command(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "score", "Score the predictions of a model outside che on the samples that 'export' writes");
  const auto options = set_action(*command, action, score);
  command->add_option("PREDICTIONS", options->files, "files of predictions (JSON lines), one task each")
      ->required();
  command->add_option(
      "-o,--output", options->output,
      "results folder, new or one that `che run` wrote, where table, plot and report then show "
      "the model next to the encodings");
  command->add_option("--csv", options->csv, "also write the accuracy at each length to this file");
}

}  // namespace che
