#include <gtest/gtest.h>

#include "experiments/results/training_outcome.h"
#include "tables/result_tables.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(AgreementTable, IsGoldenForPeopleAndPrograms) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    const double more = seed == 0 ? 0 : 0.25;
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_alibi", seed), RunState::kFinished,
              0.75);
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_kerple", seed),
              RunState::kFinished, 0.5 + more);
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_rope", seed), RunState::kFinished,
              0.25);
    store_run(scratch.path(), made_up_config("reverse_string", "randomized_dape_kerple", seed),
              RunState::kFinished, 0.625 + more);
  }
  ResultTable results = make_table(open_runs(scratch.path()));
  results.name = "made_up";
  add_trivial_baselines(results);
  const Table table = agreement_table(agree(results, Aggregate::kMax), results);
  expect_golden("tables/agreement.md", format_table(table, "md"));
  expect_golden("tables/agreement.csv", format_table(table, "csv"));
}

TEST(AgreementTable, SaysWhenAllTie) {
  const ScratchFolder scratch;
  for (const char* encoding : {"rope", "alibi"}) {
    store_run(scratch.path(), made_up_config("reverse_string", encoding), RunState::kFinished, 0.5);
  }
  ResultTable results = make_table(open_runs(scratch.path()));
  for (auto& [key, cell] : results.cells) cell.best_trained = false;
  const Table table = agreement_table(agree(results, Aggregate::kMax), results);
  EXPECT_EQ(table.printed.rows[0].cells[8].text, "all 2 tie");
  EXPECT_EQ(format_table(table, "md").find(kUntrainedSign), std::string::npos) << "a note of no cell";
  EXPECT_EQ(std::get<std::string>(table.data.rows[0][11]), "rope; alibi");
  EXPECT_EQ(table.printed.rows[0].cells[9].text, "--") << "nothing is known of what predictors score";
}

TEST(AgreementTable, MarksABestThatDidNotTrain) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.75);
  store_run(scratch.path(), made_up_config("reverse_string", "alibi"), RunState::kFinished, 0.5);
  ResultTable results = make_table(open_runs(scratch.path()));
  const auto best = [&] {
    return agreement_table(agree(results, Aggregate::kMax), results).printed.rows[0].cells[8].text;
  };
  EXPECT_EQ(best(), "rope");
  for (auto& [key, cell] : results.cells) cell.best_trained = key.encoding.text() != "rope";
  EXPECT_EQ(best(), std::string("rope") + kUntrainedSign);
}

TEST(AgreementTable, MeasuresTheBestAgainstTheBestBaseline) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.75);
  store_run(scratch.path(), made_up_config("reverse_string", "randomized_alibi"), RunState::kFinished, 0.25);
  ResultTable results = make_table(open_runs(scratch.path()));
  for (const auto& [constant, position] : {std::pair(0.5, 0.625), {0.625, 0.5}}) {
    results.rows[0].baselines = TrivialBaselines{
        .constant = {constant}, .position_only = {position, 0.0123}, .frequent_symbol = {}, .lengths = {}};
    const Table table = agreement_table(agree(results, Aggregate::kMax), results);
    EXPECT_EQ(table.printed.rows[0].cells[9].text, "+12.5");
    EXPECT_EQ(table.printed.rows[0].cells[10].text, position > constant ? "1.2" : "--");
    EXPECT_EQ(std::get<double>(table.data.rows[0][12]), 0.125);
  }
}

}  // namespace
}  // namespace che
