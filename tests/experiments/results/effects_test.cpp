#include "experiments/results/effects.h"

#include <gtest/gtest.h>

#include "tests/experiments/results/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using SettingEffects = ScratchTest;

TEST_F(SettingEffects, FindNumbersThatVaryWithAllElseEqual) {
  const std::vector<SettingEffect> effects = setting_effects(varied_experiment(scratch_.path()));
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0].path, "encoding.dape.hidden");
  EXPECT_EQ(effects[0].scores.at({.name = "reverse_string"}).at(label_of("dape_kerple")),
            (ScoresByValue{{16, {0.5, 0.625}}, {64, {0.5625, 0.6875}}}))
      << "the third seed has no counterpart";
  EXPECT_EQ(effects[1].path, "learning_rate");
  EXPECT_EQ(effects[1].scores.at({.name = "reverse_string"}).at(label_of("rope")),
            (ScoresByValue{{1e-4, {0.75}}, {3e-4, {0.5}}}));
}

// 16 and 64 share two seeds; 4 shares none with them and must not hide that.
TEST_F(SettingEffects, LeaveOutOnlyAValueWithoutSharedSeeds) {
  RunConfig config = made_up_config("reverse_string", "dape_kerple", 7);
  config.encoding.dape->hidden = 4;
  store_run(scratch_.path(), config, RunState::kFinished, 0.75);
  varied_experiment(scratch_.path());
  const SettingEffect effect = setting_effects(make_table(open_runs(scratch_.path()))).front();
  const auto& line = effect.scores.at({.name = "reverse_string"}).at(label_of("dape_kerple"));
  EXPECT_FALSE(line.contains(4));
  EXPECT_EQ(line.at(16), (std::vector<double>{0.5, 0.625}));
}

TEST_F(SettingEffects, ShowTheEncodingWithoutDapeWhereItHasTheSameSeeds) {
  varied_experiment(scratch_.path());
  const auto scores = [&] {
    return setting_effects(make_table(open_runs(scratch_.path()))).front().without_dape;
  };
  store_run(scratch_.path(), made_up_config("reverse_string", "kerple", 0), RunState::kFinished, 0.25);
  store_run(scratch_.path(), made_up_config("reverse_string", "kerple", 2), RunState::kFinished, 1);
  EXPECT_TRUE(scores().empty()) << "the second seed of both is missing";
  store_run(scratch_.path(), made_up_config("reverse_string", "kerple", 1), RunState::kFinished, 0.375);
  EXPECT_EQ(scores().at({.name = "reverse_string"}).at(label_of("dape_kerple")),
            (std::vector<double>{0.25, 0.375}));
}

TEST_F(SettingEffects, DoNotCompareRunsOfOtherSeeds) {
  RunConfig config = made_up_config("reverse_string", "rope");
  store_run(scratch_.path(), config, RunState::kFinished, 0.5);
  config.learning_rate = 1e-4;
  config.seed = 1;
  store_run(scratch_.path(), config, RunState::kFinished, 0.75);
  EXPECT_TRUE(setting_effects(make_table(open_runs(scratch_.path()))).empty());
}

TEST_F(SettingEffects, CompareRunsOfTheRatesThatARuleChose) {
  for (const std::int64_t width : {16, 32}) {
    for (const double rate : {1e-4, 3e-4}) {
      RunConfig config = made_up_config("reverse_string", "rope");
      config.model.shape().width = width;
      config.learning_rate = rate;
      const bool is_better = (width == 16) == (rate == 1e-4);
      store_run(scratch_.path(), config, RunState::kFinished, 0.5, is_better ? 0.75 : 0.5);
    }
  }
  const ResultTable table = make_table(open_runs(scratch_.path()),
                                       {.score_lengths = std::nullopt, .select = SelectionRule::kTraining});
  const std::vector<SettingEffect> effects = setting_effects(table);
  ASSERT_EQ(1U, effects.size());
  EXPECT_EQ("model.width", effects[0].path);
}

// Runs that differ in their data seed alone are repetitions of each other.
TEST_F(SettingEffects, KeepRunsOfEveryDataSeed) {
  for (const std::int64_t data_seed : {0, 1}) {
    RunConfig config = made_up_config("reverse_string", "rope");
    config.data_seed = data_seed;
    store_run(scratch_.path(), config, RunState::kFinished, data_seed == 0 ? 0.5 : 0.625);
    config.learning_rate = 1e-4;
    store_run(scratch_.path(), config, RunState::kFinished, data_seed == 0 ? 0.75 : 0.875);
  }
  const SettingEffect effect = setting_effects(make_table(open_runs(scratch_.path()))).front();
  const auto& line = effect.scores.at({.name = "reverse_string"}).at(label_of("rope"));
  EXPECT_EQ(line.at(1e-4), (std::vector<double>{0.75, 0.875}));
}

TEST_F(SettingEffects, LeaveOutSettingsThatVaryTogether) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  RunConfig other = made_up_config("reverse_string", "rope", 1);
  other.model.shape().width = 128;
  other.model.shape().layers = 2;
  store_run(scratch_.path(), other, RunState::kFinished, 0.75);
  EXPECT_TRUE(setting_effects(make_table(open_runs(scratch_.path()))).empty());
}

}  // namespace
}  // namespace che
