#include "experiments/scheduling/worker_task.h"

#include <fmt/core.h>

#include "experiments/plan/encoding_config.h"
#include "experiments/scheduling/worker_count.h"

namespace che {

bool EvaluationRequest::fits(const EncodingConfig& encoding) const {
  return !encoding_settings || encoding.has_evaluation_settings(*encoding_settings);
}

RunConfig EvaluationRequest::applied_to(RunConfig config) const {
  // These are of the run's own evaluation.
  config.evaluation.at_steps.clear();
  config.evaluation.predictions = false;
  if (lengths) {
    config.evaluation.listed_lengths.clear();
    config.evaluation.first_length = lengths->first;
    config.evaluation.last_length = lengths->last;
    config.evaluation.length_step = lengths->step;
  }
  if (samples) config.evaluation.samples = *samples;
  if (seed) config.evaluation.seed = *seed;
  if (encoding_settings) config.encoding = config.encoding.with_evaluation_settings(*encoding_settings);
  if (device) config.execution = on_device(config.execution, *device);
  return config;
}

std::vector<std::string> WorkerTask::arguments() const {
  std::vector<std::string> words{"worker", "--parent", std::to_string(parent)};
  if (evaluation) {
    words.emplace_back("--evaluate");
    if (const auto& lengths = evaluation->lengths) {
      words.insert(words.end(),
                   {"--lengths", fmt::format("{}:{}:{}", lengths->first, lengths->last, lengths->step)});
    }
    if (evaluation->samples) words.insert(words.end(), {"--samples", std::to_string(*evaluation->samples)});
    if (evaluation->seed) words.insert(words.end(), {"--seed", std::to_string(*evaluation->seed)});
    if (const auto& settings = evaluation->encoding_settings) {
      words.insert(words.end(), {"--encoding-settings", evaluation_settings_text(*settings)});
    }
    if (evaluation->device) words.insert(words.end(), {"--device", *evaluation->device});
  }
  words.insert(words.end(), folders.begin(), folders.end());
  return words;
}

}  // namespace che
