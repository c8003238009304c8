#include <gtest/gtest.h>

#include "tables/formats/formats.h"
#include "tests/contains.h"

namespace che {
namespace {

TEST(Latex, TextIsTypesetAsItIsWritten) {
  EXPECT_EQ(latex_text("dape_kerple"), "dape\\_kerple");
  EXPECT_EQ(latex_text("50 % & #1 $x {y}"), "50 \\% \\& \\#1 \\$x \\{y\\}");
  EXPECT_EQ(latex_text("a\\b~c^d<e>f|g"),
            "a\\textbackslash{}b\\textasciitilde{}c\\textasciicircum{}d\\textless{}e\\textgreater{}f"
            "\\textbar{}g");
  EXPECT_EQ(latex_text("1.0 \u00b12.0"), "1.0 $\\pm$2.0");
}

TEST(Latex, CharactersWithoutACommandAreOneQuestionMark) {
  EXPECT_EQ(latex_text("caf\u00e9 \u20ac"), "caf? ?");
  EXPECT_EQ(latex_text("two\nlines \x01"), "two lines \\textbackslash{}x01");
}

TEST(Latex, LongTitlesStandUprightWithParenthesesBelow) {
  Table table;
  table.printed.columns = {{.title = "task", .number = false},
                           {.title = "a title of more than forty characters or so"},
                           {.title = "another one of likewise many"}};
  table.printed.rows = {
      {.group = "", .cells = {{.text = "x"}, {.text = "1.0", .suffix = " (2.0)"}, {.text = "--"}}}};
  const std::string text = latex_table(table);
  expect_contains(text,
                  {"task & \\rotatebox{90}{a title of", "& \\rotatebox{90}{another one of likewise many} ",
                   "\\begin{tabular}[t]{@{}r@{}}1.0\\\\\\scriptsize (2.0)\\end{tabular}"});
}

TEST(Latex, LongTablesBreakBetweenPages) {
  Table table;
  table.title = "long";
  table.printed.group_title = "level";
  table.printed.columns = {{.title = "a_b"}};
  table.printed.rows.resize(13, {.group = "dcf", .cells = {{.text = "1.0"}}});
  table.printed.rows.resize(25, {.group = "cs", .cells = {{.text = "1.0"}}});
  const auto rules = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("\\midrule", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const std::string on_a_page = latex_table(table);
  expect_contains(on_a_page, {"\\begin{table}"});
  EXPECT_EQ(rules(on_a_page), 2U);
  table.printed.rows.push_back(table.printed.rows.back());
  const std::string text = latex_table(table);
  EXPECT_FALSE(contains(text, "\\begin{table}"));
  EXPECT_EQ(rules(text), 3U) << "below both headers and between the groups: " << text;
  expect_contains(text, {"\\usepackage{longtable}", "\\begin{longtable}{lr}", "\\caption{long} \\\\\n",
                         "\\endfirsthead\n    \\toprule\n    level & a\\_b \\\\\n", "\\end{longtable}\n",
                         "\\endgroup\n"});
}

TEST(Latex, MarksAndFootnotesStandInTheCell) {
  Table table;
  table.title = "100 %";
  table.printed.columns = {{.title = "a_b"}};
  table.printed.rows = {{.group = "", .cells = {{.text = "1.0", .mark = Mark::kBest, .footnote = 1}}},
                        {.group = "", .cells = {{.text = "0.5", .mark = Mark::kSecond}}}};
  table.printed.footnotes = {"why"};
  const std::string text = latex_table(table);
  expect_contains(text, {"\\caption{100 \\%}", "\\begin{tabular}{r}", "a\\_b", "\\underline{0.5} \\\\",
                         "\\textbf{1.0}\\textsuperscript{1} \\\\", "\\textsuperscript{1} why\\par"});
}

}  // namespace
}  // namespace che
