#include "tables/notes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "core/error.h"
#include "core/text.h"
#include "experiments/plan/run_config.h"
#include "experiments/published/paper_perplexities.h"
#include "experiments/results/best_encodings.h"
#include "experiments/results/paper_agreement.h"
#include "experiments/results/provenance.h"
#include "tables/units.h"

namespace che {

void append_provenance(std::vector<Note>& notes, const ResultTable& table) {
  if (const std::string own = own_forms(table); !own.empty()) notes.push_back({NoteKind::kReading, own});
  for (const std::string& note : table.reading_notes) notes.push_back({NoteKind::kReading, note});
  append_no_numbers_note(notes, table);
  for (const Fact& fact : provenance(table)) {
    add_note(notes, fact.is_needed ? NoteKind::kReading : NoteKind::kProvenance, "{}: {}.", fact.name,
             fact.value);
  }
}

bool is_begun(const TableRun& run) { return !run.damage.empty() || run.status.state != RunState::kWaiting; }

std::vector<PlacedCell> cells_by_row(const ResultTable& table) {
  std::vector<PlacedCell> cells;
  for (const TableRow& row : table.rows) {
    for (const EncodingLabel& encoding : table.encodings) {
      if (const TableCell* const cell = table.cell(row.task, encoding)) {
        cells.push_back({.row = &row, .encoding = &encoding, .cell = cell});
      }
    }
  }
  return cells;
}

void append_paper_note(std::vector<Note>& notes, const std::set<PaperTable>& tables) {
  if (tables.contains(PaperTable::kTasks)) {
    add_note(notes, NoteKind::kPaper,
             "The paper's value is from Table 2 of the DAPE paper (arXiv 2405.14722; 200000 steps, width "
             "256, test lengths 41..500, number of runs not stated). All its columns are read as randomized "
             "positions; docs/deviations.md says why.");
  }
  for (const PaperPerplexities& one : paper_perplexities()) {
    if (!tables.contains(one.table)) continue;
    add_note(
        notes, NoteKind::kPaper,
        "The paper's perplexity is from Table {} of the DAPE paper (arXiv 2405.14722; {}; 125M parameters, "
        "trained "
        "at {} tokens, the last {} predictions of a window). Documents, windows and seeds differ from ours.",
        static_cast<int>(one.table), one.about, one.trained, kPaperCounted);
  }
}

void append_claims_note(std::vector<Note>& notes, std::vector<PaperClaim> claims, NoteKind kind) {
  std::erase_if(claims, [](const PaperClaim& claim) { return claim.here.tasks == 0; });
  if (claims.empty()) return;
  add_note(
      notes, kind,
      "Claims of the paper, counted over the tasks that have both scores and whose columns are evaluated "
      "alike (those of DAPE over the tasks that are not permutation-invariant); a task is left out where "
      "neither cell trained. Any positive difference of the scores shown counts. All encodings have "
      "randomized positions. {}.",
      joined(claims, "; ", [](const PaperClaim& claim) {
        return fmt::format("{}: paper {} of {}, here {} of {}", claim.text, claim.paper.holds,
                           claim.paper.tasks, claim.here.holds, claim.here.tasks);
      }));
}

void append_invariant_note(std::vector<Note>& notes, const ResultTable& table) {
  if (std::ranges::none_of(table.rows, &TableRow::permutation_invariant)) return;
  add_note(notes, NoteKind::kReading, "{} The paper marks the task as permutation-invariant.",
           kInvariantSign);
}

namespace {

// The numbers of finished runs of the cells that have any.
std::set<std::size_t> run_counts(const ResultTable& table) {
  std::set<std::size_t> counts;
  for (const auto& [key, cell] : table.cells) {
    if (cell.scores) counts.insert(cell.scores->n);
  }
  return counts;
}

std::string count_text(const std::set<std::size_t>& counts) {
  if (counts.empty()) return "no run has finished";
  if (counts.size() == 1) return fmt::format("n = {}", *counts.begin());
  return fmt::format("n = {}..{}", *counts.begin(), *counts.rbegin());
}

void append_waiting_note(std::vector<Note>& notes, const ResultTable& table) {
  const auto runs = table.by_stored_run();
  const auto waiting = std::ranges::count_if(runs, [](const auto& run) { return !is_begun(*run.front()); });
  if (waiting == 0) return;
  add_note(notes, NoteKind::kReading, "Not begun: {} of {}.", waiting, counted(runs.size(), "run"));
}

// The tables of the paper that some cell shows a value of.
std::set<PaperTable> paper_tables(const ResultTable& table, PaperValues values) {
  std::set<PaperTable> shown;
  for (const auto& [key, cell] : table.cells) {
    if (shows_paper(cell, values)) shown.insert(cell.paper->table);
  }
  return shown;
}

void append_paper_notes(std::vector<Note>& notes, const ResultTable& table,
                        const ScoreTableOptions& options) {
  if (options.paper == PaperValues::kNone && !options.difference) return;
  // A difference needs comparable values.
  const PaperValues shown = std::max(options.paper, PaperValues::kComparable);
  const std::set<PaperTable> tables = paper_tables(table, shown);
  for (const std::string& gap : table.paper_gaps) notes.push_back({NoteKind::kReading, gap});
  if (tables.empty()) {
    if (!table.paper_gaps.empty()) return;
    const bool has_none = shown == PaperValues::kAll || paper_tables(table, PaperValues::kAll).empty();
    add_note(notes, NoteKind::kPaper, "{}",
             has_none ? "The paper's table has no value for any of these cells."
                      : "The paper's table has values only for other positions than those of these cells; "
                        "--paper plain shows them.");
    return;
  }
  add_note(notes, NoteKind::kReading, "In parentheses: {}{}.",
           !options.difference                   ? "the paper's value"
           : options.paper == PaperValues::kNone ? "ours minus the paper's value"
                                                 : "the paper's value and ours minus it",
           options.difference && tables.contains(PaperTable::kTasks) ? ", in points" : "");
  append_paper_note(notes, tables);
  const auto is_other_method = [](const auto& cell) {
    return cell.second.paper && cell.second.scores && !cell.second.paper->is_comparable;
  };
  if (shown == PaperValues::kAll && std::ranges::any_of(table.cells, is_other_method)) {
    add_note(notes, NoteKind::kReading,
             "{} The paper's value is of randomized positions and ours of contiguous ones: two different "
             "methods.",
             kOtherMethodSign);
  }
  append_claims_note(notes, count_claims(comparable_rows(table), options.aggregate), NoteKind::kMethod);
}

// Says what is weak about the highest score of a row, or the second.
std::string weakness_text(WeakBest weakness, bool is_second) {
  const char* const score = is_second ? "the second score" : "the highest score";
  switch (weakness) {
    case WeakBest::kTied:
      return is_second ? "most encodings have the second score" : "most encodings tie";
    case WeakBest::kMeasuredUnalike:
      return "columns are evaluated differently";
    case WeakBest::kRatesUnalike:
      return "cells have other learning rates or other shares of them";
    case WeakBest::kNotAboveChance:
      return is_second ? "the second score is not above chance" : "no score is above chance";
    case WeakBest::kDidNotTrain:
      return fmt::format("{} is of a cell that did not train", score);
    case WeakBest::kTrivial:
      return fmt::format("{} is below or within two standard errors of the best trivial baseline", score);
  }
  throw Error("reason for an unmarked best out of range", ErrorKind::kRuntime);
}

// Says why the best or the second of some rows with several scores is not marked.
void append_unmarked_note(std::vector<Note>& notes, const ResultTable& table, Aggregate aggregate) {
  std::array<std::set<WeakBest>, 2> reasons;  // Of the best, and of the second.
  for (const TableRow& row : table.rows) {
    const BestEncodings best = best_encodings(table, row, aggregate);
    const BestEncodings second = second_encodings(table, row, aggregate);
    if (best.scored < 2) continue;
    for (const WeakBest weakness : best.weaknesses()) reasons[0].insert(weakness);
    if (!best.is_distinct() || second.encodings.empty()) continue;
    for (const WeakBest weakness : second.weaknesses()) reasons[1].insert(weakness);
  }
  for (const bool is_second : {false, true}) {
    const std::set<WeakBest>& found = reasons[is_second ? 1 : 0];
    if (found.empty()) continue;
    add_note(
        notes, NoteKind::kMethod, "No {} is marked where {}.", is_second ? "second" : "best",
        joined(found, ", or where ", [&](WeakBest weakness) { return weakness_text(weakness, is_second); }));
  }
}

std::vector<PartlyTrainedCell> partly_trained_cells(const ResultTable& table, Aggregate aggregate) {
  std::vector<PartlyTrainedCell> cells;
  for (const auto& [row, encoding, cell] : cells_by_row(table)) {
    // If no run is known to have trained, nothing is known of those that are not untrained.
    if (cell->trained == 0 || cell->untrained == 0 || cell->did_not_train(aggregate)) continue;
    cells.push_back({.encoding = *encoding,
                     .task = row->task,
                     .untrained = cell->untrained,
                     .counted = cell->finished.size()});
  }
  return cells;
}

// Names the settings in which the finished runs of some cell differ: "seed and learning rate".
std::string differing_settings(const ResultTable& table) {
  std::vector<std::string> settings;
  const auto look_for = [&](const char* name, const auto& value_of) {
    const auto differs = [&](const auto& entry) {
      return std::ranges::any_of(entry.second.finished, [&](std::size_t run) {
        return value_of(table.runs[run].config) != value_of(table.runs[entry.second.finished.front()].config);
      });
    };
    if (std::ranges::any_of(table.cells, differs)) settings.emplace_back(name);
  };
  look_for("seed", [](const RunConfig& config) { return config.seed; });
  look_for("data seed", [](const RunConfig& config) { return config.data_seed; });
  look_for("evaluation seed", [](const RunConfig& config) { return config.evaluation.seed; });
  look_for("learning rate", [](const RunConfig& config) { return config.learning_rate; });
  if (settings.size() < 2) return fmt::format("{}", fmt::join(settings, ""));
  const std::string last = settings.back();
  settings.pop_back();
  return fmt::format("{} and {}", fmt::join(settings, ", "), last);
}

// Names what columns have whose names lack a setting that others name: its default, which can be another one
// for texts than for tasks.
void append_defaults_note(std::vector<Note>& notes, const ResultTable& table) {
  std::set<std::string> paths;
  for (const EncodingLabel& label : table.encodings) {
    for (const SettingValue& setting : label.settings) paths.insert(setting.path);
  }
  if (paths.empty()) return;
  std::map<std::string, std::map<bool, std::set<std::string>>> values;  // By path and whether on a text.
  for (const TableRun& run : table.runs) {
    for (const FieldRecord& field : list_fields(run.config)) {
      // A model outside che has no settings of training.
      if (!paths.contains(field.path) || (run.config.is_foreign() && !is_below(field.path, "evaluation")) ||
          std::ranges::count(run.encoding.settings, field.path, &SettingValue::path) > 0) {
        continue;
      }
      values[field.path][run.config.has_text()].insert(field.value);
    }
  }
  std::vector<std::string> defaults;
  for (const auto& [path, by_text] : values) {
    const bool differ = by_text.size() == 2 && by_text.at(false) != by_text.at(true);
    for (const auto& [has_text, of_both] : by_text) {
      if (of_both.size() > 1 || (has_text && by_text.size() == 2 && !differ)) continue;
      const char* const where = !differ ? "" : has_text ? " on texts" : " on tasks";
      defaults.push_back(fmt::format("{}={}{}", path, *of_both.begin(), where));
    }
  }
  if (defaults.empty()) return;
  add_note(notes, NoteKind::kReading, "A column whose name lacks one of these settings has its default: {}.",
           fmt::join(defaults, ", "));
}

// Counts the runs that are tested at lengths that they are trained on.
void append_tested_lengths_note(std::vector<Note>& notes, const ResultTable& table) {
  std::set<std::string> runs;  // One run may stand in several columns.
  for (const TableRun& run : table.runs) {
    if (!run.score || run.config.is_foreign() || run.config.has_text()) continue;
    if (run.scored_lengths.front() <= run.config.training.last_length) runs.insert(run.id);
  }
  if (runs.empty()) return;
  add_note(notes, NoteKind::kReading,
           "Not all test lengths of {} exceed the training lengths: their scores are not of longer inputs "
           "alone.",
           counted(runs.size(), "run"));
}

// What the scores of the rows are.
std::string score_words(const ResultTable& table) {
  constexpr std::array kWords = {"Accuracy in percent, mean over test lengths", "Perplexity, lower is better",
                                 "Bits a prediction, lower is better",
                                 "Loss in nats a prediction, lower is better"};  // By Metric::Source.
  std::set<std::string_view> words;
  for (const TableRow& row : table.rows) words.insert(kWords.at(static_cast<std::size_t>(row.metric.source)));
  return words.empty() ? kWords[0] : fmt::format("{}", fmt::join(words, "; of texts: "));
}

}  // namespace

bool shows_paper(const TableCell& cell, PaperValues values) {
  if (!cell.paper || values == PaperValues::kNone) return false;
  return values == PaperValues::kAll || cell.paper->is_comparable;
}

std::vector<Note> score_notes(const ResultTable& table, const ScoreTableOptions& options) {
  std::vector<Note> notes;
  const std::set<std::size_t> counts = run_counts(table);
  add_note(notes, NoteKind::kReading, "{}{}; {}: no finished run.", score_words(table),
           counts.empty() ? std::string()
           : counts == std::set<std::size_t>{1}
               ? std::string(", of the one finished run of a cell (n = 1)")
               : fmt::format(": {} over the finished runs of a cell ({}), which differ in {}",
                             aggregate_phrase(table, options.aggregate), count_text(counts),
                             differing_settings(table)),
           kNoNumber);
  append_unequal_runs_note(notes, table, options.aggregate);
  if (options.aggregate == Aggregate::kMax) append_unequal_rows_note(notes, table);
  append_defaults_note(notes, table);
  append_tested_lengths_note(notes, table);
  append_waiting_note(notes, table);
  if (options.spread) {
    add_note(notes, NoteKind::kReading, "{}: {} of those runs, where there are two or more.",
             options.aggregate == Aggregate::kMean ? "After \u00b1" : "In brackets",
             range_phrase(options.aggregate));
  }
  append_paper_notes(notes, table, options);
  append_invariant_note(notes, table);
  const auto did_not_train = [&](const auto& cell) { return cell.second.did_not_train(options.aggregate); };
  if (std::ranges::any_of(table.cells, did_not_train)) {
    append_untrained_note(notes, options.aggregate == Aggregate::kMax ? "the run with the score did not reach"
                                                                      : "no run of the cell reached");
  }
  append_partly_trained_note(notes, partly_trained_cells(table, options.aggregate));
  append_unknown_training_note(notes, table);
  append_unmarked_note(notes, table, options.aggregate);
  append_baseline_notes(notes, table);
  append_provenance(notes, table);
  return notes;
}

std::vector<Note> score_data_notes(const ResultTable& table, const ScoreTableOptions& options) {
  std::vector<Note> notes;
  add_note(
      notes, NoteKind::kReading,
      "{}, means over test lengths; n finished runs of a cell, which "
      "may differ in seed, data seed and learning rate; spread: {}, of two runs or more; difference: "
      "score minus paper; trained_runs: how many of these runs reached a training accuracy {:.0f} points "
      "above the best predictor without an input; training_accuracy: of the best run, "
      "over the last tenth of its steps, at the training lengths.",
      score_units(table, "fractions, 0 to 1"), spread_phrase(options.aggregate), 100 * kTrainedMargin);
  append_waiting_note(notes, table);
  append_baseline_notes(notes, table);
  const auto tables = paper_tables(table, std::max(options.paper, PaperValues::kComparable));
  append_paper_note(notes, tables);
  if (!tables.empty()) {
    notes.back().text +=
        " paper_match: same_positions, or, with --paper plain, other_positions, where no difference is "
        "given.";
  }
  append_claims_note(notes, count_claims(comparable_rows(table), options.aggregate), NoteKind::kMethod);
  append_provenance(notes, table);
  return notes;
}

}  // namespace che
