#include "experiments/results/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "experiments/results/columns.h"
#include "experiments/results/result_table.h"

namespace che {
namespace {

using Scores = std::map<Repetition, double>;

// Returns the runs' scores, or their values of the metric at one scored length.
Scores scores_of(const ResultTable& table, const TableCell& cell, std::optional<std::int64_t> length) {
  Scores scores;
  for (const std::size_t i : cell.finished) {
    const TableRun& run = table.runs[i];
    double score = *run.score;
    if (length) {
      const EvaluationRow& row = *std::ranges::find(run.evaluation, *length, &EvaluationRow::length);
      score = run.metric.value(row.accuracy, row.loss);
    }
    scores[table.repetition(run)] = score;
  }
  return scores;
}

// The compared runs have every seed with every rate.
struct Design {
  std::set<Draw> seeds;
  std::vector<double> rates;
};

// Finds the most seeds that both finished with one learning rate, and all rates that both finished with these
// seeds. Ties go to the most rates, then to the lowest rate.
Design common_design(const Scores& one, const Scores& other) {
  std::map<double, std::set<Draw>> seeds_of_rate;
  for (const auto& [key, score] : one) {
    if (other.contains(key)) seeds_of_rate[key.second].insert(key.first);
  }
  Design best;
  for (const auto& [rate, seeds] : seeds_of_rate) {
    Design design{.seeds = seeds, .rates = {}};
    for (const auto& [other_rate, others] : seeds_of_rate) {
      if (std::ranges::includes(others, seeds)) design.rates.push_back(other_rate);
    }
    const auto size = [](const Design& sized) { return std::pair(sized.seeds.size(), sized.rates.size()); };
    if (size(design) > size(best)) best = std::move(design);
  }
  return best;
}

bool is_foreign(const ResultTable& table, const TableCell& cell) {
  return !cell.finished.empty() && table.runs[cell.finished.front()].config.is_foreign();
}

ComparedRuns runs_of(const ResultTable& table, const TableCell& cell, const Design& design) {
  ComparedRuns runs;
  for (const std::size_t i : cell.finished) {
    const TableRun& run = table.runs[i];
    const bool has_rate = table.select || run.config.is_foreign() ||
                          std::ranges::count(design.rates, run.config.learning_rate) > 0;
    if (!design.seeds.contains(draw_of(run.config)) || !has_rate) continue;
    ++runs.counted;
    if (run.training && !run.training->trained) ++runs.untrained;
  }
  return runs;
}

// The score of each seed of a design: the mean over its rates.
std::vector<double> scores_by_seed(const Scores& scores, const Design& design) {
  std::vector<double> means;
  for (const Draw& seed : design.seeds) {
    double sum = 0;
    for (const double rate : design.rates) sum += scores.at({seed, rate});
    means.push_back(sum / static_cast<double>(design.rates.size()));
  }
  return means;
}

bool has_huge(const std::vector<double>& scores) {
  return std::ranges::any_of(scores, [](double score) { return !(std::abs(score) < kHugeScore); });
}

// Returns nothing where both scores are infinite, because their difference is no number.
std::optional<double> known_difference(const std::vector<double>& differences, Aggregate aggregate) {
  const auto is_unknown = [](double value) { return std::isnan(value); };
  if (std::ranges::any_of(differences, is_unknown)) return {};
  const double difference = aggregate_of(differences, aggregate);
  return is_unknown(difference) ? std::nullopt : std::optional(difference);
}

void compare_pairs(ComparedTask& result, const std::vector<double>& one, const std::vector<double>& other,
                   Aggregate aggregate) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < one.size(); ++i) differences.push_back(one[i] - other[i]);
  result.difference = known_difference(differences, aggregate);
  result.has_huge = has_huge(one) || has_huge(other);
  if (result.share_seeds || result.has_huge) return;
  if (one.size() > 1) {
    result.p = sign_flip_p(differences, aggregate);
    result.detectable = detectable_difference(differences);
  }
  if (one.size() >= kMinIntervalPairs) result.interval = bootstrap_interval(differences, aggregate);
}

