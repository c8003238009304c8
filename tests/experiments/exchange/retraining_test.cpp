// Runs of a bundle that are trained again: which, and where.
#include "experiments/exchange/retraining.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiments/plan/identity.h"
#include "models/architectures/foreign.h"
#include "tests/contains.h"
#include "tests/experiments/exchange/finished_run.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

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

// A bundle may have a million of them.
TEST(RetrainingChoice, LeavesOutRowsThatTheConfigDoesNotAskFor) {
  BundledRun run = finished_run(0);
  const std::size_t asked = run.evaluation.size();
  run.at_steps[5] = run.evaluation;
  for (std::vector<EvaluationRow>* const rows : {&run.evaluation, &run.at_steps[5]}) {
    rows->push_back({.length = 100, .samples = 64, .accuracy = 0.5, .loss = 0.5});
  }
  RetrainingChoice choice({.count = {}});
  choice.consider(run);
  const BundledRun chosen = choice.chosen().front();
  EXPECT_EQ(asked, chosen.evaluation.size());
  EXPECT_EQ(asked, chosen.at_steps.at(5).size());
  EXPECT_EQ(2U, chosen.further_rows);
}

// Configs that were run one after another may have asked for more steps than one config can.
TEST(RetrainingChoice, LeavesOutStepsBeyondWhatAConfigCanAskFor) {
  BundledRun run = finished_run(0);
  run.config.training.steps = 10'000;
  run.config.evaluation.at_steps = {9000};
  for (std::int64_t step = 1; step <= 5000; ++step) run.at_steps[step] = run.evaluation;
  run.at_steps[9000] = run.evaluation;
  for (EvaluationRow& row : run.at_steps[1]) row.seed = 99;  // The config asks for none of these.
  RetrainingChoice choice({.count = {}});
  choice.consider(run);
  const BundledRun chosen = choice.chosen().front();
  EXPECT_EQ(4096U, chosen.at_steps.size());
  EXPECT_FALSE(chosen.at_steps.contains(1));
  EXPECT_TRUE(chosen.at_steps.contains(9000));
  EXPECT_EQ((5001 - 4096) * run.evaluation.size(), chosen.further_rows);
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
