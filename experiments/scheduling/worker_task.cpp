#include "experiments/scheduling/worker_task.h"

#include <fmt/core.h>

namespace che {

EvaluationConfig EvaluationRequest::applied_to(EvaluationConfig config) const {
  config.first_length = lengths.first;
  config.last_length = lengths.last;
  config.length_step = lengths.step;
  config.samples = samples;
  return config;
}

std::vector<std::string> WorkerTask::arguments() const {
  std::vector<std::string> words{"worker", "--parent", std::to_string(parent)};
  if (evaluation) {
    const IntegerRange& lengths = evaluation->lengths;
    words.insert(words.end(),
                 {"--lengths", fmt::format("{}:{}:{}", lengths.first, lengths.last, lengths.step),
                  "--samples", std::to_string(evaluation->samples)});
  }
  words.insert(words.end(), folders.begin(), folders.end());
  return words;
}

}  // namespace che
