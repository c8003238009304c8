#include "tables/agreement_table.h"

#include <gtest/gtest.h>

#include "tests/experiments/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(AgreementTable, IsGoldenForPeopleAndPrograms) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  store_run(scratch.path(), made_up_config("reverse_string", "alibi"), "finished", 0.75);
  store_run(scratch.path(), made_up_config("reverse_string", "kerple"), "finished", 0.5);
  ResultTable results = make_table(open_runs(scratch.path()));
  results.name = "made_up";
  const Table table = agreement_table(agree(results, Aggregate::kMax), results);
  expect_golden("tables/agreement.md", format_table(table, "md"));
  expect_golden("tables/agreement.csv", format_table(table, "csv"));
}

TEST(AgreementTable, SaysWhenAllTie) {
  const ScratchFolder scratch;
  for (const char* encoding : {"rope", "alibi"}) {
    store_run(scratch.path(), made_up_config("reverse_string", encoding), "finished", 0.5);
  }
  const ResultTable results = make_table(open_runs(scratch.path()));
  const Table table = agreement_table(agree(results, Aggregate::kMax), results);
  EXPECT_EQ(table.printed.rows[0].cells[5].text, "all 2 tie");
  EXPECT_EQ(std::get<std::string>(table.data.rows[0][7]), "rope; alibi");
}

}  // namespace
}  // namespace che
