#include "experiments/published/paper_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "core/config/field_list.h"
#include "core/number_text.h"
#include "experiments/store/csv.h"

namespace che {

// data/paper/table2_che.csv, built into the program.
extern const char* const kPaperTable2Csv;

namespace {

constexpr std::size_t kFirstColumn = 3;  // After level, task and permutation_invariant.

struct PaperTable {
  std::vector<PaperColumn> columns;
  std::vector<PaperTask> tasks;
  // Fractions by task, in the order of the columns.
  std::map<std::string, std::vector<double>, std::less<>> rows;
};

PaperTable read_paper_table() {
  const std::vector<std::string> names = {"level",    "task",       "permutation_invariant",
                                          "learned",  "sin_cos",    "rope",
                                          "relative", "alibi",      "kerple",
                                          "fire",     "dape_alibi", "dape_kerple",
                                          "dape_fire"};
  const CsvRows rows("data/paper/table2_che.csv", kPaperTable2Csv, names, "restore it and build again");
  PaperTable table;
  // The first line below the names has the paper's headings.
  for (std::size_t column = kFirstColumn; column < names.size(); ++column) {
    const std::string heading(rows.text(0, column));
    if (heading != "Randomized" && heading != "DAPE (Ours)") {
      rows.fail(0, column, "Randomized or DAPE (Ours)");
    }
    std::string_view name = names[column];
    const bool dape = take_prefix(name, "dape_");
    PaperColumn& added = table.columns.emplace_back();
    added.form = {.name = std::string(name), .dape = dape, .randomized = true};
    added.heading = heading;
  }
  for (std::size_t row = 1; row < rows.size(); ++row) {
    const std::string task(rows.text(row, 1));
    const bool invariant = rows.text(row, 2) == "yes";
    if (!invariant && rows.text(row, 2) != "no") rows.fail(row, 2, "yes or no");
    table.tasks.push_back({.name = task, .permutation_invariant = invariant});
    std::vector<double>& scores = table.rows[task];
    for (std::size_t column = kFirstColumn; column < names.size(); ++column) {
      // The fraction with four decimals that is nearest to the printed percentage.
      scores.push_back(std::round(100 * rows.real(row, column)) / 10'000);
    }
  }
  return table;
}

const PaperTable& paper_table() {
  static const PaperTable table = read_paper_table();
  return table;
}

}  // namespace

bool has_numbers_of(const EncodingConfig& encoding, const EncodingConfig& published) {
  const auto fields = [](EncodingConfig config) {
    return list_fields([&](FieldVisitor& visitor) { config.visit_fields(visitor); });
  };
  std::map<std::string, std::string> values;
  for (const FieldRecord& field : fields(published)) values.emplace(field.path, field.value);
  return std::ranges::none_of(fields(encoding), [&](const FieldRecord& field) {
    const bool is_formula = field.path == "attention_scale" || field.path == "kind" ||
                            field.path == "frequencies" || field.path == "scaling";
    const bool is_size = field.number || is_formula || is_below(field.path, "dape");
    return is_size && field.role != Role::kExecution && values.at(field.path) != field.value;
  });
}

const std::vector<PaperColumn>& paper_columns() { return paper_table().columns; }

const std::vector<PaperTask>& paper_tasks() { return paper_table().tasks; }

std::optional<double> paper_score(std::string_view task, const EncodingForm& column) {
  const auto row = paper_table().rows.find(task);
  if (row == paper_table().rows.end()) return std::nullopt;
  const auto found = std::ranges::find(paper_columns(), column, &PaperColumn::form);
  if (found == paper_columns().end()) return std::nullopt;
  return row->second[static_cast<std::size_t>(found - paper_columns().begin())];
}

std::optional<PaperValue> paper_value(const TaskLabel& task, const EncodingConfig& encoding) {
  const EncodingForm form = encoding.form();
  const auto column = std::ranges::find_if(paper_columns(), [&](const PaperColumn& one) {
    return one.form.name == form.name && one.form.dape == form.dape;
  });
  const bool is_other_method = encoding.positions != PositionSource::kContiguous && !form.randomized;
  if (!task.settings.empty() || column == paper_columns().end() || is_other_method) return std::nullopt;
  EncodingConfig published;
  published.name = encoding.name;
  published.positions = encoding.positions;
  if (encoding.dape) published.dape.emplace();
  if (!has_numbers_of(encoding, published)) return std::nullopt;
  const std::optional<double> score = paper_score(task.name, column->form);
  if (!score) return std::nullopt;
  return PaperValue{.column = column->form, .score = *score, .is_comparable = form.randomized};
}

std::vector<EncodingForm> paper_best(std::string_view task) {
  const auto row = paper_table().rows.find(task);
  if (row == paper_table().rows.end()) return {};
  const double greatest = *std::ranges::max_element(row->second);
  std::vector<EncodingForm> best;
  for (std::size_t i = 0; i < row->second.size(); ++i) {
    if (row->second[i] == greatest) best.push_back(paper_columns()[i].form);
  }
  return best;
}

namespace {

using Scores = std::map<EncodingForm, ClaimScore>;

std::optional<ClaimScore> score_of(const Scores& scores, const EncodingForm& column) {
  const auto score = scores.find(column);
  return score == scores.end() ? std::nullopt : std::optional(score->second);
}

// True if the best column of a task is DAPE around Kerple or FIRE. Returns nothing if a column has no score.
std::optional<bool> adapted_is_best(const Scores& scores) {
  double best = 0;
  double best_adapted = 0;
  bool trained = false;
  for (const PaperColumn& column : paper_columns()) {
    const auto score = score_of(scores, column.form);
    if (!score) return std::nullopt;
    const bool adapted = column.form.dape && (column.form.name == "kerple" || column.form.name == "fire");
    double& greatest = adapted ? best_adapted : best;
    greatest = std::max(greatest, score->value);
    trained = trained || score->trained;
  }
  if (!trained) return std::nullopt;
  return best_adapted > best;
}

std::optional<bool> is_higher(const Scores& scores, const EncodingForm& one, const EncodingForm& other) {
  const auto first = score_of(scores, one);
  const auto second = score_of(scores, other);
  if (!first || !second || (!first->trained && !second->trained)) return std::nullopt;
  return first->value > second->value;
}

EncodingForm randomized(const std::string& name, bool dape = false) {
  return {.name = name, .dape = dape, .randomized = true};
}

std::optional<bool> improves(const Scores& scores, const std::string& encoding) {
  return is_higher(scores, randomized(encoding, true), randomized(encoding));
}

struct Claim {
  std::string text;
  std::function<std::optional<bool>(const Scores&)> holds;
  bool on_every_task = false;
};

const std::vector<Claim>& published_claims() {
  static const std::vector<Claim> claims = {
      {"DAPE with Kerple or FIRE is best", adapted_is_best},
      {"DAPE improves ALiBi", [](const Scores& scores) { return improves(scores, "alibi"); }},
      {"DAPE improves FIRE", [](const Scores& scores) { return improves(scores, "fire"); }},
      {"DAPE improves Kerple", [](const Scores& scores) { return improves(scores, "kerple"); }},
      {"FIRE outperforms Kerple",
       [](const Scores& scores) { return is_higher(scores, randomized("fire"), randomized("kerple")); },
       true},
      {"Kerple outperforms ALiBi",
       [](const Scores& scores) { return is_higher(scores, randomized("kerple"), randomized("alibi")); },
       true}};
  return claims;
}

ClaimCount count_claim(const Claim& claim, const std::vector<ClaimRow>& rows) {
  ClaimCount count;
  for (const ClaimRow& row : rows) {
    if (row.permutation_invariant && !claim.on_every_task) continue;
    const std::optional<bool> holds = claim.holds(row.scores);
    if (!holds) continue;
    ++count.tasks;
    if (*holds) ++count.holds;
  }
  return count;
}

}  // namespace

std::vector<PaperClaim> count_claims(const std::vector<ClaimRow>& rows) {
  std::vector<ClaimRow> paper_rows;
  for (const PaperTask& task : paper_tasks()) {
    ClaimRow& row = paper_rows.emplace_back();
    row.permutation_invariant = task.permutation_invariant;
    for (const PaperColumn& column : paper_columns()) {
      row.scores[column.form] = {.value = *paper_score(task.name, column.form), .trained = true};
    }
  }
  std::vector<PaperClaim> counted;
  for (const Claim& claim : published_claims()) {
    counted.push_back(
        {.text = claim.text, .paper = count_claim(claim, paper_rows), .here = count_claim(claim, rows)});
  }
  return counted;
}

}  // namespace che
