#include "experiments/store/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "core/hashes.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/store/experiment_folder.h"
#include "experiments/store/run_files.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using RunFolderTest = ScratchTest;

namespace fs = std::filesystem;

RunConfig config() {
  RunConfig config;
  config.task.reset("reverse_string");
  config.encoding.reset("rope");
  config.training.steps = 100;
  config.evaluation.last_length = 43;
  return config;
}

void expect_same_bits(double one, double other) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(one), std::bit_cast<std::uint64_t>(other)) << one << " " << other;
}

const std::vector<double> kOddNumbers = {0.1,
                                         1.0 / 3,
                                         -0.0,
                                         5e-324,
                                         1.7976931348623157e308,
                                         123456789.123456789,
                                         std::numeric_limits<double>::infinity(),
                                         std::numeric_limits<double>::quiet_NaN()};

TEST_F(RunFolderTest, MetricsComeBackBitForBit) {
  const RunFolder folder = RunFolder::create(scratch_.path(), config());
  EXPECT_TRUE(folder.metrics().empty());
  std::vector<MetricsRow> rows;
  for (const double value : kOddNumbers) {
    rows.push_back({.step = 9'000'000'000'000 + std::ssize(rows),
                    .loss = value,
                    .accuracy = 0.7,
                    .gradient_norm = value,
                    .seconds = 1});
  }
  folder.write_metrics(rows);
  const std::vector<MetricsRow> read = RunFolder::open(folder.path()).metrics();
  ASSERT_EQ(read.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(read[i].step, rows[i].step);
    expect_same_bits(read[i].loss, rows[i].loss);
    expect_same_bits(read[i].accuracy, rows[i].accuracy);
    expect_same_bits(read[i].gradient_norm, rows[i].gradient_norm);
    expect_same_bits(read[i].seconds, rows[i].seconds);
  }
}

TEST_F(RunFolderTest, EvaluationComesBackBitForBit) {
  const RunFolder folder = RunFolder::create(scratch_.path(), config());
  EXPECT_TRUE(folder.evaluation().empty());
  const std::vector<EvaluationRow> rows = {
      {.length = 41, .samples = 512, .seed = 0, .eval_dropout = false, .accuracy = 1.0 / 3, .loss = 0.1},
      {.length = 41, .samples = 512, .seed = 7, .eval_dropout = true, .accuracy = 1, .loss = 2e-17}};
  folder.write_evaluation(rows);
  const std::vector<EvaluationRow> read = folder.evaluation();
  ASSERT_EQ(read.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(read[i].length, rows[i].length);
    EXPECT_EQ(read[i].samples, rows[i].samples);
    EXPECT_EQ(read[i].seed, rows[i].seed);
    EXPECT_EQ(read[i].eval_dropout, rows[i].eval_dropout);
    expect_same_bits(read[i].accuracy, rows[i].accuracy);
    expect_same_bits(read[i].loss, rows[i].loss);
  }
}

TEST_F(RunFolderTest, StatusComesBack) {
  const RunFolder folder = RunFolder::create(scratch_.path(), config());
  EXPECT_EQ(folder.status().state, RunState::kWaiting);
  const RunStatus written = {.state = RunState::kFailed,
                             .step = 12,
                             .training_seconds = 0.1,
                             .evaluation_seconds = 1.0 / 3,
                             .error = "loss is \"nan\",\nstep 12",
                             .git_commit = "abc",
                             .version = "0.1.0",
                             .torch_version = "2.11.0",
                             .device = "cpu",
                             .host = "here",
                             .processor = "a processor",
                             .started = current_utc_time(),
                             .updated = "2026-01-31T23:59:59Z"};
  folder.write_status(written);
  const RunStatus read = folder.status();
  EXPECT_EQ(read.state, written.state);
  EXPECT_EQ(read.step, written.step);
  expect_same_bits(read.training_seconds, written.training_seconds);
  expect_same_bits(read.evaluation_seconds, written.evaluation_seconds);
  for (const auto member : {&RunStatus::error, &RunStatus::git_commit, &RunStatus::version,
                            &RunStatus::torch_version, &RunStatus::device, &RunStatus::host,
                            &RunStatus::processor, &RunStatus::started, &RunStatus::updated}) {
    EXPECT_EQ(read.*member, written.*member);
  }
}

