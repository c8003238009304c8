#pragma once

#include <map>
#include <string>

#include "experiments/operations.h"

namespace che {

// Estimates what runs take on this machine: for each encoding, model and range of lengths it times a
// training step and an evaluated batch (see measure_step), and scales them by nominal operations. Good to a
// factor of two or so.
class CostEstimate {
 public:
  // Seconds of one worker for `work` of a run.
  double seconds(const RunConfig& config, const Operations& work);

 private:
  struct Speed {
    double training = 0;    // Nominal operations a second.
    double evaluation = 0;  // Likewise.
  };
  static Speed measure(const RunConfig& config);

  std::map<std::string, Speed> speeds_;  // By encoding, model, lengths, batch and execution.
};

}  // namespace che
