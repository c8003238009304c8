#include "experiments/exchange/retrained_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "core/text.h"
#include "experiments/statistics/score_summary.h"

namespace che {
namespace {

// Whether two numbers are equal, or both are NaN.
bool is_equal(double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); }

bool is_same(const MetricsRow& one, const MetricsRow& other) {
  return one.step == other.step && one.loss == other.loss && one.accuracy == other.accuracy &&
         one.gradient_norm == other.gradient_norm && one.validation_loss == other.validation_loss;
}

bool is_same_window(const WindowLoss& one, const WindowLoss& other) {
  return one.window == other.window && is_equal(one.loss, other.loss);
}

bool is_same_position(const PositionLoss& one, const PositionLoss& other) {
  return one.first == other.first && is_equal(one.loss, other.loss);
}

// A bundle may lack standard errors, windows and positions.
bool is_same_row(const EvaluationRow& published, const EvaluationRow& again) {
  return published.accuracy == again.accuracy && is_equal(published.loss, again.loss) &&
         (!published.accuracy_se || published.accuracy_se == again.accuracy_se) &&
         (published.windows.empty() ||
          std::ranges::equal(published.windows, again.windows, is_same_window)) &&
         (published.positions.empty() ||
          std::ranges::equal(published.positions, again.positions, is_same_position));
}

// How far two numbers are apart. A NaN is infinitely far from a number.
double distance(double one, double other) {
  if (is_equal(one, other)) return 0;
  return std::isnan(one) || std::isnan(other) ? HUGE_VAL : std::abs(one - other);
}

// The mean distance of the losses of windows or positions, infinite where their places differ.
template <class Loss, class Place>
double mean_distance(const std::vector<Loss>& published, const std::vector<Loss>& again, Place Loss::*place) {
  if (published.empty()) return 0;  // A bundle may lack them.
  if (!std::ranges::equal(published, again, {}, place, place)) return HUGE_VAL;
  double sum = 0;
  for (std::size_t i = 0; i < published.size(); ++i) sum += distance(published[i].loss, again[i].loss);
  return sum / static_cast<double>(published.size());
}

// How far rows are apart in what tables and comparisons show of a task, or of a text. The loss of a task at
// lengths without training has no bound, so that above 1 its distance is a share of it.
double row_distance(const EvaluationRow& published, const EvaluationRow& again, bool has_text) {
  const double of_accuracy = distance(published.accuracy, again.accuracy);
  const double of_loss = distance(published.loss, again.loss);
  if (!has_text) return std::max(of_accuracy, of_loss / std::max(1.0, std::min(published.loss, again.loss)));
  return std::max({of_accuracy, of_loss, mean_distance(published.windows, again.windows, &WindowLoss::window),
                   mean_distance(published.positions, again.positions, &PositionLoss::first)});
}

// Takes the validation losses from `rows` that stand at steps where `others` have none. Returns these steps.
std::vector<std::int64_t> drop_validation_at_other_steps(std::vector<MetricsRow>& rows,
                                                         const std::vector<MetricsRow>& others) {
  std::set<std::int64_t> steps;
  for (const MetricsRow& row : others) {
    if (row.validation_loss) steps.insert(row.step);
  }
  std::vector<std::int64_t> dropped;
  for (MetricsRow& row : rows) {
    if (!row.validation_loss || steps.contains(row.step)) continue;
    row.validation_loss.reset();
    dropped.push_back(row.step);
  }
  return dropped;
}

// Takes what only one side has measured from `published` and `again`: losses of a text by position and of
// validation, which a config can ask for later, or no more. Returns what one side has alone, in words; empty
// for nothing.
std::string drop_unpaired(BundledRun& published, std::vector<MetricsRow>& again) {
  const RunConfig& config = published.config;
  if (!config.has_text()) return "";
  std::vector<const char*> dropped;
  const std::int64_t longest = config.evaluation.lengths().back();
  for (EvaluationRow& row : published.evaluation) {
    if (row.positions.empty() || (config.evaluation.text.curve && row.length == longest)) continue;
    row.positions.clear();
    dropped = {"losses by position"};
  }
  if (!drop_validation_at_other_steps(published.metrics, again).empty()) {
    dropped.push_back("validation losses");
  }
  std::string text;
  if (!dropped.empty()) {
    text = fmt::format("; {} are not compared, as the run that was trained again has none",
                       fmt::join(dropped, " and "));
  }
  // The training again may have validated at further steps, which an earlier config asked for.
  const std::int64_t every = config.log.validation_steps;
  const auto lost = std::ranges::count_if(drop_validation_at_other_steps(again, published.metrics),
                                          [&](std::int64_t step) { return every > 0 && step % every == 0; });
  if (lost > 0) {
    text += fmt::format("; the bundle lacks validation losses at {} of its config", counted(lost, "step"));
  }
  return text;
}

// Puts rows of training together, so that they end at the steps of `like`: means over the steps of each.
// Returns `rows` as they are where one of these steps is not the end of a row, or the last is not the last
// one. A mean that differs by rounding becomes the number of `like`.
std::vector<MetricsRow> with_ends_of(const std::vector<MetricsRow>& like,
                                     const std::vector<MetricsRow>& rows) {
  std::vector<MetricsRow> together;
  auto row = rows.begin();
  std::int64_t step = 0;
  for (const MetricsRow& end : like) {
    const auto steps = static_cast<double>(end.step - step);
    MetricsRow mean{.step = end.step};
    for (; row != rows.end() && row->step <= end.step; ++row) {
      const double share = static_cast<double>(row->step - step) / steps;
      mean.loss += share * row->loss;
      mean.accuracy += share * row->accuracy;
      mean.gradient_norm += share * row->gradient_norm;
      mean.validation_loss = row->validation_loss;
      step = row->step;
    }
    if (step != end.step) return rows;
    const auto round_to = [](double other, double& value) {
      if (std::abs(value - other) <= 1e-12 * std::max(1.0, std::abs(other))) value = other;
    };
    round_to(end.loss, mean.loss);
    round_to(end.accuracy, mean.accuracy);
    round_to(end.gradient_norm, mean.gradient_norm);
    together.push_back(mean);
  }
  return row == rows.end() ? together : rows;
}

// Whether each row that a bundle has of a step was measured again, if its config asks for the length, and
// `agrees`.
template <class Agrees>
bool steps_agree(const BundledRun& published, const StepRows& again, const Agrees& agrees) {
  const RunConfig& config = published.config;
  return std::ranges::all_of(published.at_steps, [&](const auto& step) {
    const auto found = again.find(step.first);
    if (found == again.end()) return false;
    const std::vector<EvaluationRow> rows = present_rows(found->second, config);
    return std::ranges::all_of(present_rows(step.second, config), [&](const EvaluationRow& row) {
      const auto same = std::ranges::find(rows, row.length, &EvaluationRow::length);
      return same != rows.end() && agrees(row, *same);
    });
  });
}

// "; 7 of 8 rows of training metrics differ, in loss or accuracy by at most 0.69 (step 5)"; empty where none
// does or where rows end at other steps.
std::string differing_metrics_text(const std::vector<MetricsRow>& published,
                                   const std::vector<MetricsRow>& again) {
  if (!std::ranges::equal(published, again, {}, &MetricsRow::step, &MetricsRow::step)) return "";
  std::size_t count = 0;
  std::int64_t farthest = 0;
  double largest = -1;
  for (std::size_t i = 0; i < published.size(); ++i) {
    if (is_same(published[i], again[i])) continue;
    ++count;
    const double apart = std::max(distance(published[i].loss, again[i].loss),
                                  distance(published[i].accuracy, again[i].accuracy));
    if (apart <= largest) continue;
    largest = apart;
    farthest = published[i].step;
  }
  if (count == 0) return "";
  return fmt::format("; {} of {} of training metrics differ, in loss or accuracy by at most {:.2g} (step {})",
                     count, counted(published.size(), "row"), largest, farthest);
}

}  // namespace

