#include "experiments/schedule/worker_process.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/process.h"
#include "experiments/plan/evaluation_settings.h"
#include "experiments/schedule/devices.h"

namespace che {

bool EvaluationRequest::fits(const RunConfig& config) const {
  return !evaluation_settings || has_evaluation_settings(config, *evaluation_settings);
}

RunConfig EvaluationRequest::applied_to(RunConfig config) const {
  // Only the run's own evaluation has these.
  config.evaluation.at_steps.clear();
  config.evaluation.predictions = false;
  if (lengths) {
    const std::int64_t longest = max_length(config.has_text());
    if (lengths->first < 1 || lengths->last > longest) {
      throw Error(fmt::format("--lengths: got {}; allowed with {}: whole numbers from 1 to {}",
                              lengths->first < 1 ? lengths->first : lengths->last,
                              config.has_text() ? "a text" : "tasks", longest));
    }
    // Windows end where those of the run's own lengths end, unless a longer one is asked for.
    TextEvaluation& text = config.evaluation.text;
    if (config.has_text() && text.longest == 0 && text.windows == WindowChoice::kAligned) {
      text.longest = std::max(longest_window(config.evaluation), lengths->last);
    }
    config.evaluation.listed_lengths.clear();
    config.evaluation.first_length = lengths->first;
    config.evaluation.last_length = lengths->last;
    config.evaluation.length_step = lengths->step;
  }
  if (samples) config.evaluation.samples = *samples;
  if (seed) config.evaluation.seed = *seed;
  if (evaluation_settings) config = with_changed_settings(config, *evaluation_settings);
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
    if (const auto& settings = evaluation->evaluation_settings) {
      words.insert(words.end(), {"--evaluation-settings", evaluation_settings_text(*settings)});
    }
    if (evaluation->device) words.insert(words.end(), {"--device", *evaluation->device});
  }
  words.emplace_back("--");  // A folder may begin with a dash.
  words.insert(words.end(), folders.begin(), folders.end());
  return words;
}

WorkerProcess::WorkerProcess(const std::filesystem::path& program, const WorkerTask& task,
                             const std::vector<RunFolder>& job, const std::optional<WorkerGpu>& gpu)
    : job_(&job), gpu_(gpu) {
  std::vector<std::string> words = task.arguments();
  words.insert(words.begin(), program.string());
  std::vector<std::string> environment;
  if (gpu && gpu->is_only_one_visible) environment.push_back("CUDA_VISIBLE_DEVICES=" + gpu->name);
  auto [read_end, write_end] = open_pipe();
  // In a process group of its own, so that Ctrl-C reaches workers through the scheduler only, and
  // with stop signals held back until the worker can turn them into a checkpoint.
  const StartedProcess started = start_process({.words = std::move(words),
                                                .descriptors = {{write_end.value(), STDOUT_FILENO}},
                                                .blocked_signals = stop_signals(),
                                                .environment = std::move(environment),
                                                .has_own_group = true});
  if (started.error != 0) {
    throw Error(fmt::format("cannot start a worker ({}): {}", program.string(), std::strerror(started.error)),
                ErrorKind::kRuntime);
  }
  process_ = started.process;
  output_ = LineReader(std::move(read_end));
}

void WorkerProcess::stop() const { kill(process_, SIGTERM); }

int WorkerProcess::wait() const { return wait_for_process(process_); }

}  // namespace che