void compare_groups(ComparedTask& result, const std::vector<double>& one, const std::vector<double>& other,
                    Aggregate aggregate) {
  result.difference = known_difference({*result.one - *result.other}, aggregate);
  result.has_huge = has_huge(one) || has_huge(other);
  if (result.share_seeds || result.has_huge) return;
  const std::size_t fewer = std::min(one.size(), other.size());
  if (fewer > 1) {
    result.p = relabelling_p(one, other, aggregate);
    result.detectable = detectable_difference(one, other);
  }
  if (fewer >= kMinIntervalPairs) result.interval = bootstrap_interval(one, other, aggregate);
}

ComparedTask compare_cells(const ResultTable& table, const TableRow& row, const TableCell& one,
                           const TableCell& other, Aggregate aggregate, std::optional<std::int64_t> length) {
  ComparedTask result;
  result.level = row.level;
  result.task = row.task;
  result.metric = row.metric;
  result.length = length;
  const Scores of_one = scores_of(table, one, length);
  const Scores of_other = scores_of(table, other, length);
  const bool one_is_foreign = is_foreign(table, one);
  const bool other_is_foreign = is_foreign(table, other);
  result.paired = !one_is_foreign && !other_is_foreign;
  const Design first = common_design(of_one, result.paired ? of_other : of_one);
  const Design second = result.paired ? first : common_design(of_other, of_other);
  result.seeds = first.seeds.size();
  result.other_seeds = second.seeds.size();
  // The rate of a model outside che is not known.
  if (!table.select) {
    if (!one_is_foreign) result.rates = first.rates;
    if (!other_is_foreign) result.rates = second.rates;
  }
  result.one_runs = runs_of(table, one, first);
  result.other_runs = runs_of(table, other, second);
  result.unpaired =
      one.finished.size() + other.finished.size() - result.one_runs.counted - result.other_runs.counted;
  if (first.seeds.empty() || second.seeds.empty()) return result;
  const std::vector<double> one_scores = scores_by_seed(of_one, first);
  const std::vector<double> other_scores = scores_by_seed(of_other, second);
  result.one = aggregate_of(one_scores, aggregate);
  result.other = aggregate_of(other_scores, aggregate);
  result.share_seeds = !are_independent(first.seeds) || !are_independent(second.seeds);
  (result.paired ? compare_pairs : compare_groups)(result, one_scores, other_scores, aggregate);
  return result;
}

using WindowLosses = std::map<EvaluationWindow, double>;

// The mean loss of each window over the runs of a design.
WindowLosses losses_by_window(const ResultTable& table, const TableCell& cell, const Design& design) {
  WindowLosses sums;
  double runs = 0;
  for (const std::size_t i : cell.finished) {
    const TableRun& run = table.runs[i];
    const Repetition key = table.repetition(run);
    if (!design.seeds.contains(key.first) || std::ranges::count(design.rates, key.second) == 0) continue;
    const std::vector<WindowLoss>& windows = run.evaluation.front().windows;
    if (windows.empty()) {
      throw Error(
          fmt::format("{} has no windows.csv with its windows of {} tokens; remove its evaluation.csv, and "
                      "`che run` with "
                      "the config measures it again",
                      run.id, run.evaluation.front().length));
    }
    for (const WindowLoss& one : windows) sums[one.window] += one.loss;
    ++runs;
    if (sums.size() == windows.size()) continue;
    throw Error(
        fmt::format("{} is measured on other windows than the runs before it; compare runs of one "
                    "evaluation.seed, with --only evaluation.seed={}",
                    run.id, key.first.evaluation_seed));
  }
  for (auto& [window, loss] : sums) loss /= runs;
  return sums;
}

// One value a window, or one a document if there are enough of them.
std::vector<double> values_of(const WindowLosses& losses, std::size_t& documents) {
  std::map<std::int64_t, std::pair<double, double>> by_document;  // Sum and count.
  std::vector<double> values;
  for (const auto& [window, loss] : losses) {
    auto& [sum, count] = by_document[window.document];
    sum += loss;
    ++count;
    values.push_back(loss);
  }
  documents = by_document.size();
  if (documents < kMinIntervalPairs) return values;
  values.clear();
  for (const auto& [document, mean] : by_document) values.push_back(mean.first / mean.second);
  return values;
}

