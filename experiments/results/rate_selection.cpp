#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/number_text.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/results/result_table.h"

namespace che {
namespace {

// The accuracy at the end of training, or of a text the loss, whose sign is turned so that more is better.
double training_value(const TableRun& run) {
  if (run.metrics().empty()) {
    throw Error(fmt::format("--select training: {} has no training metrics; allowed: finished runs that have",
                            run.id));
  }
  return run.config.has_text() ? -final_training_loss(run.metrics()) : final_training_accuracy(run.metrics());
}

// A text's last loss on the validation part, with its sign turned.
double validation_value(const TableRun& run) {
  if (const std::optional<double> loss = final_validation_loss(run.metrics())) return -*loss;
  throw Error(
      fmt::format("--select validation: {} has no loss on the validation part; train it in another results "
                  "folder with log.validation_steps, which may be the number of its steps",
                  run.id));
}

// Further test samples that a run was measured on: an evaluation seed and the number of samples.
using SampleSet = std::pair<std::int64_t, std::int64_t>;

// Returns the mean accuracy over the scored lengths by set of samples, for sets that were measured at all of
// them and belong to another evaluation seed than the run's own.
std::map<SampleSet, double> validation_accuracies(const TableRun& run) {
  std::map<SampleSet, std::vector<EvaluationRow>> rows;
  std::set<std::int64_t> measured;
  for (const EvaluationRow& row : run.measured) {
    const bool counts = row.seed != run.config.evaluation.seed &&
                        row.eval_dropout == run.config.evaluation.eval_dropout &&
                        std::ranges::binary_search(run.scored_lengths, row.length);
    if (!counts) continue;
    rows[{row.seed, row.samples}].push_back(row);
    measured.insert(row.length);
  }
  std::map<SampleSet, double> accuracies;
  for (const auto& [samples, of_set] : rows) {
    if (of_set.size() == run.scored_lengths.size()) accuracies[samples] = *mean_value(of_set);
  }
  if (!accuracies.empty()) return accuracies;
  std::vector<std::int64_t> missing = run.scored_lengths;
  if (measured.size() < missing.size()) {
    std::erase_if(missing, [&](std::int64_t length) { return measured.contains(length); });
  }
  std::string set;
  const OptionValues settings = evaluation_settings(run.config);
  for (const std::string& path : all_evaluation_paths()) {
    const auto setting = settings.find(path.substr(path.rfind('.') + 1));
    if (setting != settings.end()) set += fmt::format(" --set {}={}", path, setting->second);
  }
  throw Error(fmt::format(
      "--select validation: {} has no accuracy as {} on samples of another evaluation seed than its "
      "own, {}, at the scored lengths {}; `che evaluate EXPERIMENT_DIR --seed 1000{}` measures it",
      run.id, run.encoding.text(), run.config.evaluation.seed, lengths_option(missing), set));
}

void check_finished(const TableRun& run, SelectionRule rule) {
  if (run.score) return;
  throw Error(fmt::format(
      "--select {}: {} is not finished, and its cell has several learning rates; finish it with `che run`, "
      "or choose finished rates with --only learning_rate=...",
      selection_rule_name(rule), run.id));
}

// Returns the validation accuracy of each run, over the sets of samples that all of them were measured on. Of
// one evaluation seed only the largest common set counts.
std::vector<double> validation_accuracy(const std::vector<const TableRun*>& runs) {
  std::vector<std::map<SampleSet, double>> accuracies;
  std::map<SampleSet, std::size_t> holders;
  for (const TableRun* const run : runs) {
    for (const auto& [samples, accuracy] : accuracies.emplace_back(validation_accuracies(*run))) {
      ++holders[samples];
    }
  }
  std::map<std::int64_t, std::int64_t> common;  // Number of samples by seed; the last is the largest.
  for (const auto& [samples, count] : holders) {
    if (count == runs.size()) common[samples.first] = samples.second;
  }
  if (common.empty()) {
    throw Error(fmt::format(
        "--select validation: the runs of {} on {} were measured on different samples; measure all of them "
        "with one `che evaluate EXPERIMENT_DIR --seed 1000`",
        runs.front()->encoding.text(), runs.front()->task.text()));
  }
  std::vector<double> means;
  for (const std::map<SampleSet, double>& of_run : accuracies) {
    double sum = 0;
    for (const SampleSet samples : common) sum += of_run.at(samples);
    means.push_back(sum / static_cast<double>(common.size()));
  }
  return means;
}

// The steps that the value of a run is of by its metrics: the first and the last.
std::pair<std::int64_t, std::int64_t> steps_of_value(const TableRun& run, SelectionRule rule) {
  if (rule == SelectionRule::kTraining) {
    return {begin_of_final_steps(run.metrics()) + 1, run.metrics().back().step};
  }
  const auto last =
      std::ranges::find_if(run.metrics().rbegin(), run.metrics().rend(),
                           [](const MetricsRow& row) { return row.validation_loss.has_value(); });
  return {last->step, last->step};
}

// Throws Error (usage) where the values of the runs by their metrics would be of different steps.
void check_steps(const CellKey& key, const std::vector<const TableRun*>& runs, SelectionRule rule) {
  const auto expected = steps_of_value(*runs.front(), rule);
  for (const TableRun* const run : runs) {
    const auto found = steps_of_value(*run, rule);
    if (found == expected) continue;
    throw Error(fmt::format(
        "--select {}: the runs of {} on {} were measured at different steps of training, {} to {} of {} and "
        "{} to {} of {}, so that they cannot be compared; train them with the same log.every_steps and "
        "log.validation_steps, or choose rates with --only learning_rate=...",
        selection_rule_name(rule), key.encoding.text(), key.task.text(), expected.first, expected.second,
        runs.front()->id, found.first, found.second, run->id));
  }
}

// "0.001 for rope on even_pairs; 0.0005 for all other cells"
std::string rates_text(const std::map<CellKey, double>& rates) {
  std::map<double, std::vector<std::string>> cells_of;
  for (const auto& [key, rate] : rates) {
    cells_of[rate].push_back(fmt::format("{} on {}", key.encoding.text(), key.task.text()));
  }
  const auto most =
      std::ranges::max_element(cells_of, {}, [](const auto& cells) { return cells.second.size(); });
  std::vector<std::string> texts;
  for (const auto& [rate, cells] : cells_of) {
    if (rate != most->first)
      texts.push_back(fmt::format("{} for {}", real_text(rate), fmt::join(cells, ", ")));
  }
  texts.push_back(
      fmt::format("{} for {}", real_text(most->first), texts.empty() ? "every cell" : "all other cells"));
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Returns the learning rate with the best mean over the repetitions that all rates have.
double best_rate(const CellKey& key, const std::map<double, std::vector<const TableRun*>>& runs_of_rate,
                 SelectionRule rule) {
  std::map<Draw, std::size_t> rates_of_draw;
  std::vector<const TableRun*> runs;
  for (const auto& [rate, members] : runs_of_rate) {
    for (const TableRun* const run : members) {
      check_finished(*run, rule);
      ++rates_of_draw[draw_of(run->config)];
      runs.push_back(run);
    }
  }
  std::vector<double> values;
  if (rule == SelectionRule::kValidation && !runs.front()->config.has_text()) {
    values = validation_accuracy(runs);
  } else {
    for (const TableRun* const run : runs) {
      values.push_back(rule == SelectionRule::kTraining ? training_value(*run) : validation_value(*run));
    }
    check_steps(key, runs, rule);
  }
  std::map<double, std::vector<double>> values_of_rate;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (rates_of_draw.at(draw_of(runs[i]->config)) < runs_of_rate.size()) continue;
    values_of_rate[runs[i]->config.learning_rate].push_back(values[i]);
  }
  if (values_of_rate.empty()) {
    throw Error(fmt::format(
        "--select: the learning rates of {} on {} have no repetition in common; run each rate with the same "
        "seeds",
        key.encoding.text(), key.task.text()));
  }
  // The lowest of equal rates comes first. Rounding can make equal means differ.
  constexpr double kRounding = 1e-12;
  std::optional<std::pair<double, double>> best;
  for (const auto& [rate, of_rate] : values_of_rate) {
    const double mean = aggregate_of(of_rate, Aggregate::kMean);
    if (!best || mean > best->second + kRounding) best = {rate, mean};
  }
  return best->first;
}

}  // namespace

std::string select_rates(std::vector<TableRun>& runs, SelectionRule rule) {
  std::map<CellKey, std::map<double, std::vector<const TableRun*>>> cells;
  bool has_foreign = false;
  for (const TableRun& run : runs) {
    if (run.config.is_foreign()) {
      has_foreign = true;
      continue;
    }
    cells[{.task = run.task, .encoding = run.encoding}][run.config.learning_rate].push_back(&run);
  }
  std::map<CellKey, double> chosen;
  for (const auto& [key, runs_of_rate] : cells) {
    chosen[key] = runs_of_rate.size() == 1 ? runs_of_rate.begin()->first : best_rate(key, runs_of_rate, rule);
  }
  std::erase_if(runs, [&](const TableRun& run) {
    const auto rate = chosen.find({.task = run.task, .encoding = run.encoding});
    return rate != chosen.end() && run.config.learning_rate != rate->second;
  });
  const bool reads_training = rule == SelectionRule::kTraining;
  std::vector<std::string> measures;
  if (std::ranges::any_of(runs, [](const TableRun& run) { return !run.config.has_text(); })) {
    measures.emplace_back(
        reads_training ? "highest mean accuracy at the end of training"
                       : "highest mean accuracy at the scored lengths on samples of other evaluation seeds");
  }
  if (std::ranges::any_of(runs, [](const TableRun& run) { return run.config.has_text(); })) {
    measures.emplace_back(reads_training ? "lowest mean loss at the end of training"
                                         : "lowest mean of the last losses on the validation part");
  }
  return fmt::format(
      "Each cell has the runs of one learning rate, the one with the {} over the repetitions (--select {}): "
      "{}.{}",
      fmt::join(measures, ", or of texts the "), selection_rule_name(rule),
      chosen.empty() ? "no rate is known" : rates_text(chosen),
      has_foreign ? " Models outside che have all their runs, because their rates are not known." : "");
}

}  // namespace che
