#include <gtest/gtest.h>

#include "experiments/plan/identity.h"
#include "experiments/plan/run_config.h"

namespace che {
namespace {

TEST(ExactLengths, AreOneWayOfWritingTheSameLengths) {
  for (const EvaluationConfig& evaluation :
       {EvaluationConfig{.first_length = 17, .last_length = 80, .length_step = 30},
        EvaluationConfig{.first_length = 17, .last_length = 77, .length_step = 30},
        EvaluationConfig{.first_length = 9, .last_length = 9, .length_step = 1},
        EvaluationConfig{.first_length = 9, .last_length = 20, .length_step = 30}}) {
    const EvaluationConfig exact = with_exact_lengths(evaluation);
    EXPECT_EQ(exact.lengths(), evaluation.lengths());
    EXPECT_EQ(exact.last_length, evaluation.lengths().back());
    EXPECT_EQ(exact.length_step, evaluation.lengths().size() == 1 ? 1 : evaluation.length_step);
  }
}

TEST(ExactLengths, OfAListAreARangeWhereOneHasThem) {
  const EvaluationConfig even = with_exact_lengths({.listed_lengths = {17, 47, 77}});
  EXPECT_TRUE(even.listed_lengths.empty());
  EXPECT_EQ((std::vector<std::int64_t>{17, 47, 77}), even.lengths());
  EXPECT_EQ("17..77 in steps of 30", lengths_text({.listed_lengths = {17, 47, 77}}));
  const EvaluationConfig one = with_exact_lengths({.listed_lengths = {50}});
  EXPECT_EQ(1, one.length_step);
  EXPECT_EQ("50..50", lengths_text({.listed_lengths = {50}}));
  const std::vector<std::int64_t> uneven = {50, 100, 200, 400};
  EXPECT_EQ(uneven, with_exact_lengths({.listed_lengths = uneven}).lengths());
  EXPECT_EQ("50, 100, 200, 400", lengths_text({.listed_lengths = uneven}));
}

// Identity knows sets of lengths, and ids do not depend on them.
TEST(ExactLengths, AreThoseOfIdentity) {
  RunConfig one;
  one.evaluation = {.first_length = 17, .last_length = 80, .length_step = 30};
  RunConfig other = one;
  other.evaluation.last_length = 77;
  EXPECT_EQ(identity_text(one, {Role::kEvaluation}),
            "evaluation.first_length=17\nevaluation.last_length=77\nevaluation.length_step=30\n");
  EXPECT_EQ(identity_text(one, {Role::kEvaluation}), identity_text(other, {Role::kEvaluation}));
  EXPECT_EQ(run_id(one), run_id(other));
}

}  // namespace
}  // namespace che
