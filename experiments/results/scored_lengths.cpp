#include "experiments/results/scored_lengths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/text.h"
#include "experiments/results/columns.h"

namespace che {
namespace {

// Gives a run without a score the lengths of the finished runs of its cell or, without one, of its row, where
// these all have the same. Otherwise a repetition that is still to come would split the column.
void expect_scored_lengths(std::vector<TableRun>& runs) {
  using Lengths = std::set<std::vector<std::int64_t>>;
  std::map<CellKey, Lengths> cell_lengths;
  std::map<TaskLabel, Lengths> row_lengths;
  for (const TableRun& run : runs) {
    if (!run.score) continue;
    cell_lengths[{run.task, run.encoding}].insert(run.scored_lengths);
    row_lengths[run.task].insert(run.scored_lengths);
  }
  for (TableRun& run : runs) {
    if (run.score) continue;
    const Lengths& of_cell = cell_lengths[{run.task, run.encoding}];
    const Lengths& expected = of_cell.empty() ? row_lengths[run.task] : of_cell;
    if (expected.size() == 1) run.scored_lengths = *expected.begin();
  }
}

// Returns the lengths of these rows, ascending, as the option names them.
template <class Counts>
std::string lengths_where(const std::vector<EvaluationRow>& rows, const Counts& counts) {
  std::set<std::int64_t> lengths;
  for (const EvaluationRow& row : rows) {
    if (counts(row.length)) lengths.insert(row.length);
  }
  return lengths_option({lengths.begin(), lengths.end()});
}

}  // namespace

std::vector<EvaluationRow> scored_rows(const std::vector<EvaluationRow>& rows, const RunConfig& config,
                                       const ReadingRules& rules) {
  if (!rules.score_lengths || config.has_text()) {
    return score(rows, config) ? present_rows(rows, config) : std::vector<EvaluationRow>();
  }
  std::vector<EvaluationRow> scored = rows_of_any_length(rows, config);
  std::erase_if(scored, [&](const EvaluationRow& row) { return !rules.score_lengths->contains(row.length); });
  return scored;
}

std::vector<std::int64_t> lengths_asked(const RunConfig& config, const ReadingRules& rules) {
  std::vector<std::int64_t> lengths = config.evaluation.lengths();
  if (rules.score_lengths && !config.has_text()) {
    std::erase_if(lengths, [&](std::int64_t length) { return !rules.score_lengths->contains(length); });
  }
  return lengths;
}

void name_scored_lengths(std::vector<TableRun>& runs) {
  expect_scored_lengths(runs);
  std::map<TaskLabel, std::set<std::vector<std::int64_t>>> lengths_of;
  for (const TableRun& run : runs) lengths_of[run.task].insert(run.scored_lengths);
  const auto differ = [](const auto& row) { return row.second.size() > 1; };
  if (std::ranges::none_of(lengths_of, differ)) return;
  for (TableRun& run : runs) {
    run.encoding.settings.push_back(
        {.path = "evaluation.lengths", .value = lengths_option(run.scored_lengths)});
  }
}

std::string scored_lengths_note(const std::vector<TableRun>& runs, const LengthChoice& rule) {
  std::set<std::vector<std::int64_t>> scored;
  std::set<std::string> left_out;
  std::size_t with_others = 0;
  for (const TableRun& run : runs) {
    if (!run.score || run.config.has_text()) continue;
    scored.insert(run.scored_lengths);
    const std::string others = lengths_where(run.measured, [&](std::int64_t length) {
      return rule.contains(length) && !std::ranges::binary_search(run.scored_lengths, length);
    });
    if (others.empty()) continue;
    left_out.insert(others);
    ++with_others;
  }
  std::string note = fmt::format(
      "A score is the mean over the measured test lengths in {} (--score-lengths), whatever lengths "
      "the config of a run names{}.",
      rule.text(), scored.size() == 1 ? ": " + lengths_option(*scored.begin()) : "");
  if (with_others > 0) {
    note += fmt::format(
        " Of {}, further ones were measured, but with other samples, seeds or switches than those of the "
        "config, and do not count: {}.",
        counted(with_others, "run"), fmt::join(left_out, "; "));
  }
  return note;
}

Error no_scored_lengths(const TableRun& run, const std::vector<EvaluationRow>& rows,
                        const LengthChoice& rule) {
  const std::vector<EvaluationRow> own = rows_of_any_length(rows, run.config);
  const std::string measured = lengths_where(own, [](std::int64_t) { return true; });
  const std::string others = lengths_where(rows, [&](std::int64_t length) { return rule.contains(length); });
  return Error(fmt::format("--score-lengths {}: {} was measured at none of these lengths{}; it was at {}{}",
                           rule.text(), run.id,
                           others.empty() ? "" : " with the samples, seed and switches of its config",
                           measured.empty() ? "none" : measured,
                           others.empty() ? std::string() : fmt::format(", and with others at {}", others)));
}

}  // namespace che
