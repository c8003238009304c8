#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "experiments/published/paper_table.h"
#include "experiments/results/best_encodings.h"
#include "experiments/results/training_outcome.h"
#include "experiments/statistics/permutation_tests.h"
#include "tables/notes.h"
#include "tables/result_tables.h"

namespace che {
namespace {

std::string correlation_text(double correlation) { return fmt::format("{:+.2f}", correlation); }

// Joins the texts of labels or forms.
template <class Names>
std::string names_text(const Names& names) {
  return joined(names, "; ", [](const auto& name) { return name.text(); });
}

// "0: +0.41, 1: +0.52"
std::string seeds_text(const AgreedTask& task) {
  if (task.of_seeds.empty()) return kNoNumber;
  return joined(task.of_seeds, ", ", [](const auto& seed) {
    return fmt::format("{}: {}", seed.first, seed.second ? correlation_text(*seed.second) : kNoNumber);
  });
}

std::string agrees_text(const AgreedTask& task) {
  const std::optional<bool> agrees = task.agrees();
  return !agrees ? kNoNumber : *agrees ? "yes" : "no";
}

bool all_tie(const BestEncodings& best) { return best.scored > 1 && best.encodings.size() == best.scored; }

bool has_untrained_sign(const BestEncodings& best) {
  return !best.encodings.empty() && !all_tie(best) && !best.has_trained;
}

std::string best_text(const BestEncodings& best) {
  if (best.encodings.empty()) return kNoNumber;
  if (all_tie(best)) return fmt::format("all {} tie", best.scored);
  return names_text(best.encodings) + (has_untrained_sign(best) ? kUntrainedSign : "");
}

std::string paper_best_text(const TaskLabel& task) {
  const std::vector<EncodingForm> best = paper_best(task.name);
  return best.empty() || !task.settings.empty() ? kNoNumber : names_text(best);
}

TableValue paper_best_value(const TaskLabel& task) {
  return task.settings.empty() ? names_text(paper_best(task.name)) : std::string();
}

PrintedRow print_row(const AgreedTask& task, const BestEncodings& best) {
  return {.group = std::string(level_name(task.level)),
          .cells = {{.text = task.task.text(), .sign = task.permutation_invariant ? kInvariantSign : ""},
                    {.text = fmt::format("{}", task.encodings), .value = static_cast<double>(task.encodings)},
                    number_cell(task.correlation, correlation_text),
                    number_cell(task.p, p_text),
                    number_cell(task.adjusted_p, p_text),
                    {.text = seeds_text(task)},
                    number_cell(task.between_seeds, correlation_text),
                    {.text = agrees_text(task)},
                    {.text = best_text(best)},
                    difference_cell(best.above_trivial, Metric()),
                    number_cell(best.trivial_error, Metric()),
                    {.text = paper_best_text(task.task)}}};
}

TableValue least_of_seeds(const AgreedTask& task) {
  std::optional<double> least;
  for (const auto& [seed, correlation] : task.of_seeds) {
    if (correlation) least = std::min(least.value_or(1), *correlation);
  }
  return table_value(least);
}

// "; of columns that share one value of the paper one counts: rope, not randomized_rope".
std::string doubles_text(const PaperAgreement& agreement) {
  std::set<std::string> texts;
  for (const AgreedTask& task : agreement.tasks) {
    for (const auto& [left_out, counted] : task.doubles) {
      texts.insert(fmt::format("{}, not {}", counted.text(), left_out.text()));
    }
  }
  if (texts.empty()) return "";
  return fmt::format("; of columns that share one value of the paper one counts: {}", fmt::join(texts, "; "));
}

std::vector<Note> notes_of(const PaperAgreement& agreement, const ResultTable& table) {
  std::vector<Note> notes;
  add_note(
      notes, NoteKind::kReading,
      "rho: Spearman's rank correlation, over the encodings that have a score here and a value in the "
      "paper, of {} over a cell's runs with the paper's value: +1 for the same order, -1 for the reverse, "
      "none where one side is all ties or fewer than {} encodings count. Ties have the mean of their "
      "ranks{}.",
      aggregate_phrase(agreement.aggregate), kMinRanked, doubles_text(agreement));
  add_note(notes, NoteKind::kMethod,
           "p: two-sided permutation test, every order of up to {} encodings, else {} random ones. Holm: "
           "adjusted over the tasks that have one.",
           kMaxExactOrders, kRandomOrders);
  add_note(
      notes, NoteKind::kMethod,
      "By seed: rho of each seed's own scores with the paper's, for seeds that have a score of every "
      "ranked encoding. Between seeds: mean rho of two seeds with each other, which shows how well the "
      "order repeats. Agrees: whether rho is positive for every seed, of two or more; unrelated orders of "
      "two seeds agree once in four times.");
  add_note(notes, NoteKind::kMethod,
           "Best: of all columns here, as printed; of all columns of the paper's table there.");
  if (std::ranges::any_of(table.rows, [&](const TableRow& row) {
        return has_untrained_sign(best_encodings(table, row, agreement.aggregate));
      })) {
    append_untrained_note(notes, agreement.aggregate == Aggregate::kMax
                                     ? "the run with the score did not reach"
                                     : "no run of the cell reached");
  }
  append_baseline_notes(notes, table);
  add_note(
      notes, NoteKind::kMethod,
      "Above trivial: the best here minus the best trivial baseline; trivial SE: the standard error of "
      "that baseline over draws of the test samples. The model's own sampling error and the choice of the "
      "best encoding are not part of it. Where the difference is not well above 0, the order of the "
      "encodings says little.");
  if (agreement.mean) {
    add_note(notes, NoteKind::kReading, "Mean of rho over the tasks that have one, {} of {}: {}.",
             agreement.ranked, agreement.tasks.size(), correlation_text(*agreement.mean));
  }
  if (const auto& joint = agreement.joint) {
    add_note(
        notes, NoteKind::kReading,
        "Joint test: over the {} encodings that all these tasks have, the mean of rho is {}, p = {} "
        "(two-sided; one order of the encodings, the same in every task, is permuted: {}). The tests by "
        "task take the tasks as unrelated; this one does not.",
        joint->encodings, correlation_text(joint->mean), p_text(joint->p),
        joint->encodings <= kMaxExactOrders ? "every order" : fmt::format("{} random orders", kRandomOrders));
    if (!joint->tied.empty()) {
      std::vector<std::string> tied;
      for (const TaskLabel& task : joint->tied) tied.push_back(task.text());
      add_note(notes, NoteKind::kReading,
               "Not in the joint test, because here or in the paper these encodings all tie: {}.",
               fmt::join(tied, ", "));
    }
  }
  std::vector<std::string> unalike;
  for (const AgreedTask& task : agreement.tasks) {
    if (!task.measured_alike) unalike.push_back(task.task.text());
  }
  if (!unalike.empty()) {
    add_note(notes, NoteKind::kReading,
             "Not ranked, and not counted in claims, because columns are evaluated differently: {}.",
             fmt::join(unalike, ", "));
  }
  append_claims_note(notes, agreement.claims, NoteKind::kReading);
  append_unequal_runs_note(notes, table, agreement.aggregate);
  append_invariant_note(notes, table);
  const auto missing = std::ranges::count_if(table.runs, [](const TableRun& run) { return !run.score; });
  if (missing > 0) {
    add_note(notes, NoteKind::kReading, "Without a score and not counted: {} of {}.", missing,
             counted(table.runs.size(), "run"));
  }
  append_paper_note(notes, {PaperTable::kTasks});
  append_provenance(notes, table);
  return notes;
}

}  // namespace

Table agreement_table(const PaperAgreement& agreement, const ResultTable& table) {
  Table result{
      .title = fmt::format("Order of the encodings in the experiment {} and in the paper.", table.name),
      .printed = {.group_title = "level",
                  .columns = {{.title = "task", .number = false},
                              {.title = "ranked"},
                              {.title = "rho"},
                              {.title = "p"},
                              {.title = "p (Holm)"},
                              {.title = "by seed", .number = false},
                              {.title = "between seeds"},
                              {.title = "agrees", .number = false},
                              {.title = "best here", .number = false},
                              {.title = "above trivial"},
                              {.title = "trivial SE"},
                              {.title = "best in the paper", .number = false}},
                  .notes = notes_of(agreement, table)},
      .data = {.notes = notes_of(agreement, table)}};
  const auto& joint = agreement.joint;
  for (std::size_t i = 0; i < agreement.tasks.size(); ++i) {
    const AgreedTask& task = agreement.tasks[i];
    const BestEncodings best = best_encodings(table, table.rows[i], agreement.aggregate);
    result.printed.rows.push_back(print_row(task, best));
    result.data.add_row({{"level", std::string(level_name(task.level))},
                         {"task", task.task.text()},
                         {"aggregate", std::string(aggregate_name(agreement.aggregate))},
                         {"ranked", static_cast<std::int64_t>(task.encodings)},
                         {"spearman", table_value(task.correlation)},
                         {"p", table_value(task.p)},
                         {"p_holm", table_value(task.adjusted_p)},
                         {"seeds", static_cast<std::int64_t>(task.of_seeds.size())},
                         {"least_seed_spearman", least_of_seeds(task)},
                         {"between_seeds", table_value(task.between_seeds)},
                         {"agrees", task.agrees() ? TableValue(agrees_text(task)) : TableValue()},
                         {"best", names_text(best.encodings)},
                         {"above_trivial", table_value(best.above_trivial)},
                         {"trivial_error", table_value(best.trivial_error)},
                         {"paper_best", paper_best_value(task.task)},
                         {"joint_spearman", joint ? TableValue(joint->mean) : TableValue()},
                         {"joint_p", joint ? TableValue(joint->p) : TableValue()}});
  }
  return result;
}

}  // namespace che
