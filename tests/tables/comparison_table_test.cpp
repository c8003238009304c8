#include <gtest/gtest.h>

#include "tables/result_tables.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(ComparisonTable, IsGoldenForPeopleAndPrograms) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  const Table table = comparison_table(compare(results, "dape_kerple", "rope", Aggregate::kMean), results);
  expect_golden("tables/comparison.md", format_table(table, "md"));
  expect_golden("tables/comparison.csv", format_table(table, "csv"));
}

TEST(ComparisonTable, MarksWhereNoComparedRunTrained) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  Comparison comparison = compare(results, "dape_kerple", "rope", Aggregate::kMean);
  for (ComparedTask& task : comparison.tasks) {
    task.one_runs.untrained = task.one_runs.counted;
    task.other_runs.untrained = 0;
  }
  const Table table = comparison_table(comparison, results);
  ASSERT_FALSE(table.printed.rows.empty());
  for (const PrintedRow& row : table.printed.rows) {
    EXPECT_EQ(row.cells[2].sign, kUntrainedSign);
    EXPECT_EQ(row.cells[3].sign, "");
  }
  EXPECT_NE(format_table(table, "md").find("no run that is compared reached"), std::string::npos);
}

}  // namespace
}  // namespace che
