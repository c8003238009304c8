#include "experiments/scheduling/job_end.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "core/error.h"
#include "core/file_lock.h"

namespace che {
namespace {

// "length 17" or "lengths 17..47": the least and the greatest that are measured.
std::string ends_of(const EvaluationConfig& evaluation) {
  const std::vector<std::int64_t> lengths = evaluation.lengths();
  if (lengths.size() == 1) return fmt::format("length {}", lengths.front());
  return fmt::format("lengths {}..{}", lengths.front(), lengths.back());
}

// Empty while a length is missing.
std::string score_text(const RunFolder& run) {
  const auto mean = score(run.evaluation(), run.config());
  if (!mean) return "";
  return fmt::format(", score {:.1f} % (mean accuracy over {})", 100 * *mean,
                     ends_of(run.config().evaluation));
}

// A line about a run whose worker trained and evaluated it.
std::string training_line(const RunFolder& run, int exit_status, const std::string& reason, JobEnd& end) {
  // Not a run that another process holds: its status is that process's to write.
  const bool has_died = WIFSIGNALED(exit_status) || WEXITSTATUS(exit_status) == 1;
  if (has_died && !FileLock::is_held(run.path())) run.mark_failed(reason);
  const RunStatus status = run.status();
  std::string line = fmt::format("{}: {}", run.id(), state_name(status.state));
  if (status.state == RunState::kFailed) {
    end = JobEnd::kFailed;
    return line + ": " + status.error;
  }
  if (status.state == RunState::kFinished) {
    // It lacks test lengths that its worker could not measure.
    if (!reason.empty() && score_text(run).empty()) {
      return fmt::format("{}: not evaluated: {}", run.id(), reason);
    }
    return line + score_text(run) +
           fmt::format(", {:.0f} s", status.training_seconds + status.evaluation_seconds);
  }
  if (end == JobEnd::kDone) end = JobEnd::kInterrupted;
  return reason.empty() ? line : line + ": " + reason;
}

// A line about a run whose worker evaluated its stored model.
std::string evaluation_line(const RunFolder& run, const EvaluationRequest& asked, int exit_status,
                            const std::string& reason, JobEnd& end) {
  const RunConfig config = asked.applied_to(run.config());
  const auto mean = score(run.evaluation(), config);
  if (WIFEXITED(exit_status) && WEXITSTATUS(exit_status) == 1) {
    return fmt::format("{}: not evaluated: see the warning above", run.id());
  }
  if (!reason.empty()) return fmt::format("{}: not evaluated: {}", run.id(), reason);
  if (!mean) {
    end = JobEnd::kInterrupted;
    return fmt::format("{}: {}", run.id(), state_name(RunState::kInterrupted));
  }
  // No score, which counts the lengths of the run's config.
  return fmt::format("{}: evaluated, mean accuracy {:.1f} % over {}", run.id(), 100 * *mean,
                     ends_of(config.evaluation));
}

}  // namespace

std::string exit_reason(int exit_status) {
  if (WIFSIGNALED(exit_status)) {
    const int signal = WTERMSIG(exit_status);
    return fmt::format("its process was ended by signal {} ({}{}); run again to resume", signal,
                       strsignal(signal),
                       signal == SIGKILL ? ": by hand, or by the system when memory ran out" : "");
  }
  const int code = WEXITSTATUS(exit_status);
  return code == 0 || code == kExitAgain
             ? ""
             : fmt::format("its process ended with exit code {}; run again to resume", code);
}

JobReport report_job(const std::vector<RunFolder>& job, int exit_status,
                     const std::optional<EvaluationRequest>& evaluation) {
  const std::string reason = exit_reason(exit_status);
  JobReport report{.end = reason.empty() ? JobEnd::kDone : JobEnd::kFailed, .lines = {}};
  for (const RunFolder& run : job) {
    try {
      report.lines.push_back(evaluation ? evaluation_line(run, *evaluation, exit_status, reason, report.end)
                                        : training_line(run, exit_status, reason, report.end));
    } catch (const Error& error) {
      report.end = error.kind() == ErrorKind::kRuntime ? JobEnd::kUnwritable : JobEnd::kFailed;
      report.lines.push_back(fmt::format("{}: failed: {}", run.id(), error.what()));
      if (report.end == JobEnd::kUnwritable) break;
    }
  }
  return report;
}

}  // namespace che
