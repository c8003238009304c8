#include "plots/accuracy_over_length.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plots/gnuplot/figure_files.h"
#include "tests/contains.h"
#include "tests/experiments/store/made_up_results.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

ResultTable small_table(const ScratchFolder& scratch) {
  const std::filesystem::path results = scratch.path() / "results";
  store_run(results, made_up_config("reverse_string", "rope", 0), RunState::kFinished, 0.5);
  store_run(results, made_up_config("reverse_string", "rope", 1), RunState::kFinished, 0.75);
  store_run(results, made_up_config("reverse_string", "dape_kerple"), RunState::kFinished, 0.625);
  store_run(results, made_up_config("solve_equation", "rope"), RunState::kFinished, 0.25);
  store_run(results, made_up_config("even_pairs", "none"), RunState::kFailed);
  return make_table(open_runs(results));
}

std::string script_of(const ResultTable& table, Aggregate aggregate = Aggregate::kMax) {
  return accuracy_over_length_script(table, aggregate, "svg", "out.svg");
}

TEST(AccuracyOverLength, DrawsTheMeanOverTheSeedsOfEachCell) {
  const ScratchFolder scratch;
  const std::string script = script_of(small_table(scratch));
  EXPECT_TRUE(contains(script, "\n41 62.5 50 75\n42 62.5 50 75\n43 62.5 50 75\n44 62.5 50 75\nEOD\n"))
      << script;
  EXPECT_TRUE(contains(script, "\n41 62.5 62.5 62.5\n"));
  EXPECT_TRUE(contains(script, "\n41 25 25 25\n"));
  EXPECT_FALSE(contains(script, "\n41 50 ")) << "a run that is not the best of its cell";
}

TEST(AccuracyOverLength, HasAPanelATaskWithAxesTrainingRangeAndChance) {
  const ScratchFolder scratch;
  const std::string script = script_of(small_table(scratch));
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
  EXPECT_TRUE(contains(script, "mean over the seeds at the learning rate"));
}

TEST(AccuracyOverLength, DrawsTheMeanWithItsRunsWhenAsked) {
  const ScratchFolder scratch;
  const std::string script = script_of(small_table(scratch), Aggregate::kMean);
  EXPECT_TRUE(contains(script, "\n41 62.5 50 75\n")) << script;
  EXPECT_TRUE(contains(script, "the mean over the runs of a cell; bands: the range"));
}

// gnuplot's SVG would draw neighbours in the legend that differ only in their dashes as one path.
TEST(AccuracyOverLength, TheLegendOfAnSvgShowsDashes) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "kerple"), RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("reverse_string", "dape_kerple"), RunState::kFinished, 0.75);
  const ResultTable table = make_table(open_runs(scratch.path()));
  const std::string svg = figure_bytes(
      "svg",
      [&](const FigureFormat& format, const std::filesystem::path& file) {
        return accuracy_over_length_script(table, Aggregate::kMax, format, file);
      },
      "Accuracy over length");
  std::size_t dashed = 0;
  for (std::size_t at = 0; (at = svg.find("stroke-dasharray='10.0,4.0'", at)) != std::string::npos; ++at)
    ++dashed;
  EXPECT_EQ(dashed, 2U) << "the curve and its key";
}

TEST(AccuracyOverLength, OnlyCellsOfSeveralRunsHaveABand) {
  const ScratchFolder scratch;
  const std::string script = script_of(small_table(scratch));
  EXPECT_TRUE(contains(script, "$p0c0 using 1:3:4 with filledcurves")) << "rope has two seeds";
  EXPECT_FALSE(contains(script, "$p0c1 using 1:3:4")) << "dape_kerple has one";
}

// Another seed that lacks lengths of the best run hides nothing of it.
TEST(AccuracyOverLength, TheBestRunIsDrawnWhole) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 1), RunState::kFinished, 0.75);
  const RunFolder other =
      store_run(scratch.path(), made_up_config("reverse_string", "rope", 0), RunState::kFinished, 0.5);
  ResultTable table = make_table(open_runs(scratch.path()));
  auto shorter = std::ranges::find(table.runs, other.id(), &TableRun::id);
  shorter->evaluation.resize(2);
  EXPECT_TRUE(contains(script_of(table), "\n41 62.5 50 75\n42 62.5 50 75\n43 75 75 75\n44 75 75 75\nEOD\n"));
  EXPECT_TRUE(contains(script_of(table, Aggregate::kMean), "\n42 62.5 50 75\nEOD\n"));
}

TEST(AccuracyOverLength, TheCaptionSpeaksOfBandsThatAreDrawn) {
  const ScratchFolder scratch;
  for (std::int64_t seed = 0; seed < 2; ++seed) {
    RunConfig config = made_up_config("reverse_string", "rope", seed);
    config.evaluation.last_length = config.evaluation.first_length;
    store_run(scratch.path(), config, RunState::kFinished, 0.5);
  }
  EXPECT_FALSE(contains(script_of(make_table(open_runs(scratch.path()))), "band"));
}

