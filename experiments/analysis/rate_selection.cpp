#include "experiments/analysis/rate_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/number_text.h"

namespace che {
namespace {

std::string rule_name(SelectionRule rule) { return selection_rule_names()[static_cast<std::size_t>(rule)]; }

// These functions return the number that a rule reads of a run.
double training_accuracy(const TableRun& run) {
  if (!run.metrics.empty()) return final_training_accuracy(run.metrics);
  throw Error(
      fmt::format("--select training: {} has no training metrics; allowed: finished runs that have", run.id));
}

double validation_accuracy(const TableRun& run) {
  double sum = 0;
  std::vector<std::int64_t> missing;
  for (const std::int64_t length : run.scored_lengths) {
    std::vector<EvaluationRow> rows = run.measured;
    std::erase_if(rows, [&](const EvaluationRow& row) {
      return row.length != length || row.seed == run.config.evaluation.seed ||
             row.eval_dropout != run.config.evaluation.eval_dropout;
    });
    if (rows.empty()) missing.push_back(length);
    sum += mean_accuracy(rows).value_or(0);
  }
  if (missing.empty()) return sum / static_cast<double>(run.scored_lengths.size());
  throw Error(
      fmt::format("--select validation: {} has no accuracy on samples of another evaluation seed than its "
                  "own, {}, at the "
                  "scored lengths {}; `che evaluate EXPERIMENT_DIR --seed 1000` measures it",
                  run.id, run.config.evaluation.seed, lengths_option(missing)));
}

double selection_value(const TableRun& run, SelectionRule rule) {
  if (!run.score) {
    throw Error(fmt::format(
        "--select {}: {} is not finished, and its cell has several learning rates; finish it with `che run`, "
        "or choose finished rates with --only learning_rate=...",
        rule_name(rule), run.id));
  }
  return rule == SelectionRule::kTraining ? training_accuracy(run) : validation_accuracy(run);
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

}  // namespace

std::string select_rates(std::vector<TableRun>& runs, SelectionRule rule) {
  std::map<CellKey, std::map<double, std::vector<const TableRun*>>> cells;
  for (const TableRun& run : runs) {
    if (run.config.is_foreign()) continue;
    cells[{.task = run.task, .encoding = run.encoding}][run.config.learning_rate].push_back(&run);
  }
  std::map<CellKey, double> chosen;
  for (const auto& [key, runs_of_rate] : cells) {
    chosen[key] = runs_of_rate.begin()->first;
    if (runs_of_rate.size() == 1) continue;
    // Rates are compared over the repetitions that all of them have.
    std::map<Draw, std::size_t> rates_of_draw;
    for (const auto& [rate, members] : runs_of_rate) {
      for (const TableRun* const run : members) ++rates_of_draw[draw_of(run->config)];
    }
    const auto counts = [&, rates = runs_of_rate.size()](const TableRun* run) {
      return rates_of_draw.at(draw_of(run->config)) == rates;
    };
    double highest = -1;
    for (const auto& [rate, members] : runs_of_rate) {
      double sum = 0;
      std::size_t count = 0;
      for (const TableRun* const run : members) {
        const double value = selection_value(*run, rule);  // Throws for a run that has none.
        if (!counts(run)) continue;
        sum += value;
        ++count;
      }
      if (count == 0) {
        throw Error(
            fmt::format("--select: the learning rates of {} on {} have no repetition in common; run each "
                        "rate with the same seeds",
                        key.encoding.text(), key.task.text()));
      }
      const double mean = sum / static_cast<double>(count);
      if (mean > highest) chosen[key] = rate;
      highest = std::max(highest, mean);
    }
  }
  std::erase_if(runs, [&](const TableRun& run) {
    const auto rate = chosen.find({.task = run.task, .encoding = run.encoding});
    return rate != chosen.end() && run.config.learning_rate != rate->second;
  });
  const char* const what = rule == SelectionRule::kTraining
                               ? "accuracy at the end of training"
                               : "accuracy at the scored lengths on samples of other evaluation seeds";
  return fmt::format(
      "Each cell has the runs of one learning rate, the one with the highest mean {} over the repetitions "
      "(--select {}): {}.",
      what, rule_name(rule), chosen.empty() ? "no rate is known" : rates_text(chosen));
}

}  // namespace che
