#include "report/html.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/contains.h"

namespace che {
namespace {

TEST(HtmlText, IsNoMarkup) {
  EXPECT_EQ(html_text("<b title=\"x\">'&'</b>"), "&lt;b title=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;");
  EXPECT_EQ(html_text("bell\x07, caf\u00e9\n"), "bell\\x07, caf\u00e9\n");
  EXPECT_EQ(html_text("a:\n  b: 1\n\nc"), "a:\n  b: 1\n\nc");
  EXPECT_EQ(html_text(""), "");
}

TEST(UrlPath, EncodesWhatUrlsReserve) { EXPECT_EQ(url_path("../a b#/ä"), "../a%20b%23/%C3%A4"); }

TEST(HtmlTable, HasMarksValuesLinksAndFootnotes) {
  PrintedTable table;
  table.group_title = "level";
  table.columns = {{.title = "a<b", .number = false}, {.title = "dape_alibi", .settings = "(x=1)"}};
  table.rows = {
      {.group = "dcf",
       .cells = {{.text = "one", .link = "a&b/"}, {.text = "1.0", .mark = Mark::kBest, .value = 0.01}}},
      {.group = "cs",
       .cells = {{.text = "two"},
                 {.text = "0.5", .suffix = " (2.0)", .mark = Mark::kSecond, .footnote = 1}}}};
  table.footnotes = {"why <"};
  table.notes = {{.text = "{{id}} & all"}};
  const std::string html = render(kReportTable, table_view(table, "t"));
  expect_contains(
      html,
      {"<table id=\"t\" class=\"sortable\">", "a&lt;b", "dape_<wbr>alibi<wbr>(x=1)<",
       "<td><a href=\"a&amp;b/\">one</a></td>", "<td class=\"number\" data-value=\"0.01\"><b>1.0</b></td>",
       "<tr class=\"begins\"><td>cs</td>",
       "<td class=\"number\"><u>0.5</u><sup><a href=\"#t-note-1\">1</a></sup><small> (2.0)</small></td>",
       "<li id=\"t-note-1\">why &lt;</li>", "<li>Bold: the best of a row", "<li>{{id}} &amp; all</li>"});
}

TEST(HtmlTable, WithoutNotesHasNoLists) {
  PrintedTable table;
  table.columns = {{.title = "x"}};
  table.rows = {{.group = "", .cells = {{.text = "1"}}}};
  const std::string html = render(kReportTable, table_view(table, "t"));
  EXPECT_FALSE(contains(html, "<ul")) << html;
  EXPECT_FALSE(contains(html, "<ol")) << html;
}

TEST(Render, RefusesATemplateThatDoesNotParse) {
  EXPECT_THROW(render("{{#open}}", kainjow::mustache::data()), Error);
}

}  // namespace
}  // namespace che
