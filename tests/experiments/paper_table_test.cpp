#include "experiments/paper_table.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(PaperTable, HoldsTheCornersAndTheMiddle) {
  EXPECT_EQ(paper_score("even_pairs", "learned"), 50.04);
  EXPECT_EQ(paper_score("even_pairs", "dape_fire"), 100.0);
  EXPECT_EQ(paper_score("bucket_sort", "learned"), 98.32);
  EXPECT_EQ(paper_score("bucket_sort", "dape_fire"), 99.37);
  EXPECT_EQ(paper_score("missing_duplicate", "dape_kerple"), 87.57);
  EXPECT_EQ(paper_score("stack_manipulation", "relative"), 64.73);
}

TEST(PaperTable, HasNoNumberForWhatThePaperLacks) {
  EXPECT_EQ(paper_score("even_pairs", "none"), std::nullopt);
  EXPECT_EQ(paper_score("binary_multiplication", "rope"), std::nullopt);
  EXPECT_EQ(paper_score("even_pairs", "dape_kerple(dape.hidden=16)"), std::nullopt);
  EXPECT_EQ(paper_score("even_pairs", "level"), std::nullopt);
}

TEST(PaperTable, RandomizedFormsShareTheFourAmbiguousColumns) {
  for (const char* name : {"sin_cos", "rope", "relative", "alibi"}) {
    ASSERT_TRUE(paper_score("reverse_string", name).has_value()) << name;
    EXPECT_EQ(paper_score("reverse_string", std::string("randomized_") + name),
              paper_score("reverse_string", name));
  }
  for (const char* name : {"learned", "kerple", "fire", "dape_kerple"}) {
    EXPECT_EQ(paper_score("reverse_string", std::string("randomized_") + name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace che
