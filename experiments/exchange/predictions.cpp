#include "experiments/exchange/predictions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zstd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/bounded_json.h"
#include "core/files.h"
#include "core/suggestion.h"
#include "core/text.h"
#include "experiments/plan/run_config.h"
#include "models/architectures/foreign.h"
#include "tasks/suite.h"
#include "tasks/symbols.h"
#include "tasks/task.h"

namespace che {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{4} << 30;
constexpr std::size_t kPredictionDepth = 4;
constexpr const char* kLineForm =
    "allowed: one JSON object a line, the header and then such as {\"length\": 41, \"index\": 0, \"output\": "
    "[0]}";

bool is_compressed(std::string_view content) { return content.starts_with("\x28\xB5\x2F\xFD"); }

std::string decompressed(std::string_view content, const std::filesystem::path& file) {
  const auto fail = [&](std::string_view problem) {
    throw Error(fmt::format("{}: {}", file.string(), problem));
  };
  std::string text;
  std::string part(ZSTD_DStreamOutSize(), '\0');
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             ZSTD_freeDStream);
  ZSTD_inBuffer input{content.data(), content.size(), 0};
  std::size_t left = 1;  // 0 at the end of a frame.
  while (input.pos < input.size || left != 0) {
    ZSTD_outBuffer output{part.data(), part.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(left) != 0) fail(fmt::format("cannot be decompressed: {}", ZSTD_getErrorName(left)));
    text.append(part, 0, output.pos);
    if (text.size() > kMaxBytes) fail(fmt::format("has more than {} bytes, decompressed", kMaxBytes));
    if (output.pos == 0 && input.pos == input.size && left != 0) fail("is cut off");
  }
  return text;
}

std::string compressed(std::string_view content) {
  constexpr int kLevel = 3;
  std::string packed(ZSTD_compressBound(content.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), content.data(), content.size(), kLevel);
  if (ZSTD_isError(size) != 0)
    throw Error(fmt::format("zstd: {}", ZSTD_getErrorName(size)), ErrorKind::kRuntime);
  packed.resize(size);
  return packed;
}

// The lines of a file of predictions, with the errors of what is on them.
class PredictionLines {
 public:
  // The content may be compressed.
  PredictionLines(std::string content, const std::filesystem::path& file)
      : file_(file.string()),
        content_(is_compressed(content) ? decompressed(content, file) : std::move(content)) {}

  const std::string& content() const { return content_; }

  // The object on the next line; nothing at the end of the file.
  bool next(Json& object) {
    if (content_.find_first_not_of(" \t\r\n", next_) == std::string::npos) return false;
    const std::size_t end = std::min(content_.find('\n', next_), content_.size());
    const std::string_view line = std::string_view(content_).substr(next_, end - next_);
    next_ = std::min(end + 1, content_.size());
    ++number_;
    try {
      object = parse_bounded_json(line, kPredictionDepth);
    } catch (const Error& error) {
      fail(fmt::format("{}; {}", error.what(), kLineForm));
    }
    if (!object.is_object()) fail(fmt::format("got {}; {}", object.type_name(), kLineForm));
    return true;
  }

  // Throws the error of the last line.
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(fmt::format("{}:{}: {}", file_, number_, problem));
  }

  // The field `name` of `object`; `accepts` says whether a value is one, `expected` what would be.
  const Json& field(const Json& object, const char* name, bool (Json::*accepts)() const noexcept,
                    const char* expected) const {
    const auto found = object.find(name);
    if (found == object.end()) fail(fmt::format("'{}' is missing", name));
    if (!((*found).*accepts)()) fail(fmt::format("{}: expected {}", name, expected));
    return *found;
  }
  std::string text(const Json& object, const char* name) const {
    return field(object, name, &Json::is_string, "text").get<std::string>();
  }
  std::int64_t integer(const Json& object, const char* name, std::int64_t min) const {
    const Json& value = field(object, name, &Json::is_number_integer, "a whole number");
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
      fail(fmt::format("{}: the number is too large", name));
    }
    const auto number = value.get<std::int64_t>();
    if (number < min) fail(fmt::format("{}: got {}; allowed: {} or more", name, number, min));
    return number;
  }

  void refuse_other_fields(const Json& object, const std::vector<std::string>& known) const {
    for (const auto& item : object.items()) {
      if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
        fail(fmt::format("unknown field '{}'{}", one_line(item.key()), known_names_hint(item.key(), known)));
      }
    }
  }

 private:
  std::string file_;
  std::string content_;
  std::size_t next_ = 0;    // Where the next line begins.
  std::size_t number_ = 0;  // The last line's, from 1.
};

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
    if (training.contains("note")) parts.push_back(one_line(lines.text(training, "note")));
  }
  if (header.contains("data_seed")) {
    parts.push_back(fmt::format("che's batches of data_seed {}", lines.integer(header, "data_seed", 0)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// `object` is set to the header as it stands in the file.
ScoredPredictions read_header(PredictionLines& lines, Json& object) {
  if (!lines.next(object))
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
  if (object.contains("model_seed")) scored.seed = lines.integer(object, "model_seed", 0);
  if (object.contains("data_seed")) scored.data_seed = lines.integer(object, "data_seed", 0);
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
  header.seed = lines.integer(object, "seed", 0);
  check_suite(lines, header);
  return scored;
}

// Reads the prediction for one sample and returns how many of the symbols that count are right.
std::int64_t read_sample(PredictionLines& lines, std::int64_t length, std::int64_t index, const Task& task,
                         const Batch& batch, std::int64_t row) {
  Json object;
  if (!lines.next(object)) {
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

}  // namespace

ScoredPredictions score_predictions(const std::filesystem::path& file) {
  return score_predictions(read_input_file(file, kMaxBytes), file);
}

ScoredPredictions score_predictions(std::string content, const std::filesystem::path& file) {
  std::string packed = is_compressed(content) ? content : std::string();
  PredictionLines lines(std::move(content), file);
  Json object;
  ScoredPredictions scored = read_header(lines, object);
  scored.file = file;
  const SampleHeader& header = scored.header;
  std::unique_ptr<Task> task;
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
  scored.rows.reserve(header.lengths.size());
  const double batches = static_cast<double>(header.samples) / static_cast<double>(kEvaluationBatch);
  Batch batch;
  for (const std::int64_t length : header.lengths) {
    double accuracy = 0;
    for (std::int64_t first = 0; first < header.samples; first += kEvaluationBatch) {
      sample_batch(*task, evaluation_key(header.seed, length, first), length, kEvaluationBatch, batch);
      std::int64_t correct = 0;
      for (std::int64_t row = 0; row < batch.size; ++row) {
        correct += read_sample(lines, length, first + row, *task, batch, row);
      }
      const auto counted = std::count(batch.mask.begin(), batch.mask.end(), 1);
      accuracy += static_cast<double>(correct) / (static_cast<double>(counted) * batches);
    }
    scored.rows.push_back({.length = length,
                           .samples = header.samples,
                           .seed = header.seed,
                           .accuracy = accuracy,
                           .loss = std::numeric_limits<double>::quiet_NaN()});
  }
  Json surplus;
  if (lines.next(surplus)) lines.fail("a surplus sample: the header's samples end on the line before");
  scored.packed = packed.empty() ? compressed(lines.content()) : std::move(packed);
  return scored;
}

}  // namespace che
