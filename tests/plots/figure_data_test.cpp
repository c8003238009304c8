#include "plots/figure_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/plan/evaluation_settings.h"
#include "experiments/results/read_results.h"
#include "models/architectures/foreign.h"
#include "tables/formats/formats.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

// Returns the values of one column as they stand in a CSV file.
std::vector<std::string> column(const DataTable& data, const std::string& name) {
  const auto place = std::ranges::find(data.columns, name) - data.columns.begin();
  std::vector<std::string> values;
  for (const auto& row : data.rows) {
    const std::string text =
        csv_table({.columns = {}, .rows = {{row[static_cast<std::size_t>(place)]}}}).substr(1);
    values.push_back(text.substr(0, text.size() - 1));
  }
  return values;
}

DataTable only(DataTable data, const std::string& name, const std::string& value) {
  const std::vector<std::string> values = column(data, name);
  DataTable chosen{.columns = data.columns, .rows = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == value) chosen.rows.push_back(data.rows[i]);
  }
  return chosen;
}

using Texts = std::vector<std::string>;

TEST(FigureData, AccuracyIsTheMeanOverTheSeedsOfEachCell) {
  const ScratchFolder scratch;
  const std::filesystem::path results = scratch.path() / "results";
  store_run(results, made_up_config("reverse_string", "rope", 0), RunState::kFinished, 0.5);
  store_run(results, made_up_config("reverse_string", "rope", 1), RunState::kFinished, 0.75);
  store_run(results, made_up_config("reverse_string", "dape_kerple"), RunState::kFinished, 0.625);
  store_run(results, made_up_config("even_pairs", "none"), RunState::kFailed);
  const ResultTable table = make_table(open_runs(results));
  const DataTable data = accuracy_data({.table = table});
  const DataTable rope = only(data, "encoding", "rope");
  EXPECT_EQ(column(rope, "length"), (Texts{"41", "42", "43", "44"}));
  EXPECT_EQ(column(rope, "accuracy"), Texts(4, "0.625"));
  EXPECT_EQ(column(rope, "low"), Texts(4, "0.5"));
  EXPECT_EQ(column(rope, "high"), Texts(4, "0.75"));
  EXPECT_EQ(column(rope, "runs"), Texts(4, "2"));
  EXPECT_EQ(column(rope, "trained_to"), Texts(4, "40"));
  EXPECT_EQ(column(rope, "rank"), Texts(4, "1")) << "its best run has the highest score";
  EXPECT_EQ(column(rope, "score"), Texts(4, "0.75"))
      << "rank, and whether the task is left out, can be read off";
  EXPECT_EQ(column(rope, "baseline"), Texts(4, "")) << "none was measured";
  EXPECT_EQ(column(rope, "at_baseline"), Texts(4, "no"));
  EXPECT_EQ(column(rope, "aggregate"), Texts(4, "max"));
  EXPECT_EQ(column(only(data, "encoding", "dape_kerple"), "rank"), Texts(4, "2"));
  EXPECT_TRUE(only(data, "task", "even_pairs").rows.empty()) << "no run of it has finished";
  const DataTable means = accuracy_data({.table = table, .aggregate = Aggregate::kMedian});
  EXPECT_EQ(column(only(means, "encoding", "rope"), "accuracy"), Texts(4, "0.625"));
}

TEST(FigureData, AccuracyHasMeasuredLengthsThatNoScoreCounts) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  ResultTable table = make_table(open_runs(scratch.path()));
  EvaluationRow beyond = table.runs.front().evaluation.back();
  beyond.length = 100;
  table.runs.front().measured.push_back(beyond);
  beyond.seed += 1;
  beyond.length = 200;
  table.runs.front().measured.push_back(beyond);
  const DataTable data = accuracy_data({.table = table});
  EXPECT_EQ(column(data, "length"), (Texts{"41", "42", "43", "44", "100"}))
      << "other samples are no part of it";
  EXPECT_EQ(column(data, "scored_to"), Texts(5, "44"));
  table.runs.push_back(table.runs.front());  // Another seed, whose rows are of the scored lengths.
  table.runs.back().measured.resize(4);
  table.cells.begin()->second.finished.push_back(1);
  EXPECT_EQ(column(accuracy_data({.table = table}), "runs"), (Texts{"2", "2", "2", "2", "1"}));
}

