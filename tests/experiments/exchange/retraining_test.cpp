// Runs of a bundle that are trained again: which, where, and what their numbers are compared with.
#include "experiments/exchange/retraining.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "models/architectures/foreign.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

BundledRun finished_run(std::int64_t seed = 0) {
  BundledRun run;
  run.config = made_up_config("even_pairs", "rope", seed);
  run.id = run_id(run.config);
  run.status.state = RunState::kFinished;
  for (const std::int64_t length : run.config.evaluation.lengths()) {
    run.evaluation.push_back({.length = length, .samples = 64, .accuracy = 0.75, .loss = 0.5});
  }
  run.metrics = {{.step = 500, .loss = 1.5, .accuracy = 0.5, .gradient_norm = 1, .seconds = 1},
                 {.step = 1000, .loss = 0.5, .accuracy = 0.9, .gradient_norm = 1, .seconds = 2}};
  return run;
}

std::vector<std::string> ids(const std::vector<BundledRun>& runs) {
  std::vector<std::string> result;
  for (const BundledRun& run : runs) result.push_back(run.id);
  return result;
}

std::vector<std::string> chosen_ids(const RetrainingChoice::Options& options) {
  RetrainingChoice choice(options);
  for (std::int64_t seed = 0; seed < 20; ++seed) choice.consider(finished_run(seed));
  return ids(choice.chosen());
}

TEST(RetrainingChoice, DrawsByTheSeed) {
  const std::vector<std::string> three = chosen_ids({.count = 3});
  EXPECT_EQ(3U, three.size());
  EXPECT_EQ(three, chosen_ids({.count = 3}));
  EXPECT_NE(three, chosen_ids({.count = 3, .seed = 1}));
  const std::vector<std::string> all = chosen_ids({.count = {}});
  EXPECT_EQ(20U, all.size());
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_TRUE(std::ranges::includes(all, three));
  // One more run does not change the others.
  EXPECT_TRUE(std::ranges::includes(chosen_ids({.count = 4}), three));
  // Every run can be drawn.
  std::set<std::string> drawn;
  for (std::int64_t seed = 0; seed < 300; ++seed) {
    drawn.insert(chosen_ids({.count = 1, .seed = seed}).front());
  }
  EXPECT_EQ(20U, drawn.size());
}

TEST(RetrainingChoice, HoldsTheConditions) {
  EXPECT_EQ(std::vector<std::string>{finished_run(7).id},
            chosen_ids({.count = {}, .conditions = {.only = {"seed=7"}}}));
  expect_contains(message_of([] { chosen_ids({.count = {}, .conditions = {.only = {"sed=7"}}}); }), {"sed"});
  expect_contains(message_of([] { chosen_ids({.count = 2, .conditions = {.only = {"seed=7"}}}); }),
                  {"--retrain: 1 of 20 runs can be trained again (19 not chosen by --only); allowed: 1 to "
                   "1, or all"});
}

TEST(RetrainingChoice, SaysWhyRunsCannotBeTrainedAgain) {
  RetrainingChoice choice({.count = {}});
  BundledRun failed = finished_run(0);
  failed.status.state = RunState::kFailed;
  BundledRun incomplete = finished_run(1);
  incomplete.evaluation.pop_back();
  BundledRun foreign = finished_run(2);
  foreign.config.model = foreign_model("my_lstm");
  for (const BundledRun& run : {failed, incomplete, foreign}) choice.consider(run);
  EXPECT_EQ(
      "--retrain: 0 of 3 runs can be trained again (1 predictions of a model outside che, 2 without a "
      "score); "
      "allowed: a bundle with finished runs of che",
      message_of([&] { choice.chosen(); }));
  choice.consider(finished_run(3));
  EXPECT_EQ(std::vector<std::string>{finished_run(3).id}, ids(choice.chosen()));
  EXPECT_EQ(
      (std::map<std::string, std::size_t>{{"predictions of a model outside che", 1}, {"without a score", 2}}),
      choice.left_out());
}

