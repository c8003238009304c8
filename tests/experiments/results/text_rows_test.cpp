// Tables of runs on texts: a row for each test length, lower is better.
#include "experiments/results/text_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "experiments/plan/evaluation_settings.h"
#include "tables/result_tables.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

RunConfig run_on_austen(const std::string& encoding, std::int64_t seed) {
  RunConfig config =
      read("name: x\nbase: {text: austen, encoding: " + encoding + ", evaluation: {lengths: [512, 2048]}}\n")
          .runs.front();
  config.seed = seed;
  return config;
}

void store(const std::filesystem::path& experiment, const RunConfig& config, double loss) {
  const RunFolder folder = store_run(experiment, config, RunState::kFinished);
  std::vector<EvaluationRow> rows = folder.evaluation();
  for (EvaluationRow& row : rows) {
    row.loss = loss + 0.001 * static_cast<double>(row.length);
    row.encoding_settings = evaluation_settings(config);
  }
  folder.write_evaluation(rows);
}

class TextRows : public ScratchTest {};

TEST_F(TextRows, HaveAPerplexityForEachLength) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  store(scratch_.path(), run_on_austen("kerple", 1), 3);
  store(scratch_.path(), run_on_austen("rope", 0), 2);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].task.text(), "austen(trained=128, length=512)");
  EXPECT_EQ(table.rows[1].task.text(), "austen(trained=128, length=2048)");
  EXPECT_FALSE(table.rows[0].chance);
  ASSERT_EQ(table.encodings.size(), 2U);
  const auto cell_of = [&](const std::string& encoding) {
    for (const EncodingLabel& label : table.encodings) {
      if (label.text() == encoding) return *table.cell(table.rows[0].task, label);
    }
    return TableCell();
  };
  const TableCell kerple = cell_of("kerple");
  ASSERT_EQ(kerple.finished.size(), 2U);
  // A mean over seeds is of perplexities, and the lowest is the best.
  EXPECT_NEAR(kerple.scores->mean, (std::exp(1.512) + std::exp(3.512)) / 2, 1e-9);
  EXPECT_NEAR(kerple.scores->best, std::exp(1.512), 1e-9);
  ReadingRules bits;
  bits.metric = Metric::named("bits");
  EXPECT_NEAR(*make_table(open_runs(scratch_.path()), bits).runs[0].score, 2.512 / std::log(2), 1e-9);
}

// Chance is an accuracy, which no perplexity passes or fails.
TEST_F(TextRows, OfATaskHaveChanceAndBaselinesBesideAccuraciesAlone) {
  store_run(scratch_.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.75);
  for (const std::string metric : {"accuracy", "ppl"}) {
    ReadingRules rules;
    rules.metric = Metric::named(metric);
    ResultTable table = make_table(open_runs(scratch_.path()), rules);
    add_trivial_baselines(table);
    EXPECT_EQ(metric == "accuracy", table.rows[0].chance.has_value()) << metric;
    EXPECT_EQ(metric == "accuracy", table.rows[0].baselines.has_value()) << metric;
  }
}

TEST_F(TextRows, OtherProtocolsAreOtherColumns) {
  const RunConfig config = run_on_austen("kerple", 0);
  store(scratch_.path(), config, 1);
  const RunFolder folder = open_runs(scratch_.path()).front();
  std::vector<EvaluationRow> rows = folder.evaluation();
  const RunConfig full = with_evaluation_settings(config, {{"longest", "2048"}, {"protocol", "full"}});
  EvaluationRow other = rows.front();
  other.encoding_settings = evaluation_settings(full);
  other.loss = 2;
  store_row(rows, other);
  folder.write_evaluation(rows);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_EQ(table.rows.size(), 2U);
  ASSERT_EQ(table.encodings.size(), 2U);
  EXPECT_TRUE(contains(table.encodings[0].text() + table.encodings[1].text(), "evaluation.protocol=full"));
}

TEST_F(TextRows, RefuseTwoCorporaOfOneName) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  RunConfig other = run_on_austen("rope", 0);
  other.text.hash = "0123456789abcdef";
  store(scratch_.path(), other, 1);
  expect_error(ErrorKind::kUsage, {"two corpora are called austen", "0123456789abcdef", "--only text.hash="},
               [&] { make_table(open_runs(scratch_.path())); });
}

}  // namespace
}  // namespace che