TEST_F(RunFolderTest, AnErrorThatIsNotUtf8IsStoredAllTheSame) {
  const RunFolder folder = RunFolder::create(scratch_.path(), config());
  RunStatus status;
  status.error = "bad \xff byte";
  folder.write_status(status);
  EXPECT_EQ(folder.status().error, "bad \xEF\xBF\xBD byte");
}

TEST_F(RunFolderTest, UtcTimeIsIso8601) {
  const std::string time = current_utc_time();
  ASSERT_EQ(time.size(), 20U) << time;
  EXPECT_EQ(std::string() + time[4] + time[7] + time[10] + time[13] + time[16] + time[19], "--T::Z") << time;
}

TEST_F(RunFolderTest, WithoutRowsThereIsNoFile) {
  const RunFolder folder = RunFolder::create(scratch_.path(), config());
  folder.write_metrics({{.step = 1}});
  folder.write_metrics({});
  EXPECT_FALSE(fs::exists(folder.path() / "metrics.csv"));
  EXPECT_TRUE(folder.read().damage.empty());
}

// A copy of an older file over a finished run.
TEST_F(RunFolderTest, RowsOfTrainingThatEndEarlyAreDamage) {
  RunConfig finer = config();
  finer.log.every_steps = 50;
  const RunFolder folder = store_run(scratch_.path(), finer, RunState::kFinished, 0.5);
  folder.write_metrics({{.step = 50}, {.step = 51}});
  EXPECT_EQ(2U, folder.read().metrics.size()) << "a shorter row may be missing, as in version 0.1.0";
  folder.write_metrics({{.step = 50}});
  const StoredRun stored = folder.read();
  EXPECT_TRUE(stored.metrics.empty());
  expect_contains(stored.damage_text(), {"metrics.csv: ends at step 50 of a run that finished 100 steps",
                                         "rerun `che run CONFIG`"});
}

TEST_F(RunFolderTest, IsOpenedByWhatItHolds) {
  const RunFolder created = RunFolder::create(scratch_.path(), config());
  EXPECT_EQ(created.id(), run_id(config()));
  EXPECT_EQ(created.path(), scratch_.path() / "runs" / run_id(config()));
  const RunFolder opened = RunFolder::open(created.path().string() + "/");
  EXPECT_EQ(opened.id(), created.id());
  EXPECT_EQ(to_yaml(opened.config()), to_yaml(config()));
}

TEST_F(RunFolderTest, TakesOverNewEvaluationAndExecution) {
  RunConfig asked = config();
  RunFolder::create(scratch_.path(), asked).write_metrics({{.step = 1}});
  asked.evaluation.last_length = 60;
  asked.execution.threads = 2;
  const RunFolder folder = RunFolder::create(scratch_.path(), asked);
  EXPECT_EQ(folder.metrics().size(), 1U);
  EXPECT_EQ(RunFolder::open(folder.path()).config().evaluation.last_length, 60);
  EXPECT_EQ(RunFolder::open(folder.path()).config().execution.threads, 2);
}

// Its metrics have rows of the old settings, by which readers judge them.
TEST_F(RunFolderTest, KeepsTheLogOfAFinishedTraining) {
  RunConfig asked = config();
  const std::int64_t every_steps = asked.log.every_steps;
  asked.log.every_steps = every_steps + 1;
  EXPECT_EQ(RunFolder::create(scratch_.path(), asked).config().log.every_steps, every_steps + 1);
  const RunFolder finished = store_run(scratch_.path(), config(), RunState::kFinished, 0.5);
  EXPECT_EQ(RunFolder::create(scratch_.path(), asked).config().log.every_steps, every_steps);
  EXPECT_EQ(RunFolder::open(finished.path()).config().log.every_steps, every_steps);
}

