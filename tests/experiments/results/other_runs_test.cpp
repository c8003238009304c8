#include "experiments/results/other_runs.h"

#include <gtest/gtest.h>

#include <string>

#include "models/architectures/foreign.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using OtherRuns = ScratchTest;

TEST_F(OtherRuns, AreNoneInAFolderThatHoldsTheConfigsRunsOrNothing) {
  const RunConfig config = made_up_config("even_pairs", "rope");
  EXPECT_FALSE(other_runs({config}, scratch_.path() / "missing"));
  EXPECT_FALSE(other_runs({config}, scratch_.path()));
  store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  EXPECT_FALSE(other_runs({config}, scratch_.path()));
  // Whose lengths, samples and execution may change: the run is the same.
  RunConfig longer = config;
  longer.evaluation.last_length = 60;
  longer.execution.threads = 2;
  EXPECT_FALSE(other_runs({longer}, scratch_.path()));
}

TEST_F(OtherRuns, AreCountedWithTheValuesThatNoRunOfTheConfigHas) {
  const RunConfig config = made_up_config("even_pairs", "rope");
  RunConfig wide = config;
  wide.model.shape().width = 128;
  store_run(scratch_.path(), wide, RunState::kFinished, 0.5);
  const std::string folder = scratch_.path().string();
  EXPECT_EQ(folder + " holds 1 stored run that is not of this config; it differs in model.width (128)",
            other_runs({config}, scratch_.path()));
  for (std::int64_t seed = 1; seed < 6; ++seed) {
    wide.seed = seed;
    store_run(scratch_.path(), wide, RunState::kWaiting);
  }
  EXPECT_EQ(
      folder +
          " holds 6 stored runs that are not of this config; they differ in model.width (128), seed (1, 2, "
          "3, ...)",
      other_runs({config}, scratch_.path()));
  EXPECT_EQ(folder + " holds 5 stored runs that are not of this config; they differ in seed (1, 2, 3, ...)",
            other_runs({config,
                        [&] {
                          RunConfig first = wide;
                          first.seed = 0;
                          return first;
                        }()},
                       scratch_.path()));
}

TEST_F(OtherRuns, ThatWereEvaluatedOtherwiseAreCounted) {
  const RunConfig config = made_up_config("even_pairs", "rope");
  RunConfig longer = config;
  longer.evaluation.last_length = 60;
  RunConfig waiting = longer;
  waiting.seed = 1;
  EXPECT_FALSE(evaluated_otherwise({longer}, scratch_.path(), /*retrain=*/false));
  store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  store_run(scratch_.path(), waiting, RunState::kWaiting);
  EXPECT_FALSE(evaluated_otherwise({config}, scratch_.path(), /*retrain=*/false));
  waiting.evaluation.last_length = 70;
  EXPECT_EQ(
      "1 finished run was evaluated otherwise before, with evaluation.last_length (44); to run this config "
      "changes their scores, and to run the earlier config again brings back the earlier ones",
      evaluated_otherwise({longer, waiting}, scratch_.path(), /*retrain=*/false));
  EXPECT_EQ(
      "1 finished run was evaluated otherwise before, with evaluation.last_length (44); to run this config "
      "changes their scores",
      evaluated_otherwise({longer, waiting}, scratch_.path(), /*retrain=*/true));
  const auto on_text = [](const std::string& lengths) {
    return read("name: x\nbase: {text: austen, encoding: rope, evaluation: {lengths: [" + lengths + "]}}\n")
        .runs.front();
  };
  store_run(scratch_.path(), on_text("128, 512"), RunState::kFinished, 0.5);
  expect_contains(*evaluated_otherwise({on_text("128, 256, 1024")}, scratch_.path(), /*retrain=*/false),
                  {"; tables of texts then show what either config measured"});
  RunConfig other_samples = on_text("128, 512");
  other_samples.evaluation.seed = 1;
  expect_contains(*evaluated_otherwise({other_samples}, scratch_.path(), /*retrain=*/false),
                  {"with evaluation.seed (0); to run this config changes their scores"});
  // The same lengths in other words, by another number of threads.
  const ScratchFolder alike;
  RunConfig same = config;
  same.evaluation.length_step = 2;
  store_run(alike.path(), same, RunState::kFinished, 0.5);
  same.evaluation.last_length = 43;
  same.execution.threads = 2;
  EXPECT_FALSE(evaluated_otherwise({same}, alike.path(), /*retrain=*/false));
}

