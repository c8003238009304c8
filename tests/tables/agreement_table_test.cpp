#include "tables/agreement_table.h"

#include <gtest/gtest.h>

#include "tests/experiments/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(AgreementTable, IsGoldenForPeopleAndPrograms) {
  const ScratchFolder scratch;
  const ResultTable results = made_up_experiment(scratch.path());
  const Table table = agreement_table(agree(results, Aggregate::kMax), results);
  expect_golden("tables/agreement.md", format_table(table, "md"));
  expect_golden("tables/agreement.csv", format_table(table, "csv"));
}

}  // namespace
}  // namespace che
