#include <gtest/gtest.h>

#include "tables/result_tables.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(RunTable, CsvIsGolden) {
  const ScratchFolder scratch;
  expect_golden("tables/runs.csv", format_table(run_table(made_up_experiment(scratch.path())), "csv"));
}

TEST(RunTable, MarkdownIsGolden) {
  const ScratchFolder scratch;
  expect_golden("tables/runs.md", format_table(run_table(made_up_experiment(scratch.path())), "md"));
}

}  // namespace
}  // namespace che
