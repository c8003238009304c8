#include "tables/score_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "experiments/analysis/best_encodings.h"
#include "experiments/analysis/comparable_rows.h"
#include "experiments/analysis/paper_claims.h"
#include "experiments/analysis/training_outcome.h"
#include "experiments/plan/run_config.h"
#include "tables/result_notes.h"

namespace che {
namespace {

// The fewest and the most finished runs of a cell that has some; 0 where none has.
struct RunCounts {
  std::size_t least = 0;
  std::size_t most = 0;
};

RunCounts run_counts(const ResultTable& table) {
  RunCounts counts{.least = table.runs.size()};
  for (const auto& [key, cell] : table.cells) {
    if (!cell.scores) continue;
    counts.least = std::min(counts.least, cell.scores->n);
    counts.most = std::max(counts.most, cell.scores->n);
  }
  if (counts.most == 0) counts.least = 0;
  return counts;
}

std::string count_text(const RunCounts& counts) {
  if (counts.most == 0) return "no run has finished";
  if (counts.least == counts.most) return fmt::format("n = {}", counts.most);
  return fmt::format("n = {}..{}", counts.least, counts.most);
}

void append_waiting_note(std::vector<Note>& notes, const ResultTable& table) {
  const std::ptrdiff_t waiting = std::ranges::count_if(table.runs, std::not_fn(is_begun));
  if (waiting > 0)
    notes.push_back({NoteKind::kMissing,
                     fmt::format("Not begun: {} of {}.", waiting, counted(table.runs.size(), "run"))});
}

bool has_paper(const ResultTable& table, PaperValues values) {
  return std::ranges::any_of(table.cells, [&](const auto& cell) { return shows_paper(cell.second, values); });
}

void append_paper_notes(std::vector<Note>& notes, const ResultTable& table,
                        const ScoreTableOptions& options) {
  if (options.paper == PaperValues::kNone && !options.difference) return;
  // A difference is told of comparable values.
  const PaperValues shown = std::max(options.paper, PaperValues::kComparable);
  if (!has_paper(table, shown)) {
    const bool has_none = shown == PaperValues::kAll || !has_paper(table, PaperValues::kAll);
    notes.push_back({NoteKind::kPaper,
                     has_none ? "The paper's table has no value for any of these cells."
                              : "The paper's table has values only for other positions than those of these "
                                "cells; --paper plain shows them."});
    return;
  }
  const char* const what = !options.difference ? "the paper's value"
                           : options.paper == PaperValues::kNone
                               ? "ours minus the paper's value, in points"
                               : "the paper's value and ours minus it, in points";
  notes.push_back({NoteKind::kReading, fmt::format("In parentheses: {}.", what)});
  notes.push_back(paper_note());
  const auto is_other_method = [](const auto& cell) {
    return cell.second.paper && cell.second.scores && !cell.second.paper->is_comparable;
  };
  if (shown == PaperValues::kAll && std::ranges::any_of(table.cells, is_other_method)) {
    notes.push_back(
        {NoteKind::kReading,
         fmt::format("{} The paper's value is of randomized positions and ours of contiguous ones: "
                     "two different methods.",
                     kOtherMethodSign)});
  }
  append_claims_note(notes, count_claims(comparable_rows(table), options.aggregate));
}

// Of the highest score of a row, or the second.
std::string weakness_text(WeakBest weakness, bool is_second) {
  const char* const score = is_second ? "the second score" : "the highest score";
  switch (weakness) {
    case WeakBest::kTied:
      return is_second ? "most encodings have the second score" : "most encodings tie";
    case WeakBest::kMeasuredUnalike:
      return "columns are evaluated differently";
    case WeakBest::kNotAboveChance:
      return is_second ? "the second score is not above chance" : "no score is above chance";
    case WeakBest::kDidNotTrain:
      return fmt::format("{} is of a cell that did not train", score);
    case WeakBest::kTrivial:
      return fmt::format("{} is {}within two standard errors of the best trivial baseline", score,
                         is_second ? "below or " : "");
  }
  throw Error("reason for an unmarked best out of range", ErrorKind::kRuntime);
}

// Of rows whose best or second is not marked, though they have several scores.
void append_unmarked_note(std::vector<Note>& notes, const ResultTable& table, Aggregate aggregate) {
  std::set<WeakBest> of_best;
  std::set<WeakBest> of_second;
  for (const TableRow& row : table.rows) {
    const BestEncodings best = best_encodings(table, row, aggregate);
    if (best.scored < 2) continue;
    const std::vector<WeakBest> weaknesses = best.weaknesses();
    of_best.insert(weaknesses.begin(), weaknesses.end());
    if (!weaknesses.empty()) continue;
    const BestEncodings second = second_encodings(table, row, aggregate);
    if (second.encodings.empty()) continue;
    const std::vector<WeakBest> of_this = second.weaknesses();
    of_second.insert(of_this.begin(), of_this.end());
  }
  const auto append = [&](const char* place, const std::set<WeakBest>& found, bool is_second) {
    if (found.empty()) return;
    std::vector<std::string> reasons;
    reasons.reserve(found.size());
    for (const WeakBest weakness : found) reasons.push_back(weakness_text(weakness, is_second));
    notes.push_back({NoteKind::kReading,
                     fmt::format("No {} is marked where {}.", place, fmt::join(reasons, ", or where "))});
  };
  append("best", of_best, false);
  append("second", of_second, true);
}

std::vector<UntrainedRuns> partly_untrained(const ResultTable& table, Aggregate aggregate) {
  std::vector<UntrainedRuns> found;
  for (const TableRow& row : table.rows) {
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      if (cell == nullptr || cell->untrained == 0 || cell->did_not_train(aggregate)) continue;
      found.push_back(
          {.encoding = encoding, .task = row.task, .runs = cell->untrained, .of = cell->finished.size()});
    }
  }
  return found;
}

// In which of the settings that may differ within a cell the finished runs of some cell do: "seed and
// learning rate".
std::string differing_settings(const ResultTable& table) {
  std::vector<std::string> found;
  const auto look_for = [&](const char* name, const auto& value_of) {
    const auto differs = [&](const auto& entry) {
      return std::ranges::any_of(entry.second.finished, [&](std::size_t run) {
        return value_of(table.runs[run].config) != value_of(table.runs[entry.second.finished.front()].config);
      });
    };
    if (std::ranges::any_of(table.cells, differs)) found.emplace_back(name);
  };
  look_for("seed", [](const RunConfig& config) { return config.seed; });
  look_for("data seed", [](const RunConfig& config) { return config.data_seed; });
  look_for("learning rate", [](const RunConfig& config) { return config.learning_rate; });
  if (found.size() < 2) return fmt::format("{}", fmt::join(found, ""));
  const std::string last = found.back();
  found.pop_back();
  return fmt::format("{} and {}", fmt::join(found, ", "), last);
}

// Of maxima over unequal numbers of runs: within rows, or, where each row has one number, between them.
void append_unequal_counts_note(std::vector<Note>& notes, const ResultTable& table) {
  std::vector<std::string> uneven;
  std::map<std::size_t, std::vector<std::string>> rows_by_count;
  for (const TableRow& row : table.rows) {
    std::set<std::size_t> counts;
    for (const EncodingLabel& encoding : table.encodings) {
      const TableCell* const cell = table.cell(row.task, encoding);
      if (cell != nullptr && cell->scores) counts.insert(cell->scores->n);
    }
    if (counts.size() > 1) uneven.push_back(row.task.text());
    if (counts.size() == 1) rows_by_count[*counts.begin()].push_back(row.task.text());
  }
  if (!uneven.empty()) {
    notes.push_back(
        {NoteKind::kReading,
         fmt::format("Cells of a row have unequal numbers of runs ({}), and the maximum over more "
                     "runs is higher by chance; --aggregate mean does not depend on their number.",
                     fmt::join(uneven, ", "))});
  } else if (rows_by_count.size() > 1) {
    const auto most =
        std::ranges::max_element(rows_by_count, {}, [](const auto& rows) { return rows.second.size(); });
    std::vector<std::string> parts;
    for (const auto& [count, rows] : rows_by_count) {
      if (count != most->first) parts.push_back(fmt::format("{} for {}", count, fmt::join(rows, ", ")));
    }
    notes.push_back(
        {NoteKind::kReading,
         fmt::format("Rows have unequal numbers of runs (n = {}, {} for the others), and the "
                     "maximum over more runs is higher by chance: compare maxima of one row only.",
                     fmt::join(parts, ", "), most->first)});
  }
}

// What a column has whose name lacks a setting that others have in theirs.
void append_defaults_note(std::vector<Note>& notes, const ResultTable& table) {
  std::set<std::string> paths;
  for (const EncodingLabel& label : table.encodings) {
    for (const SettingValue& setting : label.settings) paths.insert(setting.path);
  }
  std::vector<std::string> defaults;
  for (const FieldRecord& field : list_fields(RunConfig())) {
    // A model outside che has no settings of training, and no defaults of them.
    const auto has_default = [&](const EncodingLabel& label) {
      const bool is_known = !label.form.foreign || is_below(field.path, "evaluation");
      return is_known && std::ranges::count(label.settings, field.path, &SettingValue::path) == 0;
    };
    if (paths.contains(field.path) && std::ranges::any_of(table.encodings, has_default)) {
      defaults.push_back(fmt::format("{}={}", field.path, field.value));
    }
  }
  if (defaults.empty()) return;
  notes.push_back(
      {NoteKind::kReading, fmt::format("A column whose name lacks one of these settings has its default: {}.",
                                       fmt::join(defaults, ", "))});
}

// Of runs that are tested at lengths that they are trained on.
void append_tested_lengths_note(std::vector<Note>& notes, const ResultTable& table) {
  std::set<std::string> runs;  // Each once, also where a setting of its encoding has a column of its own.
  for (const TableRun& run : table.runs) {
    if (run.score && !run.config.is_foreign() && is_tested_within_training(run.config)) runs.insert(run.id);
  }
  if (runs.empty()) return;
  notes.push_back(
      {NoteKind::kReading,
       fmt::format("Test lengths of {} begin within the training lengths: their scores are not of "
                   "longer inputs alone.",
                   counted(runs.size(), "run"))});
}

}  // namespace