ComparedTask compare_windows(const ResultTable& table, const TableRow& row, const TableCell& one,
                             const TableCell& other, Aggregate aggregate) {
  ComparedTask result;
  result.level = row.level;
  result.task = row.task;
  result.metric = Metric::named("loss");
  const Design design = common_design(scores_of(table, one, {}), scores_of(table, other, {}));
  result.seeds = result.other_seeds = design.seeds.size();
  if (!table.select) result.rates = design.rates;
  result.one_runs = runs_of(table, one, design);
  result.other_runs = runs_of(table, other, design);
  result.unpaired =
      one.finished.size() + other.finished.size() - result.one_runs.counted - result.other_runs.counted;
  if (design.seeds.empty()) return result;
  const WindowLosses of_one = losses_by_window(table, one, design);
  const WindowLosses of_other = losses_by_window(table, other, design);
  if (!std::ranges::equal(of_one, of_other, {}, &WindowLosses::value_type::first,
                          &WindowLosses::value_type::first)) {
    throw Error(fmt::format("the two columns are measured on different windows of {}; evaluate them alike",
                            row.task.text()));
  }
  const std::vector<double> one_values = values_of(of_one, result.documents);
  const std::vector<double> other_values = values_of(of_other, result.documents);
  result.windows = one_values.size();
  result.one = aggregate_of(one_values, aggregate);
  result.other = aggregate_of(other_values, aggregate);
  compare_pairs(result, one_values, other_values, aggregate);
  return result;
}

// Adjusts the p-values of the rows of each length together.
void adjust(const std::vector<ComparedTask*>& rows) {
  std::map<std::optional<std::int64_t>, std::vector<ComparedTask*>> families;
  for (ComparedTask* const row : rows) families[row->length].push_back(row);
  for (const auto& [length, family] : families) {
    std::vector<std::optional<double>> p_values;
    p_values.reserve(family.size());
    for (const ComparedTask* const task : family) p_values.push_back(task->p);
    const auto adjusted = holm_adjusted(p_values);
    for (std::size_t i = 0; i < family.size(); ++i) family[i]->adjusted_p = adjusted[i];
  }
}

void add_rows(std::vector<ComparedTask*>& rows, Comparison& comparison) {
  for (ComparedTask& task : comparison.tasks) rows.push_back(&task);
}

// The lengths to compare two cells at, each alone; nothing for all together.
std::vector<std::optional<std::int64_t>> lengths_of(const ResultTable& table, const TableCell& one,
                                                    const TableCell& other, ComparisonRows rows) {
  if (rows == ComparisonRows::kTasks) return {std::nullopt};
  const TableCell& cell = one.finished.empty() ? other : one;
  const std::size_t run = cell.finished.empty() ? cell.missing.front() : cell.finished.front();
  const std::vector<std::int64_t>& lengths = table.runs[run].scored_lengths;
  return {lengths.begin(), lengths.end()};
}

// Counts the runs of a column without a score.
std::size_t unfinished_runs(const ResultTable& table, const EncodingLabel& encoding) {
  std::size_t count = 0;
  for (const TableRow& row : table.rows) {
    const TableCell* const cell = table.cell(row.task, encoding);
    if (cell != nullptr) count += cell->missing.size();
  }
  return count;
}

}  // namespace

