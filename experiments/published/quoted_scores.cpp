#include "experiments/published/quoted_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/files.h"
#include "core/registry.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "experiments/store/csv.h"
#include "tasks/task.h"

namespace che {
namespace {

// This is far more than somebody writes by hand. A report takes 24 KB of memory for a line.
constexpr std::size_t kMaxBytes = std::size_t{256} << 10;

// The file's text as `che` writes CSV: spreadsheets begin theirs with a byte order mark, end lines with a
// carriage return too, and may leave out the last line's end.
std::string read_csv(const std::filesystem::path& file) {
  std::string text = read_file(file, kMaxBytes);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  std::erase(text, '\r');
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace

std::vector<QuotedScore> read_quoted_scores(const std::filesystem::path& experiment) {
  const std::filesystem::path file = experiment / kQuotedFile;
  if (!is_present(file)) return {};
  const CsvRows csv(file.string(), read_csv(file), {"task", "model", "score", "source"},
                    "correct it: it is written by hand");
  const std::vector<std::string> tasks = Registry<TaskEntry>::instance().names();
  std::vector<QuotedScore> scores;
  std::set<std::pair<std::string, std::string>> quoted;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    scores.push_back({.task = std::string(csv.text(i, 0)),
                      .model = one_line(csv.text(i, 1)),
                      .score = csv.real(i, 2) + 0.0,  // A table would print -0 as such.
                      .source = one_line(csv.text(i, 3), kWholeText),
                      .entry = std::filesystem::canonical(experiment).filename().string()});
    const QuotedScore& score = scores.back();
    if (std::find(tasks.begin(), tasks.end(), score.task) == tasks.end()) {
      csv.fail(i, 0, fmt::format("a task of che{}", known_names_hint(score.task, tasks)));
    }
    if (score.model.empty()) csv.fail(i, 1, "the model's name");
    if (!(score.score >= 0 && score.score <= 1)) csv.fail(i, 2, "a fraction from 0 to 1");
    if (score.source.empty()) csv.fail(i, 3, "where the score is printed");
    if (!quoted.emplace(score.task, score.model).second) {
      csv.fail(i, 1, "a model without an earlier line of this task");
    }
  }
  return scores;
}

}  // namespace che
