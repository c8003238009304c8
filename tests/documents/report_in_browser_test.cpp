// Tests reports in a browser.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "report/report.h"
#include "tests/contains.h"
#include "tests/documents/viewer.h"
#include "tests/experiments/results/made_up_experiment.h"
#include "tests/scratch_folder.h"

namespace che {
namespace {

struct Visit {
  std::string page;     // The document after its scripts have run.
  std::string console;  // What the browser's console shows, one line per message.
};

// Opens `page` of `folder` in Chromium, which writes what `options` ask for to page.txt and its log to
// log.txt. Returns the log.
std::string open_in_browser(const std::filesystem::path& folder, const std::string& page,
                            const std::string& options) {
  const std::string command = fmt::format(
      "cd '{0}' && HOME='{0}' timeout 120 chromium --headless --no-sandbox --disable-gpu "
      "--disable-dev-shm-usage --user-data-dir='{0}/profile' --enable-logging=stderr {2} "
      "'file://{0}/{1}' > page.txt 2> log.txt",
      folder.string(), page, options);
  const int status = std::system(command.c_str());
  std::string log = read_file(folder / "log.txt");
  EXPECT_EQ(0, status) << log;
  return log;
}

std::string with_script(std::string html, const std::string& script) {
  return html.insert(html.rfind("</body>"), "<script>" + script + "</script>");
}

// Opens `html`; `script` runs after the page's own.
Visit visit(const std::string& html, const std::string& script, const std::string& options = "") {
  const ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  write_file_atomically(folder / "report.html", with_script(html, script));
  const std::string log = open_in_browser(folder, "report.html", "--dump-dom " + options);
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
  expect_contains(visit(report(scratch), "no_such_name();").console, {"no_such_name is not defined"});
}

TEST(ReportInBrowser, ReachesNoNetwork) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const Visit result = visit(report(scratch), "fetch('http://127.0.0.1:9/');");
  expect_contains(result.console, {"Content Security Policy"});
}

// Adds the value of `expression` to the page. Its mark is in two parts, so that the script does not have it.
std::string note(const std::string& expression) {
  return fmt::format(
      "{{const shown = document.createElement('pre'); shown.textContent = 'not' + 'ed: ' + {}; "
      "document.body.append(shown);}}",
      expression);
}

std::string noted(const Visit& visit) {
  const std::size_t at = visit.page.find("noted: ");
  return at == std::string::npos ? "nothing" : visit.page.substr(at + 7, visit.page.find('<', at) - at - 7);
}

// Returns by how many pixels `html` is wider than a window of 390 pixels, and which elements scroll sideways.
// Chromium's own windows are wider, so the page stands in a frame.
std::string at_phone_width(const std::string& html) {
  const ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  write_file_atomically(
      folder / "report.html",
      with_script(
          html,
          "window.addEventListener('load', () => {"
          "const root = document.documentElement;"
          "const scrolls = (part) => part.scrollWidth > part.clientWidth + 1 &&"
          " ['auto', 'scroll'].includes(getComputedStyle(part).overflowX);"
          "const names = [...document.querySelectorAll('body *')].filter(scrolls).map((part) => "
          "part.className);"
          "parent.postMessage(innerWidth + ' pixels, ' + (root.scrollWidth - root.clientWidth) + ' more; ' +"
          " [...new Set(names)].join(' '), '*');});"));
  write_file_atomically(folder / "phone.html",
                        "<!DOCTYPE html><body><iframe src='report.html' "
                        "style='width:390px;height:844px;border:0'></iframe><script>"
                        "window.addEventListener('message', (event) => {" +
                            note("event.data") + "});</script></body>");
  open_in_browser(folder, "phone.html", "--dump-dom --virtual-time-budget=10000");
  return noted({.page = read_file(folder / "page.txt"), .console = ""});
}

TEST(ReportInBrowser, OnAPhoneNothingButTablesScrollsSideways) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const std::string html = report(scratch);
  EXPECT_EQ(at_phone_width(html), "390 pixels, 0 more; wide");
  std::string wider = html;
  wider.insert(wider.find("<h1>"), "<div style='width:400px'>x</div>");
  EXPECT_NE(at_phone_width(wider), "390 pixels, 0 more; wide") << "the test sees a wide part";
}

TEST(ReportInBrowser, FollowsTheModeOfTheReadersSystem) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const std::string html = report(scratch);
  // Returns the mean of red, green and blue of the page and of its text.
  const std::string measure = note(
      "['backgroundColor', 'color'].map((name) => "
      "getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3)"
      ".reduce((sum, part) => sum + Number(part) / 3, 0) < 128 ? 'dark' : 'light').join(' page, ') + ' "
      "text'");
  EXPECT_EQ(noted(visit(html, measure)), "light page, dark text");
  EXPECT_EQ(noted(visit(html, measure, "--force-dark-mode")), "dark page, light text");
}

