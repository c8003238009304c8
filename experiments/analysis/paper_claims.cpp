#include "experiments/analysis/paper_claims.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "experiments/analysis/paper_table.h"

namespace che {
namespace {

struct Score {
  double value;
  bool trained;
};

using ScoreOf = std::function<std::optional<Score>(const EncodingForm& column)>;

void count(const std::optional<bool>& holds, ClaimCount& counted) {
  if (!holds) return;
  ++counted.tasks;
  if (*holds) ++counted.holds;
}

// Whether the best column of a task is DAPE around Kerple or FIRE; nothing where a column has no score.
std::optional<bool> adapted_is_best(const ScoreOf& score) {
  double best = 0;
  double best_adapted = 0;
  bool trained = false;
  for (const PaperColumn& column : paper_columns()) {
    const auto value = score(column.form);
    if (!value) return std::nullopt;
    const bool adapted = column.form.dape && (column.form.name == "kerple" || column.form.name == "fire");
    double& greatest = adapted ? best_adapted : best;
    greatest = std::max(greatest, value->value);
    trained = trained || value->trained;
  }
  if (!trained) return std::nullopt;
  return best_adapted > best;
}

std::optional<bool> is_higher(const ScoreOf& score, const EncodingForm& one, const EncodingForm& other) {
  const auto first = score(one);
  const auto second = score(other);
  if (!first || !second || (!first->trained && !second->trained)) return std::nullopt;
  return first->value > second->value;
}

EncodingForm randomized(const std::string& name, bool dape = false) {
  return {.name = name, .dape = dape, .randomized = true};
}

std::optional<bool> improves(const ScoreOf& score, const std::string& encoding) {
  return is_higher(score, randomized(encoding, true), randomized(encoding));
}

}  // namespace

std::vector<PaperClaim> count_claims(const std::vector<ComparableRow>& rows, Aggregate aggregate) {
  using Holds = std::function<std::optional<bool>(const ScoreOf&)>;
  struct Claim {
    std::string text;
    Holds holds;
    bool on_every_task = false;
  };
  const std::vector<Claim> claims = {
      {"DAPE with Kerple or FIRE is best", adapted_is_best},
      {"DAPE improves ALiBi", [](const ScoreOf& score) { return improves(score, "alibi"); }},
      {"DAPE improves FIRE", [](const ScoreOf& score) { return improves(score, "fire"); }},
      {"DAPE improves Kerple", [](const ScoreOf& score) { return improves(score, "kerple"); }},
      {"FIRE outperforms Kerple",
       [](const ScoreOf& score) { return is_higher(score, randomized("fire"), randomized("kerple")); }, true},
      {"Kerple outperforms ALiBi",
       [](const ScoreOf& score) { return is_higher(score, randomized("kerple"), randomized("alibi")); },
       true}};
  std::vector<PaperClaim> counted;
  for (const auto& [text, holds, on_every_task] : claims) {
    PaperClaim& claim = counted.emplace_back();
    claim.text = text;
    for (const PaperTask& task : paper_tasks()) {
      if (task.permutation_invariant && !on_every_task) continue;
      const auto score = [&](const EncodingForm& column) -> std::optional<Score> {
        const std::optional<double> value = paper_score(task.name, column);
        if (!value) return std::nullopt;
        return Score{.value = *value, .trained = true};
      };
      count(holds(score), claim.paper);
    }
    for (const ComparableRow& comparable : rows) {
      const TableRow& row = *comparable.row;
      if ((row.permutation_invariant && !on_every_task) ||
          !paper_score(row.task.name, paper_columns().front().form))
        continue;
      const auto score = [&](const EncodingForm& column) -> std::optional<Score> {
        const auto found = comparable.cells.find(column);
        if (found == comparable.cells.end()) return std::nullopt;
        const TableCell& cell = *found->second.cell;
        return Score{.value = cell.scores->value(aggregate), .trained = !cell.did_not_train(aggregate)};
      };
      count(holds(score), claim.here);
    }
  }
  return counted;
}

}  // namespace che
