#include "experiments/results/paper_agreement.h"

#include <gtest/gtest.h>

#include "experiments/published/paper_table.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using PaperAgreementTest = ScratchTest;

// The counts that the paper's text gives of its own table (section 4).
TEST(PaperClaims, HoldInThePapersTableAsItsTextCounts) {
  const std::vector<PaperClaim> claims = count_claims({}, Aggregate::kMax);
  ASSERT_EQ(claims.size(), 6U);
  const std::vector<std::pair<std::string, std::size_t>> expected = {{"DAPE with Kerple or FIRE is best", 10},
                                                                     {"DAPE improves ALiBi", 11},
                                                                     {"DAPE improves FIRE", 11},
                                                                     {"DAPE improves Kerple", 10},
                                                                     {"FIRE outperforms Kerple", 9},
                                                                     {"Kerple outperforms ALiBi", 11}};
  for (std::size_t i = 0; i < claims.size(); ++i) {
    EXPECT_EQ(claims[i].text, expected[i].first);
    EXPECT_EQ(claims[i].paper.holds, expected[i].second) << claims[i].text;
    EXPECT_EQ(claims[i].paper.tasks, claims[i].text.starts_with("DAPE") ? 11U : 14U);
    EXPECT_EQ(claims[i].here.tasks, 0U);
  }
}

TEST(PaperClaims, CountTasksThatHaveBothSides) {
  const ScratchFolder scratch;
  const auto store = [&](const std::string& task, const std::string& encoding, double score) {
    store_run(scratch.path(), made_up_config(task, encoding), RunState::kFinished, score);
  };
  store("even_pairs", "randomized_alibi", 0.5);
  store("even_pairs", "randomized_dape_alibi", 0.75);
  store("reverse_string", "randomized_alibi", 0.75);
  store("reverse_string", "randomized_dape_alibi", 0.5);
  // Chance decides between two cells that did not train.
  for (const char* encoding : {"randomized_alibi", "randomized_dape_alibi"}) {
    const RunConfig config = made_up_config("missing_duplicate", encoding);
    store_run(scratch.path(), config, RunState::kFinished, config.encoding.dape ? 0.53125 : 0.5, 0.5);
  }
  store("odds_first", "randomized_dape_alibi", 0.75);
  store("odds_first", "alibi", 0.5);               // Other positions than the paper's.
  store("parity_check", "randomized_alibi", 0.5);  // Permutation-invariant.
  store("parity_check", "randomized_dape_alibi", 0.75);
  const ResultTable table = make_table(open_runs(scratch.path()));
  const std::vector<PaperClaim> claims = count_claims(comparable_rows(table), Aggregate::kMax);
  EXPECT_EQ(claims[1].here.holds, 1U);
  EXPECT_EQ(claims[1].here.tasks, 2U);
  EXPECT_EQ(claims[0].here.tasks, 0U) << "columns of the paper are missing";
}

using Labels = std::vector<std::string>;

// Finished runs of a task, whose scores stand in the paper's order (`sign` 1) or in its reverse (-1).
void store_in_order(const ScratchFolder& scratch, const std::string& task, const Labels& encodings,
                    int sign) {
  for (const std::string& encoding : encodings) {
    const RunConfig config = made_up_config(task, encoding);
    store_run(scratch.path(), config, RunState::kFinished,
              0.5 + 0.4 * sign * paper_value({.name = task}, config.encoding)->score);
  }
}

TEST_F(PaperAgreementTest, ComparesTheOrderOfWhatBothHave) {
  const Labels encodings = {"randomized_rope", "randomized_alibi", "randomized_kerple",
                            "randomized_dape_kerple"};
  store_in_order(scratch_, "reverse_string", encodings, 1);
  store_in_order(scratch_, "missing_duplicate", encodings, -1);
  store_run(scratch_.path(), made_up_config("reverse_string", "none"), RunState::kFinished,
            0.875);  // Not in the paper.
  store_run(scratch_.path(), made_up_config("bucket_sort", "rope"), RunState::kFailed);
  const PaperAgreement agreement = agree(make_table(open_runs(scratch_.path())), Aggregate::kMax);
  ASSERT_EQ(agreement.tasks.size(), 3U);
  const AgreedTask& same = agreement.tasks[0];
  EXPECT_EQ(same.task.text(), "reverse_string");
  EXPECT_EQ(same.encodings, 4U);
  EXPECT_DOUBLE_EQ(same.correlation.value(), 1);
  const AgreedTask& reversed = agreement.tasks[1];
  EXPECT_EQ(reversed.task.text(), "missing_duplicate");
  EXPECT_DOUBLE_EQ(reversed.correlation.value(), -1);
  EXPECT_NEAR(reversed.p.value(), 2.0 / 24, 0.005);
  EXPECT_NEAR(reversed.adjusted_p.value(), 2 * reversed.p.value(), 0.005);
  const AgreedTask& failed = agreement.tasks[2];
  EXPECT_EQ(failed.encodings, 0U);
  EXPECT_FALSE(failed.correlation.has_value());
  EXPECT_FALSE(failed.adjusted_p.has_value());
  EXPECT_EQ(agreement.ranked, 2U);
  EXPECT_DOUBLE_EQ(agreement.mean.value(), 0);
}

