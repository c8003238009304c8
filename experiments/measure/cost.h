#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/learn/model_factory.h"
#include "experiments/plan/operations.h"
#include "experiments/store/needs.h"
#include "models/ops/device/backend.h"

namespace che {

// Estimates what runs take on this machine. For each encoding, model and range of lengths it times training
// steps and evaluated batches (see measure_step), and scales them by nominal operations. The estimate is good
// to a factor of two or so on an idle machine; other load makes it longer.
class CostEstimate {
 public:
  // Uses `backend`, or what each run's `execution` asks for.
  explicit CostEstimate(std::optional<Backend> backend = std::nullopt) : backend_(std::move(backend)) {}

  // The time of one worker for `work` of a run, in seconds, by the median of measured steps.
  double seconds(const RunConfig& config, const Operations& work);

 private:
  struct Speed {
    double training = 0;    // Seconds per nominal operation.
    double evaluation = 0;  // Seconds per nominal operation.
  };
  Speed measure(const RunConfig& config) const;

  std::optional<Backend> backend_;
  std::map<std::string, Speed> speeds_;  // Keyed by encoding, model, lengths, batch and execution.
};

// The rest of a run, and the time that it would take.
struct RunEstimate {
  std::int64_t parameters = 0;
  RunNeeds needs;
  double seconds = 0;      // Zero if nothing is left, or if its steps cannot be measured.
  std::string unmeasured;  // Why they cannot; empty otherwise.
};

// The rest of a sweep.
struct WorkEstimate {
  std::vector<RunEstimate> runs;
  std::size_t complete = 0;
  Operations left;
  double seconds = 0;                            // One worker's, for the runs that were measured.
  std::map<std::string, double> by_device = {};  // One device's of each kind, by its description.
  std::size_t unmeasured = 0;                    // Runs.
};

// Estimates what `runs` stored below `experiment`, or not yet there, would take on this machine: on `device`
// with the fused kernels, or on what their `execution` asks for. A run whose model does not fit in memory is
// not measured. With `retrain`, runs begin again that prepare_training lets begin again. Writes nothing.
WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment,
                           bool retrain, const std::optional<ComputingDevice>& device = std::nullopt);

// Returns the most memory that a process needs which trains and evaluates one of `runs`. It is measured on
// the CPU with few examples of the longest sequences and scaled to whole batches. It counts tensors, the
// memory of a process that has none, the windows of documents, and predictions that are stored.
double job_memory_bytes(const std::vector<RunConfig>& runs);

// Says in one line how long runs take that may go to GPUs. It has the time of one device of each kind and of
// as many as `visible` has for them, or says that none was measured. Empty if no run may go there.
std::string gpu_time_text(const std::vector<RunConfig>& runs, const WorkEstimate& work,
                          const std::vector<std::string>& visible);

}  // namespace che
