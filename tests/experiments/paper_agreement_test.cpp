#include "experiments/paper_agreement.h"

#include <gtest/gtest.h>

#include "experiments/paper_table.h"
#include "tests/experiments/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using Labels = std::vector<std::string>;

TEST(PaperAgreement, ComparesTheOrderOfWhatBothHave) {
  const ScratchFolder scratch;
  // Ordered as in the paper for one task, reversed for the other; the paper has no 'none'.
  for (const char* const encoding : {"rope", "kerple", "dape_kerple"}) {
    store_run(scratch.path(), made_up_config("reverse_string", encoding), "finished",
              *paper_score("reverse_string", encoding) / 200);
    store_run(scratch.path(), made_up_config("missing_duplicate", encoding), "finished",
              1 - *paper_score("missing_duplicate", encoding) / 100);
  }
  store_run(scratch.path(), made_up_config("reverse_string", "none"), "finished", 0.875);
  store_run(scratch.path(), made_up_config("bucket_sort", "rope"), "failed");
  const PaperAgreement agreement = agree(make_table(open_runs(scratch.path())), Aggregate::kMax);
  ASSERT_EQ(agreement.tasks.size(), 3U);
  const AgreedTask& same = agreement.tasks[0];
  EXPECT_EQ(same.task, "reverse_string");
  EXPECT_EQ(same.encodings, 3U);
  EXPECT_DOUBLE_EQ(same.correlation.value(), 1);
  EXPECT_EQ(same.best, same.paper_best);
  const AgreedTask& reversed = agreement.tasks[1];
  EXPECT_EQ(reversed.task, "missing_duplicate");
  EXPECT_DOUBLE_EQ(reversed.correlation.value(), -1);
  EXPECT_EQ(reversed.best, Labels{"rope"});
  EXPECT_EQ(reversed.paper_best, Labels{"dape_kerple"});
  EXPECT_NEAR(reversed.p.value(), 2.0 / 6, 0.01);
  EXPECT_NEAR(reversed.adjusted_p.value(), 2 * reversed.p.value(), 0.01);
  const AgreedTask& failed = agreement.tasks[2];
  EXPECT_EQ(failed.encodings, 0U);
  EXPECT_FALSE(failed.correlation.has_value());
  EXPECT_FALSE(failed.adjusted_p.has_value());
  EXPECT_TRUE(failed.best.empty());
  EXPECT_DOUBLE_EQ(agreement.mean.value(), 0);
}

TEST(PaperAgreement, TiesAreAllTheBest) {
  const ScratchFolder scratch;
  for (const char* const encoding : {"rope", "kerple", "dape_kerple"}) {
    store_run(scratch.path(), made_up_config("reverse_string", encoding), "finished", 0.5);
  }
  const PaperAgreement agreement = agree(make_table(open_runs(scratch.path())), Aggregate::kMean);
  EXPECT_FALSE(agreement.tasks[0].correlation.has_value());
  EXPECT_EQ(agreement.tasks[0].best, (Labels{"rope", "kerple", "dape_kerple"}));
  EXPECT_FALSE(agreement.mean.has_value());
}

TEST(PaperAgreement, NeedsACellOfThePaper) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "none"), "finished", 0.5);
  ResultTable table = make_table(open_runs(scratch.path()));
  table.name = "mine";
  EXPECT_EQ(message_of([&] { agree(table, Aggregate::kMax); }),
            "mine has no finished run of a cell that is in the paper's table");
}

}  // namespace
}  // namespace che
