#include "core/suggestion.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(Suggestion, FindsInsertionDeletionReplacementAndSwap) {
  const std::vector<std::string> known = {"steps", "batch_size", "dropout"};
  EXPECT_EQ(closest_name("step", known), "steps");
  EXPECT_EQ(closest_name("stepss", known), "steps");
  EXPECT_EQ(closest_name("stebs", known), "steps");
  EXPECT_EQ(closest_name("setps", known), "steps");
  EXPECT_EQ(closest_name("Batch-Size", known), "batch_size");
}

TEST(Suggestion, ASwapIsOneEdit) { EXPECT_EQ(closest_name("ba", {"bcd", "ab"}), "ab"); }

TEST(Suggestion, TakesTheNearest) { EXPECT_EQ(closest_name("alibo", {"alabo_x", "alibi"}), "alibi"); }

TEST(Suggestion, AllowsAThirdOfTheWordButAtLeastTwoEdits) {
  EXPECT_EQ(closest_name("abcd", {"abxy"}), "abxy");
  EXPECT_EQ(closest_name("abcd", {"axyz"}), "");
  EXPECT_EQ(closest_name("abcdefghi", {"abcdefxyz"}), "abcdefxyz");
  EXPECT_EQ(closest_name("abcdefghi", {"abcdewxyz"}), "");
}

TEST(Suggestion, NamesNothingForEmptyAlienOrHugeWords) {
  EXPECT_EQ(closest_name("", {"ab"}), "");
  EXPECT_EQ(closest_name("xy", {"ab"}), "");
  EXPECT_EQ(closest_name("x", {}), "");
  EXPECT_EQ(closest_name(std::string(1'000'000, 'x'), {"ab"}), "");
}

TEST(Suggestion, PrefersTheWordWithSettings) {
  EXPECT_EQ(closest_name("kerple", {"kerpl", "dape_kerple", "kerple(direction=symmetric)"}),
            "kerple(direction=symmetric)");
}

TEST(Suggestion, HintNamesTheNearestAndAll) {
  EXPECT_EQ(known_names_hint("kerpel", {"alibi", "kerple"}),
            "; did you mean 'kerple'?; known: alibi, kerple");
  EXPECT_EQ(known_names_hint("quantum", {"alibi", "kerple"}), "; known: alibi, kerple");
}

}  // namespace
}  // namespace che
