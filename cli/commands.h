#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace che {

// What a parsed command line asks for; returns the exit code.
using Action = std::function<int()>;

// Adds every command of the program that is built: all_commands.cpp, or task_commands.cpp.
void add_commands(CLI::App& app, Action& action);

// What to tell a user, in one line, of an exception that is no Error; as add_commands for the program that is
// built.
std::string describe_failure(const std::exception& error);

// Each adds one command to `app` whose callback sets `action`. One file per command; `list` is in listing.h.
void add_bench_command(CLI::App& app, Action& action);
void add_bias_command(CLI::App& app, Action& action);
void add_bundle_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_encoding_command(CLI::App& app, Action& action);
void add_evaluate_command(CLI::App& app, Action& action);
void add_export_command(CLI::App& app, Action& action);
void add_plot_command(CLI::App& app, Action& action);
void add_prune_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_sample_command(CLI::App& app, Action& action);
void add_score_command(CLI::App& app, Action& action);
void add_selftest_command(CLI::App& app, Action& action);
void add_status_command(CLI::App& app, Action& action);
void add_submit_command(CLI::App& app, Action& action);
void add_table_command(CLI::App& app, Action& action);
void add_task_command(CLI::App& app, Action& action);
void add_time_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_worker_command(CLI::App& app, Action& action);

}  // namespace che
