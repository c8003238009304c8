#pragma once

#include <vector>

#include "experiments/analysis/result_table.h"
#include "tables/formats/table.h"
#include "tables/score_table.h"

namespace che {

// Whether the cell shows the paper's value.
bool shows_paper(const TableCell& cell, PaperValues values);

// What a reader of score_table must know, for people; and for programs.
std::vector<Note> score_notes(const ResultTable& table, const ScoreTableOptions& options);
std::vector<Note> score_data_notes(const ResultTable& table, const ScoreTableOptions& options);

}  // namespace che
