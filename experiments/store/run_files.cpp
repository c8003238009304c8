#include "experiments/store/run_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/checksum.h"
#include "core/error.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/store/csv.h"

namespace che {
namespace {

const std::vector<std::string> kMetricsColumns = {"step",          "loss",    "accuracy",
                                                  "gradient_norm", "seconds", std::string(kChecksumColumn)};
const std::vector<std::string> kEvaluationColumns = {
    "length", "samples", "seed", "eval_dropout", "accuracy", "loss", std::string(kChecksumColumn)};
// Of a file some of whose rows were measured with other settings of the encoding than the trained model's.
const std::vector<std::string> kColumnsWithSettings = {"length",
                                                       "samples",
                                                       "seed",
                                                       "eval_dropout",
                                                       "encoding_settings",
                                                       "accuracy",
                                                       "loss",
                                                       std::string(kChecksumColumn)};
constexpr std::string_view kChecksumLine = "# checksum: ";

std::string checksum_line(std::string_view key, std::string_view settings) {
  return fmt::format("{}{}\n", kChecksumLine, checksum(key, settings));
}

// Nothing when the text is no config of a run.
std::optional<RunConfig> try_parse(std::string_view settings, const std::string& file) {
  try {
    return parse_run_config(settings, file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string csv_text(const std::vector<std::string>& columns, std::string_view rows, std::string_view id) {
  if (rows.empty()) return "";
  const std::string header = fmt::format("{}\n", fmt::join(columns.begin(), columns.end() - 1, ","));
  return with_checksum_column(header + std::string(rows), id);
}

}  // namespace

std::string stored_config_text(const RunConfig& config) {
  const std::string settings = to_yaml(config);
  return settings + checksum_line(run_id(config), settings);
}

StoredConfig parse_stored_config(std::string_view text, std::string_view id, const std::string& file) {
  const auto fail = [&](std::string_view problem) {
    throw Error(fmt::format("{}: {}; the file is damaged: {}", file, problem, kConfigRemedy));
  };
  const std::size_t end = text.rfind(kChecksumLine);
  if (end == std::string_view::npos) fail("its last line, the checksum, is missing");
  const std::string_view settings = text.substr(0, end);
  const std::string_view line = text.substr(end);
  if (line == checksum_line(id, settings) || line == checksum_line("", settings)) {
    RunConfig config = parse_run_config(settings, file);
    std::string own_id = run_id(config);
    return {std::move(config), std::move(own_id)};
  }
  std::optional<RunConfig> config = try_parse(settings, file);
  std::string own_id = config ? run_id(*config) : "";
  if (!config || line != checksum_line(own_id, settings)) fail("its checksum does not fit its content");
  return {*std::move(config), std::move(own_id)};
}

std::string metrics_text(const std::vector<MetricsRow>& rows, std::string_view id) {
  std::string text;
  for (const MetricsRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", row.step, row.loss, row.accuracy,
                   row.gradient_norm, row.seconds);
  }
  return csv_text(kMetricsColumns, text, id);
}

std::vector<MetricsRow> parse_metrics(std::string_view text, std::string_view id, const std::string& file) {
  const CsvRows csv(file, text, kMetricsColumns, std::string(kMetricsRemedy));
  std::vector<MetricsRow> rows;
  rows.reserve(csv.size());
  for (std::size_t i = 0; i < csv.size(); ++i) {
    rows.push_back({.step = csv.integer(i, 0),
                    .loss = csv.real(i, 1),
                    .accuracy = csv.real(i, 2),
                    .gradient_norm = csv.real(i, 3),
                    .seconds = csv.real(i, 4)});
  }
  csv.check_checksum(id);
  return rows;
}

std::string evaluation_text(const std::vector<EvaluationRow>& rows, std::string_view id) {
  const bool has_settings =
      std::ranges::any_of(rows, [](const EvaluationRow& row) { return !row.encoding_settings.empty(); });
  std::string text;
  for (const EvaluationRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}{}{},{}\n", row.length, row.samples, row.seed,
                   row.eval_dropout ? "on" : "off", evaluation_settings_text(row.encoding_settings),
                   has_settings ? "," : "", row.accuracy, row.loss);
  }
  return csv_text(has_settings ? kColumnsWithSettings : kEvaluationColumns, text, id);
}

std::vector<EvaluationRow> parse_evaluation(std::string_view text, std::string_view id,
                                            const std::string& file) {
  const std::string header = fmt::format("{}\n", fmt::join(kColumnsWithSettings, ","));
  const bool has_settings = text.starts_with(header);
  const CsvRows csv(file, text, has_settings ? kColumnsWithSettings : kEvaluationColumns,
                    std::string(kEvaluationRemedy));
  const std::size_t accuracy = has_settings ? 5 : 4;
  std::vector<EvaluationRow> rows;
  rows.reserve(csv.size());
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, OptionValues>> keys;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const std::string_view eval_dropout = csv.text(i, 3);
    auto settings = parse_evaluation_settings(has_settings ? csv.text(i, 4) : "");
    if (!settings) csv.fail(i, 4, "NAME=VALUE;NAME=VALUE, sorted by name");
    rows.push_back({.length = csv.integer(i, 0),
                    .samples = csv.integer(i, 1),
                    .seed = csv.integer(i, 2),
                    .eval_dropout = eval_dropout == "on",
                    .accuracy = csv.real(i, accuracy),
                    .loss = csv.real(i, accuracy + 1),
                    .encoding_settings = *std::move(settings)});
    const EvaluationRow& row = rows.back();
    if (eval_dropout != "on" && eval_dropout != "off") csv.fail(i, 3, "on or off");
    if (!(row.accuracy >= 0 && row.accuracy <= 1)) csv.fail(i, accuracy, "a number from 0 to 1");
    if (!keys.emplace(row.length, row.samples, row.seed, row.eval_dropout, row.encoding_settings).second) {
      csv.fail(i, 0,
               "each length once for the same samples, seed, eval_dropout and settings of the encoding");
    }
  }
  csv.check_checksum(id);
  return rows;
}

}  // namespace che
