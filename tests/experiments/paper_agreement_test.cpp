#include "experiments/paper_agreement.h"

#include <gtest/gtest.h>

#include "experiments/paper_table.h"
#include "tests/experiments/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using Labels = std::vector<std::string>;

// Finished runs of a task, whose scores stand in the paper's order (`sign` 1) or in its reverse (-1).
void store_in_order(const ScratchFolder& scratch, const std::string& task, const Labels& encodings,
                    int sign) {
  for (const std::string& encoding : encodings) {
    store_run(scratch.path(), made_up_config(task, encoding), "finished",
              0.5 + 0.4 * sign * *paper_score(task, encoding));
  }
}

TEST(PaperAgreement, ComparesTheOrderOfWhatBothHave) {
  const ScratchFolder scratch;
  const Labels encodings = {"rope", "alibi", "kerple", "dape_kerple"};
  store_in_order(scratch, "reverse_string", encodings, 1);
  store_in_order(scratch, "missing_duplicate", encodings, -1);
  store_run(scratch.path(), made_up_config("reverse_string", "none"), "finished",
            0.875);  // Not in the paper.
  store_run(scratch.path(), made_up_config("bucket_sort", "rope"), "failed");
  const PaperAgreement agreement = agree(make_table(open_runs(scratch.path())), Aggregate::kMax);
  ASSERT_EQ(agreement.tasks.size(), 3U);
  const AgreedTask& same = agreement.tasks[0];
  EXPECT_EQ(same.task, "reverse_string");
  EXPECT_EQ(same.encodings, 4U);
  EXPECT_DOUBLE_EQ(same.correlation.value(), 1);
  const AgreedTask& reversed = agreement.tasks[1];
  EXPECT_EQ(reversed.task, "missing_duplicate");
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

TEST(PaperAgreement, TiesAndFewEncodingsHaveNoCorrelation) {
  const ScratchFolder scratch;
  const Labels encodings = {"rope", "kerple", "dape_kerple"};
  store_run(scratch.path(), made_up_config("even_pairs", "alibi"), "finished", 0.5);
  for (const std::string& encoding : encodings) {
    store_run(scratch.path(), made_up_config("even_pairs", encoding), "finished", 0.5);
  }
  store_in_order(scratch, "reverse_string", encodings, 1);
  const PaperAgreement agreement = agree(make_table(open_runs(scratch.path())), Aggregate::kMean);
  EXPECT_EQ(agreement.tasks[0].encodings, 4U);
  EXPECT_FALSE(agreement.tasks[0].correlation.has_value()) << "all tie";
  EXPECT_EQ(agreement.tasks[1].encodings, 3U);
  EXPECT_FALSE(agreement.tasks[1].correlation.has_value());
  EXPECT_FALSE(agreement.mean.has_value());
}

// rope and randomized_rope may both be what the paper calls RoPE: its one value counts once.
TEST(PaperAgreement, AValueOfThePaperCountsOnce) {
  const ScratchFolder scratch;
  store_in_order(scratch, "reverse_string", {"rope", "randomized_rope", "kerple"}, 1);
  RunConfig wide = made_up_config("reverse_string", "rope");
  wide.model.width = 128;
  store_run(scratch.path(), wide, "finished", 0.5);
  const PaperAgreement agreement = agree(make_table(open_runs(scratch.path())), Aggregate::kMax);
  ASSERT_EQ(agreement.tasks.size(), 1U);
  EXPECT_EQ(agreement.tasks[0].encodings, 2U);
  EXPECT_EQ(agreement.tasks[0].doubles.size(), 2U);
  EXPECT_EQ(agreement.tasks[0].doubles.back().second, "rope(model.width=64)");
}

}  // namespace
}  // namespace che
