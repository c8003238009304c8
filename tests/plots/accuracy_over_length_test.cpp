#include "plots/accuracy_over_length.h"

#include <gtest/gtest.h>

#include "core/atomic_file.h"
#include "tests/experiments/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ResultTable small_table(const ScratchFolder& scratch) {
  const std::filesystem::path results = scratch.path() / "results";
  store_run(results, made_up_config("reverse_string", "rope", 0), "finished", 0.5);
  store_run(results, made_up_config("reverse_string", "rope", 1), "finished", 0.75);
  store_run(results, made_up_config("reverse_string", "dape_kerple"), "finished", 0.625);
  store_run(results, made_up_config("solve_equation", "rope"), "finished", 0.25);
  store_run(results, made_up_config("even_pairs", "none"), "failed");
  return make_table(open_runs(results));
}

TEST(AccuracyOverLength, DrawsTheBestRunOfEachCell) {
  const ScratchFolder scratch;
  const std::string script = accuracy_over_length_script(small_table(scratch), "svg", "out.svg");
  EXPECT_TRUE(contains(script, "\n41 75\n42 75\n43 75\n44 75\nEOD\n")) << script;
  EXPECT_TRUE(contains(script, "\n41 62.5\n"));
  EXPECT_TRUE(contains(script, "\n41 25\n"));
  EXPECT_FALSE(contains(script, "\n41 50\n")) << "a run that is not the best of its cell";
}

TEST(AccuracyOverLength, HasAPanelATaskWithAxesTrainingRangeAndChance) {
  const ScratchFolder scratch;
  const std::string script = accuracy_over_length_script(small_table(scratch), "svg", "out.svg");
  EXPECT_TRUE(contains(script, "set title 'reverse_string'"));
  EXPECT_TRUE(contains(script, "set title 'solve_equation'"));
  EXPECT_FALSE(contains(script, "set title 'even_pairs'")) << "no run of it has finished";
  EXPECT_TRUE(contains(script, "set xlabel 'length'"));
  EXPECT_TRUE(contains(script, "'accuracy (%)'"));
  EXPECT_TRUE(contains(script, "set xrange [1:44]"));
  EXPECT_TRUE(contains(script, "from first 1, graph 0 to first 40, graph 1")) << "training lengths";
  EXPECT_TRUE(contains(script, "plot 50 with lines")) << "chance of reverse_string";
  EXPECT_TRUE(contains(script, "plot 20 with lines")) << "chance of solve_equation";
  for (const char* label : {"'rope'", "'dape_kerple'", "'chance'", "'training lengths'"}) {
    EXPECT_TRUE(contains(script, label)) << label;
  }
  EXPECT_TRUE(contains(script, "the run with the best score"));
}

TEST(AccuracyOverLength, AveragesNeighboursOfManyLengths) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("reverse_string", "rope");
  config.evaluation.last_length = 500;
  const RunFolder folder = store_run(scratch.path(), config, "finished", 0.5);
  std::vector<EvaluationRow> rows = folder.evaluation();
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].accuracy = i % 2 == 0 ? 0.25 : 0.75;
  folder.write_evaluation(rows);
  const std::string script =
      accuracy_over_length_script(make_table(open_runs(scratch.path())), "svg", "out.svg");
  EXPECT_TRUE(contains(script, "\n45.5 50\n55.5 50\n")) << "lengths 41..50, then 51..60";
  EXPECT_TRUE(contains(script, "mean over 10 neighbouring test lengths"));
}

TEST(AccuracyOverLength, AveragesAnEvenNumberOfNeighbours) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("reverse_string", "rope");
  config.evaluation.last_length = 340;
  store_run(scratch.path(), config, "finished", 0.5);
  const std::string script =
      accuracy_over_length_script(make_table(open_runs(scratch.path())), "svg", "out.svg");
  EXPECT_TRUE(contains(script, "mean over 6 neighbouring test lengths"));
}

TEST(AccuracyOverLength, NothingFinishedIsAnError) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), "failed");
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_TRUE(
      contains(message_of([&] { accuracy_over_length_script(table, "svg", "x"); }), "no run has finished"));
}

TEST(AccuracyOverLength, WritesBothFiguresAndNothingElse) {
  const ScratchFolder scratch;
  const std::filesystem::path figures = scratch.path() / "new" / "figures";
  plot_accuracy_over_length(small_table(scratch), figures);
  const std::string svg = read_file(figures / "accuracy.svg");
  EXPECT_GT(svg.size(), 5'000U);
  EXPECT_TRUE(contains(svg, "<svg"));
  EXPECT_TRUE(contains(svg, "</svg>"));
  EXPECT_TRUE(contains(svg, "solve_equation"));
  EXPECT_TRUE(contains(svg, "dape_kerple"));
  const std::string png = read_file(figures / "accuracy.png");
  EXPECT_GT(png.size(), 5'000U);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(
      std::distance(std::filesystem::directory_iterator(figures), std::filesystem::directory_iterator()), 2);
}

TEST(AccuracyOverLength, LeavesOldFiguresAloneWhenItFails) {
  const ScratchFolder scratch;
  const ResultTable table = small_table(scratch);
  write_file_atomically(scratch.path() / "file", "old");
  EXPECT_TRUE(
      contains(message_of([&] { plot_accuracy_over_length(table, scratch.path() / "file"); }), "--output"));
  EXPECT_EQ(read_file(scratch.path() / "file"), "old");
}

}  // namespace
}  // namespace che