TEST(FigureData, AccuracyHasTheChanceOfTheLength) {
  const ScratchFolder scratch;
  RunConfig config = made_up_declared_config("");
  config.evaluation.first_length = 2;
  config.evaluation.last_length = 3;
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  EXPECT_EQ(column(accuracy_data({.table = make_table(open_runs(scratch.path()))}), "chance"),
            (Texts{"0.75", "0.625"}));
}

TEST(FigureData, PositionsAreThoseOfTheLengthThatHasACurve) {
  const ScratchFolder scratch;
  RunConfig config =
      read("name: x\nbase: {text: austen, encoding: rope, evaluation: {lengths: [24, 40], curve: true}}\n")
          .runs.front();
  for (config.seed = 0; config.seed < 2; ++config.seed) {
    const RunFolder run = store_run(scratch.path(), config, RunState::kFinished);
    std::vector<EvaluationRow> rows = run.evaluation();
    for (EvaluationRow& row : rows) row.encoding_settings = evaluation_settings(config);
    const double more = std::log(config.seed == 0 ? 1 : 3);
    rows[1].positions = {
        {0, 16, std::log(8) + more}, {16, 16, std::log(4) + more}, {32, 8, std::log(2) + more}};
    run.write_evaluation(rows);
  }
  const DataTable data = position_data({.table = make_table(open_runs(scratch.path()))});
  EXPECT_EQ(column(data, "task"), Texts(3, "\"austen(trained=128, length=40)\""));
  EXPECT_EQ(column(data, "position"), (Texts{"8.5", "24.5", "36.5"}));
  const Texts texts = column(data, "perplexity");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(std::stod(texts[i]), 16 / std::pow(2, i), 1e-9);
  EXPECT_NEAR(std::stod(column(data, "low")[0]), 8, 1e-9);
  EXPECT_NEAR(std::stod(column(data, "high")[0]), 24, 1e-9);
  EXPECT_EQ(column(data, "runs"), Texts(3, "2"));
  EXPECT_EQ(column(data, "trained_to"), Texts(3, "128"));
}

TEST(FigureData, ManyPointsOfACurveAreAveraged) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("reverse_string", "rope");
  const RunFolder run = store_run(scratch.path(), config, RunState::kFinished, 0.5);
  std::vector<MetricsRow> metrics;
  for (std::int64_t step = 1; step <= 300; ++step) {
    MetricsRow row;
    row.step = step;
    row.loss = step % 2 == 0 ? 1.0 : 2.0;
    metrics.push_back(row);
  }
  ResultTable table = make_table(open_runs(scratch.path()));
  table.runs.front().training_rows = std::make_shared<TrainingRows>(TrainingRows{.metrics = metrics});
  const DataTable data = learning_data({.table = table});
  EXPECT_LE(data.rows.size(), 100U);
  for (const std::string& loss : column(data, "loss")) EXPECT_EQ(loss, "1.5") << "groups are even";
  metrics.back().step = 1000;
  table.runs.front().training_rows = std::make_shared<TrainingRows>(TrainingRows{.metrics = metrics});
  EXPECT_EQ(column(learning_data({.table = table}), "step").back(), "1000") << "a gap ends a group";
}

TEST(FigureData, AnAveragedPointHasTheMeanOfThePositionsBaseline) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("reverse_string", "rope");
  config.evaluation.last_length = 240;
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  ResultTable table = make_table(open_runs(scratch.path()));
  TrivialBaselines& baselines = table.rows.front().baselines.emplace();
  for (const std::int64_t length : config.evaluation.lengths()) {
    baselines.lengths.push_back({length, 0.5, length % 2 == 0 ? 0.25 : 0.75});
  }
  const DataTable data = accuracy_data({.table = table});
  EXPECT_EQ(data.rows.size(), 50U);
  EXPECT_EQ(column(data, "position"), Texts(50, "0.5"));
}