// For other damage see damage_table_test.cpp.
TEST_F(RunFolderTest, WritesAConfigOfAnotherRunAnew) {
  RunConfig other = config();
  other.seed = 1;
  const std::string settings = to_yaml(other);
  // As it is stored, and as versions before 0.2 stored it.
  for (const std::string& text :
       {stored_config_text(other), settings + "# checksum: " + checksum("", settings) + "\n"}) {
    const ScratchFolder scratch;
    const fs::path file = RunFolder::create(scratch.path(), config()).path() / "config.yaml";
    write_file_atomically(file, text);
    std::string warnings;
    const RunFolder folder =
        RunFolder::at(scratch.path(), config(), [&](const std::string& warning) { warnings += warning; });
    expect_contains(warnings, {file.string(), "che run", "belongs to run " + run_id(other)});
    EXPECT_FALSE(is_present(file.string() + ".damaged")) << "at() wrote";
    const FileLock lock(scratch.path());
    folder.store_config();
    EXPECT_EQ(read_file(file.string() + ".damaged"), text);
    EXPECT_EQ(read_file(file), stored_config_text(config()));
  }
}

TEST_F(RunFolderTest, ReadsAConfigWithAChecksumWithoutKey) {
  const RunFolder folder = RunFolder::create(scratch_.path(), config());
  const std::string settings = to_yaml(config());
  write_file_atomically(folder.path() / "config.yaml",
                        settings + "# checksum: " + checksum("", settings) + "\n");
  EXPECT_EQ(to_yaml(RunFolder::open(folder.path()).config()), settings);
  const auto no_warning = [](const std::string& warning) { ADD_FAILURE() << warning; };
  RunFolder::at(scratch_.path(), config(), no_warning).store_config();
  EXPECT_EQ(read_file(folder.path() / "config.yaml"), stored_config_text(config())) << "it has a key now";
}

// A small bundle may have thousands of configs that are mostly line breaks.
TEST_F(RunFolderTest, RefusesAConfigOfLineBreaks) {
  std::string settings = to_yaml(config());
  settings.insert(settings.find("\nseed:"), 5000, '\n');
  const std::string text = settings + "# checksum: " + checksum(run_id(config()), settings) + "\n";
  expect_error(ErrorKind::kUsage, {"config.yaml: it is far longer than che writes its settings"},
               [&] { parse_stored_config(text, run_id(config()), "config.yaml"); });
}

// A renamed folder is not damaged; a folder with a config of another run is.
TEST_F(RunFolderTest, TellsARenamedFolderFromASwappedConfig) {
  const RunFolder folder = RunFolder::create(scratch_.path(), config());
  RunConfig other = config();
  other.seed = 1;
  const std::string other_config = stored_config_text(other);
  folder.write_status({});
  const fs::path renamed = folder.path().parent_path() / "renamed";
  fs::rename(folder.path(), renamed);
  InspectedRun found = RunFolder::inspect(renamed);
  EXPECT_EQ(found.problem, RunProblem::kWrongName);
  expect_contains(found.text, {renamed.string(), folder.id(), "rename"});
  fs::rename(renamed, folder.path());
  write_file_atomically(folder.path() / "config.yaml", other_config);
  found = RunFolder::inspect(folder.path());
  EXPECT_EQ(found.problem, RunProblem::kDamagedConfig);
  expect_contains(found.text, {"config.yaml", "belongs to run " + run_id(other), "che run"});
}

TEST_F(RunFolderTest, SaysWhatToDoAboutAFolderItCannotMake) {
  write_file_atomically(scratch_.path() / "file", "");
  expect_error(ErrorKind::kUsage, {(scratch_.path() / "file").string(), "Not a directory", "another folder"},
               [&] { RunFolder::create(scratch_.path() / "file", config()); });
}

TEST_F(RunFolderTest, OpenNamesAFolderWithoutConfig) {
  expect_contains(message_of([&] { RunFolder::open(scratch_.path()); }),
                  {scratch_.path().string(), "no config.yaml"});
}

