#include "experiments/results/best_encodings.h"

#include <gtest/gtest.h>

#include "tests/experiments/results/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using BestEncodingsTest = ScratchTest;

using Names = std::vector<std::string>;
using Weaknesses = std::vector<WeakBest>;

// Encodings of reverse_string with these scores.
ResultTable table_of(const ScratchFolder& scratch,
                     const std::vector<std::pair<std::string, double>>& scores) {
  for (const auto& [encoding, score] : scores) {
    store_run(scratch.path(), made_up_config("reverse_string", encoding), RunState::kFinished, score);
  }
  return make_table(open_runs(scratch.path()));
}

TEST_F(BestEncodingsTest, HaveTheHighestScore) {
  ResultTable table = table_of(scratch_, {{"rope", 0.75}, {"alibi", 0.5}, {"kerple", 0.625}});
  const BestEncodings best = best_encodings(table, table.rows[0], Aggregate::kMax);
  EXPECT_EQ(texts_of(best.encodings), Names{"rope"});
  EXPECT_EQ(best.scored, 3U);
  EXPECT_FALSE(best.above_trivial.has_value()) << "nothing is known of what predictors score";
}

TEST_F(BestEncodingsTest, HaveTheLowestPerplexity) {
  ResultTable table = table_of(scratch_, {{"rope", 0.75}, {"alibi", 0.5}, {"kerple", 0.625}});
  table.rows[0].metric = {.source = Metric::Source::kPerplexity, .greater_is_better = false};
  table.rows[0].chance = 0.625;
  EXPECT_EQ(texts_of(best_encodings(table, table.rows[0], Aggregate::kMean).encodings), Names{"alibi"});
  EXPECT_EQ(texts_of(second_encodings(table, table.rows[0], Aggregate::kMean).encodings), Names{"kerple"});
  EXPECT_TRUE(best_encodings(table, table.rows[0], Aggregate::kMean).passes_chance);
  EXPECT_FALSE(second_encodings(table, table.rows[0], Aggregate::kMean).passes_chance);
}

TEST_F(BestEncodingsTest, TieWhereTablesPrintEqualScores) {
  const ResultTable table = table_of(scratch_, {{"rope", 0.75}, {"alibi", 0.7502}, {"kerple", 0.7506}});
  EXPECT_EQ(texts_of(best_encodings(table, table.rows[0], Aggregate::kMax).encodings), Names{"kerple"});
  const ScratchFolder closer;
  const ResultTable tied = table_of(closer, {{"rope", 0.75}, {"alibi", 0.7502}, {"kerple", 0.5}});
  EXPECT_EQ(texts_of(best_encodings(tied, tied.rows[0], Aggregate::kMax).encodings),
            (Names{"rope", "alibi"}));
}

TEST_F(BestEncodingsTest, AreMeasuredAgainstTheBestBaseline) {
  ResultTable table = table_of(scratch_, {{"rope", 0.75}});
  table.rows[0].baselines = baselines({0.5}, {0.625, 0.0123});
  const BestEncodings best = best_encodings(table, table.rows[0], Aggregate::kMax);
  EXPECT_EQ(best.above_trivial, 0.125);
  EXPECT_EQ(best.trivial_error, 0.0123);
}

// The samples of the model are as few as those of the baseline.
TEST_F(BestEncodingsTest, TheScoresOwnErrorCounts) {
  ResultTable table = table_of(scratch_, {{"rope", 0.6449}, {"alibi", 0.5}});
  table.rows[0].baselines = baselines({0.5}, {0.625, 0.006});
  const auto best = [&] { return best_encodings(table, table.rows[0], Aggregate::kMax); };
  EXPECT_TRUE(best().is_distinct());
  for (auto& [key, cell] : table.cells) cell.best_error = 0.008;
  EXPECT_EQ(best().weaknesses(), Weaknesses{WeakBest::kTrivial})
      << "1.99 points are less than two errors of 1 point";
}

// One batch of samples has no standard error.
TEST_F(BestEncodingsTest, AreNotDistinctBelowABaselineOfUnknownError) {
  ResultTable table = table_of(scratch_, {{"rope", 0.75}, {"alibi", 0.5}});
  table.rows[0].baselines = baselines({0.5}, {0.7501, std::nullopt});
  EXPECT_EQ(best_encodings(table, table.rows[0], Aggregate::kMax).weaknesses(),
            Weaknesses{WeakBest::kTrivial});
  table.rows[0].baselines->position_only.score = 0.7499;
  EXPECT_TRUE(best_encodings(table, table.rows[0], Aggregate::kMax).is_distinct());
}

TEST_F(BestEncodingsTest, AreNotDistinctWhereMostTie) {
  const ResultTable table = table_of(scratch_, {{"rope", 0.75}, {"alibi", 0.75}, {"kerple", 0.5}});
  EXPECT_EQ(best_encodings(table, table.rows[0], Aggregate::kMax).weaknesses(), Weaknesses{WeakBest::kTied});
  const ScratchFolder half;
  const ResultTable two = table_of(half, {{"rope", 0.75}, {"alibi", 0.5}});
  EXPECT_TRUE(best_encodings(two, two.rows[0], Aggregate::kMax).is_distinct());
}

