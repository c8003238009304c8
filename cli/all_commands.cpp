#include <initializer_list>

#include "cli/commands.h"
#include "cli/listing.h"
#include "experiments/training/out_of_memory.h"

namespace che {
namespace {

void add_list_of_all(CLI::App& app, Action& action) {
  add_list_command(app, action, {task_listing(), encoding_listing(), suite_listing()});
}

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  using Add = void (*)(CLI::App&, Action&);
  const auto add_group = [&](const std::string& name, std::initializer_list<Add> commands) {
    for (const Add add : commands) {
      add(app, action);
      app.get_subcommands({}).back()->group(name);
    }
  };
  // In the order in which help shows them.
  add_group("Run experiments", {add_run_command, add_submit_command, add_status_command, add_evaluate_command,
                                add_prune_command});
  add_group("Look at results",
            {add_table_command, add_plot_command, add_report_command, add_bias_command, add_time_command});
  add_group("Look at tasks, encodings and configs",
            {add_list_of_all, add_sample_command, add_encoding_command, add_check_command});
  add_group("Measure models outside che", {add_export_command, add_score_command});
  add_group("Publish results", {add_bundle_command, add_verify_command});
  add_group("Measure this machine", {add_bench_command, add_selftest_command});
  add_group("", {add_task_command, add_worker_command});  // Hidden.
}

std::string describe_failure(const std::exception& error) {
  const std::string text = failure_text(error);
  return is_out_of_memory(error) ? text : "unexpected: " + text;
}

}  // namespace che
