#include "tables/result_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/analysis/provenance.h"
#include "experiments/analysis/training_outcome.h"

namespace che {

void append_provenance(std::vector<Note>& notes, const ResultTable& table) {
  for (const std::string& note : table.reading_notes) notes.push_back({NoteKind::kReading, note});
  for (const Fact& fact : provenance(table)) {
    notes.push_back({NoteKind::kProvenance, fmt::format("{}: {}.", fact.name, fact.value)});
  }
}

bool is_begun(const TableRun& run) { return !run.damage.empty() || run.status.state != RunState::kWaiting; }

std::string missing_reason(const TableRun& run) {
  const RunState state = run.status.state;
  if (!run.damage.empty() || state == RunState::kFailed) {
    return fmt::format("{}: {}", run.state(), run.error().empty() ? "no reason stored" : run.error());
  }
  std::string reason =
      fmt::format("{}, step {} of {}", run.state(), run.status.step, run.config.training.steps);
  if (run.missing_lengths > 0 && (state == RunState::kFinished || state == RunState::kEvaluating)) {
    reason += fmt::format(", {} of {} test lengths not measured", run.missing_lengths,
                          run.config.evaluation.lengths().size());
  }
  return reason;
}

void append_baseline_notes(std::vector<Note>& notes, const ResultTable& table) {
  if (!table.has_baselines) return;
  notes.push_back(
      {NoteKind::kBaselines,
       "Trivial baselines, scored on the samples that the runs are evaluated on: constant is the best single "
       "output symbol; position is the likeliest symbol of each position in the output of each length, "
       "fitted to other samples; frequent is the most frequent input symbol of each sample, where the output "
       "consists of input symbols. The first two do not see the input."});
  std::vector<std::string> without;
  for (const TableRow& row : table.rows) {
    if (!row.baselines) without.push_back(row.task.text());
  }
  if (!without.empty()) {
    notes.push_back({NoteKind::kBaselines,
                     fmt::format("No baselines of {}: runs of one row are evaluated on different samples.",
                                 fmt::join(without, ", "))});
  }
}

Note paper_note() {
  return {NoteKind::kPaper,
          "The paper's value is from Table 2 of the DAPE paper (arXiv 2405.14722; 200000 steps, width 256, "
          "test lengths 41..500, number of runs not stated). The table's header puts \"Randomized\" over "
          "learned, sin_cos, rope, relative, alibi, kerple and fire, so their values stand next to our "
          "randomized_ columns. It puts \"DAPE (Ours)\" over three columns and does not state their "
          "positions. We read them as randomized (docs/deviations.md says why), so they stand next to "
          "randomized_dape_."};
}

void append_claims_note(std::vector<Note>& notes, std::vector<PaperClaim> claims) {
  std::erase_if(claims, [](const PaperClaim& claim) { return claim.here.tasks == 0; });
  if (claims.empty()) return;
  std::vector<std::string> texts;
  texts.reserve(claims.size());
  for (const PaperClaim& claim : claims) {
    texts.push_back(fmt::format("{}: paper {} of {}, here {} of {}", claim.text, claim.paper.holds,
                                claim.paper.tasks, claim.here.holds, claim.here.tasks));
  }
  notes.push_back(
      {NoteKind::kClaims,
       fmt::format(
           "Claims of the paper, counted over the tasks that have both scores (those of DAPE over the tasks "
           "that are not permutation-invariant); a task is left out where neither cell trained. Any positive "
           "difference of the scores shown counts. All encodings have randomized positions. {}.",
           fmt::join(texts, "; "))});
}

Note untrained_note(std::string_view who) {
  return {NoteKind::kReading,
          fmt::format(
              "{} Did not train: {}, over the last tenth of the steps, a training accuracy at least {:.0f} "
              "points above the best predictor that does not see the input, at the training lengths. The "
              "score says nothing about extrapolation.",
              kUntrainedSign, who, 100 * kTrainedMargin)};
}

void append_untrained_runs_note(std::vector<Note>& notes, const std::vector<UntrainedRuns>& cells) {
  if (cells.empty()) return;
  std::vector<std::string> texts;
  texts.reserve(cells.size());
  for (const UntrainedRuns& cell : cells) {
    texts.push_back(fmt::format("{} on {} ({} of {} runs did not train)", cell.encoding.text(),
                                cell.task.text(), cell.runs, cell.of));
  }
  notes.push_back({NoteKind::kReading,
                   fmt::format("Cells in which only some runs trained: {}.", fmt::join(texts, "; "))});
}

void append_invariant_note(std::vector<Note>& notes, const ResultTable& table) {
  if (std::ranges::none_of(table.rows, &TableRow::permutation_invariant)) return;
  notes.push_back({NoteKind::kReading,
                   fmt::format("{} The paper marks the task as permutation-invariant.", kInvariantSign)});
}

}  // namespace che
