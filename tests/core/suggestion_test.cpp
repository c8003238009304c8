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

TEST(Suggestion, AllowsOneEditOfAShortWordAndAThirdOfALongOneButAtLeastTwo) {
  EXPECT_EQ(closest_name("abcd", {"abcx"}), "abcx");
  EXPECT_EQ(closest_name("abcd", {"abxy"}), "");
  EXPECT_EQ(closest_name("abcde", {"abcxy"}), "abcxy");
  EXPECT_EQ(closest_name("abcdefghi", {"abcdefxyz"}), "abcdefxyz");
  EXPECT_EQ(closest_name("abcdefghi", {"abcdewxyz"}), "");
}

TEST(Suggestion, NamesNothingForEmptyAlienOrHugeWords) {
  EXPECT_EQ(closest_name("", {"ab"}), "");
  EXPECT_EQ(closest_name("xy", {"ab"}), "");
  EXPECT_EQ(closest_name("x", {}), "");
  EXPECT_EQ(closest_name(std::string(1'000'000, 'x'), {"ab"}), "");
}

TEST(Suggestion, FindsTheOnlyNameThatAWordAbbreviates) {
  EXPECT_EQ(closest_name("lr", {"task", "learning_rate", "log"}), "learning_rate");
  EXPECT_EQ(closest_name("LR", {"learning_rate"}), "learning_rate");
  EXPECT_EQ(closest_name("parity", {"even_pairs", "parity_check"}), "parity_check");
  EXPECT_EQ(closest_name("modular_arithmetic", {"modular_arithmetic_brackets", "modular_arithmetic_simple"}),
            "");
  EXPECT_EQ(closest_name("kerple", {"kerpl", "dape_kerple", "kerple(direction=symmetric)"}),
            "kerple(direction=symmetric)");
}

TEST(Suggestion, IsNoOtherShortWord) {
  EXPECT_EQ(closest_name("foo", {"task", "log", "seed"}), "");
  EXPECT_EQ(closest_name("base", {"task", "seed"}), "");
  EXPECT_EQ(closest_name("gpu", {"cpu"}), "");
  EXPECT_EQ(closest_name("nope", {"cope", "none", "rope"}), "none");
  EXPECT_EQ(closest_name("nope", {"cope", "rope"}), "");
  EXPECT_EQ(closest_name("ope", {"rope"}), "rope") << "a forgotten first letter";
}

TEST(Suggestion, HintNamesTheNearestAndAll) {
  EXPECT_EQ(known_names_hint("kerpel", {"alibi", "kerple"}),
            "; did you mean 'kerple'?; known: alibi, kerple");
  EXPECT_EQ(known_names_hint("quantum", {"alibi", "kerple"}), "; known: alibi, kerple");
}

}  // namespace
}  // namespace che
