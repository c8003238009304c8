#include "experiments/results/provenance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/config/field_list.h"
#include "core/text.h"
#include "experiments/plan/differences.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"

namespace che {
namespace {

// Joins the texts of the runs, each once, in the order of the runs.
template <class Describe>
std::string each_once(const ResultTable& table, Describe describe) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (const TableRun& run : table.runs) {
    std::string text = describe(run);
    if (!text.empty() && seen.insert(text).second) texts.push_back(std::move(text));
  }
  return texts.empty() ? "unknown" : fmt::format("{}", fmt::join(texts, "; "));
}

std::string describe_training(const TableRun& run) {
  if (run.config.is_foreign()) return "";
  const TrainingConfig& training = run.config.training;
  return fmt::format("{} steps of {} samples, lengths {}..{}, {}", training.steps, training.batch_size,
                     training.first_length, training.last_length, run.config.model.text());
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
  return joined(tasks_of, ", ", [](const auto& setting) {
    return fmt::format("{} ({})", setting.first, fmt::join(setting.second, ", "));
  });
}

// Lists the choices between readings of the protocol with the value of the runs. Where runs differ, each
// value has its encodings: "encoding.direction=left_only (fire), symmetric (alibi)".
std::string protocol_options(const ResultTable& table) {
  std::map<std::string, std::map<std::string, std::set<std::string>>> encodings;  // By path and value.
  for (const TableRun& run : table.runs) {
    for (const auto& [path, field] : settings_by_path(run.config)) {
      const bool is_option =
          !field.number && !field.structural && !field.group && !is_below(path, "execution");
      if (is_option) encodings[path][field.value].insert(run.encoding.form.text());
    }
  }
  return joined(encodings, "; ", [](const auto& option) {
    const auto& [path, values] = option;
    const bool is_shared = values.size() == 1;
    return fmt::format(
        "{}={}", path, joined(values, ", ", [&](const auto& value) {
          return is_shared ? value.first : fmt::format("{} ({})", value.first, fmt::join(value.second, ", "));
        }));
  });
}

// Says that conditions on settings of evaluation do not choose the columns that `che evaluate --set` adds to
// a run. Returns nothing where there are no such conditions or columns.
std::string unchosen_columns(const ResultTable& table, const std::vector<std::string>& conditions) {
  const auto is_of_evaluation = [paths = all_evaluation_paths()](const std::string& condition) {
    return std::ranges::count(paths, condition.substr(0, condition.find('='))) > 0;
  };
  std::map<std::pair<std::size_t, std::string>, OptionValues> settings_of;
  const auto is_other = [&](const TableRun& run) {
    const OptionValues settings = evaluation_settings(run.config);
    return settings_of.try_emplace({run.experiment, run.id}, settings).first->second != settings;
  };
  if (std::ranges::none_of(conditions, is_of_evaluation)) return "";
  if (std::ranges::none_of(table.runs, is_other)) return "";
  return " in their configs; what `che evaluate` measured under other settings stays with its run";
}

}  // namespace

std::string own_forms(const ResultTable& table) {
  std::set<std::string> columns;
  for (const TableRun& run : table.runs) {
    const ModelEntry& model = run.config.model.entry();
    const EncodingConfig& encoding = run.config.encoding;
    if (!model.takes_encoding || model.is_causal) continue;
    if (encoding.entry().right_side_is_ours(encoding.all_options())) columns.insert(run.encoding.text());
  }
  if (columns.empty()) return "";
  return fmt::format(
      "No program has released the form in an encoder of {}: the part for keys on the right is ours.",
      fmt::join(columns, ", "));
}

// Collects what authors state about the training of a model outside che.
class StatedTraining {
 public:
  // `of_run` is RunStatus::stated_training. Which statement is that of rows that --score-lengths chose is not
  // known.
  void add(const std::vector<std::string>& of_run, bool has_chosen_lengths) {
    if (of_run.empty()) newest_.insert("not stated");
    for (std::size_t i = 0; i < of_run.size(); ++i) {
      (i == 0 || has_chosen_lengths ? newest_ : others_).insert(of_run[i]);
    }
  }

