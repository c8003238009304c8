#include "experiments/published/paper_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tasks/task.h"

namespace che {
namespace {

EncodingForm form(const std::string& name, bool dape = false, bool randomized = false) {
  return {.name = name, .dape = dape, .randomized = randomized};
}

std::optional<PaperValue> value_of(const std::string& task, const std::string& shorthand,
                                   const OptionValues& options = {}) {
  EncodingConfig encoding;
  encoding.reset(shorthand);
  encoding.options = encoding.all_options().with(options);
  return paper_value({.name = task}, encoding);
}

TEST(PaperTable, HoldsTheCornersAndTheMiddle) {
  EXPECT_EQ(paper_score("even_pairs", form("learned", false, true)), 0.5004);
  EXPECT_EQ(paper_score("even_pairs", form("fire", true, true)), 1.0);
  EXPECT_EQ(paper_score("bucket_sort", form("learned", false, true)), 0.9832);
  EXPECT_EQ(paper_score("bucket_sort", form("fire", true, true)), 0.9937);
  EXPECT_EQ(paper_score("missing_duplicate", form("kerple", true, true)), 0.8757);
  EXPECT_EQ(paper_score("stack_manipulation", form("relative", false, true)), 0.6473);
  EXPECT_EQ(paper_score("even_pairs", form("learned")), std::nullopt);
  EXPECT_EQ(paper_score("binary_multiplication", form("rope", false, true)), std::nullopt);
}

// The spans of the header as the data file has them: seven columns under "Randomized", three under "DAPE
// (Ours)".
TEST(PaperTable, HeadsItsColumnsAsThePaperDoes) {
  std::ifstream file(CHE_SOURCE_DIR "/data/paper/table2_che.csv");
  std::string names, headings;
  ASSERT_TRUE(std::getline(file, names) && std::getline(file, headings));
  std::istringstream name_fields(names), heading_fields(headings);
  std::string name, heading;
  std::vector<std::string> expected, labels;
  while (std::getline(name_fields, name, ',') && std::getline(heading_fields, heading, ',')) {
    if (heading == "Randomized") expected.push_back("randomized_" + name);
    if (heading == "DAPE (Ours)") expected.push_back("randomized_" + name);
  }
  for (const PaperColumn& column : paper_columns()) labels.push_back(column.form.text());
  EXPECT_EQ(labels, expected);
  EXPECT_EQ(std::ranges::count(paper_columns(), "Randomized", &PaperColumn::heading), 7);
  EXPECT_EQ(std::ranges::count(paper_columns(), "DAPE (Ours)", &PaperColumn::heading), 3);
}

TEST(PaperTable, AValueStandsNextToTheFormThatThePaperMeasured) {
  const auto randomized = value_of("reverse_string", "randomized_rope");
  ASSERT_TRUE(randomized.has_value());
  EXPECT_EQ(randomized->score, 0.6523);
  EXPECT_EQ(randomized->column.text(), "randomized_rope");
  EXPECT_TRUE(randomized->is_comparable);
  const auto plain = value_of("reverse_string", "rope");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->score, 0.6523);
  EXPECT_FALSE(plain->is_comparable);
  for (const char* form : {"dape_kerple", "randomized_dape_kerple"}) {
    const auto dape = value_of("reverse_string", form);
    ASSERT_TRUE(dape.has_value()) << form;
    EXPECT_EQ(dape->column.text(), "randomized_dape_kerple");
    EXPECT_EQ(dape->is_comparable, std::string_view(form) == "randomized_dape_kerple");
  }
  EncodingConfig encoding;
  encoding.reset("rope");
  for (const PositionSource drawn : {PositionSource::kEqualMean, PositionSource::kRandomizedReal}) {
    encoding.positions = drawn;
    EXPECT_EQ(paper_value({.name = "reverse_string"}, encoding), std::nullopt) << "the paper has neither";
  }
}

TEST(PaperTable, HasNoNumberForWhatThePaperLacks) {
  EXPECT_EQ(value_of("even_pairs", "none"), std::nullopt);
  EXPECT_EQ(value_of("binary_multiplication", "randomized_rope"), std::nullopt);
  EncodingConfig encoding;
  encoding.reset("dape_kerple");
  encoding.dape->hidden = 16;
  EXPECT_EQ(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.reset("dape_kerple");
  encoding.dape->variant = DapeVariant::kConcat;
  EXPECT_EQ(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.reset("randomized_rope");
  encoding.max_position = 4096;
  EXPECT_EQ(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.reset("randomized_rope");
  EXPECT_NE(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.attention_scale = AttentionScale::kSsmax;
  EXPECT_EQ(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.reset("randomized_kerple");
  EXPECT_NE(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.set_options({{"kind", "power"}});
  EXPECT_EQ(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.reset("rope");
  EXPECT_NE(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
  encoding.set_options({{"scaling", "yarn"}});
  EXPECT_EQ(paper_value({.name = "even_pairs"}, encoding), std::nullopt);
}

TEST(PaperTable, HasNoNumberForATaskWithSettings) {
  EncodingConfig encoding;
  encoding.reset("dape_kerple");
  EXPECT_EQ(paper_value({.name = "odds_first", .settings = {{"task.order", "odd_first"}}}, encoding),
            std::nullopt);
}

TEST(PaperTable, EveryReadingOfWhatThePaperLeavesOpenHasItsValue) {
  const auto half_offset = value_of("even_pairs", "randomized_kerple", {{"direction", "half_offset"}});
  ASSERT_TRUE(half_offset.has_value());
  EXPECT_EQ(half_offset->score, 0.575);
}

TEST(PaperTable, NamesTheBestColumnsOfARow) {
  using Columns = std::vector<EncodingForm>;
  EXPECT_EQ(paper_best("missing_duplicate"), Columns{form("fire", true, true)});
  EXPECT_EQ(paper_best("bucket_sort"), Columns{form("fire", false, true)});
  EXPECT_EQ(paper_best("binary_multiplication"), Columns{});
}

// The dagger of the paper's table is a property of our tasks.
TEST(PaperTable, TasksKnowWhetherThePaperMarksThem) {
  EXPECT_EQ(paper_tasks().size(), 14U);
  for (const PaperTask& task : paper_tasks()) {
    EXPECT_EQ(Registry<TaskEntry>::instance().get(task.name).permutation_invariant,
              task.permutation_invariant)
        << task.name;
  }
  EXPECT_EQ(std::ranges::count(paper_tasks(), true, &PaperTask::permutation_invariant), 3);
}

}  // namespace
}  // namespace che
