#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/exchange/sample_file.h"
#include "experiments/store/run_rows.h"

namespace che {

// The symbols of the samples that a header names. Predictions of more than kMaxScoredSymbols are not scored:
// a small file could name any number.
double symbols_of(const SampleHeader& header);
inline constexpr double kMaxScoredSymbols = 2e9;

// The predictions of a model for one task, scored.
struct ScoredPredictions {
  std::filesystem::path file;
  SampleHeader header;
  std::string model;                // Its name in tables.
  std::int64_t seed = 0;            // The model's: repetitions differ in it,
  std::int64_t data_seed = 0;       // or in that of its training batches.
  std::string stated_training;      // See RunStatus.
  std::vector<EvaluationRow> rows;  // One per length; the loss is not a number.
  std::string packed;               // The file's lines, compressed with Zstandard.
};

// Sees predictions of which the header alone is read, and throws Error where it is no use to go on.
using HeaderCheck = std::function<void(const ScoredPredictions&)>;

// Reads a file of predictions and compares it with the test samples that its header names:
//   {"format":"che-predictions/1","model":"lstm","model_seed":0,"data_seed":0,"task":...,"options":{},"suite":...,
//    "lengths":[...],"samples":512,"seed":0,"training":{"steps":1000,"note":"..."}}
//   {"length":41,"index":0,"output":[...]}
// Samples are in the order of the samples' file: by length, then index. Accuracy is that of che's own
// evaluation: per batch of 64 the fraction of the symbols that count, averaged over the batches. Throws Error
// (usage) that names line and field for another order, a missing or surplus sample, a wrong number of
// symbols, and a symbol that the task does not have. The file may be compressed with Zstandard. Memory grows
// with the longest line that its samples may have.
ScoredPredictions score_predictions(const std::filesystem::path& file, const HeaderCheck& check = {});

// Throws the same errors for the header alone, a line. A program asks before it makes the predictions.
void check_predictions_header(std::string_view line, const std::filesystem::path& file);

// Scores content in the same way, which messages call `file`, and packs nothing.
ScoredPredictions score_predictions(std::string_view content, const std::filesystem::path& file,
                                    const HeaderCheck& check = {});

}  // namespace che
