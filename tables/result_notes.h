#pragma once

#include <string>
#include <vector>

#include "experiments/result_table.h"

namespace che {

// What the runs of a table have in common and where they come from, a sentence each: training,
// evaluation, switches, settings off default, commit and device.
std::vector<std::string> provenance_notes(const ResultTable& table);

// Whether a run has begun; one that has not is counted, not named.
bool is_begun(const TableRun& run);

// Why a run has no score: "failed: loss is not finite", "training, step 200 of 1000".
std::string missing_reason(const TableRun& run);

// What trivial baselines are, and which rows have none; empty unless add_trivial_baselines was asked for
// them.
std::vector<std::string> baseline_notes(const ResultTable& table);

// What the paper's values are, and where they leave doubt.
std::string paper_note();

}  // namespace che
