#include "report/html_table.h"

#include <gtest/gtest.h>

namespace che {
namespace {

TEST(HtmlTable, TextIsNoMarkup) {
  EXPECT_EQ(html_text("<b title=\"x\">'&'</b>"), "&lt;b title=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;");
  EXPECT_EQ(html_text("bell\x07, caf\u00e9\n"), "bell?, caf\u00e9\n");
}

TEST(HtmlTable, HasMarksValuesLinksAndFootnotes) {
  PrintedTable table;
  table.group_title = "level";
  table.columns = {{.title = "a<b", .number = false}, {.title = "x"}};
  table.rows = {
      {.group = "dcf",
       .cells = {{.text = "one", .link = "a&b/"}, {.text = "1.0", .mark = Mark::kBest, .value = 0.01}}},
      {.group = "cs",
       .cells = {{.text = "two"},
                 {.text = "0.5", .beside = " (2.0)", .mark = Mark::kSecond, .footnote = 1}}}};
  table.footnotes = {"why"};
  const std::string html = html_table(table, "t");
  for (const char* part :
       {"<table id=\"t\" class=\"sortable\">", "a&lt;b", "<td><a href=\"a&amp;b/\">one</a></td>",
        "<td class=\"number\" data-value=\"0.01\"><b>1.0</b></td>", "<tr class=\"begins\"><td>cs</td>",
        "<td class=\"number\"><u>0.5</u><sup><a href=\"#t-note-1\">1</a></sup><small> (2.0)</small></td>",
        "<li id=\"t-note-1\">why</li>", "Bold: the best of a row"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part << " is not in " << html;
  }
}

}  // namespace
}  // namespace che
