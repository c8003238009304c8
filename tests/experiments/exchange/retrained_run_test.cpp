// A run of a bundle beside what training it again gave.
#include "experiments/exchange/retrained_run.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "experiments/exchange/retraining.h"
#include "experiments/plan/evaluation_settings.h"
#include "tests/contains.h"
#include "tests/experiments/exchange/finished_run.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/message_of.h"

namespace che {
namespace {

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

// Those of a run whose metrics.csv was lost begin at a step that nothing tells.
TEST_F(RetrainedRun, WithoutTheRowsOfItsEndIsComparedWithoutThem) {
  published_.metrics = {{.step = 950, .accuracy = 0.1}, {.step = 1000, .accuracy = 0.2}};
  EXPECT_EQ(Agreement::kEqual, compare().agreement);
  EXPECT_EQ("the same numbers at 4 test lengths; the bundle lacks training metrics of the last steps",
            compare().text);
  published_.metrics.insert(published_.metrics.begin(), {.step = 900, .accuracy = 0.3});
  EXPECT_EQ(Agreement::kDifferent, compare().agreement);
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
  const auto error_before = std::exchange(again_.at_steps[1][0].accuracy_se, 0.02);
  published_.at_steps[1] = again_.at_steps[1];
  published_.at_steps[1][0].accuracy_se = 0.9;
  expect_forgery(Agreement::kDifferent);
  again_.at_steps[1][0].accuracy_se = error_before;
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
  expect_contains(compare().text, {"; the bundle lacks validation losses at 1 step of its config"});
  published_.config.evaluation.at_steps = {1};
  again_.at_steps[1] = again_.evaluation;
  expect_contains(compare().text, {"; the bundle lacks rows of 1 step of its config"});
  published_.config.log.validation_steps = 300;  // Not at step 1000, where an earlier config had it.
  EXPECT_EQ(std::string::npos, compare().text.find("lacks validation losses")) << compare().text;
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
  published_.metrics[0].loss = 0.0001;
  EXPECT_EQ(Agreement::kWithinTolerance, compare().agreement);
  expect_contains(
      compare().text,
      {"; 1 of 2 rows of training metrics differ, in loss or accuracy by at most 1.5 (step 500)"});
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

}  // namespace
}  // namespace che