std::string agreement_name(Agreement agreement) {
  constexpr std::array kNames{"equal", "within tolerance", "different"};  // In the order of Agreement.
  return kNames.at(static_cast<std::size_t>(agreement));
}

RetrainingResult compare_with_published(BundledRun published, const std::vector<EvaluationRow>& again,
                                        std::vector<MetricsRow> metrics_again, const StepRows& steps_again,
                                        double tolerance) {
  published.evaluation = present_rows(published.evaluation, published.config);
  const RunConfig& config = published.config;
  const bool has_same_ends =
      std::ranges::equal(published.metrics, metrics_again, {}, &MetricsRow::step, &MetricsRow::step);
  bool has_metrics = !published.metrics.empty() && !metrics_again.empty();
  // Tables read the end of training, of which rows that are coarser than the config asks for say less.
  const std::int64_t asked = config.training.steps * 9 / 10 / config.log.every_steps * config.log.every_steps;
  const bool has_coarse_end = has_metrics && begin_of_final_steps(published.metrics) <
                                                 std::min(asked, begin_of_final_steps(metrics_again));
  if (!has_same_ends) metrics_again = with_ends_of(published.metrics, metrics_again);
  std::string notes = drop_unpaired(published, metrics_again);
  const auto lost_steps = std::ranges::count_if(config.evaluation.at_steps, [&](std::int64_t step) {
    return steps_again.contains(step) && !published.at_steps.contains(step);
  });
  if (lost_steps > 0) {
    notes += fmt::format("; the bundle lacks rows of {} of its config", counted(lost_steps, "step"));
  }
  // A first row may be all that is left of several, unless its numbers are the means of all steps up to it.
  const bool lacks_end = has_metrics && published.metrics.back().step == config.training.steps &&
                         !has_final_steps(published.metrics, config.log.every_steps) &&
                         !std::ranges::equal(published.metrics, metrics_again, is_same);
  if (lacks_end) published.metrics.clear();
  has_metrics &= !lacks_end;
  if (has_coarse_end && has_metrics) {
    notes += fmt::format(
        "; rows of training are coarser in the bundle, so that tables take the steps from {} on for the end "
        "of training",
        begin_of_final_steps(published.metrics) + 1);
  }
  const std::vector<EvaluationRow>& rows = published.evaluation;
  const std::vector<EvaluationRow> new_rows = present_rows(again, published.config);
  const std::string lengths = counted(rows.size(), "test length");
  if (rows.size() != new_rows.size() || rows.empty()) {
    return {Agreement::kDifferent,
            fmt::format("{} in the bundle, {} measured again", lengths, new_rows.size())};
  }
  const bool has_text = published.config.has_text();
  std::size_t farthest = 0;
  double largest = 0;
  double largest_of_errors = 0;
  std::size_t beyond = 0;
  bool rows_are_same = true;
  bool lacks_errors = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows_are_same &= is_same_row(rows[i], new_rows[i]);
    lacks_errors |= !rows[i].accuracy_se && new_rows[i].accuracy_se;
    if (rows[i].accuracy_se && new_rows[i].accuracy_se) {
      largest_of_errors =
          std::max(largest_of_errors, distance(*rows[i].accuracy_se, *new_rows[i].accuracy_se));
    }
    const double difference = row_distance(rows[i], new_rows[i], has_text);
    if (!(difference <= tolerance)) ++beyond;
    if (difference > largest) {
      largest = difference;
      farthest = i;
    }
  }
  notes = fmt::format("{}{}{}",
                      lacks_end                   ? "; the bundle lacks training metrics of the last steps"
                      : published.metrics.empty() ? "; the bundle has no training metrics"
                                                  : "",
                      lacks_errors ? "; the bundle has no standard errors" : "", notes);
  if (rows_are_same && steps_agree(published, steps_again, is_same_row) &&
      (published.metrics.empty() || std::ranges::equal(published.metrics, metrics_again, is_same))) {
    return {Agreement::kEqual,
            fmt::format("the same numbers at {}", lengths) +
                (published.metrics.empty() ? ""
                                           : fmt::format(" and in {} of training metrics",
                                                         counted(published.metrics.size(), "row"))) +
                notes};
  }
  std::string text;
  if (beyond > 0) text = fmt::format("beyond {} at {} of {}: ", tolerance, beyond, lengths);
  if (largest > 0) {
    const auto shown = [](const EvaluationRow& row) {
      return fmt::format("accuracy {:.4f} and loss {:.4f}", row.accuracy, row.loss);
    };
    text += fmt::format("{} differ by at most {:.2g}, at length {} ({} in the bundle, {} again)",
                        has_text ? "accuracy, losses, windows or positions" : "accuracy or loss", largest,
                        rows[farthest].length, shown(rows[farthest]), shown(new_rows[farthest]));
  } else if (rows_are_same) {
    text += fmt::format("the same numbers at {}", lengths);
  } else {
    text += fmt::format("the same accuracy and loss at {}", lengths);
  }
  bool is_close = beyond == 0 && largest_of_errors <= tolerance;
  if (largest_of_errors > 0) {
    text += fmt::format("; standard errors differ by at most {:.2g}", largest_of_errors);
    if (largest_of_errors > tolerance) text += fmt::format(", beyond {}", tolerance);
  }
  const auto compare = [&](const char* name, double before, double after) {
    const bool agrees = std::abs(before - after) <= tolerance;
    text += fmt::format("; {} {:.4f} in the bundle, {:.4f} again{}", name, before, after,
                        agrees ? "" : fmt::format(", beyond {}", tolerance));
    is_close &= agrees;
  };
  if (has_metrics) {
    compare("training accuracy", final_training_accuracy(published.metrics),
            final_training_accuracy(metrics_again));
    compare("training loss", final_training_loss(published.metrics), final_training_loss(metrics_again));
    text += differing_metrics_text(published.metrics, metrics_again);
  }
  if (has_metrics && has_text) {
    const std::optional<double> validation = final_validation_loss(published.metrics);
    const std::optional<double> validation_again = final_validation_loss(metrics_again);
    if (validation) compare("validation loss", *validation, validation_again.value_or(NAN));
  }
  const bool steps_are_close = steps_agree(published, steps_again, [&](const auto& one, const auto& other) {
    const bool has_errors = one.accuracy_se && other.accuracy_se;
    return row_distance(one, other, has_text) <= tolerance &&
           (!has_errors || distance(*one.accuracy_se, *other.accuracy_se) <= tolerance);
  });
  const bool has_other_steps = has_metrics && !std::ranges::equal(published.metrics, metrics_again, {},
                                                                  &MetricsRow::step, &MetricsRow::step);
  if (has_other_steps) {
    text +=
        "; rows of training end at other steps, as those of a run that was trained for an earlier bundle do: "
        "another folder (-o) trains it with the rows of this one";
  }
  text += notes;
  if (!steps_are_close) text += fmt::format("; what was measured on the way is beyond {}", tolerance);
  return {is_close && steps_are_close ? Agreement::kWithinTolerance : Agreement::kDifferent, text};
}

}  // namespace che