std::vector<EvaluationRow> rows_of_lengths(const std::vector<std::int64_t>& lengths, double accuracy) {
  std::vector<EvaluationRow> rows;
  for (const std::int64_t length : lengths) {
    rows.push_back({.length = length,
                    .samples = 512,
                    .seed = 0,
                    .eval_dropout = false,
                    .accuracy = accuracy,
                    .loss = 0});
  }
  return rows;
}

TEST(Score, IsTheMeanOverRequestedLengthsOnly) {
  std::vector<EvaluationRow> rows = rows_of_lengths({43, 41, 42}, 0.5);
  rows[1].accuracy = 0.8;
  for (const EvaluationRow& row : rows_of_lengths({44, 99}, 0)) rows.push_back(row);
  EXPECT_DOUBLE_EQ(score(rows, config()).value(), (0.8 + 0.5 + 0.5) / 3);
  const std::vector<EvaluationRow> present = present_rows(rows, config());
  ASSERT_EQ(present.size(), 3U);
  EXPECT_EQ(present[0].length, 41);
  EXPECT_EQ(present[2].length, 43);
}

TEST(Score, IsNothingWhileALengthIsMissing) {
  EXPECT_FALSE(score(rows_of_lengths({41, 43}, 0.5), config()).has_value());
  EXPECT_TRUE(present_rows({}, config()).empty());
}

TEST(Score, PicksRowsBySamplesSeedDropoutAndSettingsOfTheEncoding) {
  std::vector<EvaluationRow> rows = rows_of_lengths({41, 42, 43}, 0.5);
  for (const double accuracy : {0.1, 0.2, 0.3, 0.4}) {
    for (EvaluationRow row : rows_of_lengths({41, 42, 43}, accuracy)) {
      if (accuracy == 0.1) row.samples = 64;
      if (accuracy == 0.2) row.seed = 1;
      if (accuracy == 0.3) row.eval_dropout = true;
      if (accuracy == 0.4) row.encoding_settings = {{"scaling", "yarn"}};
      rows.push_back(row);
    }
  }
  RunConfig asked = config();
  asked.encoding.reset("rope");
  const EvaluationConfig own = asked.evaluation;
  EXPECT_DOUBLE_EQ(score(rows, asked).value(), 0.5);
  asked.evaluation.samples = 64;
  EXPECT_DOUBLE_EQ(score(rows, asked).value(), 0.1);
  asked.evaluation = own;
  asked.evaluation.seed = 1;
  EXPECT_DOUBLE_EQ(score(rows, asked).value(), 0.2);
  asked.evaluation = own;
  asked = with_evaluation_settings(asked, {{"scaling", "yarn"}});
  EXPECT_DOUBLE_EQ(score(rows, asked).value(), 0.4);
  asked = with_evaluation_settings(asked, {});
  asked.evaluation.eval_dropout = true;
  EXPECT_DOUBLE_EQ(score(rows, asked).value(), 0.3);
  asked.evaluation.samples = 64;
  EXPECT_FALSE(score(rows, asked).has_value());
}

TEST(Evaluation, HasAColumnForSettingsOfTheEncodingOnlyWhereOneWasChanged) {
  std::vector<EvaluationRow> rows = rows_of_lengths({41}, 0.5);
  EXPECT_THAT(evaluation_text(rows, "a"),
              testing::StartsWith("length,samples,seed,eval_dropout,accuracy,loss,"));
  rows.push_back(rows[0]);
  rows[1].encoding_settings = {{"scaling", "yarn"}, {"beta_fast", "16"}};
  const std::string text = evaluation_text(rows, "a");
  EXPECT_THAT(text, testing::StartsWith("length,samples,seed,eval_dropout,encoding_settings,accuracy,loss,"));
  const std::vector<EvaluationRow> read = parse_evaluation(text, "a", "file");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_THAT(text, testing::HasSubstr(",off,beta_fast=16;scaling=yarn,"));
  EXPECT_TRUE(read[0].encoding_settings.empty());
  EXPECT_EQ(read[1].encoding_settings, rows[1].encoding_settings);
  EXPECT_EQ(read[1].accuracy, 0.5);
}

