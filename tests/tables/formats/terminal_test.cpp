#include <gtest/gtest.h>

#include <sstream>

#include "tables/formats/formats.h"
#include "tests/contains.h"

namespace che {
namespace {

PrintedTable two_groups() {
  PrintedTable table;
  table.group_title = "level";
  table.columns = {{.title = "task", .number = false}, {.title = "rope"}, {.title = "alibi"}};
  table.rows = {{.group = "dcf", .cells = {{.text = "one"}, {.text = "9.5"}, {.text = "10.5"}}},
                {.group = "dcf", .cells = {{.text = "two"}, {.text = "--"}, {.text = "1.0"}}},
                {.group = "cs", .cells = {{.text = "three"}, {.text = "2.0"}, {.text = "3.0"}}}};
  table.rows[0].cells[1].mark = Mark::kSecond;
  table.rows[0].cells[2].mark = Mark::kBest;
  return table;
}

TEST(TerminalTable, RulesOffGroupsAndMarksInPlainText) {
  EXPECT_EQ(terminal_table(two_groups(), {}),
            "level  task   rope  alibi\n"
            "-------------------------\n"
            "dcf    one    9.5+  10.5*\n"
            "       two      --    1.0\n"
            "-------------------------\n"
            "cs     three   2.0    3.0\n"
            "\n"
            "*: the best of a row; +: the second.\n");
}

TEST(TerminalTable, ShowsNoControlCharacters) {
  PrintedTable table = two_groups();
  table.notes = {{.text = "a\x1b[b\u009b, c\u00b1"}};
  expect_contains(terminal_table(table, {}), {"a\\x1b[b\\x9b, c\u00b1\n"});
}

TEST(TerminalTable, EscapesTakeNoRoom) {
  const std::string text = terminal_table(two_groups(), {.width = 0, .escapes = true});
  expect_contains(text, {"dcf    one     \x1b[4m9.5\x1b[0m   \x1b[1m10.5\x1b[0m\n"});
}

TEST(TerminalTable, CutsWideTablesIntoBlocksThatRepeatTheText) {
  EXPECT_EQ(terminal_table(two_groups(), {.width = 20, .escapes = false}),
            "level  task   rope\n"
            "------------------\n"
            "dcf    one    9.5+\n"
            "       two      --\n"
            "------------------\n"
            "cs     three   2.0\n"
            "\n"
            "level  task   alibi\n"
            "-------------------\n"
            "dcf    one    10.5*\n"
            "       two      1.0\n"
            "-------------------\n"
            "cs     three    3.0\n"
            "\n"
            "*: the best of a row; +: the second.\n");
}

TEST(TerminalTable, WrapsNotesAndIndentsFootnotes) {
  PrintedTable table = two_groups();
  table.footnotes = {"a run that failed for a reason"};
  table.notes = {{.text = "a note that is longer than the terminal is wide"}};
  const std::string text = terminal_table(table, {.width = 26, .escapes = false});
  expect_contains(text, {"[1] a run that failed for\n    a reason\n",
                         "a note that is longer than\nthe terminal is wide\n"});
}

TEST(TerminalTable, ControlCharactersOfStoredMessagesAreNotSent) {
  PrintedTable table = two_groups();
  table.footnotes = {"evil \x1b]0;title\x07"};
  expect_contains(terminal_table(table, {.width = 0, .escapes = true}), {"evil \\x1b]0;title\\x07"});
}

}  // namespace
}  // namespace che
