// Tables of runs on texts: a row for each test length, lower is better.
#include "experiments/results/text_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/files.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/results/comparison.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
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
  expect_contains(format_table(score_table(table), "csv"), {",2,0,min,4.53"});
  ReadingRules bits;
  bits.metric = Metric::named("bits");
  EXPECT_NEAR(*make_table(open_runs(scratch_.path()), bits).runs[0].score, 2.512 / std::log(2), 1e-9);
}

// The rows of a text are lengths already.
TEST_F(TextRows, AreNotComparedByLength) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  store(scratch_.path(), run_on_austen("rope", 0), 2);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  expect_contains(
      message_of([&] { compare(table, "kerple", "rope", Aggregate::kMean, ComparisonRows::kLengths); }),
      {"--by-length: austen(trained=128, length=512) is a text", "--skip text=austen"});
}

TEST_F(TextRows, AreCalledPerplexitiesAndHaveNgramsOnlyWhereTheseAreMeasured) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  ResultTable table = make_table(open_runs(scratch_.path()));
  add_trivial_baselines(table);
  for (const char* format : {"md", "csv", "json"}) {
    const std::string text = format_table(score_table(table), format);
    EXPECT_FALSE(contains(text, "order")) << text;
    EXPECT_FALSE(contains(text, "No baselines")) << text;
  }
  expect_contains(format_table(score_table(table), "json"), {"scores of texts perplexities"});
  expect_contains(format_table(run_table(table), "md"),
                  {"Accuracies are in percent, scores of texts perplexities; loss in nats"});
  expect_contains(format_table(step_table(table), "md"), {"scores of texts perplexities."});
}

// As `che evaluate` adds them.
TEST_F(TextRows, BeyondTheLongestLengthAreOfOtherTokensAndANoteSaysSo) {
  const RunConfig config = run_on_austen("kerple", 0);
  store(scratch_.path(), config, 1);
  const auto notes = [&] {
    return fmt::format("{}", fmt::join(make_table(open_runs(scratch_.path())).reading_notes, "\n"));
  };
  EXPECT_FALSE(contains(notes(), "groups of lengths"));
  RunConfig longer = config;
  longer.evaluation.listed_lengths = {4096};
  const RunFolder folder = RunFolder::at(scratch_.path(), config);
  std::vector<EvaluationRow> rows = folder.evaluation();
  rows.push_back(rows.back());
  rows.back().length = 4096;
  rows.back().encoding_settings = evaluation_settings(longer);
  folder.write_evaluation(rows);
  expect_contains(notes(),
                  {"scores of two groups are of other tokens; groups of lengths: {512, 2048}, {4096}."});
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
    const TableCell* const cell = table.cell(table.rows[0].task, table.encodings[0]);
    EXPECT_EQ(metric == "accuracy", cell->paper.has_value()) << "the paper's accuracy";
  }
}

// Of learning rates, 1e-3 has the lower loss of training, and 1e-4 on the validation part; neither rule reads
// the test windows.
TEST_F(TextRows, SelectRatesByLossesOfTrainingOrValidation) {
  RunConfig config = run_on_austen("kerple", 0);
  config.training.steps = 1500;
  const auto store_rate = [&](double rate, double test, std::vector<MetricsRow> metrics) {
    config.learning_rate = rate;
    store(scratch_.path(), config, test);
    RunFolder::at(scratch_.path(), config, [](const std::string&) {}).write_metrics(metrics);
  };
  const auto row = [](std::int64_t step, double loss, std::optional<double> validation) {
    return MetricsRow{.step = step, .loss = loss, .accuracy = 0.5, .validation_loss = validation};
  };
  const auto selected = [&](SelectionRule rule) {
    const ResultTable table =
        make_table(open_runs(scratch_.path()), {.score_lengths = std::nullopt, .select = rule});
    EXPECT_EQ(table.runs.size(), 2U) << "one run, at two lengths";
    return std::pair(table.runs.front().config.learning_rate, table.reading_notes.back());
  };
  store_rate(1e-3, 1, {row(500, 2.5, 1.0), row(1000, 1.5, 2.5), row(1500, 1.25, std::nullopt)});
  store_rate(1e-4, 2, {row(500, 2.5, 3.0), row(1000, 1.75, 2.25), row(1500, 1.5, std::nullopt)});
  EXPECT_EQ(
      selected(SelectionRule::kTraining),
      std::pair(1e-3, std::string("Each cell has the runs of one learning rate, the one with the lowest "
                                  "mean loss at the end of training over the repetitions (--select "
                                  "training): 0.001 for every cell.")));
  EXPECT_EQ(
      selected(SelectionRule::kValidation),
      std::pair(1e-4, std::string("Each cell has the runs of one learning rate, the one with the lowest "
                                  "mean of the last losses on the validation part over the repetitions "
                                  "(--select validation): 0.0001 for every cell.")));
  store_rate(1e-4, 2, {row(500, 2.5, 1.0), row(1500, 1.5, 2.75)});
  expect_error(ErrorKind::kUsage, {"measured at different steps", "1000 to 1000", "1500 to 1500"},
               [&] { selected(SelectionRule::kValidation); });
  store_rate(1e-4, 2, {row(1500, 1.5, std::nullopt)});
  expect_error(ErrorKind::kUsage, {"has no loss on the validation part", "log.validation_steps"},
               [&] { selected(SelectionRule::kValidation); });
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
  // So they have no best one and no difference.
  const TableRow& both = table.rows[0];
  EXPECT_FALSE(are_measured_alike(
      table, {table.cell(both.task, table.encodings[0]), table.cell(both.task, table.encodings[1])}));
  expect_error(ErrorKind::kUsage, {"are evaluated differently", "protocol"}, [&] {
    compare(table, table.encodings[0].text(), table.encodings[1].text(), Aggregate::kMean);
  });
}