class RetrainedRun : public testing::Test {
 protected:
  RetrainingResult compare(double tolerance = 0.01) const {
    return compare_with_published(published_, again_.evaluation, again_.metrics, again_.at_steps, tolerance);
  }

  BundledRun published_ = finished_run();
  BundledRun again_ = finished_run();
};

// Rows whose mean is the same may have any training accuracy at the end, so that they are never equal.
TEST_F(RetrainedRun, WithOtherRowsOfTrainingIsComparedAtItsEnd) {
  MetricsRow first = again_.metrics.back();
  MetricsRow second = first;
  first.step = 900;
  first.accuracy -= 0.0125;
  second.accuracy += 0.05;  // Both have the mean of the one row.
  published_.metrics = {published_.metrics.front(), first, second};
  EXPECT_EQ(Agreement::kDifferent, compare(0.01).agreement);
  expect_contains(compare(0.01).text, {"training accuracy 0.95", "end at other steps"});
  EXPECT_EQ(Agreement::kWithinTolerance, compare(0.06).agreement);
}

// A run that goes on from a shorter one has a row that ends where the shorter one did.
TEST_F(RetrainedRun, WithShorterRowsIsComparedRowByRow) {
  MetricsRow first = again_.metrics.back();
  MetricsRow second = first;
  first.step = 900;
  first.accuracy -= 0.0125;
  second.accuracy += 0.05;
  published_.metrics = {published_.metrics.front(), first, second};
  again_.metrics = published_.metrics;
  MetricsRow half = again_.metrics[0];
  half.step = 250;
  half.accuracy += 0.25;
  again_.metrics[0].accuracy -= 0.25;
  again_.metrics.insert(again_.metrics.begin(), half);  // Their mean is that of the bundle's one row.
  EXPECT_EQ(Agreement::kEqual, compare().agreement) << compare().text;
  published_.metrics[2].accuracy += 0.02;
  EXPECT_EQ(Agreement::kDifferent, compare(0.01).agreement);
  published_.metrics = {again_.metrics[0]};
  EXPECT_EQ(Agreement::kDifferent, compare(0.01).agreement) << "the rows of the end are cut off";
}

// Tables read the end of training, which coarser rows hide in a mean with what was before.
TEST_F(RetrainedRun, WithFinerRowsAtTheEndSaysSo) {
  MetricsRow first = again_.metrics.back();
  first.step = 900;
  first.accuracy -= 0.0125;
  again_.metrics.back().accuracy += 0.05;
  again_.metrics.insert(std::prev(again_.metrics.end()), first);  // Both have the mean of the bundle's row.
  EXPECT_EQ(Agreement::kEqual, compare().agreement) << compare().text;
  expect_contains(compare().text,
                  {"coarser in the bundle, so that tables take the steps from 501 on for the end"});
}

TEST_F(RetrainedRun, OfTheSameNumbersIsEqualAtAnyTimes) {
  again_.metrics.back().seconds = 9;
  for (const double tolerance : {0.0, 0.01, 1.0}) EXPECT_EQ(Agreement::kEqual, compare(tolerance).agreement);
  EXPECT_EQ("the same numbers at 4 test lengths and in 2 rows of training metrics", compare().text);
  published_.metrics.clear();
  EXPECT_EQ(Agreement::kEqual, compare().agreement);
  EXPECT_EQ("the same numbers at 4 test lengths; the bundle has no training metrics", compare().text);
  published_.evaluation[0].loss += 0.001;
  expect_contains(compare().text, {"differ by at most 0.001", "; the bundle has no training metrics"});
}

