#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/number_text.h"
#include "experiments/plan/run_config.h"

namespace che {

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

}  // namespace che
