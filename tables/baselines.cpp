// Columns of predictors without a model: trivial ones for tasks, n-grams for texts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "experiments/results/text_rows.h"
#include "tables/notes.h"

namespace che {
namespace {

// Scores of the trivial baselines in the order of kBaselineColumns.
constexpr std::array<const char*, 3> kBaselineColumns = {"constant", "position", "frequent"};

std::array<std::optional<double>, 3> baseline_scores(const TableRow& row) {
  if (!row.baselines) return {};
  const TrivialBaselines& baselines = *row.baselines;
  const std::optional<Baseline>& frequent = baselines.frequent_symbol;
  return {baselines.constant.score, baselines.position_only.score,
          frequent ? std::optional(frequent->score) : std::nullopt};
}

bool has_tasks(const ResultTable& table) {
  return std::ranges::any_of(table.rows, [](const TableRow& row) { return row.level != Level::kText; });
}

}  // namespace

std::vector<std::string> baseline_columns(const ResultTable& table) {
  std::vector<std::string> columns;
  if (!table.has_baselines) return columns;
  if (has_tasks(table)) columns.assign(kBaselineColumns.begin(), kBaselineColumns.end());
  if (!table.has_ngrams) return columns;
  for (const std::size_t order : kNgramOrders) columns.push_back(fmt::format("order {}", order));
  return columns;
}

std::vector<std::optional<double>> baseline_values(const ResultTable& table, const TableRow& row) {
  std::vector<std::optional<double>> values;
  if (!table.has_baselines) return values;
  if (has_tasks(table)) {
    for (const auto& score : baseline_scores(row)) values.push_back(score);
  }
  if (!table.has_ngrams) return values;
  for (std::size_t n = 0; n < kNgramOrders.size(); ++n) {
    // Their accuracy is not measured.
    const bool is_known = !row.ngram_losses.empty() && row.metric.source != Metric::Source::kAccuracy;
    values.push_back(is_known ? std::optional(row.metric.value(0, row.ngram_losses[n])) : std::nullopt);
  }
  return values;
}

void append_baseline_notes(std::vector<Note>& notes, const ResultTable& table) {
  if (!table.has_baselines) return;
  std::vector<std::string> without;
  for (const TableRow& row : table.rows) {
    const bool is_asked = row.level != Level::kText || table.has_ngrams;
    if (is_asked && !row.baselines && row.ngram_losses.empty()) without.push_back(row.task.text());
  }
  if (has_tasks(table)) {
    add_note(
        notes, NoteKind::kMethod,
        "Trivial baselines, scored on the samples that the runs are evaluated on: constant is the best "
        "single output symbol; position is the likeliest symbol of each position in the output of each "
        "length, fitted to other samples; frequent is the most frequent input symbol of each sample, where "
        "the output consists of input symbols. The first two do not see the input.");
  }
  if (table.has_ngrams) {
    add_note(notes, NoteKind::kMethod,
             "Orders {} are n-grams that see so many tokens before the one they predict: counts of the train "
             "part with Witten-Bell interpolation, measured on the windows of the row.",
             fmt::join(kNgramOrders, " and "));
  }
  if (without.empty()) return;
  add_note(notes, NoteKind::kReading,
           "No baselines of {}: the row's runs are evaluated on different samples, or tasks by another "
           "metric than accuracy.",
           fmt::join(without, ", "));
}

}  // namespace che