TEST_F(TextRows, RefuseScoreLengthsThatARunLacks) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  ReadingRules rules;
  rules.score_lengths = LengthChoice("2048");
  EXPECT_EQ(make_table(open_runs(scratch_.path()), rules).rows.size(), 1U);
  rules.score_lengths = LengthChoice("999");
  expect_error(ErrorKind::kUsage, {"--score-lengths 999", "none of these test lengths", "512, 2048"},
               [&] { make_table(open_runs(scratch_.path()), rules); });
}

TEST_F(TextRows, HaveNoScoreOfALossThatIsNoNumber) {
  store(scratch_.path(), run_on_austen("kerple", 0), std::numeric_limits<double>::quiet_NaN());
  store(scratch_.path(), run_on_austen("rope", 0), 2);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  for (const TableRun& run : table.runs) EXPECT_EQ(run.score.has_value(), run.encoding.text() == "rope");
}

// Perplexities of models that diverged; two of those of none have no finite sum.
TEST_F(TextRows, HaveNoTestOfInfinitePerplexities) {
  const std::map<std::string, double> losses{{"kerple", 1e4}, {"rope", 1e4}, {"none", 709.5}, {"alibi", 1}};
  for (const auto& [encoding, loss] : losses) {
    for (std::int64_t seed = 0; seed < 6; ++seed) store(scratch_.path(), run_on_austen(encoding, seed), loss);
  }
  const ResultTable table = make_table(open_runs(scratch_.path()));
  for (const Aggregate aggregate : {Aggregate::kMean, Aggregate::kMedian}) {
    const ComparedTask both = compare(table, "kerple", "rope", aggregate).tasks.at(0);
    const ComparedTask one = compare(table, "kerple", "alibi", aggregate).tasks.at(0);
    for (const ComparedTask& task : {both, one, compare(table, "none", "alibi", aggregate).tasks.at(0)}) {
      EXPECT_TRUE(task.has_huge && !(task.p || task.interval || task.adjusted_p || task.detectable));
    }
    EXPECT_FALSE(both.difference) << "of two infinite scores";
    EXPECT_EQ(std::numeric_limits<double>::infinity(), one.difference);
  }
}

TEST_F(TextRows, RefuseTwoCorporaOfOneName) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  RunConfig other = run_on_austen("rope", 0);
  other.text.hash = "0123456789abcdef";
  store(scratch_.path(), other, 1);
  expect_error(ErrorKind::kUsage, {"two corpora are called austen", "0123456789abcdef", "--only text.hash="},
               [&] { make_table(open_runs(scratch_.path())); });
}

// Four windows of one document and, from 6 documents on, a window each.
void store_windows(const RunConfig& config, const RunFolder& folder, const std::vector<double>& losses,
                   bool one_document = true) {
  std::vector<EvaluationRow> rows = folder.evaluation();
  for (EvaluationRow& row : rows) {
    row.encoding_settings = evaluation_settings(config);
    row.windows.clear();
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i);
      row.windows.push_back({.window = {.document = one_document ? 5 : place, .end = 1000 * (place + 1)},
                             .loss = losses[i] + 0.001 * static_cast<double>(row.length)});
    }
  }
  folder.write_evaluation(rows);
}