// The settings of another encoding follow from its name.
TEST_F(OtherRuns, OfAnotherEncodingDifferInItsName) {
  store_run(scratch_.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  EXPECT_EQ(scratch_.path().string() +
                " holds 1 stored run that is not of this config; it differs in encoding.name (rope)",
            other_runs({made_up_config("even_pairs", "none")}, scratch_.path()));
}

TEST_F(OtherRuns, OfAnotherPrecisionDifferInIt) {
  const RunConfig config = made_up_config("even_pairs", "rope");
  RunConfig bf16 = config;
  bf16.execution.precision = Precision::kBf16;
  store_run(scratch_.path(), bf16, RunState::kFinished, 0.5);
  expect_contains(other_runs({config}, scratch_.path()).value(),
                  {"it differs in execution.precision (bf16)"});
  RunConfig tf32 = config;
  tf32.execution.precision = Precision::kTf32;
  EXPECT_EQ(other_runs({tf32}, scratch_.path()), other_runs({config}, scratch_.path()));
  store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  bf16.seed = 1;
  expect_contains(other_runs({bf16}, scratch_.path()).value(), {"execution.precision (absent)", "seed (0)"});
}

// A part of an encoding that one side lacks is a difference, whichever side that is.
TEST_F(OtherRuns, MayHaveDapeOrLackIt) {
  const RunConfig plain = made_up_config("even_pairs", "kerple");
  const RunConfig with_dape = made_up_config("even_pairs", "dape_kerple");
  const auto told = [](const RunConfig& stored, const std::vector<RunConfig>& config) {
    const ScratchFolder scratch;
    store_run(scratch.path(), stored, RunState::kFinished, 0.5);
    const std::string whole = other_runs(config, scratch.path()).value_or("nothing");
    return whole.substr(whole.find("config") + std::string("config").size());
  };
  EXPECT_EQ("; it differs in encoding.dape (present)", told(with_dape, {plain}));
  EXPECT_EQ("; it differs in encoding.dape (absent)", told(plain, {with_dape}));
  // Encodings of both kinds are in the config: only the seed is new.
  RunConfig other_seed = plain;
  other_seed.seed = 1;
  EXPECT_EQ("; it differs in seed (1)", told(other_seed, {plain, with_dape}));
  EXPECT_EQ("; it differs in seed (1)", told(other_seed, {plain}));
}

// Of which only the task, the seed and the evaluation are known.
TEST_F(OtherRuns, MayBePredictionsOfAModelOutsideChe) {
  RunConfig my_lstm;
  my_lstm.model = foreign_model("my_lstm");
  my_lstm.task.reset("even_pairs");
  store_run(scratch_.path(), my_lstm, RunState::kFinished, 0.5);
  EXPECT_EQ(scratch_.path().string() +
                " holds 1 stored run that is not of this config; it differs in model.name (my_lstm)",
            other_runs({made_up_config("even_pairs", "none")}, scratch_.path()));
}

TEST_F(OtherRuns, MayCombineTheSameValues) {
  store_run(scratch_.path(), made_up_config("even_pairs", "none", 1), RunState::kFinished, 0.5);
  EXPECT_EQ(scratch_.path().string() +
                " holds 1 stored run that is not of this config, with settings of this config in another "
                "combination",
            other_runs({made_up_config("even_pairs", "none"), made_up_config("parity_check", "none", 1)},
                       scratch_.path()));
}

}  // namespace
}  // namespace che
