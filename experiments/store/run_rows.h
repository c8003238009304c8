#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "experiments/plan/run_config.h"
#include "workloads/metric.h"

namespace che {

// One row of metrics.csv: means over the training steps since the row before.
struct MetricsRow {
  std::int64_t step = 0;                                 // Updates so far.
  double loss = 0;                                       // Nats per output symbol.
  double accuracy = 0;                                   // 0 .. 1
  double gradient_norm = 0;                              // Before clipping.
  double seconds = 0;                                    // Training time of the run so far.
  std::optional<double> validation_loss = std::nullopt;  // Nats per token at `step`; texts may have it.
};

// The loss of one window of a text.
struct WindowLoss {
  EvaluationWindow window;
  double loss = 0;  // Nats, mean over its predictions that count.
};

// The loss of a text at neighbouring positions of its windows.
struct PositionLoss {
  std::int64_t first = 0;  // From 0: a prediction at position p has read p + 1 tokens of its window.
  std::int64_t count = 0;  // Positions.
  double loss = 0;         // Nats, mean over them and the windows.
};

// The end of the bin that begins at position `first` of windows of `length` tokens: 16 positions are a bin
// below 256, 64 above.
std::int64_t position_bin_end(std::int64_t first, std::int64_t length);

// One row of evaluation.csv. Its key is everything but accuracy, its standard error and the losses.
struct EvaluationRow {
  std::int64_t length = 0;
  std::int64_t samples = 0;
  std::int64_t seed = 0;
  bool eval_dropout = false;
  double accuracy = 0;  // Mean over batches of sum(mask correct) / sum(mask), 0 .. 1
  double loss = 0;      // Nats per output symbol, mean over samples and output symbols.
  // Those of a model without encodings and of a text are here, too; see
  // experiments/plan/evaluation_settings.h.
  OptionValues encoding_settings = {};
  // The standard error of the accuracy, from the batches that it averages; unknown for one batch and for rows
  // of files that were written without it.
  std::optional<double> accuracy_se = std::nullopt;
  // Those of a text, in the order of its windows; rows of windows.csv.
  std::vector<WindowLoss> windows = {};
  // Those of a text, if evaluation.curve asks for them; rows of positions.csv.
  std::vector<PositionLoss> positions = {};
};

// The rows of runs that are evaluated on the way, by the step of training.
using StepRows = std::map<std::int64_t, std::vector<EvaluationRow>>;

// Whether a row has the samples that the config asks for, whatever its length and its settings of the
// encoding.
bool has_samples_of(const EvaluationConfig& asked, const EvaluationRow& row);

// Returns the rows that have the samples, seed and switches of `config`, at any length, in their order.
std::vector<EvaluationRow> rows_of_any_length(const std::vector<EvaluationRow>& rows,
                                              const RunConfig& config);

// Returns the rows that `config` wants, by ascending length.
std::vector<EvaluationRow> present_rows(const std::vector<EvaluationRow>& rows, const RunConfig& config);

// Returns the mean of the run's metric over the test lengths of `config`, or nothing while one is missing.
std::optional<double> score(const std::vector<EvaluationRow>& rows, const RunConfig& config,
                            const Metric& metric = {});

// Returns the mean of the metric. Returns nothing without rows, and where a loss is no number, as one of
// predictions is not.
std::optional<double> mean_value(const std::vector<EvaluationRow>& rows, const Metric& metric = {});
// Returns the standard error of that mean. The samples of the lengths are independent, so it is the root of
// the sum of squares of the rows' standard errors, divided by their number. Nothing where that of a row is
// unknown, as it is for every metric but the accuracy.
std::optional<double> mean_error(const std::vector<EvaluationRow>& rows, const Metric& metric = {});

// Returns the test lengths of `config` that `rows`, or those at a step, lack.
std::vector<std::int64_t> missing_lengths(const std::vector<EvaluationRow>& rows, const RunConfig& config);
std::vector<std::int64_t> missing_lengths(const StepRows& rows, std::int64_t step, const RunConfig& config);

// Returns these and, for a text, the lengths whose rows lack their windows, or a curve that the config asks
// for; by ascending length. For the rows of a run's last step: no others have windows and curves.
std::vector<std::int64_t> lengths_to_measure(const std::vector<EvaluationRow>& rows, const RunConfig& config);

// Gives each row the windows and the positions of the rows in `parts` that have its key.
void attach_parts(std::vector<EvaluationRow>& rows, std::vector<EvaluationRow> parts);

// Adds `row`, or replaces the row of the same key and returns the old one. `rows` are and stay sorted by key,
// length first.
std::optional<EvaluationRow> store_row(std::vector<EvaluationRow>& rows, const EvaluationRow& row);

}  // namespace che
