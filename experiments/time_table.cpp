#include "experiments/time_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "experiments/display_order.h"
#include "experiments/job_list.h"
#include "experiments/result_table.h"
#include "experiments/score_summary.h"

namespace che {
namespace {

double median(std::vector<double> values) { return aggregate_of(std::move(values), Aggregate::kMedian); }

// Milliseconds; nothing for a run that was not trained.
std::optional<double> step_time(const std::vector<MetricsRow>& rows) {
  if (rows.empty()) return std::nullopt;
  std::vector<double> times;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    times.push_back(1000 * (rows[i].seconds - rows[i - 1].seconds) /
                    static_cast<double>(rows[i].step - rows[i - 1].step));
  }
  if (times.empty()) times.push_back(1000 * rows[0].seconds / static_cast<double>(rows[0].step));
  return median(std::move(times));
}

double batch_time(const RunStatus& status, const EvaluationConfig& evaluation) {
  const double batches = static_cast<double>(evaluation.lengths().size()) *
                         static_cast<double>(evaluation.samples / kEvaluationBatch);
  return 1000 * status.evaluation_seconds / batches;
}

struct Times {
  std::vector<double> step;
  std::vector<double> batch;
};

// By label, then by training lengths.
using TaskTimes = std::map<std::string, std::map<std::pair<std::int64_t, std::int64_t>, Times>>;

std::string lengths_text(const std::pair<std::int64_t, std::int64_t>& lengths) {
  return lengths.first == lengths.second ? fmt::format("{}", lengths.first)
                                         : fmt::format("{}..{}", lengths.first, lengths.second);
}

std::string cell(const std::vector<double>& times, const std::vector<double>* base) {
  if (times.empty()) return "-";
  const double time = median(times);
  if (base == nullptr || base->empty()) return fmt::format("{:.4g}", time);
  return fmt::format("{:.4g} ({:.2f})", time, time / median(*base));
}

std::string task_table(const std::string& task, const TaskTimes& times, const std::string& base) {
  std::vector<std::string> labels;
  std::set<std::pair<std::int64_t, std::int64_t>> columns;
  for (const auto& [label, cells] : times) {
    labels.push_back(label);
    for (const auto& [lengths, unused] : cells) columns.insert(lengths);
  }
  std::sort(labels.begin(), labels.end(), encoding_before);
  std::string text;
  const auto add_part = [&](std::string_view what, std::vector<double> Times::*member) {
    text += fmt::format("{}: {}, by training length\n\n| encoding |", task, what);
    std::string rule = "| --- |";
    for (const auto& lengths : columns) {
      text += fmt::format(" {} |", lengths_text(lengths));
      rule += " ---: |";
    }
    text += "\n" + rule + "\n";
    for (const std::string& label : labels) {
      text += fmt::format("| {} |", label);
      for (const auto& lengths : columns) {
        const auto found = times.at(label).find(lengths);
        const auto base_row = times.find(base);
        const std::vector<double>* base_times = nullptr;
        if (base_row != times.end() && base_row->second.contains(lengths)) {
          base_times = &(base_row->second.at(lengths).*member);
        }
        text += fmt::format(" {} |",
                            found == times.at(label).end() ? "-" : cell(found->second.*member, base_times));
      }
      text += "\n";
    }
    text += "\n";
  };
  add_part("milliseconds a training step", &Times::step);
  add_part(fmt::format("milliseconds a test batch of {}", kEvaluationBatch), &Times::batch);
  return text;
}

// The runs' configs with the default lengths: lengths are columns and part of no label.
std::vector<RunConfig> configs_of_one_length(const std::vector<RunFolder>& runs) {
  const RunConfig defaults;
  std::vector<RunConfig> configs;
  for (const RunFolder& run : runs) {
    RunConfig& config = configs.emplace_back(run.config());
    config.training.first_length = defaults.training.first_length;
    config.training.last_length = defaults.training.last_length;
    config.evaluation.first_length = defaults.evaluation.first_length;
    config.evaluation.last_length = defaults.evaluation.last_length;
    config.evaluation.length_step = defaults.evaluation.length_step;
  }
  return configs;
}

}  // namespace

std::string time_table(const std::vector<RunFolder>& runs, const std::string& base, const WarningSink& warn) {
  const CellLabels cell_labels = label_cells(configs_of_one_length(runs));
  std::map<std::string, TaskTimes> tasks;
  std::set<std::string> labels;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunConfig& config = runs[i].config();
    const StoredRun stored = runs[i].read();
    if (!is_complete(stored, config)) {
      const bool has_reason = !stored.status.error.empty();
      warn(fmt::format(
          "left out: {} is {}{}{}", runs[i].id(),
          stored.status.state == "finished" ? "not evaluated at every length" : stored.status.state,
          has_reason ? ": " : "", stored.status.error));
      continue;
    }
    const auto& [task, label] = cell_labels.of[i];
    labels.insert(label);
    Times& times = tasks[task][label][{config.training.first_length, config.training.last_length}];
    if (const auto step = step_time(stored.metrics)) times.step.push_back(*step);
    if (stored.evaluation.size() != config.evaluation.lengths().size()) {
      warn(fmt::format(
          "left out: the test batches of {}: its time is that of more lengths or samples than its "
          "config asks for",
          runs[i].id()));
    } else if (stored.status.evaluation_seconds > 0) {
      times.batch.push_back(batch_time(stored.status, config.evaluation));
    }
  }
  if (!labels.contains(base)) {
    throw Error(fmt::format("no finished run has the encoding '{}' to compare with; there are: {}", base,
                            labels.empty() ? "none" : fmt::format("{}", fmt::join(labels, ", "))));
  }
  std::string text;
  for (const auto& [task, times] : tasks) text += task_table(task, times, base);
  text += fmt::format("In parentheses the ratio to {}.\n", base);
  return text;
}

}  // namespace che