TEST(ReportInBrowser, AFilterKeepsTheRowsThatHaveItsWords) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const Visit result =
      visit(report(scratch),
            "{const filter = document.querySelector('input[data-table=runs-table]');"
            "filter.value = 'ROPE even'; filter.dispatchEvent(new Event('input'));}" +
                note("[...document.querySelectorAll('#runs-table tbody tr')].filter((row) => !row.hidden)"
                     ".map((row) => row.cells[1].textContent + ' ' + row.cells[2].textContent).join(', ')"));
  EXPECT_EQ(result.console, "");
  EXPECT_EQ(noted(result), "even_pairs rope, even_pairs randomized_rope");
}

TEST(ReportInBrowser, TitlesOfATableStayAndShowThatTheySort) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const Visit result = visit(
      report(scratch),
      "document.querySelector('#runs details').open = true;"
      "const wide = document.querySelector('#runs .wide'); wide.style.maxHeight = '120px'; wide.scrollTop = "
      "90;"
      "const title = wide.querySelector('th');"
      "const moved = title.getBoundingClientRect().top - wide.getBoundingClientRect().top;" +
          note("wide.scrollTop + ' scrolled, ' + Math.round(moved) + ' moved, ' +"
               " getComputedStyle(title.querySelector('button'), '::after').content.includes('\u2195')"));
  EXPECT_EQ(noted(result), "90 scrolled, 0 moved, true");
}

TEST(ReportInBrowser, AnchorsLeadSomewhereAndOpenWhatIsFolded) {
  CHE_NEEDS_VIEWER("chromium");
  const ScratchFolder scratch;
  const Visit result =
      visit(report(scratch),
            "window.addEventListener('hashchange', () => {" +
                note("'open: ' + document.querySelector('#configs details').open") + "});" +
                note("[...document.querySelectorAll('a[href^=\"#\"]')].filter((link) =>"
                     " document.getElementById(link.hash.slice(1)) === null).length + ' dead links'") +
                "location.hash = document.querySelector('#configs details').id;",
            "--virtual-time-budget=2000");
  EXPECT_EQ(noted(result), "0 dead links");
  expect_contains(result.page, {"noted: open: true"});
}

// The scores in percent; each stands in one column of a table with every form of every encoding.
std::string wide_report(const ScratchFolder& scratch, std::vector<std::string>& scores) {
  double score = 0.511;
  for (const char* form : {"", "randomized_", "dape_", "randomized_dape_"}) {
    for (const char* name : {"none", "rope", "alibi", "kerple"}) {
      const std::string encoding = std::string(form) + name;
      const bool is_form = *form == '\0' || encoding == "randomized_rope" || std::string(name).size() > 4;
      if (!is_form) continue;
      store_run(scratch.path(), made_up_config("even_pairs", encoding), RunState::kFinished, score);
      scores.push_back(fmt::format("{:.1f}", 100 * score));
      score += 0.017;
    }
  }
  return report_html(make_table(open_runs(scratch.path())), {});
}

// Returns the text of the printed page.
std::string printed(const std::string& html) {
  const ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  write_file_atomically(folder / "report.html", html);
  open_in_browser(folder, "report.html", "--print-to-pdf=paper.pdf --no-pdf-header-footer");
  const int status =
      std::system(fmt::format("cd '{}' && pdftotext -layout paper.pdf paper.txt", folder.string()).c_str());
  EXPECT_EQ(status, 0);
  return read_file(folder / "paper.txt");
}

// Returns how many of `scores` the page's table of scores shows.
std::size_t columns_of(const std::string& paper, const std::vector<std::string>& scores) {
  std::istringstream lines(paper);
  for (std::string line; std::getline(lines, line);) {
    // The first line that begins with the level and the task is the row of the scores.
    if (line.find("even_pairs") == std::string::npos || line.find(scores.front()) == std::string::npos)
      continue;
    return static_cast<std::size_t>(std::ranges::count_if(
        scores, [&](const std::string& score) { return line.find(score) != std::string::npos; }));
  }
  return 0;
}

TEST(ReportInBrowser, PaperHasEveryColumn) {
  CHE_NEEDS_VIEWER("chromium");
  CHE_NEEDS_VIEWER("pdftotext");
  const ScratchFolder scratch;
  std::vector<std::string> scores;
  std::string html = wide_report(scratch, scores);
  ASSERT_EQ(scores.size(), 11U);
  const std::string paper = printed(html);
  EXPECT_EQ(columns_of(paper, scores), scores.size()) << paper.substr(0, 4000);
  EXPECT_NE(paper.find("training accuracy"), std::string::npos) << "the table of runs, which screens fold";
  // Without the rules for print, some columns are lost.
  html.replace(html.find("@media print"), 12, "@media cinema");
  EXPECT_LT(columns_of(printed(html), scores), scores.size());
}

}  // namespace
}  // namespace che
