#include "experiments/time_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/counted.h"
#include "core/error.h"
#include "core/suggestion.h"
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
  const std::int64_t batches_of_length = evaluation.samples / kEvaluationBatch;
  return 1000 * status.evaluation_seconds /
         static_cast<double>(static_cast<std::int64_t>(evaluation.lengths().size()) * batches_of_length);
}

// Times of runs by label, then by lengths: first, last and step.
using Lengths = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
using Times = std::map<std::string, std::map<Lengths, std::vector<double>>>;

struct TaskTimes {
  Times step;
  Times batch;
};

std::string lengths_text(const Lengths& lengths) {
  const auto& [first, last, step] = lengths;
  if (first == last) return fmt::format("{}", first);
  return step == 1 ? fmt::format("{}..{}", first, last) : fmt::format("{}..{} by {}", first, last, step);
}

// Milliseconds to four digits, and never as a power of ten.
std::string time_text(double time) {
  return time < 1000 ? fmt::format("{:.4g}", time) : fmt::format("{:.0f}", time);
}

std::string cell(const std::vector<double>* times, const std::vector<double>* base) {
  if (times == nullptr) return "-";
  const double time = median(*times);
  if (base == nullptr) return time_text(time);
  return fmt::format("{} ({:.2f})", time_text(time), time / median(*base));
}

// How many numbers stand for runs that differ more than twofold, and which of them the most.
std::string unsteady_text(const std::map<std::string, TaskTimes>& tasks) {
  constexpr double kUnsteady = 2;
  std::size_t numbers = 0;
  std::size_t unsteady = 0;
  double widest = kUnsteady;
  std::string worst;
  for (const auto& [task, times] : tasks) {
    for (const auto& [what, of_label] : {std::pair("a step", &times.step), {"a test batch", &times.batch}}) {
      for (const auto& [label, of_lengths] : *of_label) {
        for (const auto& [lengths, of_runs] : of_lengths) {
          const auto [least, most] = std::ranges::minmax(of_runs);
          if (of_runs.size() < 2 || least <= 0) continue;
          ++numbers;
          unsteady += most > kUnsteady * least ? 1U : 0U;
          if (most <= widest * least) continue;
          widest = most / least;
          worst = fmt::format("{} {}, {} at {}: {} to {}", task, label, what, lengths_text(lengths),
                              time_text(least), time_text(most));
        }
      }
    }
  }
  if (unsteady == 0) return "";
  return fmt::format("Runs behind one number differ more than twofold in {} of {}; the most: {}.\n", unsteady,
                     counted(numbers, "number"), worst);
}

// Nothing where no run was timed.
std::string times_table(const std::string& title, const Times& times, const std::string& base) {
  if (times.empty()) return "";
  std::vector<std::string> labels;
  std::set<Lengths> columns;
  for (const auto& [label, cells] : times) {
    labels.push_back(label);
    for (const auto& [lengths, unused] : cells) columns.insert(lengths);
  }
  std::sort(labels.begin(), labels.end(), encoding_before);
  std::string text = fmt::format("{}\n\n| encoding |", title);
  std::string rule = "| --- |";
  for (const Lengths& lengths : columns) {
    text += fmt::format(" {} |", lengths_text(lengths));
    rule += " ---: |";
  }
  text += "\n" + rule + "\n";
  const auto times_of = [&](const std::string& label, const Lengths& lengths) -> const std::vector<double>* {
    const auto row = times.find(label);
    if (row == times.end()) return nullptr;
    const auto found = row->second.find(lengths);
    return found == row->second.end() ? nullptr : &found->second;
  };
  for (const std::string& label : labels) {
    text += fmt::format("| {} |", label);
    for (const Lengths& lengths : columns) {
      text += fmt::format(" {} |", cell(times_of(label, lengths), times_of(base, lengths)));
    }
    text += "\n";
  }
  return text + "\n";
}

// The runs' configs with the default lengths, which are columns and part of no label.
std::vector<RunConfig> configs_to_label(const std::vector<RunFolder>& runs) {
  const RunConfig defaults;
  std::vector<RunConfig> configs;
  for (const RunFolder& run : runs) {
    RunConfig& config = configs.emplace_back(run.config());
    config.training.first_length = defaults.training.first_length;
    config.training.last_length = defaults.training.last_length;
    config.evaluation.first_length = defaults.evaluation.first_length;
    config.evaluation.last_length = defaults.evaluation.last_length;
    config.evaluation.length_step = defaults.evaluation.length_step;
    config.execution.log_steps = defaults.execution.log_steps;
  }
  return configs;
}

}  // namespace

std::string time_table(const std::vector<RunFolder>& runs, const std::string& base, const WarningSink& warn) {
  const CellLabels cell_labels =
      label_cells(configs_to_label(runs), {Role::kCell, Role::kEvaluation, Role::kExecution});
  std::map<std::string, TaskTimes> tasks;
  std::set<std::string> labels;
  bool has_replicas = false;
  std::size_t waiting = 0;
  std::size_t evaluated_more = 0;
  std::string one_of_them;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunConfig& config = runs[i].config();
    const StoredRun stored = runs[i].read();
    if (stored.status.state == "waiting") {
      ++waiting;
      continue;
    }
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
    TaskTimes& times = tasks[task];
    const TrainingConfig& training = config.training;
    const EvaluationConfig& evaluation = config.evaluation;
    has_replicas = has_replicas || config.execution.replicas > 1;
    if (const auto step = step_time(stored.metrics)) {
      times.step[label][{training.first_length, training.last_length, 1}].push_back(*step);
    }
    if (stored.evaluation.size() != evaluation.lengths().size()) {
      if (evaluated_more++ == 0) one_of_them = runs[i].id();
    } else if (stored.status.evaluation_seconds > 0) {
      times.batch[label][{evaluation.first_length, evaluation.last_length, evaluation.length_step}].push_back(
          batch_time(stored.status, evaluation));
    }
  }
  if (waiting > 0) {
    warn(fmt::format("left out: {} of {}, not begun", waiting, counted(runs.size(), "run")));
  }
  if (evaluated_more > 0) {
    warn(fmt::format(
        "left out: the test batches of {} of {}, whose time is that of more lengths or samples than their "
        "configs ask for, such as {}",
        evaluated_more, counted(runs.size(), "run"), one_of_them));
  }
  if (labels.empty()) throw Error("no run is finished and undamaged; `che run` goes on with them");
  if (!labels.contains(base)) {
    throw Error(
        fmt::format("no finished run has the encoding '{}' to compare with; name another with --base{}", base,
                    known_names_hint(base, std::vector<std::string>(labels.begin(), labels.end()))));
  }
  std::string text;
  for (const auto& [task, times] : tasks) {
    text += times_table(fmt::format("{}: milliseconds a training step, by training length", task), times.step,
                        base);
    text += times_table(
        fmt::format("{}: milliseconds a test batch of {}, by test length", task, kEvaluationBatch),
        times.batch, base);
  }
  text += fmt::format(
      "In parentheses the ratio to {}. A number is the median over a cell's finished runs: of each its "
      "median step between two log lines, or the mean test batch of its evaluation.\n",
      base);
  text += unsteady_text(tasks);
  if (has_replicas) text += "A step or test batch of runs of one job is that of all of them together.\n";
  return text;
}

}  // namespace che
