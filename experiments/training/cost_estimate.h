#pragma once

#include <map>
#include <optional>
#include <string>

#include "experiments/plan/operations.h"
#include "models/ops/device/backend.h"

namespace che {

// Seconds of one worker, as the fastest, the median and the slowest of the measured steps say.
struct TimeEstimate {
  double least = 0;
  double middle = 0;
  double most = 0;

  TimeEstimate& operator+=(const TimeEstimate& other);
};

// Estimates what runs take on this machine: for each encoding, model and range of lengths it times training
// steps and evaluated batches (see measure_step), and scales them by nominal operations. Good to a factor of
// two or so on an idle machine; other load makes it longer.
class CostEstimate {
 public:
  // On what each run's `execution` asks for, or on `backend`.
  explicit CostEstimate(const std::optional<Backend>& backend = std::nullopt) : backend_(backend) {}

  // For `work` of a run.
  TimeEstimate seconds(const RunConfig& config, const Operations& work);

 private:
  struct Speed {
    TimeEstimate training;    // Seconds per nominal operation.
    TimeEstimate evaluation;  // Likewise.
  };
  Speed measure(const RunConfig& config) const;

  std::optional<Backend> backend_;
  std::map<std::string, Speed> speeds_;  // By encoding, model, lengths, batch and execution.
};

}  // namespace che
