#include "experiments/paper_table.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(PaperTable, HoldsTheCornersAndTheMiddle) {
  EXPECT_EQ(paper_score("even_pairs", "learned"), 0.5004);
  EXPECT_EQ(paper_score("even_pairs", "dape_fire"), 1.0);
  EXPECT_EQ(paper_score("bucket_sort", "learned"), 0.9832);
  EXPECT_EQ(paper_score("bucket_sort", "dape_fire"), 0.9937);
  EXPECT_EQ(paper_score("missing_duplicate", "dape_kerple"), 0.8757);
  EXPECT_EQ(paper_score("stack_manipulation", "relative"), 0.6473);
}

TEST(PaperTable, HasNoNumberForWhatThePaperLacks) {
  EXPECT_EQ(paper_score("even_pairs", "none"), std::nullopt);
  EXPECT_EQ(paper_score("binary_multiplication", "rope"), std::nullopt);
  EXPECT_EQ(paper_score("even_pairs", "dape_kerple(dape.hidden=16)"), std::nullopt);
  EXPECT_EQ(paper_score("even_pairs", "level"), std::nullopt);
}

TEST(PaperTable, TellsTheBestColumnsOfARow) {
  using Columns = std::vector<std::string>;
  EXPECT_EQ(paper_best("missing_duplicate"), Columns{"dape_fire"});
  EXPECT_EQ(paper_best("bucket_sort"), Columns{"fire"});
  EXPECT_EQ(paper_best("binary_multiplication"), Columns{});
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
