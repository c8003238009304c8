// The processes that train and evaluate runs: what the scheduler asks of one, and how it starts, hears and
// stops it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/number_text.h"
#include "experiments/plan/run_config.h"
#include "experiments/store/run_folder.h"

namespace che {

// How `che evaluate` measures stored models. The run's own config says what is left open here.
struct EvaluationRequest {
  std::optional<IntegerRange> lengths;
  std::optional<std::int64_t> samples;  // Per length.
  // See experiments/plan/evaluation_settings.h.
  std::optional<OptionValues> evaluation_settings;
  std::optional<std::int64_t> seed = {};   // evaluation.seed
  std::optional<std::string> device = {};  // See device_choice().

  // Whether a run has the settings that `evaluation_settings` sets.
  bool fits(const RunConfig& config) const;
  // Returns `config` with these values. Throws Error for settings that it does not have.
  RunConfig applied_to(RunConfig config) const;
};

// The work of one worker process: to train and evaluate the runs of one job or, with a request, to evaluate
// the stored model of one run. It is the command line of `che worker`.
struct WorkerTask {
  std::vector<std::string> folders;
  std::optional<EvaluationRequest> evaluation;
  pid_t parent = 0;  // The worker ends when this process, the scheduler, has ended; 0 for none.

  // The command line from "worker" on.
  std::vector<std::string> arguments() const;
};

// The GPU that a worker uses.
struct WorkerGpu {
  std::string name;          // The name that CUDA_VISIBLE_DEVICES has for it.
  bool is_only_one_visible;  // False where its runs name the GPU by number: then the worker sees all.
};

// A worker process and the job it works on.
class WorkerProcess {
 public:
  // Starts `program` with the arguments of `task`; `job` are its runs. Throws Error (runtime) when the system
  // refuses.
  WorkerProcess(const std::filesystem::path& program, const WorkerTask& task,
                const std::vector<RunFolder>& job, const std::optional<WorkerGpu>& gpu);

  const std::vector<RunFolder>& job() const { return *job_; }
  std::string name() const { return job_->front().id(); }
  const std::optional<WorkerGpu>& gpu() const { return gpu_; }
  int output() const { return output_.descriptor(); }  // Read end of its standard output.

  // Passes on each whole line that can be read; returns false at the end of its output.
  bool read_lines(const std::function<void(std::string_view)>& take) { return output_.read(take); }
  // Asks it to stop at a checkpoint.
  void stop() const;
  // Waits for its end; returns the status as waitpid gives it.
  int wait() const;

 private:
  pid_t process_ = 0;
  LineReader output_;
  const std::vector<RunFolder>* job_;
  std::optional<WorkerGpu> gpu_;
};

}  // namespace che
