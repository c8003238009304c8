#include "experiments/plan/evaluation_settings.h"

#include <gmock/gmock.h>

namespace che {
namespace {

TEST(EvaluationSettings, AreStoredSortedByName) {
  const OptionValues settings{{"scaling", "yarn"}, {"beta_fast", "16"}};
  EXPECT_EQ("beta_fast=16;scaling=yarn", evaluation_settings_text(settings));
  EXPECT_EQ("", evaluation_settings_text({}));
  EXPECT_EQ(settings, parse_evaluation_settings("beta_fast=16;scaling=yarn"));
  EXPECT_EQ(OptionValues(), parse_evaluation_settings(""));
  EXPECT_EQ((OptionValues{{"a", "b=c"}}), parse_evaluation_settings("a=b=c"));
}

TEST(EvaluationSettings, InAnyOtherTextAreRefused) {
  for (const char* text :
       {"scaling", "=yarn", ";", "scaling=yarn;", ";scaling=yarn", "scaling=yarn;beta_fast=16",
        "scaling=yarn;scaling=yarn", "scaling=yarn;scaling=ntk"}) {
    EXPECT_FALSE(parse_evaluation_settings(text)) << text;
  }
}

TEST(EvaluationSettings, OfAnEncodingAreThoseOffTheirDefault) {
  RunConfig rope;
  rope.encoding.reset("rope");
  EXPECT_THAT(all_evaluation_paths(), testing::IsSupersetOf({"encoding.scaling", "model.memory_size_test"}));
  EXPECT_TRUE(evaluation_settings(rope).empty());
  const RunConfig scaled = with_evaluation_settings(rope, {{"scaling", "yarn"}});
  EXPECT_EQ((OptionValues{{"scaling", "yarn"}}), evaluation_settings(scaled));
  EXPECT_TRUE(evaluation_settings(with_evaluation_settings(scaled, {})).empty());
  EXPECT_TRUE(evaluation_settings(with_evaluation_settings(scaled, {{"scaling", "none"}})).empty());
  RunConfig kerple;
  kerple.encoding.reset("kerple");
  EXPECT_TRUE(has_evaluation_settings(rope, {{"scaling", "ntk"}}));
  EXPECT_FALSE(has_evaluation_settings(kerple, {{"scaling", "ntk"}}));
}

TEST(EvaluationSettings, ThatAreChangedLeaveTheOthersOfTheRun) {
  RunConfig rope;
  rope.encoding.reset("rope");
  rope = with_evaluation_settings(rope, {{"scaling", "yarn"}, {"beta_fast", "16"}, {"beta_slow", "2"}});
  const auto changed = [&](const OptionValues& settings) {
    return evaluation_settings_text(evaluation_settings(with_changed_settings(rope, settings)));
  };
  EXPECT_EQ("beta_fast=8;beta_slow=2;scaling=yarn", changed({{"beta_fast", "8"}}));
  EXPECT_EQ("beta_fast=16;beta_slow=2;scaling=yarn", changed({{"scaling", "yarn"}}));
  EXPECT_EQ("", changed({{"scaling", "none"}})) << "nothing else has an effect";
  EXPECT_EQ("beta_fast=8;beta_slow=2", changed({{"scaling", "none"}, {"beta_fast", "8"}}))
      << "the caller refuses it";
}

TEST(EvaluationSettings, OfAModelWithoutEncodingAreItsOwn) {
  RunConfig tape;
  tape.model.kind = "tape_rnn";
  EXPECT_TRUE(has_evaluation_settings(tape, {{"memory_size_test", "9"}}));
  EXPECT_FALSE(has_evaluation_settings(tape, {{"width", "9"}})) << "training reads it, too";
  const RunConfig small = with_evaluation_settings(tape, {{"memory_size_test", "9"}});
  EXPECT_EQ((OptionValues{{"memory_size_test", "9"}}), evaluation_settings(small));
  EXPECT_TRUE(evaluation_settings(with_evaluation_settings(small, {})).empty());
}

}  // namespace
}  // namespace che
