#include "experiments/analysis/measured_alike.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "core/config/field_list.h"
#include "experiments/plan/exact_lengths.h"

namespace che {
namespace {

// The settings of the evaluation, which all runs of a cell share.
std::string evaluation_text(const ResultTable& table, const TableCell& cell) {
  RunConfig config = table.runs[cell.finished.empty() ? cell.missing.front() : cell.finished.front()].config;
  config.evaluation = with_exact_lengths(config.evaluation);
  std::string text;
  for (const FieldRecord& field : list_fields(config)) {
    if (is_below(field.path, "evaluation") && field.role != Role::kExecution)
      text += fmt::format("{}={}\n", field.path, field.value);
  }
  return text;
}

}  // namespace

bool are_measured_alike(const ResultTable& table, const std::vector<const TableCell*>& cells) {
  std::set<std::string> texts;
  for (const TableCell* const cell : cells) texts.insert(evaluation_text(table, *cell));
  return texts.size() <= 1;
}

}  // namespace che
