#include "tables/result_notes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/contains.h"
#include "tests/experiments/made_up_results.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(ResultNotes, NameSeedsAndRates) {
  const ScratchFolder scratch;
  for (const std::int64_t seed : {2, 0, 1}) {
    store_run(scratch.path(), made_up_config("even_pairs", "rope", seed), "finished", 0.5);
  }
  RunConfig other = made_up_config("even_pairs", "rope", 1);
  other.learning_rate = 1e-3;
  store_run(scratch.path(), other, "finished", 0.5);
  EXPECT_EQ(provenance_notes(make_table(open_runs(scratch.path())))[1],
            "Seeds: 0, 1, 2; learning rates: 0.0003, 0.001.");
}

// A table on disk says so itself: who reads it later has not seen the warning.
TEST(ResultNotes, NameRunsWithADamagedConfig) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("even_pairs", "rope", 0), "finished", 0.5);
  EXPECT_EQ(provenance_notes(read_table(scratch.path())).size(), 6U);
  const RunFolder torn = store_run(scratch.path(), made_up_config("even_pairs", "rope", 1), "finished", 0.5);
  std::ofstream(torn.path() / "config.yaml") << "torn";
  const std::vector<std::string> notes = provenance_notes(read_table(scratch.path()));
  ASSERT_EQ(notes.size(), 7U);
  EXPECT_TRUE(notes.back().starts_with("Left out: ")) << notes.back();
  EXPECT_TRUE(contains(notes.back(), torn.id() + "/config.yaml: its last line, the checksum, is missing"))
      << notes.back();
}

}  // namespace
}  // namespace che