TEST(FigureData, EveryColumnOfAnEncodingNamesItsSettingsTheDefaultToo) {
  const ScratchFolder scratch;
  const ResultTable table = varied_experiment(scratch.path());
  const DataTable data = map_data({.table = table});
  const Texts labels = column(data, "label");
  for (const char* label : {"rope", "dape_kerple hidden=16", "dape_kerple hidden=64"}) {
    EXPECT_EQ(std::ranges::count(labels, label), 1) << label;
  }
  EXPECT_EQ(column(only(data, "label", "dape_kerple hidden=64"), "value"), Texts{"64"});
  EXPECT_EQ(column(only(data, "label", "rope"), "value"), Texts{""});
}

// Figures draw columns without positions in a style of their own, and call them models.
TEST(FigureData, ARecurrentNetworkHasNoPositions) {
  const ScratchFolder scratch;
  RunConfig lstm;
  lstm.task.reset("even_pairs");
  lstm.model.kind = "lstm";
  lstm.evaluation.last_length = 44;
  store_run(scratch.path(), lstm, RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("even_pairs", "randomized_rope"), RunState::kFinished, 0.5);
  RunConfig stretched = made_up_config("even_pairs", "rope");
  stretched.encoding.positions = PositionSource::kEqualMean;
  store_run(scratch.path(), stretched, RunState::kFinished, 0.5);
  EXPECT_EQ(column(map_data({.table = make_table(open_runs(scratch.path()))}), "positions"),
            (Texts{"equal_mean", "", "randomized"}));
}

TEST(FigureData, AMapMarksWhatDidNotTrain) {
  const ScratchFolder scratch;
  ResultTable table = made_up_experiment(scratch.path());
  add_trivial_baselines(table);
  const DataTable data = map_data({.table = table});
  const DataTable pairs = only(data, "task", "even_pairs");
  EXPECT_EQ(column(pairs, "encoding"), (Texts{"rope", "randomized_rope"}));
  EXPECT_EQ(column(pairs, "trained"), (Texts{"no", "yes"}));
  EXPECT_EQ(column(pairs, "paper"), (Texts{"", "0.9998"}));
}

// The samples of one column are not those of the other, and what is best without a model is not known.
TEST(FigureData, AMapHasNoBaselineOfDifferentSamples) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("bucket_sort", "rope"), RunState::kFinished, 0.75);
  const auto baseline = [&] {
    ResultTable table = make_table(open_runs(scratch.path()));
    add_trivial_baselines(table);
    return column(map_data({.table = table}), "baseline");
  };
  EXPECT_LT(0.6, std::stod(baseline().at(0)));
  ResultTable measured = make_table(open_runs(scratch.path()));
  add_trivial_baselines(measured);
  EXPECT_EQ(column(accuracy_data({.table = measured}), "baseline").at(0), baseline().at(0));
  RunConfig other = made_up_config("bucket_sort", "alibi");
  other.evaluation.last_length += 4;
  store_run(scratch.path(), other, RunState::kFinished, 0.75);
  EXPECT_EQ((Texts{"", ""}), baseline());
}

TEST(FigureData, SaysHowManyRunsHaveFinished) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 0), RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 1), RunState::kTraining);
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFailed);
  const ResultTable table = make_table(open_runs(scratch.path()));
  DataTable data = map_data({.table = table});
  EXPECT_EQ(column(data, "runs"), Texts{"1"});
  EXPECT_EQ(column(data, "unfinished"), Texts{"1"});
  add_choice(data, table);
  EXPECT_EQ(column(data, "finished_runs"), Texts{"1"});
  EXPECT_EQ(column(data, "all_runs"), Texts{"3"});
}

TEST(FigureData, SaysWhichLengthsAndRunsWereChosen) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  const RunChoice choice({.only = {"encoding=rope", "seed=0"}, .skip = {"task=even_pairs", "seed=7"}});
  const ReadingRules rules{.score_lengths = LengthChoice("42:43"), .select = {}};
  const ResultTable table = read_table({scratch.path()}, choice, rules);
  DataTable data = map_data({.table = table});
  add_choice(data, table);
  EXPECT_EQ(column(data, "score_lengths"), Texts{"42:43"});
  EXPECT_EQ(column(data, "only"), Texts{"encoding=rope and seed=0"});
  EXPECT_EQ(column(data, "skip"), Texts{"task=even_pairs or seed=7"});
}

