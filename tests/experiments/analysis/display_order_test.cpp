#include "experiments/analysis/display_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace che {
namespace {

EncodingLabel label(const std::string& name, bool dape = false, bool randomized = false,
                    std::vector<SettingValue> settings = {}) {
  return {.form = {.name = name, .dape = dape, .randomized = randomized}, .settings = std::move(settings)};
}

// Of the encodings that these tests register; `another` and `cable` are not.
TEST(DisplayOrder, EncodingsStandAsInTables) {
  const std::vector<EncodingLabel> order = {label("none"),
                                            label("rope"),
                                            label("alibi"),
                                            label("kerple"),
                                            label("another"),
                                            label("cable"),
                                            label("rope", false, true),
                                            label("kerple", false, true),
                                            label("alibi", true),
                                            label("kerple", true),
                                            label("kerple", true, false, {{"encoding.dape.hidden", "4"}}),
                                            label("kerple", true, false, {{"encoding.dape.hidden", "16"}}),
                                            label("kerple", true, true)};
  std::vector<EncodingLabel> shuffled = order;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  std::sort(shuffled.begin(), shuffled.end(), encoding_before);
  EXPECT_EQ(shuffled, order);
}

TEST(DisplayOrder, TasksStandByLevelThenAsInThePaper) {
  const std::vector<std::pair<Level, std::string>> order = {
      {Level::kRegular, "even_pairs"},   {Level::kRegular, "modular_arithmetic_simple"},
      {Level::kRegular, "parity_check"}, {Level::kRegular, "cycle_navigation"},
      {Level::kRegular, "a_new_task"},   {Level::kDcf, "stack_manipulation"},
      {Level::kDcf, "reverse_string"},   {Level::kDcf, "modular_arithmetic_brackets"},
      {Level::kDcf, "solve_equation"},   {Level::kCs, "duplicate_string"},
      {Level::kCs, "missing_duplicate"}, {Level::kCs, "odds_first"},
      {Level::kCs, "binary_addition"},   {Level::kCs, "compute_sqrt"},
      {Level::kCs, "bucket_sort"},       {Level::kCs, "binary_multiplication"}};
  std::vector<std::pair<Level, std::string>> shuffled = order;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  std::sort(shuffled.begin(), shuffled.end(), [](const auto& one, const auto& other) {
    return task_before(one.first, {.name = one.second}, other.first, {.name = other.second});
  });
  EXPECT_EQ(shuffled, order);
}

}  // namespace
}  // namespace che