namespace {

// Compares two columns, without an adjustment of p-values.
Comparison compare_columns(const ResultTable& table, const EncodingLabel& first, const EncodingLabel& second,
                           Aggregate aggregate, ComparisonRows rows, ComparisonUnit unit) {
  const std::string one = first.text();
  const std::string other = second.text();
  if (aggregate == Aggregate::kMax) {
    throw Error(
        "the maximum over a cell's runs cannot be compared: it grows with their number and keeps nothing of "
        "the pairs; choose the aggregate mean, median or iqm");
  }
  Comparison comparison{.one = first, .other = second, .aggregate = aggregate, .unit = unit};
  std::size_t pairs = 0;
  for (const TableRow& row : table.rows) {
    const TableCell* const cell = table.cell(row.task, first);
    const TableCell* const counterpart = table.cell(row.task, second);
    if (cell == nullptr && counterpart == nullptr) continue;
    if (cell == nullptr || counterpart == nullptr) {
      comparison.one_sided.push_back(row.task);
      continue;
    }
    // A pair has one evaluation seed. Models outside che have no pairs.
    const bool has_pairs = !first.form.foreign && !second.form.foreign;
    const auto alike = has_pairs ? are_pairs_measured_alike : are_measured_alike;
    if (!alike(table, {cell, counterpart})) {
      throw Error(
          fmt::format("'{}' and '{}' are evaluated differently on {} (lengths, samples, eval_dropout{}, or "
                      "part, protocol and windows of a text); compare columns that are measured alike",
                      one, other, row.task.text(), has_pairs ? "" : ", evaluation seeds"));
    }
    if (unit == ComparisonUnit::kWindow && row.level != Level::kText) {
      throw Error(
          fmt::format("--unit window: {} is a task, and texts have windows; compare seeds, or leave "
                      "it out with --skip task={}",
                      row.task.text(), row.task.name));
    }
    if (rows == ComparisonRows::kLengths && row.level == Level::kText) {
      throw Error(
          fmt::format("--by-length: {} is a text, whose rows are of one length each; compare without it, or "
                      "leave texts out with --skip text={}",
                      row.task.text(), row.task.name));
    }
    for (const auto length : lengths_of(table, *cell, *counterpart, rows)) {
      comparison.tasks.push_back(unit == ComparisonUnit::kWindow
                                     ? compare_windows(table, row, *cell, *counterpart, aggregate)
                                     : compare_cells(table, row, *cell, *counterpart, aggregate, length));
      const ComparedTask& compared = comparison.tasks.back();
      comparison.paired = comparison.paired && compared.paired;
      pairs += std::min(compared.seeds, compared.other_seeds);
    }
  }
  if (comparison.tasks.empty() && !comparison.one_sided.empty()) {
    throw Error(fmt::format("{} and {} have no task in common: {}", one, other,
                            joined(comparison.one_sided, ", ", [&](const TaskLabel& task) {
                              return fmt::format("{} has runs of {}", table.cell(task, first) ? one : other,
                                                 task.text());
                            })));
  }
  if (pairs == 0) {
    const std::size_t unfinished = unfinished_runs(table, first) + unfinished_runs(table, second);
    throw Error(fmt::format(
        "{} and {} have no finished runs of one task, seed, data seed, evaluation seed and learning rate; {}",
        one, other,
        unfinished == 0 ? std::string("run both with the same") +
                              (table.select ? "" : ", or let --select choose a learning rate of each")
                        : fmt::format("{} {} not finished; `che run` with the config goes on",
                                      counted(unfinished, "run"), unfinished == 1 ? "is" : "are")));
  }
  return comparison;
}

}  // namespace

Comparison compare(const ResultTable& table, const std::string& one, const std::string& other,
                   Aggregate aggregate, ComparisonRows rows, ComparisonUnit unit) {
  const ColumnNames names{.columns = table.encodings, .not_chosen = table.not_chosen};
  const EncodingLabel first = column_named(one, names, other);
  const EncodingLabel second = column_named(other, names, one);
  if (first == second && table.encodings.size() == 1) {
    throw Error(
        fmt::format("there is one column, {}; nothing to compare it with", column_list(table.encodings)));
  }
  if (first == second) {
    throw Error(
        fmt::format("'{}' is named twice, compared with itself; name two of these columns: "
                    "{}",
                    one, column_list(table.encodings)));
  }
  Comparison comparison = compare_columns(table, first, second, aggregate, rows, unit);
  std::vector<ComparedTask*> compared;
  add_rows(compared, comparison);
  adjust(compared);
  return comparison;
}

ComparedWithAll compare_with_all(const ResultTable& table, const std::string& name, Aggregate aggregate,
                                 ComparisonUnit unit) {
  const EncodingLabel column =
      column_named(name, {.columns = table.encodings, .not_chosen = table.not_chosen});
  ComparedWithAll all;
  for (const EncodingLabel& other : table.encodings) {
    if (other == column) continue;
    try {
      all.comparisons.push_back(
          compare_columns(table, column, other, aggregate, ComparisonRows::kTasks, unit));
    } catch (const Error& error) {
      all.left_out.push_back(fmt::format("{}: {}", other.text(), error.what()));
    }
  }
  if (all.comparisons.empty()) {
    throw Error(fmt::format("no other column can be compared with '{}'{}{}", name,
                            all.left_out.empty() ? "" : ": ", fmt::join(all.left_out, "; ")));
  }
  std::vector<ComparedTask*> rows;
  for (Comparison& comparison : all.comparisons) add_rows(rows, comparison);
  adjust(rows);
  return all;
}

}  // namespace che
