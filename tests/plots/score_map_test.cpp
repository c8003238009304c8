#include "plots/score_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "experiments/results/training_outcome.h"
#include "plots/figures.h"
#include "plots/gnuplot/figure_files.h"
#include "tables/formats/table.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(ScoreMap, StandsBesideThePapersValues) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path());
  const std::string script = figure_named("map").script(table, Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "'ours'.\"\\n\""));
  EXPECT_TRUE(contains(script, "'paper (DAPE, Table 2)'.\"\\n\""));
  // Row and column of reverse_string and rope: half the way from chance to perfect.
  EXPECT_TRUE(contains(script, "\n1 1 0.5000\n")) << script;
  EXPECT_TRUE(contains(script, "\n1 1 75.0\n"));
  EXPECT_TRUE(contains(script, "\n2 1 65.2\n")) << "the paper's, below ours";
}

// Two widths of ours share a column of the paper.
TEST(ScoreMap, ShowsAColumnOfThePaperOnce) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("even_pairs", "randomized_dape_kerple");
  for (config.model.width = 64; config.model.width < 200; config.model.width *= 2) {
    store_run(scratch.path(), config, RunState::kFinished, 0.5);
  }
  const std::string script =
      figure_named("map").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "('randomized_dape_kerple' 0)")) << script;
  EXPECT_TRUE(contains(script, "\n0 0 99.6\n")) << script;
  EXPECT_FALSE(contains(script, "\n1 0 99.6\n")) << script;
}

TEST(ScoreMap, ShowsASettingWhole) {
  const ScratchFolder scratch;
  RunConfig config = made_up_config("even_pairs", "rope");
  for (config.model.layers = 1; config.model.layers < 3; ++config.model.layers) {
    for (config.model.width = 64; config.model.width < 200; config.model.width *= 2) {
      store_run(scratch.path(), config, RunState::kFinished, 0.5);
    }
  }
  const std::string script =
      figure_named("map").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "'rope'.\"\\n\".'(model.layers=2,'.\"\\n\".'model.width=128)'")) << script;
}

// The paper's 21.35 % has one rounding in figure and table.
TEST(ScoreMap, RoundsAsTheTableDoes) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("modular_arithmetic_simple", "randomized_rope"),
            RunState::kFinished, 0.25);
  const ResultTable table = make_table(open_runs(scratch.path()));
  const std::string printed =
      format_score(cell_called(table, "modular_arithmetic_simple", "randomized_rope")->paper->score);
  const std::string script = figure_named("map").script(table, Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "\n0 0 " + printed + "\n")) << printed << script;
}

// Where the maps stand one below the other.
TEST(ScoreMap, ThePapersColumnsStandBelowThoseThatTheyAreComparedWith) {
  const ScratchFolder scratch;
  for (const char* encoding : {"none", "rope", "alibi", "kerple", "randomized_rope", "randomized_alibi",
                               "dape_kerple", "randomized_dape_alibi", "randomized_dape_kerple"}) {
    store_run(scratch.path(), made_up_config("even_pairs", encoding), RunState::kFinished, 0.875);
  }
  const ResultTable table = make_table(open_runs(scratch.path()));
  const auto script = [&](double width) {
    return figure_named("map").script(table, Aggregate::kMax, {"pdf", width}, "x");
  };
  const std::string page = script(120);
  EXPECT_TRUE(
      contains(page,
               "'randomized_rope' 4, 'randomized_alibi' 5, 'dape_kerple' 6, 'randomized_dape_alibi' 7, "
               "'randomized_dape_kerple' 8)"))
      << page;
  EXPECT_TRUE(contains(
      page,
      "('randomized_rope' 4, 'randomized_alibi' 5, 'randomized_dape_alibi' 7, 'randomized_dape_kerple' 8)"))
      << page;
  EXPECT_TRUE(contains(page, "\n8 0 99.6\n")) << page;
  // Both maps are equally wide.
  EXPECT_EQ(page.find("set xrange [-0.5:8.5]"), page.find("set xrange"));
  EXPECT_NE(page.find("set xrange [-0.5:8.5]"), page.rfind("set xrange [-0.5:8.5]")) << page;
}

// Beside ours or below them, the paper's columns are those that a score of ours can be compared with.
TEST(ScoreMap, ShowsNoColumnOfThePaperForRunsThatWait) {
  const ScratchFolder scratch;
  for (const char* encoding : {"none", "randomized_rope", "randomized_kerple", "dape_alibi", "dape_kerple"}) {
    store_run(scratch.path(), made_up_config("even_pairs", encoding), RunState::kFinished, 0.875);
  }
  store_run(scratch.path(), made_up_config("even_pairs", "randomized_alibi"), RunState::kWaiting);
  const ResultTable table = make_table(open_runs(scratch.path()));
  for (const FigureFormat& format : {FigureFormat("svg"), FigureFormat("pdf", 90)}) {
    const std::string script = figure_named("map").script(table, Aggregate::kMax, format, "x");
    EXPECT_TRUE(contains(script, "paper (DAPE, Table 2)")) << script;
    EXPECT_FALSE(contains(script, "randomized_alibi")) << script;
  }
}

