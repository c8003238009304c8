#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/contains.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

using Report = ScratchTest;

// Returns the text between each `before` and the next of `ends`.
std::vector<std::string> texts_after(const std::string& html, const std::string& before,
                                     const std::string& ends) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; (at = html.find(before, at)) != std::string::npos;) {
    at += before.size();
    texts.push_back(html.substr(at, html.find_first_of(ends, at) - at));
  }
  return texts;
}

TEST_F(Report, HoldsEverythingAndLeadsNowhereElse) {
  ResultTable table = made_up_experiment(scratch_.path());
  add_trivial_baselines(table);
  const std::string html = report_html(table, {.folders = {"."}, .tables = "./"});
  expect_contains(html, {"<title>made_up: results</title>", "0123abc", "1000 steps of 128 samples",
                         "id=\"scores\"", "id=\"means\"", "figure-accuracy", "figure-map", "figure-runs",
                         "figure-learning", "loss is not finite at step 200, &quot;nan&quot; | stop",
                         "learning_rate: 0.0003", "href=\"./table.csv\"", "href=\"./runs.csv\"",
                         "href=\"./lengths.csv\"", "/evaluation.csv\"", "dape.hidden=16"});
  expect_contains(html, {"<img class=\"narrow\" alt=\"Accuracy over length\""});
  for (const std::string& address : texts_after(html, "src=\"", "\"")) {
    EXPECT_TRUE(address.starts_with("data:image/svg+xml,%3C")) << "nothing is loaded";
  }
  // A browser opens no address that only names one of SVG's formats.
  for (const char* scheme : {"http://", "https://"}) {
    for (const std::string& address : texts_after(html, scheme, "\"' <)")) {
      EXPECT_TRUE(address.starts_with("www.w3.org/")) << address;
    }
  }
}

TEST_F(Report, RanksEncodingsAgainstThePaperWhereFourCount) {
  for (const char* const encoding : {"randomized_rope", "randomized_alibi", "randomized_kerple"}) {
    store_run(scratch_.path(), made_up_config("even_pairs", encoding), RunState::kFinished, 0.5);
  }
  const auto html = [&] { return report_html(make_table(open_runs(scratch_.path())), {.folders = {"."}}); };
  EXPECT_FALSE(contains(html(), "id=\"agreement\""));
  store_run(scratch_.path(), made_up_config("even_pairs", "randomized_dape_kerple"), RunState::kFinished,
            0.75);
  expect_contains(html(), {"id=\"agreement\""});
}

TEST_F(Report, NoTwoElementsHaveOneId) {
  const std::string html = report_html(made_up_experiment(scratch_.path()), {.folders = {"."}});
  std::set<std::string> seen;
  for (const char* quote : {"'", "\""}) {
    for (const std::string& id : texts_after(html, std::string(" id=") + quote, quote)) {
      EXPECT_TRUE(seen.insert(id).second) << id;
    }
  }
  EXPECT_GT(seen.size(), 20U);
}

TEST_F(Report, AScoreLeadsToTheRunsOfItsCell) {
  const std::string html = report_html(made_up_experiment(scratch_.path()), {.folders = {"."}});
  std::set<std::string> ids;
  for (const std::string& id : texts_after(html, "id=\"", "\"")) ids.insert(id);
  std::size_t to_cells = 0;
  for (const std::string& target : texts_after(html, "href=\"#", "\"")) {
    EXPECT_TRUE(ids.contains(target)) << target;
    if (target.starts_with("config-")) ++to_cells;
  }
  // These are the tables of best and of mean scores, and each part's link to itself.
  const auto cells = static_cast<std::size_t>(
      std::ranges::count_if(ids, [](const std::string& id) { return id.starts_with("config-"); }));
  EXPECT_GT(cells, 3U);
  EXPECT_EQ(to_cells, 3 * cells);
  expect_contains(html, {">seed 0, learning rate 0.0003</a>: score "});
}

TEST_F(Report, LinksLeadBelowTheFolder) {
  const std::string html = report_html(made_up_experiment(scratch_.path()),
                                       {.folders = {"../run #2 \"100%\""}, .tables = "page #2-"});
  expect_contains(html, {"href=\"page%20%232-table.csv\"",
                         "href=\"../run%20%232%20%22100%25%22/runs/reverse_string-rope-"});
}

TEST_F(Report, CountsARunOnceThatWasMeasuredUnderOtherSettings) {
  const RunFolder run =
      store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFinished, 0.5);
  RunStatus status = run.status();
  status.training_seconds = 7;
  status.evaluation_seconds = 0;
  run.write_status(status);
  std::vector<EvaluationRow> rows = run.evaluation();
  for (EvaluationRow row : run.evaluation()) {
    row.encoding_settings = {{"scaling", "yarn"}};
    store_row(rows, row);
  }
  run.write_evaluation(rows);
  expect_contains(report_html(make_table(open_runs(scratch_.path())), {.folders = {"."}}),
                  {"1, 1 of them finished", ", 7 s of training and evaluation"});
}

TEST_F(Report, WithoutAFinishedRunSaysSo) {
  store_run(scratch_.path(), made_up_config("reverse_string", "rope"), RunState::kFailed);
  const std::string html = report_html(make_table(open_runs(scratch_.path())), {.folders = {"."}});
  expect_contains(html, {"No run has finished"});
}

TEST_F(Report, WithoutMatplotlibSaysWhichFiguresAreMissing) {
  const ResultTable table = made_up_experiment(scratch_.path());
  const ScratchFolder packages;
  write_file_atomically(packages.path() / "matplotlib.py", "raise ImportError\n");
  ::setenv("PYTHONPATH", packages.path().c_str(), 1);
  std::vector<std::string> warnings;
  const std::string html =
      report_html(table, {}, [&](const std::string& warning) { warnings.push_back(warning); });
  ::unsetenv("PYTHONPATH");
  EXPECT_FALSE(contains(html, "<img"));
  expect_contains(html, {"Not drawn: Accuracy over length, ", "matplotlib is missing; install it (Debian: "});
  EXPECT_NE(html.find("id=\"scores\""), std::string::npos) << "tables need no Python";
  ASSERT_EQ(warnings.size(), 1U) << "one cause, told once";
  expect_contains(warnings[0], {"lacks figures"});
}

TEST_F(Report, TextOfAnExperimentIsNoMarkup) {
  ResultTable table = made_up_experiment(scratch_.path());
  table.name = "<script>alert(1)</script>{{{style}}}\x1b";
  const std::string html = report_html(table, {});
  EXPECT_FALSE(contains(html, "<script>alert"));
  expect_contains(html, {"&lt;script&gt;alert(1)&lt;/script&gt;{{{style}}}\\x1b: results</title>"});
}

}  // namespace
}  // namespace che
