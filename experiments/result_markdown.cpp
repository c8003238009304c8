#include "experiments/result_markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/field_list.h"

namespace che {
namespace {

using Line = std::vector<std::string>;

// One line, with nothing that Markdown would take for a column.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' || c == '\r' ? ' ' : c;
  }
  return result;
}

std::string percent(double fraction) { return fmt::format("{:.1f}", 100 * fraction); }

std::string cell_text(const TableCell* cell) {
  if (cell == nullptr || !cell->scores) return "--";
  const std::string ours = percent(cell->scores->max);
  return cell->paper ? fmt::format("{} ({:.1f})", ours, *cell->paper) : ours;
}

// The first two columns are text, the others numbers.
std::string align(const std::vector<Line>& lines) {
  std::vector<std::size_t> widths(lines.front().size(), 3);
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (std::size_t row = 0; row < lines.size(); ++row) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += i < 2 ? fmt::format("| {:<{}} ", lines[row][i], widths[i])
                    : fmt::format("| {:>{}} ", lines[row][i], widths[i]);
    }
    text += "|\n";
    if (row > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += fmt::format("| {}{} ", std::string(widths[i] - 1, '-'), i < 2 ? '-' : ':');
    }
    text += "|\n";
  }
  return text;
}

// Texts that runs share, each once, in the order of the runs.
template <class Describe>
std::string each_once(const ResultTable& table, Describe describe) {
  std::vector<std::string> texts;
  for (const TableRun& run : table.runs) {
    std::string text = describe(run);
    if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string describe_training(const TableRun& run) {
  const TrainingConfig& training = run.config.training;
  const ModelShape& model = run.config.model;
  return fmt::format("{} steps of {} samples, lengths {}..{}, width {}, {} layers, {} heads", training.steps,
                     training.batch_size, training.first_length, training.last_length, model.width,
                     model.layers, model.heads);
}

std::string describe_evaluation(const TableRun& run) {
  const EvaluationConfig& evaluation = run.config.evaluation;
  const std::string every =
      evaluation.length_step == 1 ? "" : fmt::format(" in steps of {}", evaluation.length_step);
  return fmt::format("lengths {}..{}{}, {} samples each, seed {}", evaluation.first_length,
                     evaluation.last_length, every, evaluation.samples, evaluation.seed);
}

std::string count_note(const ResultTable& table) {
  std::size_t least = table.runs.size();
  std::size_t most = 0;
  for (const auto& [labels, cell] : table.cells) {
    if (!cell.scores) continue;
    least = std::min(least, cell.finished.size());
    most = std::max(most, cell.finished.size());
  }
  if (most == 0) return "no run has finished";
  return least == most ? fmt::format("n = {}", most) : fmt::format("n = {}..{}", least, most);
}

std::string unfinished_reason(const TableRun& run) {
  const RunStatus& status = run.status;
  if (status.state == "failed" || status.state == kDamaged)
    return status.state + ": " + (status.error.empty() ? "no reason stored" : status.error);
  std::string reason = fmt::format("{}, step {} of {}", status.state, status.step, run.config.training.steps);
  if (run.missing_lengths > 0 && (status.state == "finished" || status.state == "evaluating")) {
    reason += fmt::format(", {} of {} test lengths not measured", run.missing_lengths,
                          run.config.evaluation.lengths().size());
  }
  return reason;
}

// Every choice between readings of the protocol that some run had to make, with what it chose.
std::string switches(const ResultTable& table) {
  std::set<std::string> chosen;
  for (const TableRun& run : table.runs) {
    RunConfig config = run.config;
    for (const FieldRecord& field : list_fields([&](FieldVisitor& visit) { config.visit_fields(visit); })) {
      const bool is_switch =
          !field.number && !field.structural && !field.group && field.role != Role::kExecution;
      if (is_switch) chosen.insert(field.path + "=" + field.value);
    }
  }
  return fmt::format("{}", fmt::join(chosen, ", "));
}

bool shows_paper(const ResultTable& table) {
  return std::any_of(table.cells.begin(), table.cells.end(),
                     [](const auto& entry) { return entry.second.scores && entry.second.paper; });
}

std::string notes(const ResultTable& table) {
  std::string text;
  const auto note = [&text](const std::string& line) { text += "- " + plain(line) + "\n"; };
  note(
      fmt::format("Accuracy in percent, mean over test lengths: the maximum over the finished runs of a cell "
                  "({}), which differ in seed and learning rate; `--`: no finished run.",
                  count_note(table)));
  if (shows_paper(table)) {
    note(
        "In parentheses: Table 2 of the DAPE paper (arXiv 2405.14722; 200000 steps, width 256, test lengths "
        "41..500, number of runs not stated). It does not show whether its sin_cos, rope, relative and alibi "
        "had contiguous or randomized positions: the same value stands beside both; ours are contiguous "
        "unless "
        "the column says randomized.");
  }
  note("Training: " + each_once(table, describe_training) + ".");
  note("Evaluation: " + each_once(table, describe_evaluation) + ".");
  note("Switches: " + switches(table) + ".");
  note("Off default in all runs: " +
       (table.shared_settings.empty() ? std::string("nothing")
                                      : fmt::format("{}", fmt::join(table.shared_settings, ", "))) +
       ".");
  std::string updated;
  for (const TableRun& run : table.runs) updated = std::max(updated, run.status.updated);
  const auto known = [](const std::string& value) { return value.empty() ? std::string("unknown") : value; };
  note(fmt::format("Git commit: {}; device: {}; last change: {}.",
                   known(each_once(table, [](const TableRun& run) { return run.status.git_commit; })),
                   known(each_once(table, [](const TableRun& run) { return run.status.device; })),
                   known(updated)));
  for (const TableRun& run : table.runs) {
    if (!run.score) note(fmt::format("Not counted: `{}` ({}).", run.id, unfinished_reason(run)));
  }
  return text;
}

}  // namespace

std::string table_markdown(const ResultTable& table) {
  std::vector<Line> lines = {{"level", "task", "chance"}};
  for (const std::string& encoding : table.encodings) lines[0].push_back(plain(encoding));
  for (const TableRow& row : table.rows) {
    Line line = {row.level, plain(row.task), row.chance ? percent(*row.chance) : ""};
    for (const std::string& encoding : table.encodings)
      line.push_back(cell_text(table.cell(row.task, encoding)));
    lines.push_back(std::move(line));
  }
  return align(lines) + "\n" + notes(table);
}

}  // namespace che