// Cells need no room for the title above a few columns that stand in the width of many.
TEST(ScoreMap, HasNoWiderCellsForFewColumnsOfThePaperBelowMany) {
  const ScratchFolder scratch;
  for (const char* encoding :
       {"randomized_rope", "randomized_alibi", "randomized_kerple", "dape_alibi", "dape_kerple"}) {
    RunConfig config = made_up_config("even_pairs", encoding);
    for (const std::int64_t width : {16, 32, 64, 128, 256, 512}) {
      config.model.width = width;
      store_run(scratch.path(), config, RunState::kFinished, 0.875);
    }
  }
  const std::string script =
      figure_named("map").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
  const std::string both = "set xrange [-0.5:29.5]";
  EXPECT_NE(script.find(both), script.rfind(both)) << script;
  // 30 cells of 58 pixels beside the name of the task.
  EXPECT_TRUE(contains(script, "size 1892,")) << script;
}

// The paper's columns carry their own heading and stand only where ours can be compared with them.
TEST(ScoreMap, ShowsThePapersColumnsAsThePaperHeadsThem) {
  const ScratchFolder scratch;
  for (const char* encoding : {"alibi", "dape_kerple", "randomized_rope", "randomized_dape_kerple"}) {
    store_run(scratch.path(), made_up_config("parity_check", encoding), RunState::kFinished, 0.5);
  }
  const std::string script =
      figure_named("map").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "('randomized_rope' 1, 'randomized_dape_kerple' 3)")) << script;
  EXPECT_TRUE(contains(script, "('parity_check\u2020' 0)")) << script;
}

TEST(ScoreMap, OfOneCellIsDrawn) {
  const ScratchFolder scratch;
  for (const double score : {0.5, 1.0}) {
    SCOPED_TRACE(score);
    store_run(scratch.path(), made_up_config("reverse_string", "none"), RunState::kFinished, score);
    const ResultTable table = make_table(open_runs(scratch.path()));
    const Figure& map = figure_named("map");
    const auto script = [&](const FigureFormat& format, const std::filesystem::path& file) {
      return map.script(table, Aggregate::kMax, format, file);
    };
    EXPECT_EQ(draw_figure(scratch.path() / "figures", {map.name, map.title}, script).size(), 3U);
  }
}

TEST(ScoreMap, NamesItsScaleOnceAndTheSettingsOfBothSides) {
  const ScratchFolder scratch;
  const std::string script =
      figure_named("map").script(made_up_experiment(scratch.path()), Aggregate::kMax, "svg", "x");
  EXPECT_TRUE(contains(script, "'ours'.\"\\n\".'width 64, 1000 steps, lengths 41-44'")) << script;
  EXPECT_TRUE(contains(script, "'paper (DAPE, Table 2)'.\"\\n\".'width 256, 200k steps, lengths 41-500'"));
  const std::string title = "set cblabel '(accuracy - chance) / (1 - chance)'";
  EXPECT_NE(script.find(title), std::string::npos);
  EXPECT_EQ(script.find(title), script.rfind(title));
}

TEST(ScoreMap, OfManyColumnsHasWholePercentsOnANarrowPageOrGoesOnBelow) {
  const ScratchFolder scratch;
  for (const char* encoding : {"none", "rope", "alibi", "kerple", "randomized_rope", "randomized_alibi",
                               "randomized_kerple", "dape_alibi", "dape_kerple"}) {
    store_run(scratch.path(), made_up_config("even_pairs", encoding), RunState::kFinished, 0.875);
  }
  const ResultTable table = make_table(open_runs(scratch.path()));
  const auto script = [&](double width) {
    return figure_named("map").script(table, Aggregate::kMax, {"pdf", width}, "x");
  };
  EXPECT_TRUE(contains(script(0), "\n0 0 87.5\n"));
  EXPECT_TRUE(contains(script(85), "\n0 0 88\n")) << script(85);
  EXPECT_FALSE(contains(script(85), "continued"));
  EXPECT_TRUE(contains(script(60), "set label 99 'ours, continued'"));
  EXPECT_TRUE(contains(script(60), "('none' 0, 'rope' 1, 'alibi' 2, 'kerple' 3)")) << script(60);
}

TEST(ScoreMap, MarksWhatDidNotTrain) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("even_pairs", "alibi"), RunState::kFinished, 0.75);
  const auto script = [&] {
    return figure_named("map").script(make_table(open_runs(scratch.path())), Aggregate::kMax, "svg", "x");
  };
  EXPECT_FALSE(contains(script(), kUntrainedSign)) << "nor a caption that explains it";
  store_run(scratch.path(), made_up_config("even_pairs", "rope"), RunState::kFinished, 0.5, 0.5);
  EXPECT_TRUE(contains(script(), "\n0 0 50.0\n")) << script();
  EXPECT_TRUE(contains(script(), "\n0.38 -0.22 \u2021\n")) << "in the corner of the cell" << script();
  EXPECT_TRUE(contains(script(), "\u2021: the run shown never passed")) << script();
}

}  // namespace
}  // namespace che