void store_windows(const std::filesystem::path& experiment, const std::string& encoding, std::int64_t seed,
                   const std::vector<double>& losses, bool one_document = true) {
  const RunConfig config = run_on_austen(encoding, seed);
  store_windows(config, store_run(experiment, config, RunState::kFinished), losses, one_document);
}

TEST_F(TextRows, AreComparedByTheirWindows) {
  store_windows(scratch_.path(), "kerple", 0, {1, 2, 3, 4});
  store_windows(scratch_.path(), "kerple", 1, {1.5, 2.5, 3.5, 4.5});
  store_windows(scratch_.path(), "rope", 0, {1.5, 2.25, 3.5, 4.25});
  store_windows(scratch_.path(), "rope", 1, {2, 2.75, 4, 4.75});
  const ResultTable table = make_table(open_runs(scratch_.path()));
  const Comparison comparison =
      compare(table, "kerple", "rope", Aggregate::kMean, ComparisonRows::kTasks, ComparisonUnit::kWindow);
  ASSERT_EQ(comparison.tasks.size(), 2U);
  const ComparedTask& task = comparison.tasks[0];
  EXPECT_EQ(task.windows, 4U);
  EXPECT_EQ(task.documents, 1U);
  EXPECT_EQ(task.seeds, 2U);
  EXPECT_NEAR(*task.one, 0.512 + 2.75, 1e-12);  // In nats, whatever the table's metric.
  EXPECT_NEAR(*task.difference, -0.375, 1e-12);
  EXPECT_DOUBLE_EQ(*task.p, 0.125) << "all signs, or none: 2 of 16";
  EXPECT_DOUBLE_EQ(*task.adjusted_p, 0.25) << "two lengths";
  EXPECT_FALSE(task.interval);
  const Table printed = comparison_table(comparison, table);
  EXPECT_EQ(printed.printed.columns[2].title, "windows");
  EXPECT_EQ(printed.printed.rows[0].cells[2].text, "4");
  EXPECT_EQ(printed.printed.rows[0].cells.size(), printed.printed.columns.size());
  const ComparedWithAll all = compare_with_all(table, "rope", Aggregate::kMean, ComparisonUnit::kWindow);
  const Table against = comparison_table(all, table);
  EXPECT_EQ(against.printed.columns[3].title, "windows");
  EXPECT_EQ(against.printed.rows[0].cells.size(), against.printed.columns.size());
  EXPECT_FALSE(contains(printed.printed.notes[1].text, "learning rates"));
  for (const char* encoding : {"kerple", "rope"}) {
    for (const std::int64_t seed : {0, 1}) {
      RunConfig config = run_on_austen(encoding, seed);
      config.learning_rate *= 2;
      store_windows(config, store_run(scratch_.path(), config, RunState::kFinished), {1, 2, 3, 4});
    }
  }
  const ResultTable rates = make_table(open_runs(scratch_.path()));
  const Table over_rates = comparison_table(
      compare(rates, "kerple", "rope", Aggregate::kMean, ComparisonRows::kTasks, ComparisonUnit::kWindow),
      rates);
  expect_contains(over_rates.printed.notes[1].text,
                  {"mean over the seeds and learning rates (0.0003, 0.0006) that"});
}

// The first comparison is of a task alone.
TEST_F(TextRows, HaveTheirUnitBesideTasks) {
  for (const char* encoding : {"kerple", "rope"}) {
    store(scratch_.path(), run_on_austen(encoding, 0), 1);
    store_run(scratch_.path(), made_up_config("even_pairs", encoding), RunState::kFinished);
  }
  store_run(scratch_.path(), made_up_config("even_pairs", "alibi"), RunState::kFinished);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  const Table printed = comparison_table(compare_with_all(table, "rope", Aggregate::kMean), table);
  expect_contains(printed.printed.notes[0].text, {"percent", "erplexit"});
}

TEST_F(TextRows, AreComparedByDocumentsWhereThereAreEnough) {
  for (const bool one_document : {true, false}) {
    const std::filesystem::path experiment = scratch_.path() / (one_document ? "one" : "six");
    store_windows(experiment, "kerple", 0, {1, 2, 3, 4, 5, 6}, one_document);
    store_windows(experiment, "rope", 0, {2, 3, 4, 5, 6, 8}, one_document);
    const ResultTable table = make_table(open_runs(experiment));
    const ComparedTask task =
        compare(table, "rope", "kerple", Aggregate::kMean, ComparisonRows::kTasks, ComparisonUnit::kWindow)
            .tasks[0];
    EXPECT_EQ(task.documents, one_document ? 1U : 6U);
    EXPECT_EQ(task.windows, 6U);
    EXPECT_NEAR(*task.difference, 7.0 / 6, 1e-12);
    EXPECT_TRUE(task.interval);
  }
}

