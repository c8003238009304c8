// All figures, drawn.
#include "plots/figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "core/files.h"
#include "plots/gnuplot/figure_files.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

std::vector<std::filesystem::path> draw(const Figure& figure, const ResultTable& table, Aggregate aggregate,
                                        const std::filesystem::path& folder) {
  return draw_figure(folder, {figure.name, figure.title},
                     [&](const FigureFormat& format, const std::filesystem::path& file) {
                       return figure.script(table, aggregate, format, file);
                     });
}

TEST(Figures, AreDrawnInEveryFormatAndLeaveNothingElse) {
  const ScratchFolder scratch;
  ResultTable table = made_up_experiment(scratch.path() / "results");
  add_trivial_baselines(table);
  const std::filesystem::path folder = scratch.path() / "new" / "figures";
  std::ptrdiff_t files = 0;
  for (const Figure& figure : figures()) {
    SCOPED_TRACE(figure.name);
    for (const std::filesystem::path& file : draw(figure, table, Aggregate::kMean, folder)) {
      const std::string content = read_file(file);
      EXPECT_GT(content.size(), 4'000U) << file;
      if (file.extension() == ".svg") {
        EXPECT_TRUE(contains(content, "<svg"));
        EXPECT_TRUE(contains(content, "</svg>"));
        EXPECT_TRUE(contains(content, "reverse_string"));
      }
      if (file.extension() == ".pdf") {
        EXPECT_EQ(content.substr(0, 5), "%PDF-");
      }
      if (file.extension() == ".png") {
        EXPECT_EQ(content.substr(1, 3), "PNG");
      }
      ++files;
    }
  }
  EXPECT_EQ(files, 3 * static_cast<std::ptrdiff_t>(figures().size()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()),
            files);
}

TEST(Figures, LeaveOldFilesAloneWhenTheyFail) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path() / "results");
  write_file_atomically(scratch.path() / "file", "old");
  const auto draw_into_file = [&] {
    draw(figure_named("accuracy"), table, Aggregate::kMax, scratch.path() / "file");
  };
  EXPECT_TRUE(contains(message_of(draw_into_file), "--output"));
  EXPECT_EQ(read_file(scratch.path() / "file"), "old");
}

TEST(Figures, WithoutAFinishedRunNoneIsDrawable) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFailed);
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_TRUE(drawable_figures(table).empty());
  for (const Figure& figure : figures()) {
    const auto script = [&] { figure.script(table, Aggregate::kMax, "svg", "x"); };
    EXPECT_TRUE(contains(message_of(script), "nothing to draw")) << figure.name;
  }
}

TEST(Figures, UnknownNamesAreRefused) {
  EXPECT_TRUE(contains(message_of([] { figure_named("accuracies"); }), "did you mean 'accuracy'"));
}

TEST(LearningCurves, ShowLossByStepOfTheBestRun) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path());
  const std::string script = figure_named("learning").script(table, Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "\n100 1.5 1.5 1.5\n200 0.75 0.75 0.75\nEOD\n")) << script;
  EXPECT_TRUE(contains(script, "'training loss (nats)'"));
  EXPECT_FALSE(contains(script, "\nset logscale y")) << "a factor of two";
  EXPECT_FALSE(contains(script, "logarithmic"));
}

TEST(LearningCurves, UseALogarithmicAxisOverDecadesAndLeaveOutWhatIsNoNumber) {
  const ScratchFolder scratch;
  const RunFolder run =
      store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  std::vector<MetricsRow> rows = run.metrics();
  rows[1].loss = 1e-4;
  rows.push_back({.step = 300, .loss = NAN, .accuracy = 0, .gradient_norm = 1, .seconds = 3});
  run.write_metrics(rows);
  const std::string script =
      figure_named("learning").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "set yrange [1e-4:1e1]")) << script;
  EXPECT_TRUE(contains(script, "stand on a logarithmic")) << script;
  EXPECT_FALSE(contains(script, "\n300 "));
}

