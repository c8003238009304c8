#include "experiments/results/comparison.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/error.h"
#include "experiments/results/read_results.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using ComparisonTest = ScratchTest;

void store(const ScratchFolder& scratch, const std::string& task, const std::string& encoding,
           std::int64_t seed, double rate, double score) {
  RunConfig config = made_up_config(task, encoding, seed);
  config.learning_rate = rate;
  store_run(scratch.path(), config, RunState::kFinished, score);
}

// Three seeds of reverse_string at two rates; seed 2 lacks a rate on one side; even_pairs has one seed.
ResultTable small_table(const ScratchFolder& scratch) {
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    const double base = 0.5 + 0.125 * static_cast<double>(seed);
    store(scratch, "reverse_string", "rope", seed, 1e-3, base + 0.125);
    store(scratch, "reverse_string", "rope", seed, 1e-4, base);
    store(scratch, "reverse_string", "none", seed, 1e-3, base);
    if (seed < 2) store(scratch, "reverse_string", "none", seed, 1e-4, base - 0.25);
  }
  store(scratch, "even_pairs", "rope", 0, 1e-3, 0.75);
  store(scratch, "even_pairs", "none", 0, 1e-3, 0.5);
  store(scratch, "bucket_sort", "rope", 0, 1e-3, 0.75);
  return make_table(open_runs(scratch.path()));
}

TEST_F(ComparisonTest, PairsSeedsOverTheRatesThatBothHaveWithEverySeed) {
  const Comparison comparison = compare(small_table(scratch_), "rope", "none", Aggregate::kMean);
  ASSERT_EQ(comparison.tasks.size(), 2U) << "bucket_sort has no run of none";
  EXPECT_EQ(comparison.tasks[0].task.name, "even_pairs");
  const ComparedTask& task = comparison.tasks[1];
  EXPECT_EQ(task.seeds, 3U);
  EXPECT_EQ(task.unpaired, 5U) << "those at 1e-4, which a seed lacks on one side";
  EXPECT_DOUBLE_EQ(task.difference.value(), 0.125);
  // Scores of rope by seed: 0.625, 0.75, 0.875.
  EXPECT_DOUBLE_EQ(task.one.value(), 0.75);
  EXPECT_DOUBLE_EQ(task.p.value(), 0.25);
  EXPECT_FALSE(task.interval.has_value()) << "three seeds give [least, greatest], which covers 75 %";
  EXPECT_EQ(comparison.one_sided, std::vector<TaskLabel>{{.name = "bucket_sort"}});
}

TEST_F(ComparisonTest, AveragesRatesThatAllSeedsHave) {
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    for (const double rate : {1e-3, 1e-4}) {
      store(scratch_, "even_pairs", "rope", seed, rate, rate == 1e-3 ? 0.875 : 0.75);
      store(scratch_, "even_pairs", "none", seed, rate, 0.5);
    }
  }
  const ComparedTask task =
      compare(make_table(open_runs(scratch_.path())), "rope", "none", Aggregate::kMedian).tasks[0];
  EXPECT_EQ(task.unpaired, 0U);
  EXPECT_EQ(task.rates, (std::vector<double>{1e-4, 1e-3}));
  EXPECT_DOUBLE_EQ(task.one.value(), 0.8125);
  EXPECT_DOUBLE_EQ(task.difference.value(), 0.3125);
}

// Two rates with two seeds each and one in common: the lower rate's count, and nothing is mixed.
TEST_F(ComparisonTest, OfEqualDesignsTakesTheLowestRate) {
  for (const auto& [seed, rate] : {std::pair(0, 1e-4), {1, 1e-4}, {1, 1e-3}, {2, 1e-3}}) {
    store(scratch_, "even_pairs", "rope", seed, rate, rate == 1e-4 ? 0.75 : 0.875);
    store(scratch_, "even_pairs", "none", seed, rate, 0.5);
  }
  const ComparedTask task =
      compare(make_table(open_runs(scratch_.path())), "rope", "none", Aggregate::kMean).tasks[0];
  EXPECT_EQ(task.seeds, 2U);
  EXPECT_EQ(task.rates, std::vector<double>{1e-4});
  EXPECT_EQ(task.unpaired, 4U);
  EXPECT_DOUBLE_EQ(task.one.value(), 0.75);
}

TEST_F(ComparisonTest, OneSeedHasADifferenceAndNoTest) {
  const ComparedTask task = compare(small_table(scratch_), "rope", "none", Aggregate::kMean).tasks[0];
  EXPECT_DOUBLE_EQ(task.difference.value(), 0.25);
  EXPECT_FALSE(task.p.has_value());
  EXPECT_FALSE(task.interval.has_value());
  EXPECT_FALSE(task.adjusted_p.has_value());
}

