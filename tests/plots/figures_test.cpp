// What figures draw, and where it is written.
#include "plots/figures.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files.h"
#include "experiments/plan/evaluation_settings.h"
#include "tests/contains.h"
#include "tests/experiments/plan/read_sweep_text.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/message_of.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

TEST(Figures, AreDrawnInEveryFormat) {
  const ScratchFolder scratch;
  ResultTable table = made_up_experiment(scratch.path() / "results");
  add_trivial_baselines(table);
  std::vector<const Figure*> all;
  for (const Figure& figure : figures()) all.push_back(&figure);
  const std::filesystem::path folder = scratch.path() / "new" / "figures";
  const std::vector<const Figure*> drawable = write_figure_data(all, {.table = table}, folder);
  const auto files = draw_figures(drawable, folder, figure_formats(), kDefaultWidth);
  EXPECT_EQ(files.size(), 3 * drawable.size());
  for (const std::filesystem::path& file : files) {
    const std::string content = read_file(file);
    EXPECT_TRUE(contains(content.substr(0, 200), file.extension() == ".svg"   ? "<?xml"
                                                 : file.extension() == ".pdf" ? "%PDF-"
                                                                              : "PNG"))
        << file;
  }
}

TEST(Figures, WhereNoFolderCanBeMadeTheOptionIsNamed) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path() / "results");
  write_file_atomically(scratch.path() / "file", "old");
  const auto write = [&] {
    write_figure_data({&figure_named("map")}, {.table = table}, scratch.path() / "file");
  };
  EXPECT_TRUE(contains(message_of(write), "--output"));
  EXPECT_EQ(read_file(scratch.path() / "file"), "old");
}

TEST(Figures, AreNotWrittenBehindALink) {
  const ScratchFolder scratch;
  const ResultTable table = made_up_experiment(scratch.path() / "results");
  std::filesystem::create_directory(scratch.path() / "other");
  std::filesystem::create_directory_symlink("other", scratch.path() / kFigureDataFolder);
  const auto write = [&] { write_figure_data({&figure_named("map")}, {.table = table}, scratch.path()); };
  expect_contains(message_of(write), {"figure-data' is a symbolic link", "remove it"});
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path() / "other"));
}

// The first length of one column is the second of the other.
TEST(Figures, OfLearningHaveEveryColumnOfAText) {
  const ScratchFolder scratch;
  for (const char* rest :
       {"rope, evaluation: {lengths: [64, 128]}", "alibi, evaluation: {lengths: [128, 256]}"}) {
    const RunConfig config =
        read(fmt::format("name: x\nbase: {{text: austen, encoding: {}}}\n", rest)).runs[0];
    const RunFolder run = store_run(scratch.path(), config, RunState::kFinished);
    std::vector<EvaluationRow> rows = run.evaluation();
    for (EvaluationRow& row : rows) row.encoding_settings = evaluation_settings(config);
    run.write_evaluation(rows);
    run.write_metrics(
        {{.step = config.log.every_steps, .loss = 2}, {.step = config.training.steps, .loss = 1.5}});
  }
  const ResultTable table = make_table(open_runs(scratch.path()));
  write_figure_data({&figure_named("learning")}, {.table = table}, scratch.path());
  const std::string data = read_file(scratch.path() / kFigureDataFolder / "learning.csv");
  expect_contains(data, {",rope,", ",alibi,"});
}

TEST(Figures, WithoutAFinishedRunNoneHasData) {
  const ScratchFolder scratch;
  store_run(scratch.path(), made_up_config("reverse_string", "rope"), RunState::kFailed);
  const ResultTable table = make_table(open_runs(scratch.path()));
  for (const Figure& figure : figures())
    EXPECT_TRUE(figure.data({.table = table}).rows.empty()) << figure.name;
}

TEST(Figures, UnknownNamesAreRefused) {
  EXPECT_TRUE(contains(message_of([] { figure_named("accuracies"); }), "did you mean 'accuracy'"));
}

// A python3 of the PATH that draws nothing is no success.
TEST(Figures, AreNotDrawnByAProgramThatSaysNothing) {
  const ScratchFolder folder;
  write_file_atomically(folder.path() / "python3", "#!/bin/sh\n");
  std::filesystem::permissions(folder.path() / "python3", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:{}", folder.path().string(), path).c_str(), 1);
  expect_contains(message_of([] { run_che_plots({}); }), {"cannot draw figures: python3 says of no file"});
  ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace che
