#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace che {

// Does what a parsed command line asks for; returns the exit code.
using Action = std::function<int()>;

// Makes `command` do `work` with its options; returns these, for the command line to be read into.
template <class Options>
std::shared_ptr<Options> set_action(CLI::App& command, Action& action, int (*work)(const Options&)) {
  auto options = std::make_shared<Options>();
  command.callback([options, work, &action] { action = [options, work] { return work(*options); }; });
  return options;
}

// Each adds one command to `app` whose callback sets `action`. Those that need LibTorch are in computing.h.
void add_agreement_command(CLI::App& app, Action& action);
void add_bundle_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_corpus_command(CLI::App& app, Action& action);
void add_evaluate_command(CLI::App& app, Action& action);
void add_export_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_plot_command(CLI::App& app, Action& action);
void add_prune_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_sample_command(CLI::App& app, Action& action);
void add_score_command(CLI::App& app, Action& action);
void add_status_command(CLI::App& app, Action& action);
void add_submit_command(CLI::App& app, Action& action);
void add_table_command(CLI::App& app, Action& action);
void add_task_command(CLI::App& app, Action& action);
void add_time_command(CLI::App& app, Action& action);
void add_unpack_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);

}  // namespace che