TEST(LearningCurves, DoWithoutARunWhoseMetricsAreLost) {
  const ScratchFolder scratch;
  const RunFolder kept =
      store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  const RunFolder lost =
      store_run(scratch.path(), made_up_config("reverse_string", "rope", 1), RunState::kFinished, 0.9);
  std::filesystem::remove(lost.path() / "metrics.csv");
  const ResultTable table = make_table(open_runs(scratch.path()));
  EXPECT_TRUE(contains(figure_named("learning").script(table, Aggregate::kMean, "svg", "x"), "\n100 "));
  EXPECT_TRUE(contains(
      message_of([&] { figure_named("learning").script(table, Aggregate::kMax, "svg", "x"); }), "records"))
      << "the other run is not the best";
  std::filesystem::remove(kept.path() / "metrics.csv");
  EXPECT_EQ(
      message_of([&] {
        figure_named("learning").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
      }),
      "nothing to draw: no finished run has records of its training");
  const std::vector<const Figure*> left = drawable_figures(make_table(open_runs(scratch.path())));
  EXPECT_FALSE(left.empty());
  for (const Figure* figure : left) EXPECT_NE("learning", figure->name);
}

// Every figure as gnuplot draws it, at the width of a page and of a column: the size of the paper, and of the
// text.
TEST(Figures, HaveThePapersWidthAndItsSizeOfText) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path());
  for (const double width : {72.0, 140.0}) {
    for (const Figure& figure : figures()) {
      SCOPED_TRACE(figure.name);
      const std::string script = figure.script(table, Aggregate::kMax, {"pdf", width}, "x");
      const auto number_after = [&](const std::string& text) {
        const std::size_t at = script.find(text);
        EXPECT_NE(at, std::string::npos) << text;
        return std::stod(script.substr(at + text.size()));
      };
      EXPECT_NEAR(number_after(" size "), width / 25.4, 0.001) << "inches";
      const double scale = number_after("fontscale ");
      const double points = number_after("font 'DejaVu Sans,") * scale;
      EXPECT_GE(points, 7);
      EXPECT_LE(points, 9);
      const double caption = number_after("center font ',") * scale;
      EXPECT_GE(caption, 7);
      const std::string pdf = figure_bytes(
          {"pdf", width},
          [&](const FigureFormat& format, const std::filesystem::path& file) {
            return figure.script(table, Aggregate::kMax, format, file);
          },
          "");
      const std::size_t box = pdf.find("/MediaBox");
      ASSERT_NE(box, std::string::npos);
      double left = 0, bottom = 0, right = 0;
      ASSERT_EQ(std::sscanf(pdf.c_str() + box, "/MediaBox [ %lf %lf %lf", &left, &bottom, &right), 3);
      EXPECT_NEAR(right - left, width / 25.4 * 72, 1) << "points";
    }
  }
}

TEST(Figures, ASvgSaysWhatItsCurvesAre) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path());
  for (const Figure& figure : figures()) {
    SCOPED_TRACE(figure.name);
    const std::string svg = figure_bytes(
        "svg",
        [&](const FigureFormat& format, const std::filesystem::path& file) {
          return figure.script(table, Aggregate::kMax, format, file);
        },
        figure.title);
    EXPECT_TRUE(contains(svg, "<title>" + figure.title + "</title>"));
    EXPECT_FALSE(contains(svg, "<title>Gnuplot"));
    EXPECT_FALSE(contains(svg, "<title>gnuplot_plot"));
    EXPECT_FALSE(contains(svg, "<title>$"));
    EXPECT_FALSE(contains(svg, "<title>NaN"));
    EXPECT_FALSE(contains(svg, "scale(5.06)")) << "points of gnuplot's own size";
    if (figure.name == "map") continue;
    EXPECT_TRUE(contains(svg, "<title>dape_kerple")) << "a curve";
  }
}