TEST_F(RetrainedRun, ComparesEachNumberThatTheBundleHas) {
  const BundledRun honest = published_;
  const auto expect_forgery = [&](Agreement agreement) {
    EXPECT_EQ(agreement, compare().agreement) << compare().text;
    published_ = honest;
  };
  published_.metrics[0].validation_loss = 0.5;
  expect_forgery(Agreement::kWithinTolerance);
  published_.evaluation[0].loss = again_.evaluation[0].loss = std::numeric_limits<double>::quiet_NaN();
  expect_forgery(Agreement::kEqual);
  again_.evaluation = honest.evaluation;
  published_.evaluation[0].accuracy_se = 0.125;
  expect_forgery(Agreement::kWithinTolerance);
  published_.at_steps[1] = published_.evaluation;
  expect_forgery(Agreement::kDifferent);
  published_.at_steps[1] = again_.at_steps[1] = published_.evaluation;
  expect_forgery(Agreement::kEqual);
  published_.at_steps[1] = published_.evaluation;
  published_.at_steps[1][0].accuracy = 0.25;
  expect_forgery(Agreement::kDifferent);
  published_.at_steps[1] = {published_.evaluation[0]};  // Its config asked for fewer lengths then.
  expect_forgery(Agreement::kEqual);
}

class RetrainedText : public RetrainedRun {
 protected:
  RetrainedText() {
    for (BundledRun* run : {&published_, &again_}) {
      run->config = read(
                        "name: x\nbase: {text: austen, encoding: rope, log: {validation_steps: 500}, "
                        "evaluation: {lengths: [16, 32], curve: true}}\n")
                        .runs.front();
      run->id = run_id(run->config);
      run->evaluation.resize(2);
      for (EvaluationRow& row : run->evaluation) {
        row.length = &row == run->evaluation.data() ? 16 : 32;
        row.samples = run->config.evaluation.samples;
        row.encoding_settings = evaluation_settings(run->config);
        row.windows = {{.window = {.document = 0, .end = 99}, .loss = 0.25},
                       {.window = {.document = 1, .end = 99}, .loss = 0.75}};
      }
      run->evaluation[1].positions = {{.first = 0, .count = 16, .loss = 0.5}};
      run->metrics.back().validation_loss = 0.5;
    }
  }
};

TEST_F(RetrainedText, IsHeldToWhatItsConfigAsksFor) {
  published_.config.evaluation.text.curve = false;
  published_.config.log.validation_steps = 0;
  again_.evaluation[1].positions.clear();
  again_.metrics.back().validation_loss.reset();
  EXPECT_EQ(Agreement::kEqual, compare().agreement);
  expect_contains(compare().text, {"losses by position and validation losses are not compared"});
  again_.evaluation[0].loss += 0.5;
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
  expect_contains(compare().text, {"losses by position and validation losses are not compared"});
}

TEST_F(RetrainedText, MayHaveBeenValidatedAtOtherSteps) {
  published_.metrics.front().validation_loss = 0.75;
  EXPECT_EQ(Agreement::kEqual, compare().agreement);
  expect_contains(compare().text, {"; validation losses are not compared"});
  published_.metrics.back().validation_loss = 0.25;
  EXPECT_NE(Agreement::kEqual, compare().agreement);
}

TEST_F(RetrainedText, MayHaveBeenMeasuredBeforeItsConfigAskedForMore) {
  published_.evaluation[1].positions.clear();
  published_.metrics.back().validation_loss.reset();
  EXPECT_EQ(Agreement::kEqual, compare().agreement);
}

TEST_F(RetrainedText, IsLeftOutWhereItsCorpusIsNot) {
  RetrainingChoice choice({.count = {}});
  choice.consider(published_);
  EXPECT_TRUE(choice.left_out().empty());
  published_.config.text.corpus = "/nowhere/austen";
  choice.consider(published_);
  ASSERT_EQ(1U, choice.left_out().size());
  expect_contains(choice.left_out().begin()->first,
                  {"on the text austen, whose corpus of hash ", "is not in '/nowhere/austen' here"});
}

