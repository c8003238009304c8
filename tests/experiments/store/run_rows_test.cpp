#include "experiments/store/run_rows.h"

#include <gtest/gtest.h>

namespace che {
namespace {

EvaluationRow row(std::int64_t length, std::int64_t samples, double accuracy) {
  return {.length = length,
          .samples = samples,
          .seed = 0,
          .eval_dropout = false,
          .accuracy = accuracy,
          .loss = 0};
}

TEST(EvaluationRows, AreKeptInOneOrderWhateverTheOrderOfMeasuring) {
  std::vector<EvaluationRow> rows;
  for (const EvaluationRow& one : {row(9, 64, 0.1), row(7, 128, 0.2), row(7, 64, 0.3), row(9, 64, 0.4)}) {
    store_row(rows, one);
  }
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].accuracy, 0.3);
  EXPECT_EQ(rows[1].accuracy, 0.2);
  EXPECT_EQ(rows[2].accuracy, 0.4) << "a row of the same key is replaced";
}

TEST(EvaluationRows, MissingLengthsAreThoseOfTheAskedMeasurement) {
  RunConfig asked;
  asked.evaluation = {.first_length = 7, .last_length = 9, .samples = 64};
  EXPECT_EQ(missing_lengths({row(7, 64, 1), row(8, 128, 1)}, asked), (std::vector<std::int64_t>{8, 9}));
  EXPECT_TRUE(missing_lengths({row(7, 64, 1), row(8, 64, 1), row(9, 64, 1)}, asked).empty());
}

TEST(EvaluationRows, TheScoresErrorIsThatOfAMeanOfIndependentLengths) {
  std::vector<EvaluationRow> rows = {row(7, 128, 0.5), row(8, 128, 0.75)};
  EXPECT_FALSE(mean_error(rows).has_value()) << "rows of earlier versions have none";
  rows[0].accuracy_se = 0.03;
  EXPECT_FALSE(mean_error(rows).has_value());
  rows[1].accuracy_se = 0.04;
  EXPECT_DOUBLE_EQ(0.025, *mean_error(rows));
  EXPECT_FALSE(mean_error({}).has_value()) << "there is no score";
}

}  // namespace
}  // namespace che
