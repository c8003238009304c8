#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace che {

// What a parsed command line asks for; returns the exit code.
using Action = std::function<int()>;

// Adds --only, which chooses among the runs of a config.
void add_only_option(CLI::App& command, std::vector<std::string>& only);

// Each adds one command to `app` whose callback sets `action`. One file a command.
void add_bench_command(CLI::App& app, Action& action);
void add_bias_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_encoding_command(CLI::App& app, Action& action);
void add_evaluate_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_plot_command(CLI::App& app, Action& action);
void add_prune_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_sample_command(CLI::App& app, Action& action);
void add_status_command(CLI::App& app, Action& action);
void add_table_command(CLI::App& app, Action& action);
void add_time_command(CLI::App& app, Action& action);
void add_worker_command(CLI::App& app, Action& action);

}  // namespace che