// A text's tables, comparisons and choice of rates read these losses.
TEST_F(RetrainedText, HoldsLossesToTheTolerance) {
  const BundledRun honest = published_;
  const auto outcome = [&](double by, const std::function<void(BundledRun&, double)>& forge) {
    published_ = honest;
    forge(published_, by);
    return compare().agreement;
  };
  const std::vector<std::function<void(BundledRun&, double)>> forgeries{
      [](BundledRun& run, double by) { run.evaluation[1].loss -= by; },
      [](BundledRun& run, double by) {
        run.evaluation[1].windows[0].loss += by;
        run.evaluation[1].windows[1].loss -= by;
      },
      [](BundledRun& run, double by) { run.evaluation[1].positions[0].loss -= by; },
      [](BundledRun& run, double by) { run.metrics.back().validation_loss = 0.5 - by; },
      [](BundledRun& run, double by) { run.metrics.back().loss -= by; },
      [](BundledRun& run, double by) { run.metrics.back().accuracy -= by; },
      [](BundledRun& run, double by) {
        run.at_steps[1] = run.evaluation;
        run.at_steps[1][0].loss -= by;
      },
  };
  again_.at_steps[1] = again_.evaluation;
  for (std::size_t i = 0; i < forgeries.size(); ++i) {
    EXPECT_EQ(Agreement::kWithinTolerance, outcome(0.005, forgeries[i])) << i;
    EXPECT_EQ(Agreement::kDifferent, outcome(0.1, forgeries[i])) << i << compare().text;
  }
  EXPECT_EQ(Agreement::kDifferent,
            outcome(1, [](BundledRun& run, double) { run.evaluation[1].windows.pop_back(); }));
  EXPECT_EQ(Agreement::kDifferent, outcome(1, [](BundledRun& run, double) {
              run.evaluation[1].loss = std::numeric_limits<double>::quiet_NaN();
              run.evaluation[1].positions.clear();
            }));
}

TEST_F(RetrainedRun, LooksAtTheConfigsLengthsOnly) {
  published_.evaluation.push_back({.length = 100, .samples = 64, .accuracy = 0.1, .loss = 0.5});
  EXPECT_EQ(Agreement::kEqual, compare().agreement);
  again_.evaluation.pop_back();
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
  EXPECT_EQ("4 test lengths in the bundle, 3 measured again", compare().text);
}

TEST_F(RetrainedRun, TellsCloseAccuraciesFromOthers) {
  again_.evaluation[1].accuracy = 0.7578125;
  EXPECT_EQ(Agreement::kWithinTolerance, compare().agreement);
  expect_contains(
      compare().text,
      {"accuracy or loss differ by at most 0.0078, at length 42 (accuracy 0.7500 and loss 0.5000 in "
       "the bundle, accuracy 0.7578 and loss 0.5000 again)"});
  EXPECT_EQ(Agreement::kDifferent, compare(0).agreement);
  published_.evaluation[0].accuracy_se = 0;
  again_.evaluation[0].accuracy_se = 0.02;
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
  expect_contains(compare().text, {"standard errors differ by at most 0.02, beyond 0.01"});
  EXPECT_EQ(Agreement::kWithinTolerance, compare(0.02).agreement);
  again_.evaluation[3].accuracy = 0.5;
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
  expect_contains(compare().text, {"beyond 0.01 at 1 of 4 test lengths: ", "at most 0.25, at length 44"});
  EXPECT_EQ(Agreement::kWithinTolerance, compare(0.25).agreement);
}

