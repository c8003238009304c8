// A report as its reader meets it: in a browser.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/files.h"
#include "report/report.h"
#include "tests/documents/viewer.h"
#include "tests/experiments/analysis/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

struct Visit {
  std::string page;     // The document after its scripts have run.
  std::string console;  // What the browser's console shows, a line a message.
};

// Opens `html`; `script` runs after the page's own.
Visit visit(const std::string& html, const std::string& script) {
  const ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  std::string page = html;
  page.insert(page.rfind("</body>"), "<script>" + script + "</script>");
  write_file_atomically(folder / "report.html", page);
  const std::string command = fmt::format(
      "cd '{0}' && HOME='{0}' timeout 120 chromium --headless --no-sandbox --disable-gpu "
      "--disable-dev-shm-usage --user-data-dir='{0}/profile' --enable-logging=stderr --dump-dom "
      "'file://{0}/report.html' > page.txt 2> log.txt",
      folder.string());
  const int status = std::system(command.c_str());
  const std::string log = read_file(folder / "log.txt");
  EXPECT_EQ(0, status) << log;
  Visit result{.page = read_file(folder / "page.txt"), .console = ""};
  for (std::size_t at = 0; (at = log.find("CONSOLE", at)) != std::string::npos; ++at) {
    result.console += log.substr(at, log.find('\n', at) - at) + "\n";
  }
  return result;
}

std::string report(const ScratchFolder& scratch) {
  ResultTable table = made_up_experiment(scratch.path());
  add_trivial_baselines(table);
  return report_html(table, {});
}

// Clicks the title of a column of the table of scores and notes the tasks in their order.
std::string sort_by(const std::string& column) {
  return fmt::format(
      "{{const titles = [...document.querySelectorAll('#scores th button')];"
      "titles.find((title) => title.textContent === '{}').click();"
      "const rows = [...document.querySelectorAll('#scores tbody tr')];"
      "const result = document.createElement('pre');"
      "result.textContent = 'order: ' + rows.map((row) => row.cells[1].textContent).join(' ');"
      "document.body.append(result);}}",
      column);
}

TEST(ReportInBrowser, ShowsNoErrorAndSortsItsTables) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const Visit result =
      visit(report(scratch), sort_by("rope") + sort_by("rope") + sort_by("rope") + sort_by("task"));
  EXPECT_EQ(result.console, "");
  // Scores of rope: even_pairs 33.3, reverse_string 75.0, none for the others.
  const std::string reordered = "odds_first(order=odd_first)";
  for (const std::string& order : {"reverse_string even_pairs " + reordered + " bucket_sort\u2020",
                                   "even_pairs reverse_string " + reordered + " bucket_sort\u2020",
                                   "bucket_sort\u2020 even_pairs " + reordered + " reverse_string"}) {
    EXPECT_NE(result.page.find("order: " + order + "<"), std::string::npos)
        << order << " in " << result.page.substr(result.page.find("order: "), 500);
  }
}

TEST(ReportInBrowser, AConsoleErrorIsSeen) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  EXPECT_NE(visit(report(scratch), "no_such_name();").console.find("no_such_name is not defined"),
            std::string::npos);
}

TEST(ReportInBrowser, ReachesNoNetwork) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const Visit result = visit(report(scratch), "fetch('http://127.0.0.1:9/');");
  EXPECT_NE(result.console.find("Content Security Policy"), std::string::npos) << result.console;
}

}  // namespace
}  // namespace che
