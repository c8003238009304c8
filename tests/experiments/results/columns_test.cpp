#include "experiments/results/columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

EncodingLabel label(const std::string& name, bool dape = false, bool randomized = false,
                    std::vector<SettingValue> settings = {}) {
  return {.form = {.name = name, .dape = dape, .randomized = randomized}, .settings = std::move(settings)};
}

// These tests register all of these encodings but `another` and `cable`.
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

EncodingLabel column(const std::string& name, const std::string& scaling = "") {
  EncodingLabel result;
  result.form.name = name;
  if (!scaling.empty()) result.settings = {{"encoding.scaling", scaling}, {"model.width", "16"}};
  return result;
}

std::string refusal(const std::string& name, const ColumnNames& names, const std::string& other = "") {
  return message_of([&] { column_named(name, names, other); });
}

TEST(EncodingNames, AreThoseOfTables) {
  const ColumnNames names{.columns = {column("rope"), column("rope", "yarn")}};
  EXPECT_EQ(column_named("rope", names), column("rope"));
  EXPECT_EQ(column_named("rope(scaling=yarn, model.width=16)", names), column("rope", "yarn"));
}

// What a message suggests can be typed as it stands there.
TEST(EncodingNames, AreListedAsAShellTakesThem) {
  const ColumnNames names{.columns = {column("kerple"), column("rope", "ntk"), column("rope", "yarn")}};
  EXPECT_EQ(refusal("rope", names),
            "'rope' stands for 2 columns; name one of them: 'rope(scaling=ntk, model.width=16)', "
            "'rope(scaling=yarn, model.width=16)'");
  EXPECT_EQ(refusal("kerpel", names),
            "'kerpel' is no encoding of this experiment; did you mean 'kerple'?; known: kerple, "
            "'rope(scaling=ntk, model.width=16)', 'rope(scaling=yarn, model.width=16)'");
  EXPECT_EQ(refusal("quantum", {.columns = {column("kerple")}}),
            "'quantum' is no encoding of this experiment; known: kerple");
}

TEST(EncodingNames, SuggestTheFormWithSettings) {
  const ColumnNames names{.columns = {column("kerple"), column("rope", "yarn")}};
  for (const char* const name : {"rope", "rope(model.width=16)"}) {
    expect_contains(refusal(name, names), {"did you mean 'rope(scaling=yarn, model.width=16)'?"});
  }
}

TEST(EncodingNames, SuggestNothingThatIsNamedAlready) {
  const ColumnNames names{.columns = {column("kerple"), column("rope")}};
  EXPECT_EQ(refusal("kerp", names, "kerple"),
            "'kerp' is no encoding of this experiment; known: kerple, rope");
}

TEST(EncodingNames, SayWhyAColumnIsNotThere) {
  const ColumnNames names{
      .columns = {column("kerple")}, .not_chosen = {column("rope", "yarn")}, .unfinished = {column("alibi")}};
  for (const char* const name : {"rope", "rope(scaling=yarn, model.width=16)"}) {
    expect_contains(refusal(name, names), {"' is left out by --only or --skip; there are: kerple"});
  }
  EXPECT_EQ(refusal("alibi", names), "'alibi' has no finished run; there are: kerple");
}

}  // namespace
}  // namespace che
