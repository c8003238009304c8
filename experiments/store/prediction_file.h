#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/files.h"
#include "experiments/plan/run_config.h"

namespace che {

// A run's predictions of its test samples are predictions.jsonl in its folder, in the form that `che score`
// reads (docs/foreign-models.md). The file has a header, then the symbols of each sample, by length and
// index. The model is called "che-" and its encoding, since no model outside che may have an encoding's name.
//
// The file may be large, so that it is written as the samples come. It takes its place with finish() only:
// what is there is whole.
class PredictionFile {
 public:
  PredictionFile(const std::filesystem::path& run, const RunConfig& config);

  void add(std::int64_t length, std::int64_t index, std::span<const std::uint8_t> symbols);
  void finish();

 private:
  void flush();

  FileReplacement file_;
  std::string buffer_;
};

inline constexpr const char* kPredictionsFile = "predictions.jsonl";

// Whether the run's folder has the predictions that `config` asks for, by their header.
bool has_predictions(const std::filesystem::path& run, const RunConfig& config);

}  // namespace che
