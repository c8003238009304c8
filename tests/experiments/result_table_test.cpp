#include "experiments/result_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "core/atomic_file.h"
#include "experiments/result_csv.h"
#include "experiments/result_markdown.h"
#include "tests/experiments/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// What the golden files show: several tasks and forms, three runs a cell, a cell that failed, one
// that trains, one that lacks a length, one that was never begun, a task with an option.
ResultTable golden_table(const ScratchFolder& scratch) {
  const std::filesystem::path& folder = scratch.path();
  const std::vector<double> scores = {0.5, 0.625, 0.75};
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    const double accuracy = scores[static_cast<std::size_t>(seed)];
    store_run(folder, made_up_config("reverse_string", "rope", seed), "finished", accuracy);
    RunConfig other_rate = made_up_config("reverse_string", "dape_kerple", seed);
    other_rate.learning_rate = seed == 2 ? 1e-4 : 3e-4;
    store_run(folder, other_rate, "finished", accuracy + 0.0625);
  }
  store_run(folder, made_up_config("even_pairs", "rope"), "finished", 1.0 / 3);
  store_run(folder, made_up_config("even_pairs", "randomized_rope"), "finished", 0.875);
  store_run(folder, made_up_config("even_pairs", "none"), "failed");
  store_run(folder, made_up_config("bucket_sort", "none"), "training");
  const RunFolder partial = store_run(folder, made_up_config("bucket_sort", "rope"), "finished", 0.5);
  std::vector<EvaluationRow> rows = partial.evaluation();
  rows.pop_back();
  partial.write_evaluation(rows);
  RunConfig reordered = made_up_config("odds_first", "none");
  reordered.task.options = {{"odds_first_order", "odd_first"}};
  store_run(folder, reordered, "finished", 0.625);
  RunConfig narrow = made_up_config("reverse_string", "dape_kerple");
  narrow.encoding.dape->hidden = 16;
  store_run(folder, narrow, "finished", 0.5);
  return make_table(open_runs(folder));
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(CHE_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("CHE_UPDATE_GOLDEN") != nullptr) write_file_atomically(file, text);
  EXPECT_EQ(text, read_file(file))
      << "if the change is meant, run with CHE_UPDATE_GOLDEN=1 and read the diff";
}

TEST(ResultTable, MarkdownIsGolden) {
  const ScratchFolder scratch;
  expect_golden("result_table.md", table_markdown(golden_table(scratch)));
}

TEST(ResultTable, CellsCsvIsGolden) {
  const ScratchFolder scratch;
  expect_golden("result_table.csv", cells_csv(golden_table(scratch)));
}

TEST(ResultTable, RunsCsvIsGolden) {
  const ScratchFolder scratch;
  expect_golden("result_table_runs.csv", runs_csv(golden_table(scratch)));
}

TEST(ResultTable, SummarizesTheFinishedRunsOfACell) {
  const ScratchFolder scratch;
  const std::vector<double> scores = {0.9, 0.2, 0.4, 0.1};
  for (std::int64_t seed = 0; seed < 4; ++seed) {
    store_run(scratch.path(), made_up_config("reverse_string", "rope", seed), "finished",
              scores[static_cast<std::size_t>(seed)]);
  }
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 4), "failed");
  const ResultTable table = make_table(open_runs(scratch.path()));
  const TableCell* cell = table.cell("reverse_string", "rope");
  ASSERT_NE(cell, nullptr);
  ASSERT_TRUE(cell->scores.has_value());
  EXPECT_EQ(cell->finished.size(), 4U);
  EXPECT_EQ(table.runs[cell->best].config.seed, 0);
  EXPECT_DOUBLE_EQ(cell->scores->max, 0.9);
  EXPECT_DOUBLE_EQ(cell->scores->mean, 0.4);
  EXPECT_DOUBLE_EQ(cell->scores->median, 0.3);
  // Squared distances to the mean: 0.25, 0.04, 0, 0.09.
  EXPECT_NEAR(cell->scores->deviation.value(), std::sqrt(0.38 / 3), 1e-15);
  EXPECT_EQ(cell->paper, 65.23);
  EXPECT_EQ(table.cell("reverse_string", "none"), nullptr);
}

TEST(ResultTable, OnlyFinishedRunsCountEvenWithEveryLengthMeasured) {
  const ScratchFolder scratch;
  const RunFolder folder =
      store_run(scratch.path(), made_up_config("reverse_string", "rope"), "finished", 0.5);
  RunStatus status = folder.status();
  status.state = "interrupted";
  folder.write_status(status);
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_FALSE(table.cell("reverse_string", "rope")->scores.has_value());
}

TEST(ResultTable, OneRunHasNoDeviation) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), "finished", 0.5);
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_FALSE(table.cell("reverse_string", "rope")->scores->deviation.has_value());
}

TEST(ResultTable, RunsOfOtherSettingsAreNotMixed) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), "finished", 0.5);
  RunConfig wide = made_up_config("reverse_string", "rope");
  wide.model.width = 128;
  store_run(scratch.path(), wide, "finished", 0.75);
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_EQ(table.encodings, (std::vector<std::string>{"rope(model.width=64)", "rope(model.width=128)"}));
  EXPECT_EQ(table.cell("reverse_string", "rope(model.width=64)")->scores->max, 0.5);
  EXPECT_EQ(table.cell("reverse_string", "rope(model.width=128)")->scores->max, 0.75);
}

TEST(ResultTable, RunsMeasuredDifferentlyAreNotMixed) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "dape_kerple"), "finished", 0.5);
  RunConfig longer = made_up_config("reverse_string", "dape_kerple", 1);
  longer.encoding.dape->hidden = 16;
  longer.evaluation.last_length = 60;
  store_run(scratch.path(), longer, "finished", 0.75);
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_EQ(table.encodings,
            (std::vector<std::string>{"dape_kerple(dape.hidden=16, evaluation.last_length=60)",
                                      "dape_kerple(evaluation.last_length=44)"}));
}

TEST(ResultTable, SharedSettingsStayOutOfLabels) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), "finished", 0.5);
  store_run(scratch.path(), made_up_config("even_pairs", "none"), "finished", 0.5);
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_EQ(table.encodings, (std::vector<std::string>{"none", "rope"}));
  EXPECT_EQ(table.shared_settings,
            (std::vector<std::string>{"evaluation.last_length=44", "evaluation.samples=64", "model.width=64",
                                      "training.steps=1000"}));
}

TEST(ResultTable, CountsADamagedRunAsUnfinishedAndNamesItsFile) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), "finished", 0.5);
  const RunFolder damaged = store_run(scratch.path(), made_up_config("even_pairs", "rope", 1), "finished", 1);
  const std::string csv = read_file(damaged.path() / "evaluation.csv");
  write_file_atomically(damaged.path() / "evaluation.csv",
                        csv.substr(0, csv.rfind('\n', csv.size() - 2) + 1));
  const ResultTable table = make_table(open_runs(scratch.path()));
  const TableCell* const cell = table.cell("even_pairs", "rope");
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->finished.size(), 1U);
  EXPECT_EQ(cell->scores->max, 0.5);
  const std::string file = (damaged.path() / "evaluation.csv").string();
  EXPECT_NE(table_markdown(table).find("(damaged: " + file), std::string::npos) << table_markdown(table);
  std::vector<std::string> warnings;
  warn_of_damage(table, [&](const std::string& warning) { warnings.push_back(warning); });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("not counted: " + file)) << warnings[0];
}

}  // namespace
}  // namespace che