TEST_F(PaperAgreementTest, TiesAndFewEncodingsHaveNoCorrelation) {
  const Labels encodings = {"randomized_rope", "randomized_kerple", "randomized_dape_kerple"};
  store_run(scratch_.path(), made_up_config("even_pairs", "randomized_alibi"), RunState::kFinished, 0.5);
  for (const std::string& encoding : encodings) {
    store_run(scratch_.path(), made_up_config("even_pairs", encoding), RunState::kFinished, 0.5);
  }
  store_in_order(scratch_, "reverse_string", encodings, 1);
  const PaperAgreement agreement = agree(make_table(open_runs(scratch_.path())), Aggregate::kMean);
  EXPECT_EQ(agreement.tasks[0].encodings, 4U);
  EXPECT_FALSE(agreement.tasks[0].correlation.has_value()) << "all tie";
  EXPECT_EQ(agreement.tasks[1].encodings, 3U);
  EXPECT_FALSE(agreement.tasks[1].correlation.has_value());
  EXPECT_FALSE(agreement.mean.has_value());
}

TEST_F(PaperAgreementTest, ColumnsThatAreEvaluatedDifferentlyAreNotRanked) {
  const Labels encodings = {"randomized_rope", "randomized_alibi", "randomized_kerple",
                            "randomized_dape_kerple"};
  store_in_order(scratch_, "reverse_string", encodings, 1);
  store_in_order(scratch_, "missing_duplicate", {encodings.begin(), encodings.end() - 1}, 1);
  RunConfig other = made_up_config("missing_duplicate", encodings.back());
  other.evaluation.samples *= 2;
  store_run(scratch_.path(), other, RunState::kFinished, 0.875);
  const PaperAgreement agreement = agree(make_table(open_runs(scratch_.path())), Aggregate::kMax);
  ASSERT_EQ(2U, agreement.tasks.size());
  for (const AgreedTask& task : agreement.tasks) {
    const bool is_alike = task.task.name == "reverse_string";
    EXPECT_EQ(is_alike, task.measured_alike) << task.task.text();
    EXPECT_EQ(is_alike, task.correlation.has_value()) << task.task.text();
  }
  EXPECT_EQ(1U, agreement.claims[3].here.tasks) << agreement.claims[3].text;
  EXPECT_EQ(1U, agreement.claims[5].here.tasks) << agreement.claims[5].text;
}

// Two cells of ours that have one value of the paper.
TEST_F(PaperAgreementTest, AValueOfThePaperCountsOnce) {
  store_in_order(scratch_, "reverse_string", {"randomized_dape_kerple", "randomized_kerple"}, 1);
  RunConfig wide = made_up_config("reverse_string", "randomized_dape_kerple");
  wide.model.shape().width = 128;
  store_run(scratch_.path(), wide, RunState::kFinished, 0.5);
  const PaperAgreement agreement = agree(make_table(open_runs(scratch_.path())), Aggregate::kMax);
  ASSERT_EQ(agreement.tasks.size(), 1U);
  EXPECT_EQ(agreement.tasks[0].encodings, 2U);
  ASSERT_EQ(agreement.tasks[0].doubles.size(), 1U);
  EXPECT_EQ(agreement.tasks[0].doubles.back().second.text(), "randomized_dape_kerple(model.width=64)");
}

TEST_F(PaperAgreementTest, PlainPositionsAreNotCompared) {
  store_in_order(scratch_, "reverse_string", {"rope", "alibi", "kerple", "dape_kerple", "dape_alibi"}, 1);
  const PaperAgreement agreement = agree(make_table(open_runs(scratch_.path())), Aggregate::kMax);
  EXPECT_EQ(agreement.tasks[0].encodings, 0U);
}

// Seed 0 has the paper's order, seed 1 its reverse, seed 2 lacks a run.
TEST_F(PaperAgreementTest, TellsWhatSingleSeedsSay) {
  const std::string task = "missing_duplicate";
  const Labels encodings = {"randomized_rope", "randomized_alibi", "randomized_kerple",
                            "randomized_dape_kerple"};
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    for (const std::string& encoding : encodings) {
      if (seed == 2 && encoding == "randomized_dape_kerple") continue;
      const RunConfig config = made_up_config(task, encoding, seed);
      const double sign = seed == 1 ? -0.4 : 0.4;
      store_run(scratch_.path(), config, RunState::kFinished,
                0.5 + sign * paper_value({.name = task}, config.encoding)->score);
    }
  }
  const AgreedTask agreed = agree(make_table(open_runs(scratch_.path())), Aggregate::kMax).tasks.at(0);
  EXPECT_EQ(agreed.of_seeds, (std::map<std::int64_t, std::optional<double>>{{0, 1.0}, {1, -1.0}}));
  EXPECT_DOUBLE_EQ(agreed.between_seeds.value(), -1);
  EXPECT_EQ(agreed.agrees(), false);
  AgreedTask single = agreed;
  single.of_seeds.erase(1);
  EXPECT_EQ(single.agrees(), std::nullopt);
  single.of_seeds[1] = 0.1;
  EXPECT_EQ(single.agrees(), true);
  single.of_seeds[2] = std::nullopt;
  EXPECT_EQ(single.agrees(), false) << "a seed whose scores all tie";
}

}  // namespace
}  // namespace che