// Three effects of batches, each on three seeds, are no nine independent differences.
TEST_F(ComparisonTest, OfSeedsThatShareTheirBatchesInPartHasNoTest) {
  const auto compared = [](std::int64_t seeds, std::int64_t data_seeds) {
    const ScratchFolder scratch;
    for (std::int64_t i = 0; i < seeds * data_seeds; ++i) {
      for (const char* const encoding : {"rope", "none"}) {
        RunConfig config = made_up_config("even_pairs", encoding, i % seeds);
        config.data_seed = i / seeds;
        store_run(scratch.path(), config, RunState::kFinished, encoding[0] == 'r' ? 0.75 : 0.5);
      }
    }
    return compare(make_table(open_runs(scratch.path())), "rope", "none", Aggregate::kMean).tasks[0];
  };
  const ComparedTask crossed = compared(3, 3);
  EXPECT_EQ(crossed.seeds, 9U);
  EXPECT_EQ(crossed.difference, 0.25);
  EXPECT_TRUE(crossed.share_seeds);
  EXPECT_FALSE(crossed.p || crossed.interval || crossed.detectable);
  for (const auto& [seeds, data_seeds] : {std::pair(9, 1), std::pair(1, 9)}) {
    const ComparedTask one = compared(seeds, data_seeds);
    EXPECT_FALSE(one.share_seeds);
    EXPECT_TRUE(one.p && one.interval && one.detectable);
  }
}

TEST_F(ComparisonTest, HasAnIntervalFromSixSeedsOn) {
  const auto interval_of = [](std::int64_t seeds) {
    const ScratchFolder scratch;
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      store(scratch, "even_pairs", "rope", seed, 1e-3, 0.5 + 0.0625 * static_cast<double>(seed));
      store(scratch, "even_pairs", "none", seed, 1e-3, 0.5);
    }
    return compare(make_table(open_runs(scratch.path())), "rope", "none", Aggregate::kMean).tasks[0].interval;
  };
  EXPECT_FALSE(interval_of(5).has_value());
  const auto interval = interval_of(6);
  ASSERT_TRUE(interval.has_value());
  EXPECT_GT(interval->low, 0);
  EXPECT_LT(interval->low, 0.15625) << "the mean";
  EXPECT_GT(interval->high, 0.15625);
  EXPECT_LT(interval->high, 0.3125);
}

TEST_F(ComparisonTest, HolmAdjustsOverTheTasksThatAreTested) {
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    store(scratch_, "odds_first", "rope", seed, 1e-3, 0.75);
    store(scratch_, "odds_first", "none", seed, 1e-3, seed == 0 ? 0.875 : 0.5);
  }
  const Comparison comparison = compare(small_table(scratch_), "rope", "none", Aggregate::kMean);
  EXPECT_DOUBLE_EQ(comparison.tasks[1].adjusted_p.value(), 0.5) << "0.25 of two tests";
  EXPECT_EQ(comparison.tasks[2].task.name, "odds_first");
  EXPECT_GE(comparison.tasks[2].adjusted_p.value(), comparison.tasks[2].p.value());
}

TEST_F(ComparisonTest, RefusesWhatItCannotCompare) {
  ResultTable table = small_table(scratch_);
  const auto message = [&](const std::string& one, const std::string& other, Aggregate aggregate) {
    return message_of([&] { compare(table, one, other, aggregate); });
  };
  expect_contains(message("rope", "none", Aggregate::kMax), {"mean, median or iqm"});
  expect_contains(message("roep", "none", Aggregate::kMean), {"did you mean 'rope'"});
  EXPECT_EQ(message("rope", "rope", Aggregate::kMean),
            "'rope' is named twice, compared with itself; name two of these columns: none, rope");
  const ScratchFolder apart;
  store(apart, "reverse_string", "rope", 0, 1e-3, 0.5);
  store(apart, "reverse_string", "none", 1, 1e-3, 0.5);
  table = make_table(open_runs(apart.path()));
  expect_contains(message("rope", "none", Aggregate::kMean), {"run both with the same"});
  store_run(apart.path(), made_up_config("reverse_string", "none"), RunState::kWaiting);
  table = make_table(open_runs(apart.path()));
  expect_contains(message("rope", "none", Aggregate::kMean), {"1 run is not finished; `che run`"});
  const ScratchFolder disjoint;
  store(disjoint, "reverse_string", "rope", 0, 1e-3, 0.5);
  store(disjoint, "even_pairs", "none", 0, 1e-3, 0.5);
  table = make_table(open_runs(disjoint.path()));
  EXPECT_EQ(message("rope", "none", Aggregate::kMean),
            "rope and none have no task in common: none has runs of even_pairs, rope has runs of "
            "reverse_string");
  const ScratchFolder longer;
  store(longer, "reverse_string", "rope", 0, 1e-3, 0.5);
  RunConfig config = made_up_config("reverse_string", "none");
  config.learning_rate = 1e-3;
  config.evaluation.last_length = 60;
  store_run(longer.path(), config, RunState::kFinished, 0.5);
  table = make_table(open_runs(longer.path()));
  expect_contains(
      message("rope(evaluation.last_length=44)", "none(evaluation.last_length=60)", Aggregate::kMean),
      {"are evaluated differently on reverse_string"});
}