TEST(Evaluation, HasAColumnForStandardErrorsOnlyWhereOneIsKnown) {
  std::vector<EvaluationRow> rows = {{.length = 7, .samples = 64, .accuracy = 0.5, .loss = 1},
                                     {.length = 8, .samples = 128, .accuracy = 0.5, .loss = 1}};
  EXPECT_TRUE(
      evaluation_text(rows, "a").starts_with("length,samples,seed,eval_dropout,accuracy,loss,checksum\n"));
  rows[1].accuracy_se = 0.0625;
  const std::string text = evaluation_text(rows, "a");
  expect_contains(text, {"7,64,0,off,0.5,1,,", "8,128,0,off,0.5,1,0.0625,"});
  const std::vector<EvaluationRow> read = parse_evaluation(text, "a", "x.csv");
  EXPECT_FALSE(read[0].accuracy_se.has_value());
  EXPECT_EQ(0.0625, read[1].accuracy_se);
  EXPECT_EQ(text, evaluation_text(read, "a"));
}

TEST(Evaluation, ReadsSumsOfSharesThatWereRoundedBeyondOne) {
  const auto read = [](double accuracy) {
    return parse_evaluation(evaluation_text(rows_of_lengths({41}, accuracy), "a"), "a", "x.csv")[0].accuracy;
  };
  EXPECT_EQ(1, read(std::nextafter(1.0, 2)));
  expect_contains(message_of([&] { read(1.001); }), {"a number from 0 to 1"});
}

TEST(Evaluation, OnTheWayHasTheStepFirst) {
  const StepRows rows = {{5, {{.length = 7, .samples = 64, .accuracy = 0.5, .loss = 1}}},
                         {20, {{.length = 7, .samples = 64, .accuracy = 0.75, .loss = 0.5}}}};
  const std::string text = at_steps_text(rows, "a");
  EXPECT_TRUE(
      text.starts_with("step,length,samples,seed,eval_dropout,accuracy,loss,checksum\n5,7,64,0,off,0.5,1,"));
  EXPECT_EQ(text, at_steps_text(parse_at_steps(text, "a", "x.csv"), "a"));
  expect_contains(message_of([&] { parse_at_steps(text, "b", "x.csv"); }), {"x.csv:2: column checksum"});
  expect_contains(message_of([&] { parse_evaluation(text, "a", "x.csv"); }), {"the header is 'step,length"});
}

TEST_F(RunFolderTest, ReadsNoAccuracyThatTrainingCannotHave) {
  const RunFolder run = RunFolder::create(scratch_.path(), made_up_config("even_pairs", "rope"));
  for (const double accuracy : {5.0, -0.0}) {
    run.write_metrics({{.step = 1, .loss = 1, .accuracy = accuracy}});
    EXPECT_THROW(run.metrics(), Error) << accuracy;
    run.write_evaluation({{.length = 41, .samples = 64, .accuracy = accuracy, .loss = 1}});
    EXPECT_THROW(run.evaluation(), Error) << accuracy;
  }
}

// They are those of a model that is lost, too. Without an evaluation.csv no model is.
TEST(Evaluation, OnTheWayIsSetAsideWithThatOfTheEnd) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  run.write_at_steps({{500, run.evaluation()}});
  const FileLock lock(run.path());
  EXPECT_TRUE(run.set_evaluation_aside());
  EXPECT_TRUE(run.at_steps().empty());
  EXPECT_TRUE(std::filesystem::exists(run.path() / "evaluation_at_steps.csv.replaced"));
  run.write_at_steps({{500, {{.length = 41, .samples = 64, .accuracy = 0.5, .loss = 1}}}});
  EXPECT_FALSE(run.set_evaluation_aside());
  EXPECT_FALSE(run.at_steps().empty());
}

}  // namespace
}  // namespace che
