#include "experiments/store/run_choice.h"

#include <gtest/gtest.h>

#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

class RunChoiceTest : public testing::Test {
 protected:
  RunChoiceTest() {
    for (const std::int64_t seed : {0, 1, 2}) {
      store_run(scratch_.path(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, 0.5);
      store_run(scratch_.path(), made_up_config("even_pairs", "dape_kerple", seed), RunState::kWaiting);
    }
    store_run(scratch_.path(), made_up_config("bucket_sort", "kerple"), RunState::kFailed);
  }

  std::string chosen(const std::vector<std::string>& conditions) const {
    std::string text;
    for (const RunFolder& run : RunChoice(conditions).of(open_runs(scratch_.path()))) {
      text += run.config().encoding.form().text() + std::to_string(run.config().seed) + " ";
    }
    return text;
  }

  std::string refusal(const std::string& condition) const {
    return message_of([&] { chosen({condition}); });
  }

  ScratchFolder scratch_;
};

TEST_F(RunChoiceTest, KeepsWhatHoldsEveryCondition) {
  EXPECT_EQ(chosen({}), "kerple0 dape_kerple0 dape_kerple1 dape_kerple2 rope0 rope1 rope2 ");
  EXPECT_EQ(chosen({"encoding=rope"}), "rope0 rope1 rope2 ");
  EXPECT_EQ(chosen({"encoding=[kerple, rope]", "seed=0:1"}), "kerple0 rope0 rope1 ");
  EXPECT_EQ(chosen({"encoding.name=kerple", "seed=0"}), "kerple0 dape_kerple0 ");
}

TEST_F(RunChoiceTest, ConditionsThatNoRunHoldsAreRefused) {
  EXPECT_EQ(refusal("seed=7"), "--only leaves none of 7 stored runs; in them, seed is 0, 1, 2");
  EXPECT_TRUE(contains(refusal("encoding=ropes"), "did you mean 'rope'")) << refusal("encoding=ropes");
  EXPECT_TRUE(contains(refusal("lr=0.1"), "lr: unknown key; did you mean 'learning_rate'?"));
  EXPECT_TRUE(contains(refusal("rope"), "allowed: key=value, such as --only task="));
  EXPECT_TRUE(contains(refusal("size=small"), "size: unknown key")) << refusal("size=small");
  EXPECT_TRUE(contains(refusal("size=small"), "labels of a config's variants are not stored"));
}

TEST_F(RunChoiceTest, WarnsOfListedValuesThatNoRunHas) {
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  RunChoice({"seed=[0, 7]", "encoding=[rope, alibi]"}).of(open_runs(scratch_.path()), warn);
  EXPECT_EQ(warnings, (std::vector<std::string>{"--only: no stored run has seed=7",
                                                "--only: no stored run has encoding=alibi"}));
  warnings.clear();
  RunChoice({"seed=0:7", "encoding=[rope, kerple]"}).of(open_runs(scratch_.path()), warn);
  EXPECT_TRUE(warnings.empty()) << "the end of a range may lie beyond the runs";
}

}  // namespace
}  // namespace che