TEST_F(ComparisonTest, SaysWhenOnlyLeavesAColumnOut) {
  small_table(scratch_);
  const ResultTable table = read_table({scratch_.path()}, RunChoice({.only = {"encoding=rope"}}));
  EXPECT_EQ(message_of([&] { compare(table, "none", "rope", Aggregate::kMean); }),
            "'none' is left out by --only or --skip; there are: rope");
  const ScratchFolder single;
  store(single, "reverse_string", "rope", 0, 1e-3, 0.5);
  EXPECT_EQ(
      message_of([&] { compare(make_table(open_runs(single.path())), "rope", "rope", Aggregate::kMean); }),
      "there is one column, rope; nothing to compare it with");
}

// What only evaluation reads is a setting of the encoding: the samples are the same.
TEST_F(ComparisonTest, ComparesATrainedModelWithItselfUnderAnotherScaling) {
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    const RunFolder run =
        store_run(scratch_.path(), made_up_config("even_pairs", "rope", seed), RunState::kFinished, 0.5);
    std::vector<EvaluationRow> rows = run.read().evaluation;
    for (EvaluationRow row : run.read().evaluation) {
      row.encoding_settings = {{"scaling", "yarn"}};
      row.accuracy = 0.75;
      store_row(rows, row);
    }
    run.write_evaluation(rows);
  }
  const ResultTable table = make_table(open_runs(scratch_.path()));
  EXPECT_DOUBLE_EQ(compare(table, "rope(scaling=yarn)", "rope", Aggregate::kMean).tasks[0].difference.value(),
                   0.25);
  EXPECT_TRUE(table.reading_notes.empty());
  // The other setting at fewer lengths than the config's.
  const RunFolder run = open_runs(scratch_.path())[0];
  std::vector<EvaluationRow> rows = run.read().evaluation;
  rows.pop_back();
  run.write_evaluation(rows);
  EXPECT_EQ(
      std::vector<std::string>{
          "Results of `che evaluate --set` that lack test lengths of a score stand in no column: 1."},
      make_table(open_runs(scratch_.path())).reading_notes);
}

// Runs that the comparison leaves out do not count.
TEST_F(ComparisonTest, CountsTheComparedRunsThatDidNotTrain) {
  const auto store_trained_to = [&](const std::string& encoding, std::int64_t seed, double accuracy) {
    store_run(scratch_.path(), made_up_config("even_pairs", encoding, seed), RunState::kFinished, 0.5,
              accuracy);
  };
  for (const std::int64_t seed : {0, 1}) {
    store_trained_to("rope", seed, 0.5);
    store_trained_to("none", seed, seed == 0 ? 0.5 : 1);
  }
  store_trained_to("rope", 2, 0.5);
  store_trained_to("alibi", 3, 0.5);
  const ResultTable table = make_table(open_runs(scratch_.path()));
  const ComparedTask task = compare(table, "rope", "none", Aggregate::kMean).tasks.at(0);
  EXPECT_EQ(2U, task.one_runs.counted);
  EXPECT_EQ(2U, task.one_runs.untrained);
  EXPECT_TRUE(task.one_runs.did_not_train());
  EXPECT_EQ(2U, task.other_runs.counted);
  EXPECT_EQ(1U, task.other_runs.untrained);
  EXPECT_FALSE(task.other_runs.did_not_train());
  EXPECT_EQ(1U, task.unpaired);
  EXPECT_THROW(compare(table, "rope", "alibi", Aggregate::kMean), Error) << "no seed is common";
}

}  // namespace
}  // namespace che
