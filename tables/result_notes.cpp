#include "tables/result_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/field_list.h"

namespace che {
namespace {

// Texts that runs share, each once, in the order of the runs.
template <class Describe>
std::string each_once(const ResultTable& table, Describe describe) {
  std::vector<std::string> texts;
  for (const TableRun& run : table.runs) {
    std::string text = describe(run);
    if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return texts.empty() ? "unknown" : fmt::format("{}", fmt::join(texts, "; "));
}

std::string describe_training(const TableRun& run) {
  const TrainingConfig& training = run.config.training;
  const ModelShape& model = run.config.model;
  return fmt::format("{} steps of {} samples, lengths {}..{}, width {}, {} layers, {} heads", training.steps,
                     training.batch_size, training.first_length, training.last_length, model.width,
                     model.layers, model.heads);
}

std::string describe_evaluation(const TableRun& run) {
  const EvaluationConfig& evaluation = run.config.evaluation;
  const std::string every =
      evaluation.length_step == 1 ? "" : fmt::format(" in steps of {}", evaluation.length_step);
  return fmt::format("lengths {}..{}{}, {} samples each, seed {}", evaluation.first_length,
                     evaluation.last_length, every, evaluation.samples, evaluation.seed);
}

// Every choice between readings of the protocol that some run had to make, with what it chose.
std::string switches(const ResultTable& table) {
  std::set<std::string> chosen;
  for (const TableRun& run : table.runs) {
    for (const FieldRecord& field : list_fields(run.config)) {
      const bool is_switch =
          !field.number && !field.structural && !field.group && field.role != Role::kExecution;
      if (is_switch) chosen.insert(field.path + "=" + field.value);
    }
  }
  return fmt::format("{}", fmt::join(chosen, ", "));
}

}  // namespace

std::vector<std::string> provenance_notes(const ResultTable& table) {
  std::string updated;
  std::set<std::int64_t> seeds;
  std::set<double> rates;
  for (const TableRun& run : table.runs) {
    updated = std::max(updated, run.status.updated);
    seeds.insert(run.config.seed);
    rates.insert(run.config.learning_rate);
  }
  std::vector<std::string> notes = {
      "Training: " + each_once(table, describe_training) + ".",
      fmt::format("Seeds: {}; learning rates: {}.", fmt::join(seeds, ", "), fmt::join(rates, ", ")),
      "Evaluation: " + each_once(table, describe_evaluation) + ".",
      "Switches: " + switches(table) + ".",
      fmt::format("Off default in all runs: {}.",
                  table.shared_settings.empty() ? std::string("nothing")
                                                : fmt::format("{}", fmt::join(table.shared_settings, ", "))),
      fmt::format("Git commit: {}; device: {}; last change: {}.",
                  each_once(table, [](const TableRun& run) { return run.status.git_commit; }),
                  each_once(table, [](const TableRun& run) { return run.status.device; }),
                  updated.empty() ? "unknown" : updated)};
  for (const std::string& left_out : table.left_out) {
    notes.push_back(fmt::format("L{}.", left_out.substr(1)));
  }
  return notes;
}

bool is_begun(const TableRun& run) { return run.status.state != "waiting"; }

std::string missing_reason(const TableRun& run) {
  const RunStatus& status = run.status;
  if (status.state == "failed" || status.state == kDamaged)
    return status.state + ": " + (status.error.empty() ? "no reason stored" : status.error);
  std::string reason = fmt::format("{}, step {} of {}", status.state, status.step, run.config.training.steps);
  if (run.missing_lengths > 0 && (status.state == "finished" || status.state == "evaluating")) {
    reason += fmt::format(", {} of {} test lengths not measured", run.missing_lengths,
                          run.config.evaluation.lengths().size());
  }
  return reason;
}

std::vector<std::string> baseline_notes(const ResultTable& table) {
  if (!table.has_baselines) return {};
  std::vector<std::string> notes = {
      "Trivial baselines never look at the input: constant is the best single output symbol, position the "
      "likeliest symbol of each place in the output of each length; fitted to samples of the task's "
      "generator, scored on those that the runs are evaluated on."};
  std::vector<std::string> without;
  for (const TableRow& row : table.rows) {
    if (!row.baselines) without.push_back(row.task);
  }
  if (!without.empty()) {
    notes.push_back(fmt::format("No baselines of {}: runs of one row are evaluated on different samples.",
                                fmt::join(without, ", ")));
  }
  return notes;
}

std::string paper_note() {
  return "The paper's value is from Table 2 of the DAPE paper (arXiv 2405.14722; 200000 steps, width 256, "
         "test lengths 41..500, number of runs not stated). It does not show whether its sin_cos, rope, "
         "relative and alibi had contiguous or randomized positions: the same value stands beside both; ours "
         "are contiguous unless the column says randomized.";
}

}  // namespace che
