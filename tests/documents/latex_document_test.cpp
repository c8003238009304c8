// Tests LaTeX tables in a document that pdflatex typesets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/files.h"
#include "tables/formats/formats.h"
#include "tables/result_tables.h"
#include "tests/contains.h"
#include "tests/documents/viewer.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

struct Document {
  std::string log;  // The output of pdflatex.
  bool made = false;
};

Document typeset(const std::string& table) {
  const ScratchFolder scratch;
  write_file_atomically(scratch.path() / "table.tex", table);
  write_file_atomically(scratch.path() / "paper.tex",
                        "\\documentclass{article}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n"
                        "\\usepackage{longtable}\n"
                        "\\begin{document}\n\\input{table}\n\\end{document}\n");
  const std::string log = (scratch.path() / "log.txt").string();
  const int status = std::system(fmt::format("cd '{}' && pdflatex -interaction=nonstopmode -halt-on-error "
                                             "paper.tex > '{}' 2>&1",
                                             scratch.path().string(), log)
                                     .c_str());
  const bool made = std::filesystem::exists(scratch.path() / "paper.pdf");
  return {.log = read_file(log), .made = status == 0 && made};
}

// Empty when there is a PDF.
std::string complaints(const std::string& table) {
  const Document document = typeset(table);
  return document.made ? "" : document.log;
}

Table everything(const ScratchFolder& scratch) {
  ResultTable results = made_up_experiment(scratch.path());
  add_trivial_baselines(results);
  return score_table(
      results,
      {.aggregate = Aggregate::kMean, .paper = PaperValues::kAll, .difference = true, .spread = true});
}

TEST(LatexDocument, Compiles) {
  CHE_NEEDS_VIEWER("pdflatex");
  const ScratchFolder scratch;
  EXPECT_EQ(complaints(latex_table(everything(scratch))), "");
}

TEST(LatexDocument, CompilesWhateverTextsHold) {
  CHE_NEEDS_VIEWER("pdflatex");
  Table table;
  for (int c = 1; c < 128; ++c) table.title += static_cast<char>(c);
  table.title += "\u00b1\u20ac";
  table.printed.columns = {{.title = table.title, .number = false}};
  table.printed.rows = {{.group = "", .cells = {{.text = table.title, .mark = Mark::kBest, .footnote = 1}}}};
  table.printed.footnotes = {table.title};
  table.printed.notes = {{.kind = NoteKind::kReading, .text = table.title}};
  EXPECT_EQ(complaints(latex_table(table)), "");
}

// One page holds this many runs and their notes.
TEST(LatexDocument, TheLongestFloatFitsAPage) {
  CHE_NEEDS_VIEWER("pdflatex");
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 25; ++seed) {
    store_run(scratch.path(), made_up_config("even_pairs", "dape_kerple", seed), RunState::kFinished, 0.5);
  }
  const Table table = run_table(make_table(open_runs(scratch.path())));
  ASSERT_EQ(table.printed.rows.size(), 25U);
  const Document document = typeset(latex_table(table));
  EXPECT_TRUE(document.made);
  EXPECT_FALSE(contains(document.log, "too large")) << document.log;
}

TEST(LatexDocument, ManyRowsFillSeveralPages) {
  CHE_NEEDS_VIEWER("pdflatex");
  Table table;
  table.printed.group_title = "level";
  table.printed.columns = {{.title = "task", .number = false}, {.title = "score"}};
  for (int i = 0; i < 300; ++i) {
    table.printed.rows.push_back({.group = "", .cells = {{.text = "x"}, {.text = std::to_string(i)}}});
  }
  const Document document = typeset(latex_table(table));
  expect_contains(document.log, {"(5 pages"});
}

TEST(LatexDocument, WouldNotCompileWithAnUnescapedCharacter) {
  CHE_NEEDS_VIEWER("pdflatex");
  const ScratchFolder scratch;
  std::string broken = latex_table(everything(scratch));
  broken.erase(broken.find("\\_"), 1);
  EXPECT_NE(complaints(broken), "");
}

}  // namespace
}  // namespace che