TEST_F(TextRows, RefuseToCompareWindowsThatAreNotThere) {
  store(scratch_.path() / "none", run_on_austen("kerple", 0), 1);
  store(scratch_.path() / "none", run_on_austen("rope", 0), 1);
  store_windows(scratch_.path() / "other", "kerple", 0, {1, 2});
  store_windows(scratch_.path() / "other", "rope", 0, {1, 2, 3});
  store_run(scratch_.path() / "tasks", made_up_config("even_pairs", "rope"), RunState::kFinished);
  store_run(scratch_.path() / "tasks", made_up_config("even_pairs", "kerple"), RunState::kFinished);
  const auto refused = [&](const char* folder, const std::vector<std::string>& parts) {
    const ResultTable table = make_table(open_runs(scratch_.path() / folder));
    expect_error(ErrorKind::kUsage, parts, [&] {
      compare(table, "kerple", "rope", Aggregate::kMean, ComparisonRows::kTasks, ComparisonUnit::kWindow);
    });
  };
  refused("none", {"has no windows.csv with its windows of 512 tokens", "che run"});
  refused("other", {"different windows"});
  refused("tasks", {"even_pairs is a task, and texts have windows"});
}

TEST_F(TextRows, KeepTheirWindowsBesideThem) {
  store_windows(scratch_.path(), "kerple", 0, {1.25, 0.1});
  const RunFolder folder = open_runs(scratch_.path()).front();
  const StoredRun stored = folder.read();
  ASSERT_EQ(stored.evaluation.size(), 2U);
  ASSERT_EQ(stored.evaluation[1].windows.size(), 2U);
  EXPECT_EQ(stored.evaluation[1].windows[1].window, (EvaluationWindow{.document = 5, .end = 2000}));
  EXPECT_EQ(stored.evaluation[1].windows[1].loss, 0.1 + 0.001 * 2048);
  // What is measured is lost with its windows, and measured again.
  const std::filesystem::path file = folder.path() / "windows.csv";
  write_file_atomically(file, read_file(file).replace(read_file(file).find("1000"), 4, "1001"));
  const StoredRun damaged = folder.read();
  ASSERT_EQ(damaged.damage.size(), 1U);
  EXPECT_EQ(damaged.damage[0].file, file);
  EXPECT_TRUE(damaged.evaluation.empty());
}

TEST_F(TextRows, StandBesideNgrams) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  ResultTable table = make_table(open_runs(scratch_.path()));
  add_trivial_baselines(table);
  add_ngrams(table);
  const Table printed = score_table(table);
  ASSERT_EQ(printed.printed.columns.size(), 5U);
  EXPECT_EQ(printed.printed.columns[3].title, "order 5");
  ASSERT_EQ(table.rows[0].ngram_losses.size(), 2U);
  // Those of the whole test part are 21.63 and 4.23; samples of 64 windows have 21.1 to 22.0.
  EXPECT_NEAR(std::exp(table.rows[0].ngram_losses[0]), 21.63, 0.6);
  EXPECT_NEAR(std::exp(table.rows[0].ngram_losses[1]), 4.23, 0.2);
  EXPECT_EQ(printed.printed.rows[0].cells[3].text,
            Metric::named("ppl").format(std::exp(table.rows[0].ngram_losses[1])));
  // Aligned windows of both lengths end with the same tokens, of which the last 256 count.
  EXPECT_EQ(table.rows[0].ngram_losses, table.rows[1].ngram_losses);
}

// Somebody else may have written to the folder. The other runs are read.
TEST_F(TextRows, WithAnImpossibleSettingAreDamaged) {
  store(scratch_.path(), run_on_austen("kerple", 0), 1);
  const RunFolder run = open_runs(scratch_.path()).front();
  std::vector<EvaluationRow> rows = run.evaluation();
  rows.back().encoding_settings["longest"] = "99999999999";
  run.write_evaluation(rows);
  store(scratch_.path(), run_on_austen("rope", 0), 2);
  for (const TableRun& one : make_table(open_runs(scratch_.path())).runs) {
    EXPECT_EQ(one.score.has_value(), one.id != run.id());
    if (!one.score) expect_contains(one.damage, {"/evaluation.csv: ", "evaluation.longest: got 99999999999"});
  }
}

}  // namespace
}  // namespace che
