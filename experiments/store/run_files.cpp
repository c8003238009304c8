#include "experiments/store/run_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/file_lock.h"
#include "core/files.h"
#include "core/hashes.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"
#include "experiments/store/csv.h"

namespace che {
namespace {

constexpr std::string_view kValidationColumn = "validation_loss";

// With `has_validation`, also the column that only some texts have.
std::vector<std::string> metrics_columns(bool has_validation) {
  std::vector<std::string> names = {"step", "loss", "accuracy", "gradient_norm", "seconds"};
  if (has_validation) names.emplace_back(kValidationColumn);
  names.emplace_back(kChecksumColumn);
  return names;
}

// Which columns a file of evaluation rows has. The optional ones are there where some row needs them, so that
// files of earlier versions are read and written as they are.
struct EvaluationColumns {
  bool has_step = false;      // evaluation_at_steps.csv
  bool has_settings = false;  // Other settings of the encoding than the trained model's.
  bool has_error = false;

  std::vector<std::string> names() const {
    std::vector<std::string> names = {"length", "samples", "seed", "eval_dropout"};
    if (has_step) names.insert(names.begin(), "step");
    if (has_settings) names.emplace_back("encoding_settings");
    names.insert(names.end(), {"accuracy", "loss"});
    if (has_error) names.emplace_back("accuracy_se");
    names.emplace_back(kChecksumColumn);
    return names;
  }
};

constexpr std::string_view kChecksumLine = "# checksum: ";
constexpr std::size_t kUncheckedConfigBytes = 4096;

std::string checksum_line(std::string_view key, std::string_view settings) {
  return fmt::format("{}{}\n", kChecksumLine, checksum(key, settings));
}

// From 0 to 1; che writes no -0.
bool is_share(double value) { return value >= 0 && value <= 1 && !std::signbit(value); }

// Returns nothing when the text is no config of a run.
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

// Rows of evaluation.csv, all under one step, which is not written, or of evaluation_at_steps.csv.
std::string rows_text(const StepRows& steps, bool has_step, std::string_view id) {
  EvaluationColumns columns{.has_step = has_step};
  for (const auto& [step, rows] : steps) {
    for (const EvaluationRow& row : rows) {
      columns.has_settings |= !row.encoding_settings.empty();
      columns.has_error |= row.accuracy_se.has_value();
    }
  }
  std::string text;
  for (const auto& [step, rows] : steps) {
    for (const EvaluationRow& row : rows) {
      if (has_step) text += fmt::format("{},", step);
      text += fmt::format("{},{},{},{}", row.length, row.samples, row.seed, row.eval_dropout ? "on" : "off");
      if (columns.has_settings) text += "," + evaluation_settings_text(row.encoding_settings);
      text += fmt::format(",{},{}", row.accuracy, row.loss);
      if (columns.has_error) text += row.accuracy_se ? fmt::format(",{}", *row.accuracy_se) : ",";
      text += "\n";
    }
  }
  return csv_text(columns.names(), text, id);
}

// The columns of a file whose lines begin with the key of a row of an evaluation.
std::vector<std::string> keyed_columns(std::initializer_list<const char*> names) {
  std::vector<std::string> columns = {"length", "samples", "seed", "eval_dropout", "encoding_settings"};
  columns.insert(columns.end(), names.begin(), names.end());
  columns.emplace_back(kChecksumColumn);
  return columns;
}

std::vector<std::string> window_columns() { return keyed_columns({"window", "document", "end", "loss"}); }

std::vector<std::string> position_columns() { return keyed_columns({"first", "count", "loss"}); }

std::string key_text(const EvaluationRow& row) {
  return fmt::format("{},{},{},{},{}", row.length, row.samples, row.seed, row.eval_dropout ? "on" : "off",
                     evaluation_settings_text(row.encoding_settings));
}

// Reads the columns from number `first` on that are the key of a row of an evaluation.
EvaluationRow parse_key(const CsvRows& csv, std::size_t i, std::size_t first = 0, bool has_settings = true) {
  EvaluationRow row{.length = csv.integer(i, first),
                    .samples = csv.integer(i, first + 1),
                    .seed = csv.integer(i, first + 2),
                    .eval_dropout = csv.text(i, first + 3) == "on"};
  if (!row.eval_dropout && csv.text(i, first + 3) != "off") csv.fail(i, first + 3, "on or off");
  if (!has_settings) return row;
  auto settings = parse_evaluation_settings(csv.text(i, first + 4));
  if (!settings) csv.fail(i, first + 4, "NAME=VALUE;NAME=VALUE, sorted by name");
  row.encoding_settings = *std::move(settings);
  return row;
}

// Throws unless row `i` has the key of row `of`: both are parts of one row of an evaluation.
void check_key(const CsvRows& csv, std::size_t i, std::size_t of) {
  for (std::size_t column = 0; column < 5; ++column) {
    if (csv.text(i, column) != csv.text(of, column)) csv.fail(i, column, csv.text(of, column));
  }
}

StepRows parse_rows(std::string_view text, bool has_step, std::string_view id, const std::string& file,
                    std::string_view remedy) {
  const std::string header = fmt::format(",{},", text.substr(0, text.find('\n')));
  const EvaluationColumns columns{.has_step = has_step,
                                  .has_settings = header.find(",encoding_settings,") != std::string::npos,
                                  .has_error = header.find(",accuracy_se,") != std::string::npos};
  const CsvRows csv(file, text, columns.names(), std::string(remedy));
  StepRows steps;
  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, OptionValues> last;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    std::size_t column = 0;
    const std::int64_t step = has_step ? csv.integer(i, column++) : 0;
    const std::size_t first = column;
    EvaluationRow row = parse_key(csv, i, first, columns.has_settings);
    column += columns.has_settings ? 5 : 4;
    row.accuracy = csv.real(i, column);
    // Files of earlier programs have sums of shares that rounding carried beyond 1.
    if (row.accuracy > 1 && row.accuracy < 1 + 1e-12) row.accuracy = 1;
    if (!is_share(row.accuracy)) csv.fail(i, column, "a number from 0 to 1");
    row.loss = csv.real(i, column + 1);
    if (columns.has_error && !csv.text(i, column + 2).empty()) {
      row.accuracy_se = csv.real(i, column + 2);
      if (!is_share(*row.accuracy_se)) csv.fail(i, column + 2, "a number from 0 to 1");
    }
    auto key = std::tuple(step, row.length, row.samples, row.seed, row.eval_dropout, row.encoding_settings);
    if (i > 0 && key <= last) {
      csv.fail(i, 0,
               fmt::format("each {}length once for the same samples, seed, eval_dropout and settings of the "
                           "encoding, sorted by these columns",
                           has_step ? "step and " : ""));
    }
    last = std::move(key);
    steps[step].push_back(std::move(row));
  }
  csv.check_checksum(id);
  return steps;
}

}  // namespace

