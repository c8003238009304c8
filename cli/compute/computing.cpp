#include "cli/computing.h"

#include <map>
#include <string>

#include "experiments/learn/limits.h"
#include "experiments/measure/cost.h"

namespace che {

void fill_computing_command(CLI::App& command, Action& action) {
  using Fill = void (*)(CLI::App&, Action&);
  static const std::map<std::string, Fill> by_name = {
      {"bench", fill_bench_command},       {"bias", fill_bias_command},
      {"encoding", fill_encoding_command}, {"export-model", fill_export_model_command},
      {"selftest", fill_selftest_command}, {"worker", fill_worker_command}};
  by_name.at(command.get_name())(command, action);
}

double measured_job_bytes(const std::vector<RunConfig>& runs) { return job_memory_bytes(runs); }

WarningSink warnings_of_config(std::vector<std::string>& /*held*/) { return print_warning; }

std::string describe_failure(const std::exception& error) {
  const std::string text = failure_text(error);
  return is_out_of_memory(error) ? text : "unexpected: " + text;
}

}  // namespace che
