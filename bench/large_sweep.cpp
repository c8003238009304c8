// Writes the results folder that `che run` would leave of a large sweep, without training: for
// large_sweep.py.
//   large_sweep CONFIG RESULTS_FOLDER
// Seven of ten runs are finished, one is half evaluated, one is half trained, and one is waiting. Nothing is
// synced: ten thousand folders take seconds.
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/plan/identity.h"
#include "experiments/plan/sweep.h"
#include "experiments/store/run_files.h"
#include "experiments/store/run_status.h"

namespace che {
namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  if (!(stream << text).flush())
    throw Error(fmt::format("cannot write '{}'", file.string()), ErrorKind::kRuntime);
}

void write_run(const std::filesystem::path& experiment, const RunConfig& config, std::int64_t number) {
  const std::string id = run_id(config);
  const std::filesystem::path folder = experiment / "runs" / id;
  std::filesystem::create_directories(folder);
  write(folder / "config.yaml", stored_config_text(config));
  const std::int64_t kind = number % 10;
  if (kind == 9) return;
  const std::int64_t steps = config.training.steps;
  RunStatus status;
  status.state = kind < 7 ? RunState::kFinished : RunState::kInterrupted;
  status.step = kind == 8 ? steps / 2 : steps;
  status.training_seconds = 60;
  status.evaluation_seconds = 20;
  status.git_commit = "0000000";
  status.version = "0.2.0";
  status.device = "cpu";
  status.host = "node1";
  status.started = status.updated = "2026-01-01T00:00:00Z";
  std::vector<MetricsRow> metrics;
  for (std::int64_t step = config.log.every_steps; step <= status.step; step += config.log.every_steps) {
    const double part = static_cast<double>(step) / static_cast<double>(steps);
    metrics.push_back({.step = step,
                       .loss = 0.7 * std::exp(-part * static_cast<double>(number % 7)),
                       .accuracy = 0.5 + part / 3,
                       .gradient_norm = 1.25,
                       .seconds = 60 * part});
  }
  std::vector<EvaluationRow> evaluation;
  const std::vector<std::int64_t> lengths = config.evaluation.lengths();
  if (kind < 8) {
    for (std::size_t i = 0; i < lengths.size() / (kind == 7 ? 2 : 1); ++i) {
      const double accuracy =
          0.5 + 0.4 / (1 + 0.01 * static_cast<double>(i * static_cast<std::size_t>(1 + number % 13)));
      evaluation.push_back(
          {lengths[i], config.evaluation.samples, config.evaluation.seed, false, accuracy, 0.6931});
    }
  }
  write(folder / "metrics.csv", metrics_text(metrics, id));
  if (!evaluation.empty()) write(folder / "evaluation.csv", evaluation_text(evaluation, id));
  write(folder / "status.json", to_json(status, id));
  write(folder / "checkpoint.bin", std::string(1000, 'x'));  // Looked at when it is needed.
  write(folder / "lock.1", "free\n");
}

int make(const std::filesystem::path& config, const std::filesystem::path& experiment) {
  const Sweep sweep = read_sweep(config, {});
  for (std::size_t i = 0; i < sweep.runs.size(); ++i) {
    write_run(experiment, sweep.runs[i], static_cast<std::int64_t>(i));
  }
  fmt::print("{} runs\n", sweep.runs.size());
  return 0;
}

}  // namespace
}  // namespace che

int main(int argc, char** argv) {
  try {
    if (argc == 3) return che::make(argv[1], argv[2]);
    fmt::print(stderr, "large_sweep CONFIG RESULTS_FOLDER\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "large_sweep: {}\n", error.what());
  }
  return 2;
}
