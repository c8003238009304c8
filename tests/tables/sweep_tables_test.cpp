#include "tables/sweep_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/foreign.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/golden_file.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(StatusTable, CsvIsGolden) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  std::string csv = format_table(status_table(experiment_status(scratch.path()), "made_up"), "csv");
  // The age of the last report of the training run depends on the clock.
  const std::size_t heard = csv.find("nothing heard for ");
  ASSERT_NE(heard, std::string::npos) << csv;
  csv.replace(heard, csv.find_first_of("\"\n", heard) - heard, "nothing heard for long");
  expect_golden("tables/status.csv", csv);
}

TEST(StatusTable, HasTheChosenRunsOnly) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  const ExperimentStatus status = experiment_status(scratch.path(), RunChoice({.only = {"task=even_pairs"}}));
  EXPECT_EQ(status.runs, 3U);
  const Table table = status_table(status, "made_up");
  ASSERT_EQ(table.printed.rows.size(), 3U);
  EXPECT_EQ(table.printed.rows.size(), table.data.rows.size());
  for (const PrintedRow& row : table.printed.rows) EXPECT_EQ(row.cells.front().text, "even_pairs");
}

TEST(StatusTable, SaysNothingOfATrainingOutsideChe) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("even_pairs", "rope");
  config.model = foreign_model("my_lstm");
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  const Table table = status_table(experiment_status(scratch.path()), "made_up");
  ASSERT_EQ(table.data.rows.size(), 1U);
  for (std::size_t i = 0; i < table.data.columns.size(); ++i) {
    const std::string& name = table.data.columns[i];
    const bool is_of_training =
        name == "data_seed" || name == "learning_rate" || name == "step" || name == "steps";
    EXPECT_EQ(is_of_training, table.data.rows[0][i] == TableValue()) << name;
  }
  const auto& printed = table.printed.rows[0].cells;
  EXPECT_EQ(3, std::ranges::count(printed, kNoNumber, &PrintedCell::text));
}

TEST(StatusTable, HasFoldersThatCannotBeOpened) {
  const ScratchFolder scratch;
  made_up_experiment(scratch.path());
  const auto rows = [&] { return status_table(experiment_status(scratch.path()), "made_up").data.rows; };
  const std::size_t before = rows().size();
  std::filesystem::create_directory(scratch.path() / "runs/empty");
  write_file_atomically(scratch.path() / "runs/empty/config.yaml", "no config");
  ASSERT_EQ(rows().size(), before + 1);
  EXPECT_EQ(rows().back().front(), TableValue());
  EXPECT_THAT(std::get<std::string>(rows().back().back()), testing::HasSubstr("runs/empty"));
}

TEST(RunGrid, CountsTheRunsOfEachTaskAndEncoding) {
  std::vector<RunConfig> runs;
  for (const std::int64_t seed : {0, 1}) {
    runs.push_back(made_up_config("reverse_string", "rope", seed));
    runs.push_back(made_up_config("even_pairs", "rope", seed));
  }
  runs.push_back(made_up_config("even_pairs", "dape_kerple"));
  const RunGrid grid(runs);
  EXPECT_EQ(grid.cells(), 3U);
  EXPECT_EQ(format_table(grid.table(), "md"),
            "| task           | rope | dape_kerple |\n"
            "| -------------- | ---: | ----------: |\n"
            "| even_pairs     |    2 |           1 |\n"
            "| reverse_string |    2 |          -- |\n\n");
}

TEST(RunGrid, MoreEncodingsThanTasksStandInRows) {
  const RunGrid grid({made_up_config("even_pairs", "rope"), made_up_config("even_pairs", "none"),
                      made_up_config("even_pairs", "none", 1)});
  EXPECT_EQ(format_table(grid.table(), "md"),
            "| encoding | even_pairs |\n| -------- | ---------: |\n| none     |          2 |\n"
            "| rope     |          1 |\n\n");
}

}  // namespace
}  // namespace che