TEST(AccuracyOverLength, TheBandOfTheBestRunKeepsToItsLearningRate) {
  const ScratchFolder scratch;
  RunConfig other_rate = made_up_config("reverse_string", "rope", 2);
  other_rate.learning_rate = 1e-5;
  store_run(scratch.path(), other_rate, RunState::kFinished, 0.25);
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 0), RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 1), RunState::kFinished, 0.75);
  EXPECT_TRUE(contains(script_of(make_table(open_runs(scratch.path()))), "\n41 62.5 50 75\n"));
}

TEST(AccuracyOverLength, ShowsWhatPositionsTellWhereTheyTellMoreThanChance) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("bucket_sort", "rope"), RunState::kFinished, 0.5);
  ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_FALSE(contains(script_of(table), "position"));
  add_trivial_baselines(table);
  const std::string script = script_of(table);
  EXPECT_TRUE(contains(script, "'position only'"));
  EXPECT_EQ(script.find("$position << EOD"), script.rfind("$position << EOD")) << "only in bucket_sort";
}

TEST(AccuracyOverLength, AveragesNeighboursOfManyLengths) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("reverse_string", "rope");
  config.evaluation.last_length = 500;
  const RunFolder folder = store_run(scratch.path(), config, RunState::kFinished, 0.5);
  std::vector<EvaluationRow> rows = folder.evaluation();
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].accuracy = i % 2 == 0 ? 0.25 : 0.75;
  folder.write_evaluation(rows);
  const std::string script = script_of(make_table(open_runs(scratch.path())));
  EXPECT_TRUE(contains(script, "\n45.5 50 50 50\n55.5 50 50 50\n")) << "lengths 41..50, then 51..60";
  EXPECT_TRUE(contains(script, "mean over 10 neighbouring"));
}

TEST(AccuracyOverLength, AveragesAnEvenNumberOfNeighbours) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("reverse_string", "rope");
  config.evaluation.last_length = 340;
  store_run(scratch.path(), config, RunState::kFinished, 0.5);
  const std::string script = script_of(make_table(open_runs(scratch.path())));
  EXPECT_TRUE(contains(script, "mean over 6 neighbouring"));
}

TEST(AccuracyOverLength, MarksTheAccuracyAtTheTrainingLengths) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 0), RunState::kFinished, 0.5, 0.75);
  store_run(scratch.path(), made_up_config("reverse_string", "rope", 1), RunState::kFinished, 0.75, 1);
  const std::string script = script_of(make_table(open_runs(scratch.path())));
  EXPECT_TRUE(contains(script, "$t0 << EOD\n20.5 87.5\nEOD\n"))
      << "the mean, amid lengths 1 to 40: " << script;
  EXPECT_TRUE(contains(script, "'rope, accuracy at the training lengths'"));
}

// Markers of lines that coincide do not.
TEST(AccuracyOverLength, MarkersOfTheCurvesTakeTurns) {
  const ScratchFolder scratch;
  for (const char* encoding : {"rope", "kerple"}) {
    const RunFolder run =
        store_run(scratch.path(), made_up_config("reverse_string", encoding), RunState::kFinished, 0.75);
    std::vector<EvaluationRow> rows = run.evaluation();
    rows.back().accuracy = 0.5;
    run.write_evaluation(rows);
  }
  const std::string script = script_of(make_table(open_runs(scratch.path())));
  // Of four lengths, 41 to 44, the last is lower: the last markers stand on the line that leads there.
  EXPECT_TRUE(contains(script, "$p0m0 << EOD\n41.1875 75\n41.9375 75\n42.6875 75\n43.4375 64.0625\nEOD\n"))
      << script;
  EXPECT_TRUE(
      contains(script, "$p0m1 << EOD\n41.5625 75\n42.3125 75\n43.0625 73.4375\n43.8125 54.6875\nEOD\n"))
      << script;
  EXPECT_TRUE(contains(script, "$p0m1 with points"));
}

TEST(AccuracyOverLength, NamesTasksThatShowChanceOnlyInsteadOfDrawingThem) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.75);
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.51);
  const std::string script = script_of(make_table(open_runs(scratch.path())));
  EXPECT_FALSE(contains(script, "set title 'even_pairs'"));
  EXPECT_TRUE(contains(script, "input: even_pairs.") || contains(script, "even_pairs.'")) << script;
  // One that stands alone is drawn.
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  EXPECT_TRUE(contains(script_of(make_table(open_runs(scratch.path()))), "set title 'even_pairs'"));
}

TEST(AccuracyOverLength, NothingFinishedIsAnError) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFailed);
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_TRUE(contains(message_of([&] { script_of(table); }), "no run has finished"));
}

}  // namespace
}  // namespace che
