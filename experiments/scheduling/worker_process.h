#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "experiments/scheduling/worker_task.h"
#include "experiments/store/run_folder.h"

namespace che {

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
