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
  const std::vector<std::pair<std::string, std::string>> order = {
      {"regular", "even_pairs"},   {"regular", "modular_arithmetic_simple"},
      {"regular", "parity_check"}, {"regular", "cycle_navigation"},
      {"regular", "a_new_task"},   {"dcf", "stack_manipulation"},
      {"dcf", "reverse_string"},   {"dcf", "modular_arithmetic_brackets"},
      {"dcf", "solve_equation"},   {"cs", "duplicate_string"},
      {"cs", "missing_duplicate"}, {"cs", "odds_first"},
      {"cs", "binary_addition"},   {"cs", "compute_sqrt"},
      {"cs", "bucket_sort"},       {"cs", "binary_multiplication"},
      {"", "a_task_of_nowhere"}};
  std::vector<std::pair<std::string, std::string>> shuffled = order;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  std::sort(shuffled.begin(), shuffled.end(), [](const auto& one, const auto& other) {
    return task_before(one.first, {.name = one.second}, other.first, {.name = other.second});
  });
  EXPECT_EQ(shuffled, order);
}

}  // namespace
}  // namespace che
