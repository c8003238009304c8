#include <gtest/gtest.h>

#include "tables/sweep_tables.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(StatusTable, CsvIsGolden) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  std::string csv = format_table(status_table(experiment_status(scratch.path()), "made_up"), "csv");
  // How long ago the run that trains was heard of depends on the clock.
  const std::size_t heard = csv.find("nothing heard for ");
  ASSERT_NE(heard, std::string::npos) << csv;
  csv.replace(heard, csv.find_first_of("\"\n", heard) - heard, "nothing heard for long");
  expect_golden("tables/status.csv", csv);
}

TEST(StatusTable, HasTheChosenRunsOnly) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  const ExperimentStatus status = experiment_status(scratch.path(), RunChoice({"task=even_pairs"}));
  EXPECT_EQ(status.runs, 3U);
  const Table table = status_table(status, "made_up");
  ASSERT_EQ(table.printed.rows.size(), 3U);
  EXPECT_EQ(table.printed.rows.size(), table.data.rows.size());
  for (const PrintedRow& row : table.printed.rows) EXPECT_EQ(row.cells.front().text, "even_pairs");
}

}  // namespace
}  // namespace che