TEST_F(BestEncodingsTest, AreNotDistinctWithinTheNoiseOfABaseline) {
  ResultTable table = table_of(scratch_, {{"rope", 0.53125}, {"alibi", 0.5}});
  for (const double error : {0.02, 0.01}) {
    table.rows[0].baselines = baselines({0.5, error}, {0.25});
    EXPECT_EQ(best_encodings(table, table.rows[0], Aggregate::kMax).is_distinct(), error == 0.01);
  }
}

TEST_F(BestEncodingsTest, SecondsFollowTheRuleOfTheBest) {
  ResultTable table = table_of(scratch_, {{"rope", 0.75}, {"alibi", 0.53125}, {"kerple", 0.25}});
  const auto second = [&] { return second_encodings(table, table.rows[0], Aggregate::kMax); };
  EXPECT_EQ(texts_of(second().encodings), Names{"alibi"});
  EXPECT_TRUE(second().is_distinct());
  for (const double baseline : {0.52, 0.625}) {  // Within its noise, and below it.
    table.rows[0].baselines = baselines({baseline, 0.02}, {0.25});
    EXPECT_EQ(second().weaknesses(), Weaknesses{WeakBest::kTrivial});
    EXPECT_TRUE(best_encodings(table, table.rows[0], Aggregate::kMax).is_distinct());
  }
  table.rows[0].baselines.reset();
  table.rows[0].chance = 0.6;
  EXPECT_EQ(second().weaknesses(), Weaknesses{WeakBest::kNotAboveChance});
  const ScratchFolder tied;
  const ResultTable seconds = table_of(tied, {{"rope", 0.75}, {"alibi", 0.625}, {"kerple", 0.625}});
  EXPECT_EQ(second_encodings(seconds, seconds.rows[0], Aggregate::kMax).weaknesses(),
            Weaknesses{WeakBest::kTied});
  const ScratchFolder equal;
  const ResultTable none = table_of(equal, {{"rope", 0.75}, {"alibi", 0.75}});
  EXPECT_TRUE(second_encodings(none, none.rows[0], Aggregate::kMax).encodings.empty());
}

TEST_F(BestEncodingsTest, AreNoneWithoutAScore) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFailed);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_TRUE(best_encodings(table, table.rows[0], Aggregate::kMax).encodings.empty());
}

TEST_F(BestEncodingsTest, AreNotDistinctWhereTheyAreMeasuredDifferently) {
  RunConfig rope = made_up_config("reverse_string", "rope");
  store_run(scratch_.path(), rope, RunState::kFinished, 0.75);
  RunConfig alibi = made_up_config("reverse_string", "alibi");
  // The same lengths, 41 to 44, in other words.
  rope.evaluation.length_step = alibi.evaluation.length_step = 2;
  rope.evaluation.last_length = 44;
  alibi.evaluation.last_length = 43;
  const ScratchFolder alike;
  store_run(alike.path(), rope, RunState::kFinished, 0.75);
  store_run(alike.path(), alibi, RunState::kFinished, 0.5);
  const ResultTable same = make_table(open_runs(alike.path()));
  EXPECT_TRUE(best_encodings(same, same.rows[0], Aggregate::kMax).is_distinct());
  alibi.evaluation.length_step = 1;
  alibi.evaluation.last_length = 50;
  store_run(scratch_.path(), alibi, RunState::kFinished, 0.5);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  ASSERT_EQ(table.encodings.size(), 2U);
  EXPECT_EQ(best_encodings(table, table.rows[0], Aggregate::kMax).weaknesses(),
            Weaknesses{WeakBest::kMeasuredUnalike});
}

// A mean over learning rates that only one of two cells has compares nothing; the best of them does.
TEST_F(BestEncodingsTest, AreNotDistinctWhereMeansAreOverOtherLearningRates) {
  const auto store = [&](const char* encoding, double rate, double score) {
    RunConfig config = made_up_config("reverse_string", encoding);
    config.learning_rate = rate;
    store_run(scratch_.path(), config, RunState::kFinished, score);
  };
  const auto weaknesses = [&](Aggregate aggregate) {
    const ResultTable table = make_table(open_runs(scratch_.path()));
    return best_encodings(table, table.rows[0], aggregate).weaknesses();
  };
  store("rope", 1e-3, 0.75);
  store("alibi", 1e-4, 0.5);
  EXPECT_EQ(weaknesses(Aggregate::kMean), Weaknesses{}) << "each cell has one rate";
  store("rope", 1e-4, 0.5);
  for (const Aggregate aggregate : {Aggregate::kMean, Aggregate::kMedian, Aggregate::kIqm}) {
    EXPECT_EQ(weaknesses(aggregate), Weaknesses{WeakBest::kRatesUnalike});
  }
  EXPECT_EQ(weaknesses(Aggregate::kMax), Weaknesses{});
  store("alibi", 1e-3, 0.25);
  EXPECT_EQ(weaknesses(Aggregate::kMean), Weaknesses{});
}

}  // namespace
}  // namespace che