bool shows_paper(const TableCell& cell, PaperValues values) {
  if (!cell.paper || values == PaperValues::kNone) return false;
  return values == PaperValues::kAll || cell.paper->is_comparable;
}

std::vector<Note> score_notes(const ResultTable& table, const ScoreTableOptions& options) {
  std::vector<Note> notes;
  const RunCounts counts = run_counts(table);
  notes.push_back(
      {NoteKind::kReading,
       fmt::format("Accuracy in percent, mean over test lengths{}; {}: no finished run.",
                   counts.most == 1
                       ? std::string(", of the one finished run of a cell (n = 1)")
                       : fmt::format(": {} over the finished runs of a cell ({}), which differ in {}",
                                     aggregate_phrase(options.aggregate), count_text(counts),
                                     differing_settings(table)),
                   kNoNumber)});
  if (options.aggregate == Aggregate::kMax) append_unequal_counts_note(notes, table);
  append_defaults_note(notes, table);
  append_tested_lengths_note(notes, table);
  append_waiting_note(notes, table);
  if (options.spread) {
    const char* const sign = options.aggregate == Aggregate::kMean ? "After \u00b1" : "In brackets";
    notes.push_back({NoteKind::kReading, fmt::format("{}: {} of those runs, where there are two or more.",
                                                     sign, range_phrase(options.aggregate))});
  }
  append_paper_notes(notes, table, options);
  append_invariant_note(notes, table);
  const auto did_not_train = [&](const auto& cell) { return cell.second.did_not_train(options.aggregate); };
  if (std::ranges::any_of(table.cells, did_not_train)) {
    notes.push_back(untrained_note(options.aggregate == Aggregate::kMax
                                       ? "the run with the score did not reach"
                                       : "no run of the cell reached"));
  }
  append_untrained_runs_note(notes, partly_untrained(table, options.aggregate));
  append_unmarked_note(notes, table, options.aggregate);
  append_baseline_notes(notes, table);
  append_provenance(notes, table);
  return notes;
}

std::vector<Note> score_data_notes(const ResultTable& table, const ScoreTableOptions& options) {
  std::vector<Note> notes = {
      {NoteKind::kReading,
       fmt::format(
           "Scores are fractions, 0 to 1: accuracy, mean over test lengths; n finished runs of a cell, "
           "which may differ in seed, data seed and learning rate; spread: {}, of two runs or more; "
           "difference: score minus paper; trained_runs: how many of these runs reached a training "
           "accuracy {:.0f} points above the best predictor without an input; training_accuracy: of the "
           "run with the highest score, over the last tenth of its steps, at the training lengths.",
           spread_phrase(options.aggregate), 100 * kTrainedMargin)}};
  append_waiting_note(notes, table);
  append_baseline_notes(notes, table);
  if (has_paper(table, std::max(options.paper, PaperValues::kComparable))) {
    Note note = paper_note();
    note.text +=
        " paper_match: same_positions, or, with --paper plain, other_positions, where no difference is "
        "given.";
    notes.push_back(std::move(note));
  }
  append_claims_note(notes, count_claims(comparable_rows(table), options.aggregate));
  append_provenance(notes, table);
  return notes;
}

}  // namespace che
