#include "experiments/statistics/score_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

TEST(ScoreSummary, OfEightScoresByHand) {
  const ScoreSummary summary = summarize({8, 1, 3, 2, 100, 5, 4, 6});
  EXPECT_EQ(summary.n, 8U);
  EXPECT_EQ(summary.max, 100);
  EXPECT_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.mean, 129.0 / 8);
  EXPECT_DOUBLE_EQ(summary.median, 4.5);
  EXPECT_DOUBLE_EQ(summary.iqm, (3 + 4 + 5 + 6) / 4.0) << "without the two lowest and the two highest";
  // Type 7: places 1.75 and 5.25 of 1 2 3 4 5 6 8 100.
  EXPECT_EQ(summary.quartiles.value(), std::pair(2.75, 6.5));
}

TEST(ScoreSummary, SpreadGoesWithTheAggregate) {
  const ScoreSummary summary = summarize({1, 2, 4, 9});
  EXPECT_EQ(summary.value(Aggregate::kMax), 9);
  EXPECT_EQ(summarize({1, 2, 4, 9}, {.greater_is_better = false}).value(Aggregate::kMax), 1);
  EXPECT_EQ(summary.spread(Aggregate::kMax), 8);
  EXPECT_EQ(summary.value(Aggregate::kMean), 4);
  // Squared distances to the mean: 9, 4, 0, 25.
  EXPECT_DOUBLE_EQ(summary.spread(Aggregate::kMean).value(), std::sqrt(38.0 / 3));
  EXPECT_EQ(summary.value(Aggregate::kMedian), 3);
  EXPECT_DOUBLE_EQ(summary.spread(Aggregate::kMedian).value(), 5.25 - 1.75);
  EXPECT_EQ(summary.value(Aggregate::kIqm), 3);
  EXPECT_EQ(summary.spread(Aggregate::kIqm), summary.spread(Aggregate::kMedian));
}

TEST(ScoreSummary, OneScoreHasNoSpread) {
  const ScoreSummary summary = summarize({0.25});
  for (const std::string& name : aggregate_names()) {
    EXPECT_EQ(summary.value(aggregate_named(name)), 0.25) << name;
    EXPECT_EQ(summary.spread(aggregate_named(name)), std::nullopt) << name;
  }
}

// A model that diverged can have an infinite perplexity.
TEST(ScoreSummary, OfInfiniteScoresIsInfinite) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const ScoreSummary all = summarize({kInfinite, kInfinite, kInfinite}, {.greater_is_better = false});
  const ScoreSummary some = summarize({3, 1, kInfinite, 2, kInfinite}, {.greater_is_better = false});
  for (const Aggregate aggregate : {Aggregate::kMax, Aggregate::kMean, Aggregate::kMedian, Aggregate::kIqm}) {
    EXPECT_EQ(all.value(aggregate), kInfinite);
    EXPECT_EQ(aggregate_of({kInfinite, kInfinite}, aggregate), kInfinite);
    EXPECT_EQ(all.spread(aggregate), std::nullopt);
  }
  EXPECT_EQ(some.value(Aggregate::kMax), 1);
  EXPECT_EQ(some.value(Aggregate::kMean), kInfinite);
  EXPECT_EQ(some.spread(Aggregate::kMean), std::nullopt);
  EXPECT_EQ(some.value(Aggregate::kMedian), 3);
  EXPECT_EQ(some.quartiles, std::pair(2.0, kInfinite));
  EXPECT_EQ(some.spread(Aggregate::kMedian), kInfinite);
}

TEST(ScoreSummary, AggregateOfIsTheSummarysValue) {
  const std::vector<double> values = {0.3, 0.9, 0.1, 0.7, 0.2};
  for (const std::string& name : aggregate_names()) {
    EXPECT_DOUBLE_EQ(aggregate_of(values, aggregate_named(name)),
                     summarize(values).value(aggregate_named(name)))
        << name;
  }
}

TEST(ScoreSummary, NamesAreReadBackAndUnknownOnesRefused) {
  for (const std::string& name : aggregate_names()) EXPECT_EQ(aggregate_name(aggregate_named(name)), name);
  expect_contains(message_of([] { aggregate_named("medain"); }), {"did you mean 'median'"});
}

TEST(Metric, PrintsAccuraciesInPercent) {
  const Metric accuracy;
  EXPECT_EQ(accuracy.value(0.7512, 2), 0.7512);
  EXPECT_EQ(accuracy.format(0.7512), "75.1");
  EXPECT_EQ(accuracy.format_difference(0.0123), "+1.2");
  EXPECT_EQ(accuracy.format_difference(-0.0123), "-1.2");
  EXPECT_EQ(accuracy.format_difference(-0.0001), "+0.0") << "zero is not negative";
}

TEST(Metric, ReadsThePerplexityOffTheLoss) {
  const Metric perplexity{.source = Metric::Source::kPerplexity, .greater_is_better = false};
  EXPECT_DOUBLE_EQ(perplexity.value(0.25, std::log(12.5)), 12.5);
  EXPECT_EQ(perplexity.format(12.504), "12.50");
  EXPECT_EQ(perplexity.format_difference(-1.25), "-1.25");
  EXPECT_EQ(perplexity.format(1.25e138), "1.25e+138") << "of a model that diverged";
  EXPECT_EQ(perplexity.format_difference(1.25e138), "+1.25e+138");
  EXPECT_EQ(perplexity.format_difference(-HUGE_VAL), "-inf");
  EXPECT_EQ(perplexity.rank(12.504), perplexity.rank(12.496));
  EXPECT_GT(perplexity.rank(12), perplexity.rank(13));
}

}  // namespace
}  // namespace che