  std::string text() const {
    return fmt::format(
        "{}{}", fmt::join(newest_, " | "),
        others_.empty() ? "" : fmt::format(" (other rows, now or before: {})", fmt::join(others_, " | ")));
  }

 private:
  std::set<std::string> newest_;
  std::set<std::string> others_;
};

std::vector<Fact> provenance(const ResultTable& table) {
  std::string updated;
  std::set<std::int64_t> seeds;
  std::set<std::int64_t> data_seeds;
  std::set<double> rates;
  std::map<std::string, StatedTraining> foreign;
  std::set<std::string> own_contents;
  for (const TableRun& run : table.runs) {
    if (const std::string content = own_content(run.config); !content.empty()) {
      own_contents.insert(fmt::format(
          "{}: {}", run.config.has_text() ? run.config.text.name : run.config.task.name, content));
    }
    updated = std::max(updated, run.status.updated);
    if (run.config.is_foreign()) {
      foreign[run.config.foreign_name()].add(run.status.stated_training, !table.score_lengths.empty());
      continue;
    }
    seeds.insert(run.config.seed);
    data_seeds.insert(run.config.data_seed);
    rates.insert(run.config.learning_rate);
  }
  const std::string off_default =
      joined(table.shared_settings, ", ", [](const SettingValue& setting) { return setting.text(); });
  std::vector<Fact> facts;
  if (!seeds.empty()) {
    facts = {{"Training", each_once(table, describe_training), !foreign.empty()},
             {"Seeds", fmt::format("{}; data seeds: {}; learning rates: {}", fmt::join(seeds, ", "),
                                   fmt::join(data_seeds, ", "), fmt::join(rates, ", "))}};
  }
  if (!foreign.empty()) {
    facts.push_back({"Models outside che",
                     fmt::format("{}; their predictions were scored; training as their authors state it: {}",
                                 joined(foreign, ", ", [](const auto& model) { return model.first; }),
                                 joined(foreign, "; ",
                                        [](const auto& model) {
                                          return fmt::format("{}: {}", model.first, model.second.text());
                                        })),
                     true});
  }
  const std::vector<Fact> common = {
      {"Evaluation", describe_evaluation(table)},
      {"Protocol options", protocol_options(table)},
      {"Settings that differ from the defaults in all runs", off_default.empty() ? "nothing" : off_default},
      {"Git commit", fmt::format("{}; device: {}; last change: {}",
                                 each_once(table, [](const TableRun& run) { return run.status.git_commit; }),
                                 each_once(table, [](const TableRun& run) { return run.status.device; }),
                                 updated.empty() ? "unknown" : updated)}};
  facts.insert(facts.end(), common.begin(), common.end());
  if (!own_contents.empty()) {
    facts.push_back({"Definitions and corpora", fmt::format("{}", fmt::join(own_contents, ", "))});
  }
  std::set<std::string> earlier;
  for (const TableRun& run : table.runs) {
    if (!run.status.earlier.empty()) earlier.insert(run.status.earlier);
  }
  if (!earlier.empty()) {
    facts.push_back(
        {"Programs or machines that worked on runs before", fmt::format("{}", fmt::join(earlier, " | "))});
  }
  if (const std::string row_settings = settings_of_rows(table); !row_settings.empty()) {
    facts.insert(facts.end() - 1,
                 {"Settings that all runs of a task share and other tasks do not", row_settings,
                  /*is_needed=*/true});
  }
  if (const std::vector<std::string>& skipped = table.conditions.skip; !skipped.empty()) {
    facts.insert(
        facts.begin(),
        {"No runs with", fmt::format("{}{}", fmt::join(skipped, " or "), unchosen_columns(table, skipped)),
         /*is_needed=*/true});
  }
  if (const std::vector<std::string>& only = table.conditions.only; !only.empty()) {
    facts.insert(facts.begin(), {"Only runs with",
                                 fmt::format("{}{}", fmt::join(only, " and "), unchosen_columns(table, only)),
                                 /*is_needed=*/true});
  }
  for (const std::string& reason : table.left_out) facts.push_back({"Left out", reason, /*is_needed=*/true});
  return facts;
}

}  // namespace che