TEST(FigureData, CountsARunOnATextOnce) {
  const ScratchFolder scratch;
  const Sweep sweep = read(
      "name: x\nbase: {text: austen, encoding: rope, evaluation: {lengths: [256, 512]}}\naxes: {seed: [0, "
      "1]}\n");
  // The second run lacks a length.
  for (const std::size_t missing : {0U, 1U}) {
    const RunConfig& config = sweep.runs[missing];
    const RunFolder run = store_run(scratch.path(), config, RunState::kFinished);
    std::vector<EvaluationRow> rows = run.evaluation();
    rows.resize(rows.size() - missing);
    for (EvaluationRow& row : rows) {
      row.loss = 1;
      row.encoding_settings = evaluation_settings(config);
    }
    run.write_evaluation(rows);
  }
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_EQ(4U, table.runs.size());
  DataTable data{.columns = {"line"}, .rows = {{"one"}}};
  add_choice(data, table);
  EXPECT_EQ(column(data, "finished_runs"), Texts{"1"});
  EXPECT_EQ(column(data, "all_runs"), Texts{"2"});
}

TEST(FigureData, RunsAreThoseOfCellsWithSeveral) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path());
  const DataTable data = run_data({.table = table});
  EXPECT_EQ(column(only(data, "encoding", "rope"), "score"), (Texts{"0.5", "0.625", "0.75"}));
  EXPECT_EQ(column(only(data, "encoding", "rope"), "median"), Texts(3, "0.625"));
  EXPECT_TRUE(only(data, "task", "even_pairs").rows.empty()) << "one run a cell";
}

TEST(FigureData, DifferencesPairEachDapeWithItsHost) {
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    const double more = 0.125 * static_cast<double>(seed);
    store_run(scratch.path(), made_up_config("even_pairs", "randomized_kerple", seed), RunState::kFinished,
              0.5);
    store_run(scratch.path(), made_up_config("even_pairs", "dape_kerple", seed), RunState::kFinished,
              0.5 + more);
    store_run(scratch.path(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, 0.25);
  }
  const ResultTable table = make_table(open_runs(scratch.path()));
  const DataTable data = difference_data({.table = table});
  EXPECT_EQ(column(data, "one_encoding"), Texts{"dape_kerple"});
  EXPECT_EQ(column(data, "other_encoding"), Texts{"randomized_kerple"});
  EXPECT_EQ(column(data, "difference"), Texts{"0.125"});
  EXPECT_EQ(column(data, "pairs"), Texts{"3"});
  EXPECT_EQ(column(data, "other_seeds"), Texts{""}) << "they are pairs";
  EXPECT_EQ(column(data, "one_runs"), Texts{"3"});
  EXPECT_EQ(column(data, "other_runs"), Texts{"3"});
  EXPECT_EQ(column(data, "paper_match"), Texts{"other_positions"});
  const DataTable named =
      difference_data({.table = table, .compared = {{"dape_kerple", "rope"}}, .by_length = true});
  EXPECT_EQ(column(named, "length"), (Texts{"41", "42", "43", "44"}));
  EXPECT_TRUE(contains(message_of([&] {
                         difference_data({.table = table, .compared = {{"dape_kerple", "rpoe"}}});
                       }),
                       "did you mean 'rope'"));
}

TEST(FigureData, DifferencesPairADapeOfAnySizeWithItsHost) {
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    RunConfig dape = made_up_config("even_pairs", "dape_kerple", seed);
    dape.encoding.dape->hidden = 8;
    store_run(scratch.path(), dape, RunState::kFinished, 0.75);
    store_run(scratch.path(), made_up_config("even_pairs", "kerple", seed), RunState::kFinished, 0.5);
  }
  const DataTable data = difference_data({.table = make_table(open_runs(scratch.path()))});
  EXPECT_EQ(column(data, "one_encoding"), Texts{"dape_kerple(dape.hidden=8)"});
  EXPECT_EQ(column(data, "other_encoding"), Texts{"kerple"});
}

