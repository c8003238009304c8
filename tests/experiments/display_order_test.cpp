#include "experiments/display_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace che {
namespace {

TEST(DisplayOrder, TakesLabelsApart) {
  const EncodingForm form = encoding_form("randomized_dape_kerple(dape.hidden=16, direction=symmetric)");
  EXPECT_TRUE(form.randomized);
  EXPECT_TRUE(form.dape);
  EXPECT_EQ(form.name, "kerple");
  EXPECT_EQ(form.settings, "dape.hidden=16, direction=symmetric");
  EXPECT_EQ(encoding_form("none").name, "none");
  EXPECT_EQ(encoding_form("none").settings, "");
}

TEST(DisplayOrder, EncodingsStandAsInTables) {
  const std::vector<std::string> order = {"none",
                                          "learned",
                                          "sin_cos",
                                          "rope",
                                          "relative",
                                          "alibi",
                                          "kerple",
                                          "fire",
                                          "t5",
                                          "cope",
                                          "cable",
                                          "sandwich",
                                          "dape_alibi",
                                          "dape_kerple",
                                          "dape_kerple(dape.hidden=4)",
                                          "dape_kerple(dape.hidden=16)",
                                          "dape_fire",
                                          "randomized_sin_cos",
                                          "randomized_rope",
                                          "randomized_dape_kerple"};
  std::vector<std::string> shuffled = order;
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
  std::vector<TaskPlace> places;
  for (const auto& [level, name] : order) places.push_back({level, name, name});
  std::shuffle(places.begin(), places.end(), std::mt19937(1));
  std::sort(places.begin(), places.end(), task_before);
  std::vector<std::pair<std::string, std::string>> sorted;
  for (const TaskPlace& place : places) sorted.emplace_back(place.level, place.name);
  EXPECT_EQ(sorted, order);
}

}  // namespace
}  // namespace che
