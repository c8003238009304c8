#include "experiments/plan/operations.h"

#include "experiments/plan/run_workload.h"

namespace che {
namespace {

// Operations of a forward pass over one example of each of `lengths`, summed.
double forward_operations(const RunConfig& config, const std::vector<std::int64_t>& lengths) {
  const auto workload = create_workload(config);
  const ModelEntry& model = config.model.entry();
  double sum = 0;
  for (const std::int64_t length : lengths) {
    const auto tokens = static_cast<double>(workload->tokens(length));
    sum += model.operations(config.model.all_options(), config.encoding.dape, tokens);
  }
  return sum;
}

}  // namespace

double evaluation_operations(const RunConfig& config, const std::vector<std::int64_t>& lengths) {
  return static_cast<double>(config.evaluation.samples) * forward_operations(config, lengths);
}

double training_step_operations(const RunConfig& config) {
  const TrainingConfig& training = config.training;
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = training.first_length; length <= training.last_length; ++length) {
    lengths.push_back(length);
  }
  return 3 * static_cast<double>(training.batch_size) / static_cast<double>(lengths.size()) *
         forward_operations(config, lengths);
}

Operations run_operations(const RunConfig& config) {
  return {.training = static_cast<double>(config.training.steps) * training_step_operations(config),
          .evaluation = evaluation_operations(config, config.evaluation.lengths())};
}

}  // namespace che
