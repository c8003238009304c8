#include "experiments/training/work_estimate.h"

#include <fmt/core.h>

#include <exception>

#include "core/error.h"
#include "core/resources.h"
#include "experiments/scheduling/worker_count.h"
#include "experiments/store/run_folder.h"
#include "experiments/training/model_factory.h"
#include "experiments/training/out_of_memory.h"

namespace che {
namespace {

// Parameters, their gradients and Adam's two moments, in single precision. Activations come on top.
double training_bytes(std::int64_t parameters) {
  return 4.0 * sizeof(float) * static_cast<double>(parameters);
}

// Measures `work` of a run; sets `unmeasured` where that takes too much memory, or where its device is not
// here.
void measure(RunEstimate& run, const RunConfig& config, CostEstimate& cost, double memory_bytes) {
  try {
    check_devices({config});
  } catch (const Error& error) {
    run.unmeasured = error.what();
    return;
  }
  const double bytes = training_bytes(run.parameters) * static_cast<double>(config.execution.replicas);
  if (bytes > memory_bytes) {
    run.unmeasured = fmt::format("training needs at least {:.3g} GiB and {:.3g} GiB are available",
                                 bytes / 0x1p30, memory_bytes / 0x1p30);
    return;
  }
  try {
    run.seconds = cost.seconds(config, run.needs.left);
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    run.unmeasured = failure_text(error);
  }
}

}  // namespace

WorkEstimate estimate_work(const std::vector<RunConfig>& runs, const std::filesystem::path& experiment) {
  const double memory_bytes = available_resources().memory_bytes;
  WorkEstimate all;
  CostEstimate cost;
  for (const RunConfig& config : runs) {
    RunEstimate& run = all.runs.emplace_back();
    run.parameters = parameter_count(config);
    run.needs = assess(RunFolder::at(experiment, config));
    if (run.needs.left.all() > 0) measure(run, config, cost, memory_bytes);
    all.complete += run.needs.is_complete() ? 1U : 0U;
    all.unmeasured += run.unmeasured.empty() ? 0U : 1U;
    all.left.training += run.needs.left.training;
    all.left.evaluation += run.needs.left.evaluation;
    all.seconds += run.seconds;
  }
  return all;
}

}  // namespace che
