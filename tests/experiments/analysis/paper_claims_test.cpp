#include "experiments/analysis/paper_claims.h"

#include <gtest/gtest.h>

#include "tests/experiments/store/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

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

}  // namespace
}  // namespace che
