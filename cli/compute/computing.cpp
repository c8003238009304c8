#include "cli/computing.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "core/config/reader.h"
#include "core/error.h"
#include "core/text.h"
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

void apply_settings(const std::vector<std::string>& settings, std::string_view example,
                    const FieldVisitor::Members& fields,
                    const std::map<std::string_view, std::string_view>& of_options) {
  std::map<std::string, std::string> setters(of_options.begin(), of_options.end());
  for (const std::string& text : settings) {
    const Setting setting = parse_setting(text, example);
    for (const std::string& field : assign_path(setting.path, setting.value, fields)) {
      const auto [setter, is_new] = setters.emplace(field, text);
      if (is_new) continue;
      throw Error(fmt::format("{}: sets {}, which {} sets; leave one of them out", one_line(text), field,
                              one_line(setter->second)));
    }
  }
}

double measured_job_bytes(const std::vector<RunConfig>& runs) { return job_memory_bytes(runs); }

WarningSink warnings_of_config(std::vector<std::string>& /*held*/) { return print_warning; }

std::string describe_failure(const std::exception& error) {
  const std::string text = failure_text(error);
  return is_out_of_memory(error) ? text : "unexpected: " + text;
}

}  // namespace che