std::filesystem::path set_aside_locked(const std::filesystem::path& file, const char* ending,
                                       const std::filesystem::path& locked) {
  if (!FileLock::is_held(locked)) {
    throw Error(fmt::format("'{}' may be moved only by the holder of the lock of '{}'", file.string(),
                            locked.string()),
                ErrorKind::kRuntime);
  }
  return set_aside(file, ending);
}

std::string set_damage_aside(const Damage& damage, const std::filesystem::path& locked) {
  const std::filesystem::path aside = set_aside_locked(damage.file, kDamaged, locked);
  return fmt::format("{} (now {})", damage.what, aside.filename().string());
}

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
  const bool fits = line == checksum_line(id, settings) || line == checksum_line("", settings);
  std::optional<RunConfig> config = fits ? parse_run_config(settings, file) : try_parse(settings, file);
  // Reading a megabyte of line breaks takes a tenth of a second, and a small bundle may have thousands of
  // such configs. The bundle is refused at the first of them.
  if (config && settings.size() > kUncheckedConfigBytes && settings.size() > 2 * to_yaml(*config).size()) {
    fail("it is far longer than che writes its settings");
  }
  std::string own_id = config ? run_id(*config) : "";
  if (!fits && (!config || line != checksum_line(own_id, settings))) {
    fail("its checksum does not fit its content");
  }
  return {*std::move(config), std::move(own_id)};
}

std::string metrics_text(const std::vector<MetricsRow>& rows, std::string_view id) {
  const bool has_validation =
      std::ranges::any_of(rows, [](const MetricsRow& row) { return row.validation_loss.has_value(); });
  std::string text;
  for (const MetricsRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}", row.step, row.loss, row.accuracy,
                   row.gradient_norm, row.seconds);
    if (has_validation) text += row.validation_loss ? fmt::format(",{}", *row.validation_loss) : ",";
    text += '\n';
  }
  return csv_text(metrics_columns(has_validation), text, id);
}

