#include <gtest/gtest.h>

#include "tables/sweep_tables.h"
#include "tests/experiments/store/made_up_results.h"

namespace che {
namespace {

TEST(RunGrid, CountsTheRunsOfEachTaskAndEncoding) {
  std::vector<RunConfig> runs;
  for (const std::int64_t seed : {0, 1}) {
    runs.push_back(made_up_config("reverse_string", "rope", seed));
    runs.push_back(made_up_config("even_pairs", "rope", seed));
  }
  runs.push_back(made_up_config("even_pairs", "dape_kerple"));
  const RunGrid grid(runs);
  EXPECT_EQ(grid.cells(), 3U);
  EXPECT_EQ(format_table(grid.table(), "md"),
            "| task           | rope | dape_kerple |\n"
            "| -------------- | ---: | ----------: |\n"
            "| even_pairs     |    2 |           1 |\n"
            "| reverse_string |    2 |          -- |\n\n");
}

TEST(RunGrid, MoreEncodingsThanTasksStandInRows) {
  const RunGrid grid({made_up_config("even_pairs", "rope"), made_up_config("even_pairs", "none"),
                      made_up_config("even_pairs", "none", 1)});
  EXPECT_EQ(format_table(grid.table(), "md"),
            "| encoding | even_pairs |\n| -------- | ---------: |\n| none     |          2 |\n"
            "| rope     |          1 |\n\n");
}

}  // namespace
}  // namespace che
