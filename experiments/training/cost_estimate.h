#pragma once

#include <map>
#include <optional>
#include <string>

#include "experiments/plan/operations.h"
#include "experiments/schedule/time_left.h"
#include "models/ops/device/backend.h"

namespace che {

// Estimates what runs take on this machine: for each encoding, model and range of lengths it times training
// steps and evaluated batches (see measure_step), and scales them by nominal operations. Good to a factor of
// two or so on an idle machine; other load makes it longer.
class CostEstimate {
 public:
  // On what each run's `execution` asks for, or on `backend`.
  explicit CostEstimate(const std::optional<Backend>& backend = std::nullopt) : backend_(backend) {}

  // The time of one worker for `work` of a run.
  TimeRange seconds(const RunConfig& config, const Operations& work);

 private:
  struct Speed {
    TimeRange training;    // Seconds per nominal operation.
    TimeRange evaluation;  // Likewise.
  };
  Speed measure(const RunConfig& config) const;

  std::optional<Backend> backend_;
  std::map<std::string, Speed> speeds_;  // By encoding, model, lengths, batch and execution.
};

}  // namespace che
