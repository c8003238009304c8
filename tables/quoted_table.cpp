#include "tables/quoted_table.h"

namespace che {

Table quoted_table(const ResultTable& table) {
  const Note note{
      NoteKind::kReading,
      "Quoted from the sources named, not measured here: another training, other samples and often "
      "other lengths. Not marked and not ranked with measured scores."};
  Table quoted{
      .title = "Scores that entries quote.",
      .printed = {.group_title = "",
                  .columns = {{.title = "task", .number = false},
                              {.title = "model", .number = false},
                              {.title = "quoted score"},
                              {.title = "source", .number = false},
                              {.title = "entry", .number = false}},
                  .rows = {},
                  .footnotes = {},
                  .notes = {note}},
      .data = {.columns = {"task", "model", "score", "source", "entry"}, .rows = {}, .notes = {note}}};
  for (const QuotedScore& score : table.quoted) {
    PrintedRow& row = quoted.printed.rows.emplace_back();
    row.cells = {{.text = score.task},
                 {.text = score.model + " (quoted)"},
                 number_cell(score.score, percent),
                 {.text = score.source},
                 {.text = score.entry}};
    quoted.data.rows.push_back({score.task, score.model, score.score, score.source, score.entry});
  }
  return quoted;
}

}  // namespace che
