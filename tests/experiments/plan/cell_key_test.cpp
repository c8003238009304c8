#include "experiments/plan/cell_key.h"

#include <gtest/gtest.h>

#include "experiments/plan/run_config.h"

namespace che {
namespace {

TEST(EncodingForm, IsTheShorthand) {
  EXPECT_EQ((EncodingForm{.name = "rope"}).text(), "rope");
  EXPECT_EQ((EncodingForm{.name = "kerple", .dape = true}).text(), "dape_kerple");
  EXPECT_EQ((EncodingForm{.name = "kerple", .dape = true, .randomized = true}).text(),
            "randomized_dape_kerple");
}

TEST(EncodingLabel, NamesItsOwnSettingsWithoutTheirComponent) {
  EncodingLabel label;
  label.form = {.name = "kerple", .dape = true};
  EXPECT_EQ(label.settings_text(), "");
  label.settings = {{"encoding.dape.hidden", "16"}, {"model.width", "64"}, {"encodings.x", "1"}};
  EXPECT_EQ(label.text(), "dape_kerple(dape.hidden=16, model.width=64, encodings.x=1)");
  EXPECT_EQ(label.settings_text(), "(dape.hidden=16, model.width=64, encodings.x=1)");
}

TEST(TaskLabel, NamesItsSettings) {
  TaskConfig task{.name = "odds_first", .options = {}};
  EXPECT_EQ(task.label().text(), "odds_first");
  task.options = Registry<TaskEntry>::instance().get("odds_first").options.with({{"order", "odd_first"}});
  EXPECT_EQ(task.label().text(), "odds_first(order=odd_first)");
  EXPECT_EQ(task.label().settings, (std::vector<SettingValue>{{"task.order", "odd_first"}}));
}

TEST(CellKey, DiffersWhereASettingDoes) {
  CellKey narrow;
  narrow.encoding.settings = {{"model.width", "64"}};
  CellKey wide = narrow;
  EXPECT_EQ(narrow, wide);
  wide.encoding.settings[0].value = "128";
  EXPECT_NE(narrow, wide);
}

}  // namespace
}  // namespace che
