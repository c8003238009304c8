#include "experiments/store/prediction_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/plan/identity.h"

namespace che {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

std::string header_of(const RunConfig& config, bool has_data_seed = true) {
  nlohmann::ordered_json header;
  header["format"] = "che-predictions/1";
  header["model"] = "che-" + model_name(config);
  header["model_seed"] = config.seed;
  if (has_data_seed) header["data_seed"] = config.data_seed;
  header["task"] = config.task.name;
  header["task_version"] = task_version(config.task);
  if (config.task.is_declared()) {
    header["definition"] = config.task.definition;
  } else {
    header["options"] = config.task.options.values();
  }
  header["lengths"] = config.evaluation.lengths();
  header["samples"] = config.evaluation.samples;
  header["seed"] = config.evaluation.seed;
  if (const std::string settings = evaluation_settings_text(evaluation_settings(config)); !settings.empty()) {
    header["training"]["note"] = "evaluated with " + settings;  // Predictions of other settings are others.
  }
  return header.dump() + "\n";
}

}  // namespace

PredictionFile::PredictionFile(const std::filesystem::path& run, const RunConfig& config)
    : file_(run / kPredictionsFile), buffer_(header_of(config)) {}

void PredictionFile::add(std::int64_t length, std::int64_t index, std::span<const std::uint8_t> symbols) {
  fmt::format_to(std::back_inserter(buffer_), "{{\"length\":{},\"index\":{},\"output\":[{}]}}\n", length,
                 index, fmt::join(symbols, ","));
  if (buffer_.size() >= kBufferBytes) flush();
}

void PredictionFile::finish() {
  flush();
  file_.finish();
}

void PredictionFile::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

bool has_predictions(const std::filesystem::path& run, const RunConfig& config) {
  const std::filesystem::path path = run / kPredictionsFile;
  if (!is_present(path)) return false;
  const std::string expected = header_of(config);
  const std::string without = header_of(config, false);  // It stands for the data seed 0.
  std::string found(expected.size(), '\0');
  const Descriptor file = open_regular_file(path, O_RDONLY, "read", ErrorKind::kUsage,
                                            "; remove it, and `che run CONFIG` writes it again");
  const ssize_t count = ::pread(file.value(), found.data(), found.size(), 0);
  if (count != static_cast<ssize_t>(expected.size())) return false;
  return found == expected || (config.data_seed == 0 && found.starts_with(without));
}

}  // namespace che
