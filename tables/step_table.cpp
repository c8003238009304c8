#include "tables/step_table.h"

#include <fmt/format.h>

#include "experiments/analysis/score_summary.h"
#include "experiments/analysis/step_scores.h"
#include "tables/result_notes.h"

namespace che {

Table step_table(const ResultTable& table) {
  Table steps{
      .title = fmt::format("Scores on the way of the experiment {}.", table.name),
      .printed = {.group_title = "level",
                  .columns = {{.title = "task", .number = false},
                              {.title = "encoding", .number = false},
                              {.title = "step"},
                              {.title = "runs"},
                              {.title = "score"}},
                  .rows = {},
                  .footnotes = {},
                  .notes = {{NoteKind::kReading,
                             "Mean score in percent, over the runs that were measured at the step."}}},
      .data = {.columns = {"level", "task", "encoding", "step", "n", "score"},
               .rows = {},
               .notes = {{NoteKind::kReading,
                          "Mean scores over the n runs that were measured at the step, 0 to 1."}}}};
  append_provenance(steps.printed.notes, table);
  append_provenance(steps.data.notes, table);
  for (const TableRow& row : table.rows) {
    const std::string level(level_name(row.level));
    for (const EncodingLabel& encoding : table.encodings) {
      for (const auto& [step, scores] : step_scores(table, {row.task, encoding})) {
        const double mean = aggregate_of(scores, Aggregate::kMean);
        steps.printed.rows.push_back({.group = level,
                                      .cells = {{.text = row.task.text()},
                                                {.text = encoding.text()},
                                                {.text = fmt::format("{}", step)},
                                                {.text = fmt::format("{}", scores.size())},
                                                {.text = percent(mean)}}});
        steps.data.rows.push_back(
            {level, row.task.text(), encoding.text(), step, static_cast<std::int64_t>(scores.size()), mean});
      }
    }
  }
  return steps;
}

}  // namespace che
