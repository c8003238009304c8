#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/reading_options.h"
#include "core/files.h"
#include "core/text.h"
#include "experiments/exchange/stored_predictions.h"

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
  std::size_t model_width = 5;
  std::size_t task_width = 4;
  for (const ScoredPredictions& scored : all) {
    model_width = std::max(model_width, scored.model.size());
    task_width = std::max(task_width, scored.header.task.size());
  }
  fmt::print("{:<{}}  {:>4}  {:<{}}  {:>9}  {:>7}  {:>6}\n", "MODEL", model_width, "SEED", "TASK", task_width,
             "LENGTHS", "SAMPLES", "SCORE");
  fmt::memory_buffer rows;
  fmt::format_to(std::back_inserter(rows), "model,model_seed,task,suite,length,samples,seed,accuracy\n");
  for (const ScoredPredictions& scored : all) {
    const SampleHeader& header = scored.header;
    fmt::print("{:<{}}  {:>4}  {:<{}}  {:>9}  {:>7}  {:>6.1f}\n", scored.model, model_width, scored.seed,
               header.task, task_width, fmt::format("{}..{}", header.lengths.front(), header.lengths.back()),
               header.samples, 100 * mean_value(scored.rows).value());
    for (const EvaluationRow& row : scored.rows) {
      fmt::format_to(std::back_inserter(rows), "{},{},{},{},{},{},{},{}\n", scored.model, scored.seed,
                     header.task, header.suite, row.length, row.samples, row.seed, row.accuracy);
    }
  }
  if (!options.csv.empty()) write_output(options.csv, std::string_view(rows.data(), rows.size()));
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