TEST_F(RetrainedRun, SeesOtherLossesAndTrainingMetrics) {
  again_.evaluation[1].loss = std::nextafter(0.5, 1);
  EXPECT_EQ(Agreement::kDifferent, compare(0).agreement);
  EXPECT_EQ(Agreement::kWithinTolerance, compare(1e-12).agreement);
  again_.evaluation[1].loss = 0.48;
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
  // Above 1 a share of the loss counts.
  published_.evaluation[1].loss = 20;
  again_.evaluation[1].loss = 20.1;
  EXPECT_EQ(Agreement::kWithinTolerance, compare().agreement);
  again_.evaluation[1].loss = 0.1;
  EXPECT_EQ(Agreement::kDifferent, compare(1).agreement);
  published_ = again_ = finished_run();
  published_.metrics[1].loss -= 0.02;
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
  expect_contains(compare().text, {"training loss 0.4800 in the bundle, 0.5000 again, beyond 0.01"});
  published_ = again_ = finished_run();
  again_.evaluation[1].accuracy_se = 0.01;
  EXPECT_EQ(Agreement::kEqual, compare().agreement);
  expect_contains(compare().text, {"the bundle has no standard errors"});
  again_ = finished_run();
  again_.metrics[0].gradient_norm = 2;
  EXPECT_EQ(Agreement::kWithinTolerance, compare(0).agreement);
  expect_contains(compare().text,
                  {"the same numbers at 4 test lengths; training accuracy 0.9000 in the bundle"});
  again_.metrics[1].accuracy = 0.7;
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
  expect_contains(compare().text, {"training accuracy 0.9000 in the bundle, 0.7000 again, beyond 0.01"});
}

TEST_F(RetrainedRun, TakesNoNumberForAgreement) {
  again_.evaluation[0].accuracy = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Agreement::kDifferent, compare(1).agreement);
  again_ = finished_run();
  again_.metrics[1].accuracy = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Agreement::kDifferent, compare(1).agreement);
}

namespace fs = std::filesystem;

RunConfig retrained_config() { return made_up_config("even_pairs", "rope"); }

std::string refusal(const fs::path& experiment) {
  return message_of([&] { RetrainingFolder(experiment, {retrained_config()}); });
}

TEST(RetrainingFolder, RefusesARunThatItDidNotBegin) {
  const ScratchFolder scratch;
  const RunFolder run = store_run(scratch.path(), retrained_config(), RunState::kFinished, 1);
  expect_contains(refusal(scratch.path()), {run.path().string(), "was not begun by this command", "-o"});
  fs::remove(run.path() / "evaluation.csv");  // Nearly trained proves as little.
  fs::remove(run.path() / "status.json");
  EXPECT_NE("(no error)", refusal(scratch.path()));
}

TEST(RetrainingFolder, RefusesAShorterRunThatTrainingWouldGoOnFrom) {
  const ScratchFolder scratch;
  RunConfig shorter = retrained_config();
  shorter.training.steps /= 2;
  const RunFolder run = store_run(scratch.path(), shorter, RunState::kFinished, 1);
  expect_contains(refusal(scratch.path()), {run.path().string(), "was not begun by this command"});
}

TEST(RetrainingFolder, ResumesARunThatItBegan) {
  const ScratchFolder scratch;
  const RetrainingFolder folder(scratch.path(), {retrained_config()});
  RunFolder::create(scratch.path(), retrained_config());
  folder.store();
  const RunFolder run = store_run(scratch.path(), retrained_config(), RunState::kFinished, 1);
  expect_contains(refusal(scratch.path()), {run.path().string(), "has results and no model", "remove it"});
  put_checkpoint(run);
  EXPECT_EQ("(no error)", refusal(scratch.path()));
  RunConfig other = retrained_config();
  other.seed = 1;
  RetrainingFolder(scratch.path(), {other}).store();
  EXPECT_EQ("(no error)", refusal(scratch.path())) << "another call forgets it";
  // An archive that is unpacked over it.
  const fs::path config = run.path() / "config.yaml";
  fs::rename(config, scratch.path() / "config");
  fs::copy(scratch.path() / "config", config);
  EXPECT_NE("(no error)", refusal(scratch.path()));
}

}  // namespace
}  // namespace che
