#include "tables/formats/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/contains.h"
#include "tests/message_of.h"

namespace che {
namespace {

std::vector<Mark> marks_of(const std::vector<std::optional<double>>& values, const Metric& metric = {}) {
  std::vector<PrintedCell> cells;
  for (const auto& value : values) cells.push_back({.text = "", .value = value});
  std::vector<PrintedCell*> pointers;
  for (PrintedCell& cell : cells) pointers.push_back(&cell);
  mark_best(pointers, metric, /*with_second=*/true);
  std::vector<Mark> marks;
  for (const PrintedCell& cell : cells) marks.push_back(cell.mark);
  return marks;
}

const Metric kPerplexity{.source = Metric::Source::kPerplexity, .greater_is_better = false};

constexpr Mark kNone = Mark::kNone;
constexpr Mark kBest = Mark::kBest;
constexpr Mark kSecond = Mark::kSecond;

TEST(Table, MarksTheBestAndTheSecondAndTiesAll) {
  EXPECT_EQ(marks_of({0.5, 0.75, 0.25, 0.625}), (std::vector{kNone, kBest, kNone, kSecond}));
  EXPECT_EQ(marks_of({0.75, 0.75, 0.5, 0.5, 0.25}), (std::vector{kBest, kBest, kSecond, kSecond, kNone}));
}

TEST(Table, MarksByRoundedNumbers) {
  EXPECT_EQ(marks_of({0.75012, 0.74988, 0.7480}), (std::vector{kBest, kBest, kSecond})) << "75.0 75.0 74.8";
  EXPECT_EQ(marks_of({0.7506, 0.7500}), (std::vector{kBest, kSecond})) << "75.1 75.0";
}

TEST(Table, MarksNeitherANumberAloneNorAMissingOne) {
  EXPECT_EQ(marks_of({std::nullopt, 0.5, std::nullopt}), (std::vector{kNone, kNone, kNone}));
  EXPECT_EQ(marks_of({std::nullopt, 0.5, 0.25}), (std::vector{kNone, kBest, kSecond}));
}

TEST(Table, MarksTheLowestPerplexity) {
  EXPECT_EQ(marks_of({12.5, 11.25, 11.252, 30}, kPerplexity), (std::vector{kSecond, kBest, kBest, kNone}));
}

Table awkward_table() {
  Table table;
  table.title = "50 % of \"it\" & more";
  table.printed.columns = {{.title = "a|b", .number = false}, {.title = "x"}};
  table.printed.rows = {{.group = "", .cells = {{.text = "<i>*"}, {.text = "\u00b112", .footnote = 1}}}};
  table.printed.footnotes = {"line\nbreak | \x1b[31m"};
  table.data = {.columns = {"name", "number"}, .rows = {{"a,\"b\"\n", 0.1}, {std::monostate(), INFINITY}}};
  return table;
}

TEST(Table, MarkdownKeepsTextFromBecomingMarkup) {
  EXPECT_EQ(format_table(awkward_table(), "md"),
            "| a\\|b     |               x |\n"
            "| -------- | --------------: |\n"
            "| &lt;i>\\* | \u00b112<sup>1</sup> |\n\n"
            "- <sup>1</sup> line break \\| \\\\x1b\\[31m\n");
  Table table;
  table.printed.notes = {{.text = "run_id of /_tmp_/x: \\ [see](http://a.b) &lt;b> ~~no~~"}};
  EXPECT_NE(format_table(table, "md")
                .find("- run_id of /\\_tmp\\_/x: \\\\ \\[see\\](http://a.b) &amp;lt;b> \\~\\~no\\~\\~\n"),
            std::string::npos)
      << format_table(table, "md");
}

TEST(Table, CsvQuotesAndJsonHasNull) {
  EXPECT_EQ(format_table(awkward_table(), "csv"), "name,number\n\"a,\"\"b\"\" \",0.1\n,inf\n");
  const auto json = nlohmann::json::parse(format_table(awkward_table(), "json"));
  EXPECT_EQ(json["rows"][0]["name"], "a,\"b\"\n");
  EXPECT_EQ(json["rows"][0]["number"], 0.1);
  EXPECT_TRUE(json["rows"][1]["name"].is_null());
  EXPECT_TRUE(json["rows"][1]["number"].is_null());
}

// A stored message can come from anywhere; LibreOffice and Excel run cells that begin so.
TEST(Table, CsvHasNoFormulas) {
  Table table;
  table.data = {
      .columns = {"text"},
      .rows = {
          {"=HYPERLINK(\"http://a.b\")"}, {"+1+1"}, {"-cmd"}, {"@x"}, {"\t=1"}, {"-1"}, {"a=b"}, {-0.5}}};
  EXPECT_EQ(format_table(table, "csv"),
            "text\n\"'=HYPERLINK(\"\"http://a.b\"\")\"\n'+1+1\n'-cmd\n'@x\n =1\n-1\na=b\n-0.5\n");
}

TEST(Table, NotesAreChosenByKind) {
  const auto kept = [](NoteChoice choice) {
    Table table;
    for (const NoteKind kind :
         {NoteKind::kReading, NoteKind::kMethod, NoteKind::kPaper, NoteKind::kProvenance}) {
      table.printed.notes.push_back({kind, "note"});
      table.data.notes.push_back({kind, "note"});
    }
    table.printed.footnotes = {"stays"};
    choose_notes(table, choice);
    EXPECT_EQ(table.printed.notes, table.data.notes);
    EXPECT_EQ(table.printed.footnotes.size(), 1U);
    return table.printed.notes;
  };
  EXPECT_TRUE(kept(NoteChoice::kNone).empty());
  EXPECT_EQ(kept(NoteChoice::kShort),
            (std::vector<Note>{{NoteKind::kReading, "note"}, {NoteKind::kPaper, "note"}}));
  EXPECT_EQ(kept(NoteChoice::kAll).size(), 4U);
}

TEST(Table, UnknownFormatIsRefused) {
  const std::string message = message_of([] { format_table({}, "jsno"); });
  expect_contains(message, {"did you mean 'json'"});
}

}  // namespace
}  // namespace che