TEST(RunStrips, ShowEveryFinishedRunAndTheMedian) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path());
  const std::string script = figure_named("runs").script(table, Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "$s1 << EOD\n50 0.8000\n62.5 1.0000\n75 1.2000\nEOD\n")) << script;
  EXPECT_TRUE(contains(script, "$m1 << EOD\n62.5 0.65\n62.5 1.35\nEOD\n"));
  EXPECT_FALSE(contains(script, "position"));
}

TEST(RunStrips, ShowWhatPositionsScoreWhereTheyTellMoreThanGuessing) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5);
  store_run(scratch.path(), made_up_config("bucket_sort", "rope"), RunState::kFinished, 0.5);
  ResultTable table = make_table(open_runs(scratch.path()));
  for (TableRow& row : table.rows) {
    const double position = row.task.name == "bucket_sort" ? 0.75 : row.chance + 0.01;
    row.baselines = TrivialBaselines{
        .constant = {row.chance}, .position_only = {position}, .frequent_symbol = {}, .lengths = {}};
  }
  const std::string script = figure_named("runs").script(table, Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "$position << EOD\n75 -0.6\n75 0.6\nEOD\n")) << script;
  EXPECT_EQ(script.find("$position << EOD"), script.rfind("$position << EOD")) << "only in bucket_sort";
  EXPECT_TRUE(contains(script, "'position only'"));
}

TEST(SettingEffectsFigure, DrawsTheLevelWithoutDapeWhereTheExperimentHasIt) {
  const ScratchFolder scratch;
  varied_experiment(scratch.path());
  const auto script = [&] {
    return figure_named("ablation")
        .script(make_table(open_runs(scratch.path())), Aggregate::kMean, "svg", "x");
  };
  EXPECT_FALSE(contains(script(), "no DAPE"));
  // The values share the seeds 0 and 1 only.
  for (const std::int64_t seed : {0, 1, 2}) {
    store_run(scratch.path(), made_up_config("reverse_string", "kerple", seed), RunState::kFinished,
              seed == 2 ? 1 : 0.25 + 0.125 * static_cast<double>(seed));
  }
  EXPECT_TRUE(contains(script(), ", 31.25 with lines")) << script();
  EXPECT_TRUE(contains(script(), "title 'kerple (no DAPE)'"));
  EXPECT_TRUE(contains(script(), "set label 'kerple (no DAPE)'")) << "in the legend";
}

TEST(SettingEffectsFigure, HasOnePanelPerNumberAndTask) {
  const ScratchFolder scratch;
  const std::string script =
      figure_named("ablation").script(varied_experiment(scratch.path()), Aggregate::kMean, "svg", "x");
  EXPECT_TRUE(contains(script, "set xlabel 'encoding.dape.hidden'"));
  EXPECT_TRUE(contains(script, "set xlabel 'learning_rate'"));
  EXPECT_TRUE(contains(script.substr(0, script.find("plot NaN")), " point pt 13 ")) << "of the legend";
  EXPECT_TRUE(contains(script, "\n16 56.25 50 62.5\n64 62.5 56.25 68.75\nEOD\n")) << script;
}

TEST(SettingEffectsFigure, NamesTheOnlySettingBelowTheLastPanelOfEachColumn) {
  const ScratchFolder scratch;
  for (const std::string task : {"even_pairs", "parity_check", "reverse_string", "missing_duplicate"}) {
    for (const double learning_rate : {1e-4, 3e-4}) {
      RunConfig config = made_up_config(task, "rope");
      config.learning_rate = learning_rate;
      store_run(scratch.path(), config, RunState::kFinished, 0.5);
    }
  }
  const std::string script =
      figure_named("ablation").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
  // Four panels stand in two columns.
  std::size_t named = 0;
  for (std::size_t at = script.find("set xlabel 'learning_rate'"); at != std::string::npos;
       at = script.find("set xlabel 'learning_rate'", at + 1))
    ++named;
  EXPECT_EQ(named, 2) << script;
  EXPECT_TRUE(contains(script, "over the seeds that all")) << script;
}

}  // namespace
}  // namespace che
