#include "experiments/results/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "experiments/results/columns.h"
#include "experiments/results/result_table.h"

namespace che {
namespace {

using Scores = std::map<std::pair<Draw, double>, double>;  // By draw and learning rate.

// Returns the runs' scores, or their accuracies at one scored length.
Scores scores_of(const ResultTable& table, const TableCell& cell, std::optional<std::int64_t> length) {
  Scores scores;
  for (const std::size_t i : cell.finished) {
    const TableRun& run = table.runs[i];
    // A rule that chose the rate of each cell pairs runs of two rates.
    scores[{draw_of(run.config), table.rates_selected ? 0 : run.config.learning_rate}] =
        length ? std::ranges::find(run.evaluation, *length, &EvaluationRow::length)->accuracy : *run.score;
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

// Gives a model outside che, whose learning rate is unknown, its scores at every rate of the model that it is
// compared with. Repetitions of one seed share nothing then, and any pairing leaves the sign test valid.
Scores at_rates_of(const Scores& foreign, const Scores& other) {
  Scores scores;
  for (const auto& [key, score] : other) {
    for (const auto& [foreign_key, foreign_score] : foreign) {
      if (foreign_key.first == key.first) scores[key] = foreign_score;
    }
  }
  return scores;
}

ComparedRuns runs_of(const ResultTable& table, const TableCell& cell, const Design& design) {
  ComparedRuns runs;
  for (const std::size_t i : cell.finished) {
    const TableRun& run = table.runs[i];
    const bool has_rate = table.rates_selected || run.config.is_foreign() ||
                          std::ranges::count(design.rates, run.config.learning_rate) > 0;
    if (!design.seeds.contains(draw_of(run.config)) || !has_rate) continue;
    ++runs.counted;
    if (run.training && !run.training->trained) ++runs.untrained;
  }
  return runs;
}

ComparedTask compare_cells(const ResultTable& table, const TableRow& row, const TableCell& one,
                           const TableCell& other, Aggregate aggregate, std::optional<std::int64_t> length) {
  ComparedTask result;
  result.level = row.level;
  result.task = row.task;
  result.metric = row.metric;
  result.length = length;
  Scores of_one = scores_of(table, one, length);
  Scores of_other = scores_of(table, other, length);
  const bool one_is_foreign = is_foreign(table, one);
  const bool other_is_foreign = is_foreign(table, other);
  if (one_is_foreign && !other_is_foreign) of_one = at_rates_of(of_one, of_other);
  if (other_is_foreign && !one_is_foreign) of_other = at_rates_of(of_other, of_one);
  const Design design = common_design(of_one, of_other);
  const std::set<Draw>& seeds = design.seeds;
  const std::vector<double>& rates = design.rates;
  result.seeds = seeds.size();
  if (!table.rates_selected && (!one_is_foreign || !other_is_foreign)) result.rates = rates;
  result.one_runs = runs_of(table, one, design);
  result.other_runs = runs_of(table, other, design);
  result.unpaired =
      one.finished.size() + other.finished.size() - result.one_runs.counted - result.other_runs.counted;
  if (seeds.empty()) return result;
  const auto mean = [&](const Scores& scores, const Draw& seed) {
    double sum = 0;
    for (const double rate : rates) sum += scores.at({seed, rate});
    return sum / static_cast<double>(rates.size());
  };
  std::vector<double> scores_one, scores_other, differences;
  for (const Draw& seed : seeds) {
    scores_one.push_back(mean(of_one, seed));
    scores_other.push_back(mean(of_other, seed));
    differences.push_back(scores_one.back() - scores_other.back());
  }
  result.one = aggregate_of(scores_one, aggregate);
  result.other = aggregate_of(scores_other, aggregate);
  result.difference = aggregate_of(differences, aggregate);
  if (seeds.size() > 1) {
    result.p = sign_flip_p(differences, aggregate);
    result.detectable = detectable_difference(differences);
  }
  if (seeds.size() >= kMinIntervalPairs) result.interval = bootstrap_interval(differences, aggregate);
  return result;
}

void adjust(std::vector<ComparedTask>& tasks) {
  std::map<std::optional<std::int64_t>, std::vector<ComparedTask*>> families;
  for (ComparedTask& task : tasks) families[task.length].push_back(&task);
  for (const auto& [length, family] : families) {
    std::vector<std::optional<double>> p_values;
    p_values.reserve(family.size());
    for (const ComparedTask* const task : family) p_values.push_back(task->p);
    const auto adjusted = holm_adjusted(p_values);
    for (std::size_t i = 0; i < family.size(); ++i) family[i]->adjusted_p = adjusted[i];
  }
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

Comparison compare(const ResultTable& table, const std::string& one, const std::string& other,
                   Aggregate aggregate, ComparisonRows rows) {
  if (aggregate == Aggregate::kMax) {
    throw Error(
        "the maximum over a cell's runs cannot be compared: it grows with their number and keeps nothing of "
        "the pairs; choose the aggregate mean, median or iqm");
  }
  const ColumnNames names{.columns = table.encodings, .not_chosen = table.not_chosen};
  const EncodingLabel first = column_named(one, names, "--compare", other);
  const EncodingLabel second = column_named(other, names, "--compare", one);
  if (first == second && table.encodings.size() == 1) {
    throw Error(fmt::format("--compare: there is one column, {}; nothing to compare it with",
                            column_list(table.encodings)));
  }
  if (first == second) {
    throw Error(
        fmt::format("--compare: '{}' is named twice, compared with itself; name two of these columns: "
                    "{}",
                    one, column_list(table.encodings)));
  }
  Comparison comparison{.one = first, .other = second, .aggregate = aggregate, .tasks = {}, .one_sided = {}};
  std::size_t pairs = 0;
  for (const TableRow& row : table.rows) {
    const TableCell* const cell = table.cell(row.task, first);
    const TableCell* const counterpart = table.cell(row.task, second);
    if (cell == nullptr && counterpart == nullptr) continue;
    if (cell == nullptr || counterpart == nullptr) {
      comparison.one_sided.push_back(row.task);
      continue;
    }
    if (!are_pairs_measured_alike(table, {cell, counterpart})) {
      throw Error(fmt::format(
          "'{}' and '{}' are evaluated differently on {} (lengths, samples or eval_dropout); compare "
          "columns that are measured alike",
          one, other, row.task.text()));
    }
    for (const auto length : lengths_of(table, *cell, *counterpart, rows)) {
      comparison.tasks.push_back(compare_cells(table, row, *cell, *counterpart, aggregate, length));
      pairs += comparison.tasks.back().seeds;
    }
  }
  if (pairs == 0) {
    const std::size_t unfinished = unfinished_runs(table, first) + unfinished_runs(table, second);
    throw Error(fmt::format(
        "{} and {} have no finished runs of one task, seed, data seed, evaluation seed and learning rate; {}",
        one, other,
        unfinished == 0 ? "run both with the same"
                        : fmt::format("{} {} not finished; `che run` with the config goes on",
                                      counted(unfinished, "run"), unfinished == 1 ? "is" : "are")));
  }
  adjust(comparison.tasks);
  return comparison;
}

}  // namespace che
