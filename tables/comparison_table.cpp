#include "tables/comparison_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tables/result_notes.h"

namespace che {
namespace {

PrintedRow print_row(const ComparedTask& task) {
  const auto& interval = task.interval;
  return {.group = task.level,
          .cells = {{.text = task.task},
                    {.text = fmt::format("{}", task.seeds), .value = static_cast<double>(task.seeds)},
                    number_cell(task.one, percent),
                    number_cell(task.other, percent),
                    number_cell(task.difference, signed_percent),
                    {.text = interval ? fmt::format("{} .. {}", signed_percent(interval->low),
                                                    signed_percent(interval->high))
                                      : kNoNumber,
                     .value = interval ? std::optional(interval->low) : std::nullopt},
                    number_cell(task.p, p_text),
                    number_cell(task.adjusted_p, p_text)}};
}

std::vector<std::string> notes(const Comparison& comparison, const ResultTable& table) {
  std::size_t unpaired = 0;
  std::size_t tests = 0;
  std::size_t most_seeds = 0;
  bool lacks_interval = false;
  for (const ComparedTask& task : comparison.tasks) {
    unpaired += task.unpaired;
    tests += task.p ? 1U : 0U;
    most_seeds = std::max(most_seeds, task.seeds);
    lacks_interval = lacks_interval || !task.interval;
  }
  std::vector<std::string> notes = {
      fmt::format("The score of a seed is its mean over the learning rates that both encodings finished with "
                  "every seed that counts. Columns: {} over the seeds; difference: that of the seeds' "
                  "differences.",
                  aggregate_phrase(comparison.aggregate)),
      fmt::format(
          "95 % interval: bootstrap over seeds, percentiles of {} resamples; too narrow for few seeds: it "
          "covers the mean of normal differences {}. p: two-sided permutation test, signs of the seeds' "
          "differences flipped ({}). Holm: adjusted over the tasks tested, {} in all.",
          kBootstrapResamples, kIntervalCoverage,
          most_seeds <= kMostExactPairs
              ? "every assignment"
              : fmt::format("every assignment up to {} seeds, {} random ones beyond", kMostExactPairs,
                            kRandomAssignments),
          tests)};
  if (tests == 0) {
    notes.emplace_back("Tests need two seeds or more.");
  } else if (most_seeds <= kMostExactPairs) {
    notes.push_back(
        fmt::format("With {} seeds the p of a mean is {:.2g} at least, whatever the "
                    "difference{}.",
                    most_seeds, std::ldexp(2.0, -static_cast<int>(most_seeds)),
                    comparison.aggregate == Aggregate::kMean
                        ? ""
                        : fmt::format("; {} does not get as low", aggregate_phrase(comparison.aggregate))));
  }
  if (lacks_interval) {
    notes.push_back(fmt::format(
        "Below {1} seeds the interval is {0}: even from the least to the greatest of n differences it would "
        "cover the median with probability 1 - 2 / 2^n alone, less than 95 %.",
        kNoNumber, kFewestIntervalPairs));
  }
  if (unpaired > 0) {
    notes.push_back(
        fmt::format("Left out: finished runs of other seeds and learning rates, {} in all.", unpaired));
  }
  if (!comparison.one_sided.empty()) {
    notes.push_back(fmt::format("Left out: what only one of the two was run on: {}.",
                                fmt::join(comparison.one_sided, ", ")));
  }
  for (const TableRun& run : table.runs) {
    const bool compared = run.encoding == comparison.one || run.encoding == comparison.other;
    if (compared && !run.score && run.status.state != "waiting") {
      notes.push_back(fmt::format("Not counted: {}, {}.", run.id, missing_reason(run)));
    }
  }
  for (std::string& note : provenance_notes(table)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

Table comparison_table(const Comparison& comparison, const ResultTable& table) {
  const std::vector<std::string> shared_notes = notes(comparison, table);
  const auto with_units = [&](const char* units) {
    std::vector<std::string> all = {units};
    all.insert(all.end(), shared_notes.begin(), shared_notes.end());
    return all;
  };
  Table result{
      .title = fmt::format("{} minus {} in the experiment {}, paired over seeds.", comparison.one,
                           comparison.other, table.name),
      .printed = {.group_title = "level",
                  .columns = {{.title = "task", .number = false},
                              {.title = "seeds"},
                              {.title = comparison.one},
                              {.title = comparison.other},
                              {.title = "difference"},
                              {.title = "95 % interval"},
                              {.title = "p"},
                              {.title = "p (Holm)"}},
                  .rows = {},
                  .footnotes = {},
                  .notes = with_units("Scores in percent, differences in points.")},
      .data = {.columns = {"level", "task", "one", "other", "aggregate", "seeds", "unpaired", "one_score",
                           "other_score", "difference", "interval_low", "interval_high", "p", "p_holm"},
               .rows = {},
               .notes = with_units("Scores and differences are fractions of 1.")}};
  for (const ComparedTask& task : comparison.tasks) {
    result.printed.rows.push_back(print_row(task));
    const auto& interval = task.interval;
    result.data.rows.push_back(
        {task.level, task.task, comparison.one, comparison.other,
         std::string(aggregate_name(comparison.aggregate)), static_cast<std::int64_t>(task.seeds),
         static_cast<std::int64_t>(task.unpaired), table_value(task.one), table_value(task.other),
         table_value(task.difference), table_value(interval ? std::optional(interval->low) : std::nullopt),
         table_value(interval ? std::optional(interval->high) : std::nullopt), table_value(task.p),
         table_value(task.adjusted_p)});
  }
  return result;
}

}  // namespace che
