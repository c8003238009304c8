#include <gmock/gmock.h>

#include "experiments/plan/encoding_config.h"

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
  EncodingConfig rope;
  rope.reset("rope");
  EXPECT_THAT(rope.evaluation_setting_names(), testing::Contains("scaling"));
  EXPECT_THAT(all_evaluation_setting_names(), testing::Contains("scaling"));
  EXPECT_TRUE(rope.evaluation_settings().empty());
  const EncodingConfig scaled = rope.with_evaluation_settings({{"scaling", "yarn"}});
  EXPECT_EQ((OptionValues{{"scaling", "yarn"}}), scaled.evaluation_settings());
  EXPECT_TRUE(scaled.with_evaluation_settings({}).evaluation_settings().empty());
  EXPECT_TRUE(scaled.with_evaluation_settings({{"scaling", "none"}}).evaluation_settings().empty());
  EncodingConfig kerple;
  kerple.reset("kerple");
  EXPECT_TRUE(kerple.evaluation_setting_names().empty());
  EXPECT_TRUE(rope.has_evaluation_settings({{"scaling", "ntk"}}));
  EXPECT_FALSE(kerple.has_evaluation_settings({{"scaling", "ntk"}}));
}

}  // namespace
}  // namespace che
