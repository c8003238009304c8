#include "experiments/exchange/predictions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "core/bounded_json.h"
#include "core/input_file.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "experiments/exchange/prediction_lines.h"
#include "experiments/plan/run_config.h"
#include "models/architectures/foreign.h"
#include "tasks/suite.h"
#include "tasks/symbols.h"
#include "tasks/task.h"

namespace che {
namespace {

namespace statistics = boost::math::statistics;
using Json = nlohmann::json;

// A header has a number for each length, and may have the text of a task's file, of 1 MiB.
constexpr JsonLimits kHeaderLimits{.depth = 4, .bytes = std::size_t{8} << 20, .values = 100'000};

// The limits of a line with so many symbols, which need up to three digits, a comma and a space each.
JsonLimits sample_limits(std::int64_t symbols) {
  const auto count = static_cast<std::size_t>(symbols);
  return {.depth = 4, .bytes = 1024 + 8 * count, .values = 1024 + count};
}

void check_suite(const PredictionLines& lines, const SampleHeader& header) {
  if (header.suite.empty()) return;
  const Suite* suite = nullptr;
  try {
    suite = &find_suite(header.suite);
  } catch (const Error& error) {
    lines.fail(fmt::format("suite: {}", error.what()));
  }
  if (std::find(suite->tasks.begin(), suite->tasks.end(), header.task) == suite->tasks.end()) {
    lines.fail(fmt::format("task: suite {} has no task '{}'", header.suite, header.task));
  }
  if (!header.options.empty())
    lines.fail(fmt::format("options: suite {} has default options only", header.suite));
  if (header.lengths != suite->lengths()) {
    lines.fail(fmt::format("lengths: suite {} has {} to {} in steps of {}", header.suite, suite->first_length,
                           suite->last_length, suite->length_step));
  }
  if (header.samples != suite->samples) {
    lines.fail(fmt::format("samples: suite {} has {}", header.suite, suite->samples));
  }
  if (header.seed != suite->evaluation_seed) {
    lines.fail(fmt::format("seed: suite {} has {}", header.suite, suite->evaluation_seed));
  }
}

constexpr std::size_t kMaxNote = 200;  // Bytes.

// Writes as one line what the header states about the model's training.
std::string read_training(const PredictionLines& lines, const Json& header) {
  std::vector<std::string> parts;
  if (header.contains("training")) {
    const Json& training = lines.field(header, "training", &Json::is_object, "an object");
    lines.refuse_other_fields(
        training, {"steps", "batch_size", "learning_rate", "parameters", "training_accuracy", "note"});
    for (const char* const name : {"steps", "batch_size", "parameters"}) {
      if (!training.contains(name)) continue;
      parts.push_back(fmt::format("{} {}", name, lines.integer(training, name, 1)));
    }
    for (const auto& [name, max] : {std::pair("learning_rate", 1e6), std::pair("training_accuracy", 1.0)}) {
      if (!training.contains(name)) continue;
      const auto value = lines.field(training, name, &Json::is_number, "a number").get<double>();
      if (!(value >= 0 && value <= max)) {
        lines.fail(fmt::format("training.{}: got {}; allowed: 0 to {}", name, value, max));
      }
      parts.push_back(fmt::format("{} {}", name, value));
    }
    if (training.contains("note")) parts.push_back(one_line(lines.text(training, "note"), kMaxNote));
  }
  if (header.contains("data_seed")) {
    parts.push_back(fmt::format("che's batches of data_seed {}", lines.integer(header, "data_seed", 0)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// `object` is set to the header as it stands in the file.
ScoredPredictions read_header(PredictionLines& lines, Json& object) {
  if (!lines.next(object, kHeaderLimits))
    lines.fail("the file is empty; its first line is a header with format, model, task, ...");
  if (const std::string format = lines.text(object, "format"); format != "che-predictions/1") {
    const bool is_samples = format.starts_with("che-samples/");
    lines.fail(fmt::format("format: got {}; allowed: che-predictions/1{}", one_line(format),
                           is_samples ? "; these are samples, without predictions" : ""));
  }
  lines.refuse_other_fields(object, {"format", "model", "model_seed", "data_seed", "training", "task",
                                     "task_version", "options", "suite", "lengths", "samples", "seed",
                                     "input_symbols", "output_symbols", "version", "definition"});
  ScoredPredictions scored;
  scored.model = lines.text(object, "model");
  if (const std::string problem = foreign_name_problem(scored.model); !problem.empty()) {
    lines.fail(fmt::format("model: {}", problem));
  }
  if (object.contains("model_seed")) scored.seed = lines.integer(object, "model_seed", 0, kMaxSeed);
  if (object.contains("data_seed")) scored.data_seed = lines.integer(object, "data_seed", 0, kMaxSeed);
  scored.stated_training = read_training(lines, object);
  SampleHeader& header = scored.header;
  header.task = lines.text(object, "task");
  if (object.contains("options")) {
    for (const auto& item : lines.field(object, "options", &Json::is_object, "an object").items()) {
      if (!item.value().is_string()) lines.fail(fmt::format("options.{}: expected text", item.key()));
      header.options.emplace(item.key(), item.value().get<std::string>());
    }
  }
  if (object.contains("definition")) header.definition = lines.text(object, "definition");
  if (object.contains("suite")) header.suite = lines.text(object, "suite");
  for (const Json& length : lines.field(object, "lengths", &Json::is_array, "a list of lengths")) {
    if (!length.is_number_integer()) lines.fail("lengths: expected whole numbers");
    header.lengths.push_back(length.get<std::int64_t>());
  }
  if (header.lengths.empty()) lines.fail("lengths: the list is empty");
  if (std::adjacent_find(header.lengths.begin(), header.lengths.end(), std::greater_equal<>()) !=
      header.lengths.end()) {
    lines.fail("lengths: expected ascending lengths");
  }
  header.samples = lines.integer(object, "samples", kEvaluationBatch);
  if (header.samples % kEvaluationBatch != 0) {
    lines.fail(fmt::format("samples: got {}; allowed: multiples of {}", header.samples, kEvaluationBatch));
  }
  header.seed = lines.integer(object, "seed", 0, kMaxSeed);
  check_suite(lines, header);
  return scored;
}

// Reads the prediction for one sample and returns how many of the symbols that count are right.
std::int64_t read_sample(PredictionLines& lines, std::int64_t length, std::int64_t index, const Task& task,
                         const Batch& batch, std::int64_t row) {
  Json object;
  if (!lines.next(object, sample_limits(batch.output_length))) {
    lines.fail(fmt::format("the file ends before sample {} of length {}; partial predictions have no score",
                           index, length));
  }
  lines.refuse_other_fields(object, {"length", "index", "output"});
  if (lines.integer(object, "length", 0) != length || lines.integer(object, "index", 0) != index) {
    lines.fail(fmt::format("expected length {} and index {}: samples are ordered by length, then index",
                           length, index));
  }
  const Json& output = lines.field(object, "output", &Json::is_array, "a list of symbols");
  if (std::cmp_not_equal(output.size(), batch.output_length)) {
    lines.fail(fmt::format("output: got {} symbols; this sample has {}", output.size(), batch.output_length));
  }
  const auto symbols = static_cast<std::int64_t>(task.output_symbols().size());
  std::int64_t correct = 0;
  for (std::int64_t position = 0; position < batch.output_length; ++position) {
    const Json& value = output[static_cast<std::size_t>(position)];
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() >= symbols) {
      lines.fail(fmt::format("output: got {} at position {}; allowed: whole numbers, 0 to {}",
                             value.is_number() ? value.dump() : std::string("a ") + value.type_name(),
                             position, symbols - 1));
    }
    const auto at = static_cast<std::size_t>(row * batch.output_length + position);
    if (batch.mask[at] != 0 && value.get<std::int64_t>() == batch.output[at]) ++correct;
  }
  return correct;
}

struct CheckedHeader {
  ScoredPredictions scored;  // Without rows.
  std::unique_ptr<Task> task;
};

CheckedHeader read_checked_header(PredictionLines& lines) {
  Json object;
  CheckedHeader checked;
  checked.scored = read_header(lines, object);
  const SampleHeader& header = checked.scored.header;
  std::unique_ptr<Task>& task = checked.task;
  try {
    task = create_task(header);
    for (const std::int64_t length : header.lengths) check_length(*task, length);
  } catch (const Error& error) {
    lines.fail(error.what());
  }
  const std::int64_t version = task_version(header);
  if (object.contains("task_version") && lines.integer(object, "task_version", 1) != version) {
    lines.fail(
        fmt::format("task_version: the predictions are for version {} of {}; this che draws version {}",
                    object["task_version"].dump(), header.task, version));
  }
  const auto check_symbols = [&](const char* name, std::string_view symbols) {
    const std::string shown = shown_symbols(symbols);
    if (!object.contains(name) || lines.text(object, name) == shown) return;
    lines.fail(fmt::format("{}: got '{}'; {} has '{}'", name, one_line(lines.text(object, name)), header.task,
                           shown));
  };
  check_symbols("input_symbols", task->input_symbols());
  check_symbols("output_symbols", task->output_symbols());
  if (const double symbols = symbols_of(header); symbols > kMaxScoredSymbols) {
    lines.fail(fmt::format("lengths and samples: the samples have {} symbols; allowed: up to {}", symbols,
                           kMaxScoredSymbols));
  }
  return checked;
}

ScoredPredictions score(PredictionLines& lines, const HeaderCheck& check) {
  auto [scored, task] = read_checked_header(lines);
  try {
    if (check) check(scored);
  } catch (const Error& error) {
    lines.fail(error.what());
  }
  const SampleHeader& header = scored.header;
  scored.rows.reserve(header.lengths.size());
  const double batches = static_cast<double>(header.samples) / static_cast<double>(kEvaluationBatch);
  Batch batch;
  for (const std::int64_t length : header.lengths) {
    double accuracy = 0;
    std::vector<double> of_batches;
    for (std::int64_t first = 0; first < header.samples; first += kEvaluationBatch) {
      sample_batch(*task, evaluation_key(header.seed, length, first), length, kEvaluationBatch, batch);
      std::int64_t correct = 0;
      for (std::int64_t row = 0; row < batch.size; ++row) {
        correct += read_sample(lines, length, first + row, *task, batch, row);
      }
      const auto counted = std::count(batch.mask.begin(), batch.mask.end(), 1);
      accuracy += static_cast<double>(correct) / (static_cast<double>(counted) * batches);
      of_batches.push_back(static_cast<double>(correct) / static_cast<double>(counted));
    }
    EvaluationRow& row =
        scored.rows.emplace_back(EvaluationRow{.length = length,
                                               .samples = header.samples,
                                               .seed = header.seed,
                                               // Rounding may carry the sum of shares beyond 1.
                                               .accuracy = std::min(accuracy, 1.0),
                                               .loss = std::numeric_limits<double>::quiet_NaN()});
    if (of_batches.size() < 2) continue;
    row.accuracy_se = std::sqrt(statistics::sample_variance(of_batches) / batches);
  }
  if (!lines.is_at_end()) lines.fail("a surplus sample: the header's samples end on the line before");
  return scored;
}

}  // namespace

double symbols_of(const SampleHeader& header) {
  return static_cast<double>(header.samples) *
         std::accumulate(header.lengths.begin(), header.lengths.end(), 0.0);
}

ScoredPredictions score_predictions(const std::filesystem::path& file, const HeaderCheck& check) {
  InputFile input(file);
  PredictionPacker packer;
  PredictionLines lines(input, file, &packer);
  ScoredPredictions scored = score(lines, check);
  scored.file = file;
  scored.packed = packer.finish();
  return scored;
}

void check_predictions_header(std::string_view line, const std::filesystem::path& file) {
  InputFile input(line, file);
  PredictionLines lines(input, file);
  read_checked_header(lines);
}

ScoredPredictions score_predictions(std::string_view content, const std::filesystem::path& file,
                                    const HeaderCheck& check) {
  InputFile input(content, file);
  PredictionLines lines(input, file);
  ScoredPredictions scored = score(lines, check);
  scored.file = file;
  return scored;
}

}  // namespace che
