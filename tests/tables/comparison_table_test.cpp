#include "tables/comparison_table.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/made_up_experiment.h"
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

}  // namespace
}  // namespace che
