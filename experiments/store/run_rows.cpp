#include "experiments/store/run_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "experiments/plan/evaluation_settings.h"

namespace che {
namespace {

auto key(const EvaluationRow& row) {
  return std::tie(row.length, row.samples, row.seed, row.eval_dropout, row.encoding_settings);
}

// Whether a row is measured as the config asks, whatever its length.
auto is_measured_for(const RunConfig& config) {
  return [&asked = config.evaluation, settings = evaluation_settings(config)](const EvaluationRow& row) {
    return has_samples_of(asked, row) && row.encoding_settings == settings;
  };
}

}  // namespace

std::int64_t position_bin_end(std::int64_t first, std::int64_t length) {
  constexpr std::int64_t kNarrow = 16;
  constexpr std::int64_t kWide = 64;
  constexpr std::int64_t kWideFrom = 256;
  return std::min(length, first + (first < kWideFrom ? kNarrow : kWide));
}

bool has_samples_of(const EvaluationConfig& asked, const EvaluationRow& row) {
  return row.samples == asked.samples && row.seed == asked.seed && row.eval_dropout == asked.eval_dropout;
}

std::vector<EvaluationRow> rows_of_any_length(const std::vector<EvaluationRow>& rows,
                                              const RunConfig& config) {
  std::vector<EvaluationRow> chosen;
  std::ranges::copy_if(rows, std::back_inserter(chosen), is_measured_for(config));
  return chosen;
}

std::vector<EvaluationRow> present_rows(const std::vector<EvaluationRow>& rows, const RunConfig& config) {
  // A text has a config for each of its rows, so that a row of another length has to be passed over quickly.
  const std::vector<std::int64_t> lengths = config.evaluation.lengths();
  const auto is_measured = is_measured_for(config);
  std::map<std::int64_t, const EvaluationRow*> by_length;
  for (const EvaluationRow& row : rows) {
    if (std::ranges::binary_search(lengths, row.length) && is_measured(row)) by_length[row.length] = &row;
  }
  std::vector<EvaluationRow> present;
  present.reserve(by_length.size());
  for (const auto& [length, row] : by_length) present.push_back(*row);
  return present;
}

std::optional<double> score(const std::vector<EvaluationRow>& rows, const RunConfig& config,
                            const Metric& metric) {
  const std::vector<EvaluationRow> present = present_rows(rows, config);
  if (present.size() < config.evaluation.lengths().size()) return std::nullopt;
  return mean_value(present, metric);
}

std::optional<double> mean_value(const std::vector<EvaluationRow>& rows, const Metric& metric) {
  if (rows.empty()) return std::nullopt;
  double sum = 0;
  for (const EvaluationRow& row : rows) sum += metric.value(row.accuracy, row.loss);
  if (std::isnan(sum)) return std::nullopt;
  return sum / static_cast<double>(rows.size());
}

std::optional<double> mean_error(const std::vector<EvaluationRow>& rows, const Metric& metric) {
  if (rows.empty() || metric.source != Metric::Source::kAccuracy) return std::nullopt;
  double squares = 0;
  for (const EvaluationRow& row : rows) {
    if (!row.accuracy_se) return std::nullopt;
    squares += *row.accuracy_se * *row.accuracy_se;
  }
  return std::sqrt(squares) / static_cast<double>(rows.size());
}

std::vector<std::int64_t> missing_lengths(const std::vector<EvaluationRow>& rows, const RunConfig& config) {
  std::set<std::int64_t> measured;
  for (const EvaluationRow& row : present_rows(rows, config)) measured.insert(row.length);
  std::vector<std::int64_t> missing = config.evaluation.lengths();
  std::erase_if(missing, [&](std::int64_t length) { return measured.contains(length); });
  return missing;
}

std::vector<std::int64_t> missing_lengths(const StepRows& rows, std::int64_t step, const RunConfig& config) {
  const auto found = rows.find(step);
  return found == rows.end() ? config.evaluation.lengths() : missing_lengths(found->second, config);
}

std::vector<std::int64_t> lengths_to_measure(const std::vector<EvaluationRow>& rows,
                                             const RunConfig& config) {
  std::vector<std::int64_t> lengths = missing_lengths(rows, config);
  if (!config.has_text() || config.is_foreign()) return lengths;
  const std::int64_t longest = config.evaluation.lengths().back();
  for (const EvaluationRow& row : present_rows(rows, config)) {
    const bool lacks_curve = config.evaluation.text.curve && row.length == longest && row.positions.empty();
    if (row.windows.empty() || lacks_curve) lengths.push_back(row.length);
  }
  std::ranges::sort(lengths);
  return lengths;
}

void attach_parts(std::vector<EvaluationRow>& rows, std::vector<EvaluationRow> parts) {
  std::map<decltype(key(rows[0])), EvaluationRow*> by_key;
  for (EvaluationRow& row : rows) by_key.emplace(key(row), &row);
  for (EvaluationRow& part : parts) {
    const auto found = by_key.find(key(part));
    if (found == by_key.end()) continue;
    if (!part.windows.empty()) found->second->windows = std::move(part.windows);
    if (!part.positions.empty()) found->second->positions = std::move(part.positions);
  }
}

std::optional<EvaluationRow> store_row(std::vector<EvaluationRow>& rows, const EvaluationRow& row) {
  const auto place = std::lower_bound(
      rows.begin(), rows.end(), row,
      [](const EvaluationRow& one, const EvaluationRow& other) { return key(one) < key(other); });
  if (place != rows.end() && key(*place) == key(row)) return std::exchange(*place, row);
  rows.insert(place, row);
  return std::nullopt;
}

}  // namespace che