// Repetitions of a model outside che are no pairs, and each column has its own number of them.
TEST(FigureData, DifferencesNeedTwoRepetitionsOfBothColumns) {
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    RunConfig model = made_up_config("even_pairs", "rope", seed);
    model.model = foreign_model("my_lstm");
    store_run(scratch.path(), model, RunState::kFinished, 0.75);
  }
  store_run(scratch.path(), made_up_config("even_pairs", "kerple"), RunState::kFinished, 0.5);
  const ResultTable table = make_table(open_runs(scratch.path()));
  const std::pair<std::string, std::string> columns{"my_lstm", "kerple"};
  for (const auto& pair : {columns, {columns.second, columns.first}}) {
    EXPECT_TRUE(difference_data({.table = table, .compared = {pair}}).rows.empty()) << pair.first;
  }
}

// A block is post_norm by default on tasks, and pre_norm on texts.
TEST(FigureData, LabelsNameTheDefaultOfTheirRow) {
  const ScratchFolder scratch;
  const Sweep sweep = read(
      "name: x\nbase: {encoding: rope, evaluation: {lengths: [50]}}\naxes: {task: [even_pairs], model.block: "
      "[post_norm, pre_norm]}\n");
  const Sweep texts = read(
      "name: x\nbase: {text: austen, encoding: rope, evaluation: {lengths: [50]}}\naxes: {model.block: "
      "[post_norm, pre_norm]}\n");
  for (const Sweep* const some : {&sweep, &texts}) {
    for (const RunConfig& config : some->runs) {
      const RunFolder run = store_run(scratch.path(), config, RunState::kFinished, 0.75);
      std::vector<EvaluationRow> rows = run.evaluation();
      for (EvaluationRow& row : rows) row.encoding_settings = evaluation_settings(config);
      run.write_evaluation(rows);
    }
  }
  const ResultTable table = make_table(open_runs(scratch.path()));
  const DataTable data = map_data({.table = table});
  for (const char* task : {"even_pairs", "\"austen(trained=128, length=50)\""}) {
    Texts labels = column(only(data, "task", task), "label");
    std::ranges::sort(labels);
    EXPECT_EQ(labels, (Texts{"rope block=post_norm", "rope block=pre_norm"})) << task;
  }
  expect_contains(format_table(score_table(table), "md"),
                  {"model.block=post_norm on tasks", "model.block=pre_norm on texts"});
}

TEST(FigureData, EffectsNeedThreeValues) {
  const ScratchFolder scratch;
  EXPECT_TRUE(effect_data({.table = varied_experiment(scratch.path())}).rows.empty());
  const ScratchFolder other;
  for (const std::int64_t hidden : {16, 32, 64}) {
    RunConfig config = made_up_config("reverse_string", "dape_kerple");
    config.encoding.dape->hidden = hidden;
    store_run(other.path(), config, RunState::kFinished, 0.5 + static_cast<double>(hidden) / 256);
  }
  const DataTable data = effect_data({.table = make_table(open_runs(other.path()))});
  EXPECT_EQ(column(data, "setting_value"), (Texts{"16", "32", "64"}));
  EXPECT_EQ(column(data, "score"), (Texts{"0.5625", "0.625", "0.75"}));
  EXPECT_EQ(column(data, "label"), Texts(3, "dape_kerple")) << "the setting is the axis";
  const ScratchFolder off_default;
  for (const std::int64_t hidden : {8, 16, 64}) {
    RunConfig config = made_up_config("reverse_string", "randomized_dape_kerple");
    config.encoding.dape->hidden = hidden;
    store_run(off_default.path(), config, RunState::kFinished, 0.5);
  }
  EXPECT_EQ(column(effect_data({.table = make_table(open_runs(off_default.path()))}), "positions"),
            Texts(3, "randomized"));
}

}  // namespace
}  // namespace che
