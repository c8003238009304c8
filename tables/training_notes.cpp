// The notes of a table on what did not train.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "experiments/results/training_outcome.h"
#include "tables/notes.h"

namespace che {

void append_shared_seeds_note(std::vector<Note>& notes, bool share_seeds) {
  if (!share_seeds) return;
  add_note(notes, NoteKind::kReading,
           "There is no test and no interval where only some repetitions share a seed or a data_seed. --only "
           "data_seed=0, for example, chooses some of them.");
}

void append_untrained_note(std::vector<Note>& notes, std::string_view who) {
  add_note(
      notes, NoteKind::kReading,
      "{} Did not train: {}, over the last tenth of the steps, a training accuracy at least {:.0f} points "
      "above the best predictor that does not see the input, at the training lengths. The score says "
      "nothing about extrapolation.",
      kUntrainedSign, who, 100 * kTrainedMargin);
}

void append_partly_trained_note(std::vector<Note>& notes, const std::vector<PartlyTrainedCell>& cells) {
  if (cells.empty()) return;
  add_note(notes, NoteKind::kReading, "Cells in which only some runs trained: {}.",
           joined(cells, "; ", [](const PartlyTrainedCell& cell) {
             return fmt::format("{} on {} ({} of {} runs did not train)", cell.encoding.text(),
                                cell.task.text(), cell.untrained, cell.counted);
           }));
}

void append_no_numbers_note(std::vector<Note>& notes, const ResultTable& table) {
  std::map<std::string, std::size_t> runs;  // By column and row.
  for (const TableRun& run : table.runs) {
    const auto is_nan = [](const EvaluationRow& row) { return std::isnan(row.loss); };
    const bool has_answers = run.score && !run.config.is_foreign() && !run.config.has_text();
    if (!has_answers || !std::ranges::any_of(run.evaluation, is_nan)) continue;
    ++runs[fmt::format("{} on {}", run.encoding.text(), run.task.text())];
  }
  if (runs.empty()) return;
  add_note(
      notes, NoteKind::kReading,
      "Logits were no numbers at some test lengths, where the answer counts as symbol 0 and the score says "
      "nothing: {}.",
      joined(runs, "; ", [](const auto& cell) {
        return fmt::format("{} ({})", cell.first, counted(cell.second, "run"));
      }));
}

void append_unknown_training_note(std::vector<Note>& notes, const ResultTable& table) {
  const auto is_unknown = [](const TableRun* run) {
    return run->score && !run->training && !run->config.is_foreign() && !run->config.has_text() &&
           run->config.is_drawn();
  };
  const auto runs = std::ranges::count_if(
      table.by_stored_run(), [&](const auto& entries) { return std::ranges::any_of(entries, is_unknown); });
  if (runs == 0) return;
  add_note(notes, NoteKind::kReading,
           "Whether {} trained is not known, because the training metrics are missing.",
           counted(static_cast<std::size_t>(runs), "run"));
}

}  // namespace che