std::vector<MetricsRow> parse_metrics(std::string_view text, std::string_view id, const std::string& file) {
  const bool has_validation =
      text.substr(0, text.find('\n')).find(kValidationColumn) != std::string_view::npos;
  const CsvRows csv(file, text, metrics_columns(has_validation), std::string(kMetricsRemedy));
  std::vector<MetricsRow> rows;
  rows.reserve(csv.size());
  for (std::size_t i = 0; i < csv.size(); ++i) {
    rows.push_back({.step = csv.integer(i, 0),
                    .loss = csv.real(i, 1),
                    .accuracy = csv.real(i, 2),
                    .gradient_norm = csv.real(i, 3),
                    .seconds = csv.real(i, 4)});
    if (has_validation && !csv.text(i, 5).empty()) rows.back().validation_loss = csv.real(i, 5);
    if (!is_share(rows.back().accuracy)) csv.fail(i, 2, "a number from 0 to 1");
    if (i > 0 && rows[i].step <= rows[i - 1].step) csv.fail(i, 0, "steps that ascend");
  }
  csv.check_checksum(id);
  return rows;
}

std::string evaluation_text(const std::vector<EvaluationRow>& rows, std::string_view id) {
  return rows_text({{0, rows}}, false, id);
}

std::vector<EvaluationRow> parse_evaluation(std::string_view text, std::string_view id,
                                            const std::string& file) {
  return parse_rows(text, false, id, file, kEvaluationRemedy)[0];
}

void check_lengths(const std::vector<EvaluationRow>& rows, bool of_text, const std::string& file,
                   std::string_view remedy) {
  for (const EvaluationRow& row : rows) {
    if (row.length >= 1 && row.length <= max_length(of_text)) continue;
    throw Error(fmt::format("{}: a row of length {}; allowed: 1 to {}; the file is damaged: {}", file,
                            row.length, max_length(of_text), remedy));
  }
}

std::string windows_text(const std::vector<EvaluationRow>& rows, std::string_view id) {
  std::string text;
  for (const EvaluationRow& row : rows) {
    for (std::size_t i = 0; i < row.windows.size(); ++i) {
      const auto& [window, loss] = row.windows[i];
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", key_text(row), i, window.document,
                     window.end, loss);
    }
  }
  return csv_text(window_columns(), text, id);
}

std::vector<EvaluationRow> parse_windows(std::string_view text, std::string_view id,
                                         const std::string& file) {
  const CsvRows csv(file, text, window_columns(), std::string(kEvaluationRemedy));
  std::vector<EvaluationRow> rows;
  std::size_t first = 0;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (csv.integer(i, 5) == 0) {
      rows.push_back(parse_key(csv, i));
      first = i;
    } else {
      check_key(csv, i, first);
    }
    if (rows.empty() || csv.integer(i, 5) != static_cast<std::int64_t>(rows.back().windows.size())) {
      csv.fail(i, 5, "the windows of a row in their order, from 0");
    }
    rows.back().windows.push_back(
        {.window = {.document = csv.integer(i, 6), .end = csv.integer(i, 7)}, .loss = csv.real(i, 8)});
  }
  csv.check_checksum(id);
  return rows;
}

std::string positions_text(const std::vector<EvaluationRow>& rows, std::string_view id) {
  std::string text;
  for (const EvaluationRow& row : rows) {
    for (const auto& [first, count, loss] : row.positions) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", key_text(row), first, count, loss);
    }
  }
  return csv_text(position_columns(), text, id);
}

std::vector<EvaluationRow> parse_positions(std::string_view text, std::string_view id,
                                           const std::string& file) {
  const CsvRows csv(file, text, position_columns(), std::string(kEvaluationRemedy));
  std::vector<EvaluationRow> rows;
  for (std::size_t i = 0; i < csv.size();) {
    EvaluationRow& row = rows.emplace_back(parse_key(csv, i));
    const std::size_t of = i;
    std::int64_t first = 0;
    do {
      const std::int64_t end = position_bin_end(first, row.length);
      const bool fits = i < csv.size() && csv.integer(i, 5) == first && csv.integer(i, 6) == end - first;
      if (!fits) csv.fail(std::min(i, csv.size() - 1), 5, "all positions of a row in their order, from 0");
      check_key(csv, i, of);
      row.positions.push_back({.first = first, .count = end - first, .loss = csv.real(i++, 7)});
      first = end;
    } while (first < row.length);
  }
  csv.check_checksum(id);
  return rows;
}

std::string at_steps_text(const StepRows& rows, std::string_view id) { return rows_text(rows, true, id); }

StepRows parse_at_steps(std::string_view text, std::string_view id, const std::string& file) {
  return parse_rows(text, true, id, file, kAtStepsRemedy);
}

}  // namespace che
