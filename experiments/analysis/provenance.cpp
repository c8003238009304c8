#include "experiments/analysis/provenance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "core/config/field_list.h"
#include "experiments/plan/run_config.h"

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
  if (run.config.is_foreign()) return "";
  const TrainingConfig& training = run.config.training;
  const ModelShape& model = run.config.model;
  return fmt::format("{} steps of {} samples, lengths {}..{}, width {}, {} layers, {} heads", training.steps,
                     training.batch_size, training.first_length, training.last_length, model.width,
                     model.layers, model.heads);
}

std::string describe_evaluation(const ResultTable& table) {
  std::set<std::int64_t> seeds;
  for (const TableRun& run : table.runs) seeds.insert(run.config.evaluation.seed);
  const std::string measured = each_once(table, [](const TableRun& run) {
    if (run.scored_lengths.empty()) return std::string();
    return fmt::format("lengths {}, {} samples each", lengths_text({.listed_lengths = run.scored_lengths}),
                       run.config.evaluation.samples);
  });
  return fmt::format("{}; evaluation seeds: {}", measured.empty() ? "at no length" : measured,
                     fmt::join(seeds, ", "));
}

// "evaluation.samples=128 (bucket_sort, reverse_string)"; empty where no row has settings of its own.
std::string settings_of_rows(const ResultTable& table) {
  std::map<std::string, std::vector<std::string>> tasks_of;
  for (const TableRow& row : table.rows) {
    for (const SettingValue& setting : row.settings) tasks_of[setting.text()].push_back(row.task.text());
  }
  std::vector<std::string> texts;
  texts.reserve(tasks_of.size());
  for (const auto& [setting, tasks] : tasks_of) {
    texts.push_back(fmt::format("{} ({})", setting, fmt::join(tasks, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Every choice between readings of the protocol that some run had to make, with what it chose; where runs
// differ, with the encodings that chose it: "encoding.direction=left_only (fire), symmetric (alibi)".
std::string protocol_options(const ResultTable& table) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> encodings;  // By path and value.
  for (const TableRun& run : table.runs) {
    for (const FieldRecord& field : list_fields(run.config)) {
      const bool is_option =
          !field.number && !field.structural && !field.group && field.role != Role::kExecution;
      if (is_option) encodings[field.path][field.value].insert(run.encoding.form.text());
    }
  }
  std::vector<std::string> chosen;
  for (const auto& [path, values] : encodings) {
    std::vector<std::string> texts;
    for (const auto& [value, names] : values) {
      texts.push_back(values.size() == 1 ? value : fmt::format("{} ({})", value, fmt::join(names, ", ")));
    }
    chosen.push_back(fmt::format("{}={}", path, fmt::join(texts, ", ")));
  }
  return fmt::format("{}", fmt::join(chosen, "; "));
}

}  // namespace

std::vector<Fact> provenance(const ResultTable& table) {
  std::string updated;
  std::set<std::int64_t> seeds;
  std::set<std::int64_t> data_seeds;
  std::set<double> rates;
  std::set<std::string> foreign;
  for (const TableRun& run : table.runs) {
    updated = std::max(updated, run.status.updated);
    if (run.config.is_foreign()) {
      foreign.insert(run.config.foreign_model);
      continue;
    }
    seeds.insert(run.config.seed);
    data_seeds.insert(run.config.data_seed);
    rates.insert(run.config.learning_rate);
  }
  std::vector<std::string> off_default;
  for (const SettingValue& setting : table.shared_settings) off_default.push_back(setting.text());
  std::vector<Fact> facts;
  if (!seeds.empty()) {
    facts = {{"Training", each_once(table, describe_training)},
             {"Seeds", fmt::format("{}; data seeds: {}; learning rates: {}", fmt::join(seeds, ", "),
                                   fmt::join(data_seeds, ", "), fmt::join(rates, ", "))}};
  }
  if (!foreign.empty()) {
    facts.push_back({"Models outside che",
                     fmt::format("{}; their predictions were scored, and how they were trained is not known",
                                 fmt::join(foreign, ", "))});
  }
  const std::vector<Fact> of_all = {
      {"Evaluation", describe_evaluation(table)},
      {"Protocol options", protocol_options(table)},
      {"Settings that differ from the defaults in all runs",
       off_default.empty() ? "nothing" : fmt::format("{}", fmt::join(off_default, ", "))},
      {"Git commit", fmt::format("{}; device: {}; last change: {}",
                                 each_once(table, [](const TableRun& run) { return run.status.git_commit; }),
                                 each_once(table, [](const TableRun& run) { return run.status.device; }),
                                 updated.empty() ? "unknown" : updated)}};
  facts.insert(facts.end(), of_all.begin(), of_all.end());
  if (const std::string of_rows = settings_of_rows(table); !of_rows.empty()) {
    facts.insert(facts.end() - 1, {"Settings that all runs of a task share and other tasks do not", of_rows});
  }
  if (!table.conditions.empty()) {
    facts.insert(facts.begin(), {"Only runs with", fmt::format("{}", fmt::join(table.conditions, " and "))});
  }
  for (const std::string& reason : table.left_out) facts.push_back({"Left out", reason});
  return facts;
}

}  // namespace che
