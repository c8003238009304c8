#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tables/result_tables.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

std::size_t column(const Table& table, const std::string& name) {
  const auto& columns = table.data.columns;
  return static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
}

TEST(LengthTable, CsvIsGolden) {
  const ScratchFolder scratch;
  expect_golden("tables/lengths.csv", format_table(length_table(made_up_experiment(scratch.path())), "csv"));
}

TEST(LengthTable, HasAColumnForEverySettingThatVariesAndNoNameTwice) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("even_pairs", "rope");
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  config.model.shape().layers = 3;
  config.evaluation.seed = 5;
  config.execution.threads = 2;  // Changes no result.
  store_run(scratch.path(), config, RunState::kFinished, 0.75);
  config.encoding.reset("dape_kerple");
  store_run(scratch.path(), config, RunState::kFinished, 0.75);
  const Table table = length_table(make_table(open_runs(scratch.path())));
  const std::vector<std::string>& columns = table.data.columns;
  EXPECT_EQ(std::set<std::string>(columns.begin(), columns.end()).size(), columns.size());
  for (const char* name : {"model.layers", "encoding.name", "encoding.dape", "encoding.dape.hidden",
                           "evaluation.seed", "seed", "length"}) {
    EXPECT_EQ(std::ranges::count(columns, name), 1) << name;
  }
  for (const char* name : {"execution.threads", "model.width", "task.name"}) {
    EXPECT_EQ(std::ranges::count(columns, name), 0) << name;
  }
  ASSERT_EQ(table.data.rows.size(), 12U) << "four lengths each";
  const auto& first = table.data.rows.front();
  EXPECT_EQ(first.size(), columns.size());
  EXPECT_EQ(first[column(table, "encoding.dape.hidden")], TableValue()) << "rope has none";
  EXPECT_EQ(first[column(table, "accuracy")], TableValue(0.5));
}

TEST(LengthTable, ShowsFurtherLengthsThatNoScoreCounts) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = run.evaluation();
  store_row(rows, {.length = 100, .samples = 128, .seed = 0, .accuracy = 0.25, .loss = 1});
  run.write_evaluation(rows);
  const Table table = length_table(make_table(open_runs(scratch.path())));
  ASSERT_EQ(table.data.rows.size(), 5U);
  EXPECT_EQ(table.data.rows.back()[column(table, "length")], TableValue(std::int64_t{100}));
  EXPECT_EQ(table.data.rows.back()[column(table, "in_score")], TableValue("no"));
  EXPECT_EQ(table.data.rows.front()[column(table, "in_score")], TableValue("yes"));
  EXPECT_EQ(table.printed.rows.back().cells.back().text, "25.0");
}

}  // namespace
}  // namespace che
