#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
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

// The last of the stop signals (SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP) that this process was sent; 0 for
// none.
const std::atomic<int>& stop_signal();

// From now on these signals only set stop_signal(); unblocks them.
void catch_stop_signals();

// The stop signals, for a process that starts with them blocked.
sigset_t stop_signals();

// Exit code of a process that stopped at a checkpoint because it was asked to: "again".
inline constexpr int kExitAgain = 75;

// What `che evaluate` asks of stored models.
struct EvaluationRequest {
  std::optional<IntegerRange> lengths;  // Without, those of the run's config.
  std::optional<std::int64_t> samples;  // Per length; likewise.
  // Of the encoding, see EncodingConfig::evaluation_settings; without, the run's own.
  std::optional<OptionValues> encoding_settings;
  std::optional<std::int64_t> seed = {};   // evaluation.seed; likewise.
  std::optional<std::string> device = {};  // See device_choice(); likewise.

  // Whether an encoding has what `encoding_settings` sets.
  bool fits(const EncodingConfig& encoding) const;
  // `config` with these in the place of its own. Throws Error for settings that its encoding does not have.
  RunConfig applied_to(RunConfig config) const;
};

// What one worker process does: trains and evaluates the runs of one job or, with a request, evaluates the
// stored model of one run. It is the command line of `che worker`.
struct WorkerTask {
  std::vector<std::string> folders;             // Of the runs.
  std::optional<EvaluationRequest> evaluation;  // Of the stored model.
  pid_t parent = 0;                             // The scheduler, without which it is to end; 0 for none.

  // "worker" and what follows it on the command line.
  std::vector<std::string> arguments() const;
};

// The GPU that a worker uses.
struct WorkerGpu {
  std::string name;          // As CUDA_VISIBLE_DEVICES names it.
  bool is_only_one_visible;  // To the worker. Where its runs name the GPU by number, it sees all.
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
  int output() const { return output_.value(); }  // Read end of its standard output.

  // Passes on each whole line that can be read; returns false at the end of its output.
  bool read_lines(const std::function<void(std::string_view)>& take);
  // Asks it to stop at a checkpoint.
  void stop() const;
  // Waits for its end; returns the status as waitpid gives it.
  int wait() const;

 private:
  pid_t process_ = 0;
  Descriptor output_;
  std::string partial_line_;
  const std::vector<RunFolder>* job_;
  std::optional<WorkerGpu> gpu_;
};

}  // namespace che
